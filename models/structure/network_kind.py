"""What moves in a model, which decides the laws that solve it."""

from enum import StrEnum


class NetworkKind(StrEnum):
    """How the jobs of a model arrive, move and share stations.

    Each kind of answer (means, numbers of jobs, laws of times, bounds) has a table with a function
    for each of these.
    """

    PROGRAM = "a program without stations"
    LAYERED = "layered services"
    BLOCKING = "stations that block, or regions"
    CLIENTS = "clients that give up"
    CLASSES = "several classes"
    CLOSED = "one closed class"
    OPEN = "one open class"
