"""Loads of curves: what is held fixed or increased while a system is measured."""

from enum import StrEnum


class Load(StrEnum):
    """The kind of load of a curve.

    Open; a throughput driven by a fixed number of clients, so that the curve may bend back; the
    number of clients itself; or arrivals offered to limited room, so that throughput may fall
    short.
    """

    OPEN = "open"
    CLOSED = "closed"
    POPULATION = "population"
    OFFERED = "offered"
