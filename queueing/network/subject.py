"""What a function of a method solves."""

from enum import StrEnum


class Subject(StrEnum):
    """Forms of what is solved."""

    CLASSES = "classes that share stations"
    ONE_CLASS = "one class of jobs"
    BLOCKING = "networks that block, or have regions"
    MODEL = "a model"
    LAYERED = "layered services"
    TIMED = "a load that follows time"
