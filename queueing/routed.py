"""Response times where routes say which way jobs go: what their visits have to do with each other.

Loops of single exponential servers and a server that jobs come back to are followed as they are
(`headway.queueing.times.loops`, `headway.queueing.times.feedback`); else visits are taken as
independent, which is exact where jobs cannot overtake.

Source: Walrand and Varaiya, "Sojourn times and the overtaking condition in Jacksonian networks",
Adv. Appl. Prob. 12(4), 1980; Burke, "The dependence of sojourn times in tandem M/M/s queues",
Operations Research 17(4), 1969.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from headway.kinds import FloatArray
from headway.queueing.stations.abilities import ServiceKind
from headway.queueing.stations.base import Station
from headway.queueing.times.journeys import Journey, mean_visits
from headway.queueing.times.laws import TimeLaw, merged
from headway.queueing.times.loops import Loop, loop_laws

INDEPENDENT = "percentiles take the visits of a job as independent"
APART = f"{INDEPENDENT}: up to the 99th within 14 %, the 99.9th within 23 % where measured"
GIVEN = f"{INDEPENDENT}, and as many as given (2.4 are two, and a third in 40 %)"


@dataclass(frozen=True)
class RoutedNetwork:
    """Stations at their arrival rates, and the ways of jobs between them.

    Parameters
    ----------
    names, stations
        What messages call them, and their kinds with their numbers.
    rates
        Arrivals at each station [1/s], those it loses included.
    entries, onward, leaving
        As of `headway.queueing.times.journeys.Journey`.

    Examples
    --------
    >>> from headway.queueing import MM1
    >>> from headway.queueing.percentiles import percentile_of
    >>> one = np.ones(1)
    >>> network = RoutedNetwork(
    ...     ("cpu",), (MM1(1.0),), 0.5 * one, one, np.array([[0.9]]), 0.1 * one
    ... )
    >>> round(percentile_of(network.law(), 0.99), 3)  # as if visits were independent: 92.1
    122.901
    """

    names: tuple[str, ...]
    stations: tuple[Station, ...]
    rates: FloatArray
    entries: FloatArray
    onward: FloatArray
    leaving: FloatArray

    def law(self) -> TimeLaw:
        """How long jobs take that are answered; no station may be saturated."""
        used = self._visited()._loaded()
        parts = [part for loop in used._loops() for part in used._parts(loop)]
        law = used._journey(parts).law()
        notes = merged(*(part.notes for part in parts))
        if not (notes or used._exact):
            notes = (INDEPENDENT,)
        return replace(law, notes=merged(notes, law.notes))

    @property
    def visits(self) -> FloatArray:
        """Mean visits of a job to each station."""
        return mean_visits(self.entries, self.onward)

    def _visited(self) -> "RoutedNetwork":
        """Without stations that nobody comes to."""
        keep = np.flatnonzero(self.visits > 0)
        return RoutedNetwork(
            tuple(self.names[k] for k in keep),
            tuple(self.stations[k] for k in keep),
            self.rates[keep],
            self.entries[keep],
            self.onward[np.ix_(keep, keep)],
            self.leaving[keep],
        )

    def _loaded(self) -> "RoutedNetwork":
        """With next to no arrivals where there are none: chances need some."""
        if self.rates.any():
            return self
        demand = sum(v * s.mean_service for v, s in zip(self.visits, self.stations, strict=True))
        return replace(self, rates=self.visits * _HARDLY / (demand or 1.0))

    def _loops(self) -> list[list[int]]:
        """Stations that can be reached from each other, together."""
        count, labels = connected_components(self.onward > 0, connection="strong")
        return [np.flatnonzero(labels == k).tolist() for k in range(count)]

    def _parts(self, members: list[int]) -> "list[_Part]":
        if len(members) == 1:
            return [self._single(members[0])]
        queues = [self.stations[k].lanes for k in members]
        few = len(members) <= _MOST_FOLLOWED and None not in queues
        laws = loop_laws(self._loop(members, queues)) if few else None
        if laws is None:
            notes = (_loose([self.names[k] for k in members]),)
            return [self._visit(k, self._looped(k), notes) for k in members]
        return list(self._followed(members, laws))

    def _single(self, k: int) -> "_Part":
        chance = float(self.onward[k, k])
        if chance == 0:
            law = self.stations[k].time_law(float(self.rates[k]))
            return self._visit(k, law, ())
        stay = self.stations[k].feedback_law(float(self.rates[k]) * (1 - chance), chance)
        if stay is None:
            return self._visit(k, self._looped(k), (_loose([self.names[k]]),))
        away = self.onward[k] / (1 - chance)
        away[k] = 0.0
        return _Part(stay, k, 1.0, away, float(self.leaving[k]) / (1 - chance), ())

    def _visit(self, k: int, law: TimeLaw, notes: tuple[str, ...]) -> "_Part":
        return _Part(law, k, 1.0, self.onward[k], float(self.leaving[k]), notes)

    def _looped(self, k: int) -> TimeLaw:
        return self.stations[k].looped_law(float(self.rates[k]))

    def _loop(self, members: list[int], queues: Sequence[float | None]) -> Loop:
        inside = np.ix_(members, members)
        rates = self.rates[members]
        entries = np.maximum(rates - rates @ self.onward[inside], 0.0)
        entries[entries < 1e-12 * entries.max()] = 0.0
        times = [self.stations[k].mean_service for k in members]
        lanes = np.array(queues, float)
        return Loop(np.array(times), lanes, rates, entries / entries.sum(), self.onward[inside])

    def _followed(self, members: list[int], laws: list[list[TimeLaw]]) -> "Iterator[_Part]":
        inside = np.ix_(members, members)
        chances = np.linalg.inv(np.eye(len(members)) - self.onward[inside])
        away = self.onward[members].copy()
        away[:, members] = 0.0
        notes = (_together([self.names[k] for k in members]),)
        for i, entry in enumerate(members):
            for j, last in enumerate(members):
                out = float(away[j].sum() + self.leaving[last])
                if out > 0:
                    share = float(chances[i, j]) * out
                    left = float(self.leaving[last]) / out
                    yield _Part(laws[i][j], entry, share, away[j] / out, left, notes)

    def _journey(self, parts: "list[_Part]") -> Journey:
        """The way through the parts: a station's arrivals are shared out to its parts."""
        entry = [part.entry for part in parts]
        share = np.array([part.share for part in parts])
        return Journey(
            tuple(part.law for part in parts),
            self.entries[entry] * share,
            np.stack([part.onward[entry] * share for part in parts]),
            np.array([part.leaving for part in parts]),
        )

    @property
    def _exact(self) -> bool:
        """Whether visits are independent: at most one takes a random time, or none can overtake."""
        random = [k for k, s in enumerate(self.stations) if s.can.product_form is not _DELAY]
        if len(random) < 2:
            return True
        edges: NDArray[np.bool_] = self.onward > 0
        ways = np.eye(len(edges))
        for _ in edges:
            ways = np.eye(len(edges)) + edges @ ways
        if ways.max() > 1:
            return False
        ends = [not (edges[:, k].any() and edges[k].any()) for k in range(len(edges))]
        return all(
            s.can.product_form in _QUEUES and (s.plain_count == 1 or ends[k])
            for k, s in enumerate(self.stations)
            if k in random
        )


_MOST_FOLLOWED = 20  # stations of a loop: its laws are as many as the square
_SHOWN = 12  # stations that a note names
_HARDLY = 1e-9  # of an arrival while one is served
_DELAY = ServiceKind.DELAY
_QUEUES = (ServiceKind.QUEUE, ServiceKind.PARALLEL)


@dataclass(frozen=True)
class _Part:
    """A stay at a station, or in a loop, that begins at a station and has a way to end.

    `share` of the arrivals at `entry` make it; `onward` and `leaving` say where they go then.
    """

    law: TimeLaw
    entry: int
    share: float
    onward: FloatArray
    leaving: float
    notes: tuple[str, ...]


def _loose(names: list[str]) -> str:
    return (
        f"{INDEPENDENT}, though they come back to {_listed(names)}: "
        "99th percentiles came out up to 40 % too low where measured"
    )


def _listed(names: list[str]) -> str:
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _together(names: list[str]) -> str:
    return (
        f"in the loop of {_listed(names)}, percentiles take where the others are as in "
        "equilibrium given their number: 99th percentiles within 3 % where measured"
    )
