"""What moves in a model: what decides which laws answer it."""

from enum import StrEnum


class NetworkKind(StrEnum):
    """How the jobs of a model come, go on and share stations.

    Each kind of answer (means, numbers of jobs, laws of times, bounds) has a table of these, with
    the function for each.
    """

    PROGRAM = "a program without stations"
    LAYERED = "layered services"
    BLOCKING = "stations that block, or regions"
    CLIENTS = "clients that give up"
    CLASSES = "several classes"
    CLOSED = "one closed class"
    OPEN = "one open class"
