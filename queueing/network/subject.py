"""The kinds of subject that methods solve."""

from enum import StrEnum


class Subject(StrEnum):
    """Kinds of subject: forms of what is solved."""

    CLASSES = "classes that share stations"
    ONE_CLASS = "one class of jobs"
    BLOCKING = "networks that block, or have regions"
    MODEL = "a model"
    LAYERED = "layered services"
    TIMED = "a load that follows time"
