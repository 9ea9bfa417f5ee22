"""Loads of curves: what is held fixed or grows while a system is measured."""

from enum import StrEnum


class Load(StrEnum):
    """The kind of load of a curve.

    Open; a throughput that a fixed number of clients limits, so that the curve may bend back; the
    number of clients itself; or arrivals that are offered to a room which may be full, so that
    throughput falls short of them.
    """

    OPEN = "open"
    CLOSED = "closed"
    POPULATION = "population"
    OFFERED = "offered"
