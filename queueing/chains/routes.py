"""Routing probabilities by class, laid out over pairs of class and station."""

from collections.abc import Mapping
from dataclasses import field

import numpy as np
from numpy.typing import NDArray

from headway.errors import GraphError
from headway.kinds import Amount, FloatArray
from headway.numerals import digits
from headway.queueing.flows.traffic import SUM_TOLERANCE
from headway.records import dataclass

At = tuple[str, str]
"""A class at a station."""


@dataclass(frozen=True)
class ClassRoutes:
    """Routes of jobs by class; the remaining probability is that of leaving.

    Parameters
    ----------
    stations, classes
        Names, in the order of all arrays.
    onward
        Probability of going from a class at a station to a class at a station, 0 to 1; may be
        arrays over operating points.
    entries
        For each class, shares of the stations where its jobs enter, or where its cycles begin; they
        sum to 1. A class that is left out begins at the first station.
    closed
        Classes whose jobs circulate.
    references
        Classes whose reference station is given: cycles end there, so no job may leave their chain.

    Examples
    --------
    >>> ways = ClassRoutes(("cpu", "disk"), ("a", "b"), {(("a", "cpu"), ("b", "disk")): 0.5})
    >>> laid_out(ways).shape
    (1, 4, 4)
    """

    stations: tuple[str, ...]
    classes: tuple[str, ...]
    onward: Mapping[tuple[At, At], Amount]
    entries: Mapping[str, Mapping[str, Amount]] = field(default_factory=dict)
    closed: frozenset[str] = frozenset()
    references: frozenset[str] = frozenset()

    @property
    def states(self) -> list[At]:
        """Every class at every station, class by class: the order of rows and columns."""
        return [(c, k) for c in self.classes for k in self.stations]

    @property
    def is_closed(self) -> NDArray[np.bool_]:
        """Whether each class is closed, shape (classes,)."""
        return np.array([c in self.closed for c in self.classes])


def laid_out(routes: ClassRoutes) -> FloatArray:
    """Routing matrix over pairs of class and station, shape (points, states, states).

    Raises
    ------
    GraphError
        For probabilities outside 0 to 1, or a sum above 1 out of a station.
    """
    numbers = {ends: np.asarray(p, float).ravel() for ends, p in routes.onward.items()}
    points = max((p.size for p in numbers.values()), default=1)
    place = {state: row for row, state in enumerate(routes.states)}
    matrix = np.zeros((points, len(place), len(place)))
    for (source, target), chance in numbers.items():
        good = (chance >= 0) & (chance <= 1 + SUM_TOLERANCE)
        if not good.all():
            ends = f"{source[1]} -> {target[1]} of class {source[0]}"
            msg = f"route {ends}: probability {digits(chance[~good][0])} is not between 0 and 1"
            raise GraphError(msg)
        matrix[:, place[source], place[target]] = chance
    rest = 1 - matrix.sum(axis=2)
    if rest.min(initial=1.0) < -SUM_TOLERANCE:
        c, k = routes.states[int(rest.min(axis=0).argmin())]
        total = 1 - rest.min()
        msg = f"routes of class {c} out of {k} sum to {digits(total)}; they must sum to at most 1"
        raise GraphError(msg)
    return matrix


def entry_states(routes: ClassRoutes) -> FloatArray:
    """Probability of each class to begin in each state, shape (points, classes, states)."""
    first = {routes.stations[0]: 1.0}
    starts = {c: {**(routes.entries.get(c) or first)} for c in routes.classes}
    shares = [np.asarray(share, float).ravel() for by in starts.values() for share in by.values()]
    points = max(share.size for share in shares)
    place = {state: row for row, state in enumerate(routes.states)}
    entries = np.zeros((points, len(routes.classes), len(place)))
    for row, (c, by) in enumerate(starts.items()):
        for station, share in by.items():
            entries[:, row, place[c, station]] = np.ravel(share)
    return entries
