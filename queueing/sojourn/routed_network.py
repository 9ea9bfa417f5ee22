"""Response times of jobs with known routes, and of their dependent visits.

Jobs that return to a server or within a loop of stations are followed through all their visits
(`headway.queueing.times.tagged_job.laws`, `headway.queueing.times.feedback`); otherwise visits are
taken as independent, which is exact if jobs cannot overtake.

Source: Walrand and Varaiya, "Sojourn times and the overtaking condition in Jacksonian networks",
Adv. Appl. Prob. 12(4), 1980; Burke, "The dependence of sojourn times in tandem M/M/s queues",
Operations Research 17(4), 1969.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from headway.kinds import FloatArray
from headway.numerals import digits, some_of
from headway.queueing.flows.measured import TAILS
from headway.queueing.sojourn.visited_station import VisitedStation
from headway.queueing.stations.abilities import ServiceKind
from headway.queueing.times.absorption import Journey, is_overtake_free, mean_visits
from headway.queueing.times.laws import TimeLaw, merged
from headway.queueing.times.tagged_job.station import StationLoop
from headway.queueing.variability.measured import MeasuredRegion
from headway.records import dataclass

INDEPENDENT = "percentiles assume independent visits of a job"
APART = f"{INDEPENDENT}: up to the 99th within 5%, the 99.9th within 6% where measured"
APART_SHARED = (
    f"{INDEPENDENT}, at servers shared for times of any scv: up to the 99th within 20%, the 99.9th "
    "within 22% where measured"
)
"""Measured by ``python -m tests.campaigns.sharing_errors``: rows of up to three such stations,
with scvs from 0 to 4.
"""

LOSING = (
    f"{INDEPENDENT} that is answered, where some are lost: up to the 99th within "
    f"{digits(TAILS[0])}%, the 99.9th within {digits(TAILS[1])}% where measured"
)
_FOLLOWED = "percentiles assume that the other jobs are in equilibrium given their number"
TOGETHER = f"{_FOLLOWED}: up to the 99th within 5%, the 99.9th within 6% where measured"
UNLIKE_TOGETHER = (
    f"{_FOLLOWED}, with times that differ by class: up to the 99th within 19%, the 99.9th within "
    "22% where measured"
)
"""Measured by ``python -m tests.campaigns.open_class_errors``: loops of up to three queues with
exponential times.
"""

GIVEN = (
    f"{INDEPENDENT}, and exactly the given number of them (2.4 means two, and a "
    "third in 40%): for routes with that many visits on average, 99th "
    "percentiles were up to 90% too low where measured"
)


@dataclass(frozen=True)
class RoutedNetwork:
    """An open network of stations at given arrival rates, with the routes of its jobs.

    Parameters
    ----------
    names, stations
        Names of the stations in messages, and the stations.
    rates
        Arrival rate of each station [1/s], including lost jobs.
    entries, onward, leaving
        As in `headway.queueing.times.absorption.Journey`.

    Examples
    --------
    >>> from headway.queueing import MM1
    >>> from headway.queueing.times.inversion import percentile_of
    >>> one = np.ones(1)
    >>> network = RoutedNetwork(
    ...     ("cpu",), (MM1(1.0),), 0.5 * one, one, np.array([[0.9]]), 0.1 * one
    ... )
    >>> round(percentile_of(network.law(), 0.99), 3)  # as if visits were independent: 92.1
    122.901
    """

    names: tuple[str, ...]
    stations: tuple[VisitedStation, ...]
    rates: FloatArray
    entries: FloatArray
    onward: FloatArray
    leaving: FloatArray

    def law(self) -> TimeLaw:
        """Law of the sojourn time of jobs that are not lost; no station may be saturated."""
        used = self._visited()._loaded()
        parts = [part for loop in used._loops() for part in used._parts(loop)]
        law = used._journey(parts).law()
        notes = merged(*(part.notes for part in parts))
        if not used._exact and any(station.can.loses for station in used.stations):
            notes = merged((LOSING,), tuple(n for n in notes if _FOLLOWED not in n))
        elif not (notes or used._exact):
            notes = (used._independence_note,)
        return replace(law, notes=merged(notes, law.notes))

    @property
    def _independence_note(self) -> str:
        """The note on independent visits: by shared servers, and by the scv of services."""
        if any(station.can.insensitive for station in self.stations):
            return APART_SHARED
        return region_note(self.stations, self.rates, loops=False) or APART

    @property
    def visits(self) -> FloatArray:
        """Mean visits of a job to each station."""
        return mean_visits(self.entries, self.onward)

    def _visited(self) -> "RoutedNetwork":
        """The network without stations that no job visits."""
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
        """The network with a negligible arrival rate instead of 0, for which there are no laws."""
        if self.rates.any():
            return self
        demand = sum(v * s.mean_service for v, s in zip(self.visits, self.stations, strict=True))
        return replace(self, rates=self.visits * _HARDLY / (demand or 1.0))

    def _loops(self) -> list[list[int]]:
        """The strongly connected components of the routes."""
        ways = self.onward > 0
        if not ways.any():
            return [[k] for k in range(len(ways))]
        from scipy.sparse.csgraph import connected_components

        count, labels = connected_components(ways, connection="strong")
        return [np.flatnonzero(labels == k).tolist() for k in range(count)]

    def _parts(self, members: list[int]) -> "list[_RoutedPart]":
        if len(members) == 1:
            alone = self._single(members[0])
            if alone is not None:
                return [alone]
        loop = self._loop(members)
        parts = None if loop is None else self._loop_parts(members, loop)
        notes = (_independent_note([self.names[k] for k in members]),)
        return parts or [self._visit(k, self._looped_law(k), notes) for k in members]

    def _single(self, k: int) -> "_RoutedPart | None":
        chance = float(self.onward[k, k])
        if chance == 0:
            law = self.stations[k].time_law(float(self.rates[k]))
            return self._visit(k, law, ())
        stay = self.stations[k].feedback_law(float(self.rates[k]) * (1 - chance), chance)
        if stay is None:
            return None
        away = self.onward[k] / (1 - chance)
        away[k] = 0.0
        return _RoutedPart(stay, k, 1.0, away, float(self.leaving[k]) / (1 - chance), ())

    def _visit(self, k: int, law: TimeLaw, notes: tuple[str, ...]) -> "_RoutedPart":
        return _RoutedPart(law, k, 1.0, self.onward[k], float(self.leaving[k]), notes)

    def _looped_law(self, k: int) -> TimeLaw:
        return self.stations[k].looped_law(float(self.rates[k]))

    def _loop(self, members: list[int]) -> StationLoop | None:
        """The loop of some stations; None if one has no such law, or there are too many."""
        inside = self.onward[np.ix_(members, members)]
        again = np.diag(inside).tolist()
        pairs = zip(members, again, strict=True)
        stops = [self.stations[k].stop(float(self.rates[k]), chance) for k, chance in pairs]
        complete = tuple(stop for stop in stops if stop is not None)
        if len(complete) < len(members) or len(members) > _MOST_STATIONS:
            return None
        entries = np.maximum(self.rates[members] - self.rates[members] @ inside, 0.0)
        entries[entries < 1e-12 * entries.max()] = 0.0
        return StationLoop(complete, entries / entries.sum(), inside)

    def _loop_parts(self, members: list[int], loop: StationLoop) -> "list[_RoutedPart] | None":
        """The laws of a loop by entry and exit, or by entry if all jobs leave from it."""
        from headway.queueing.times.tagged_job.laws import is_exact, loop_laws

        away = self.onward[members].copy()
        away[:, members] = 0.0
        ends = not away.any()
        laws = loop_laws(loop, together=ends)
        if laws is None:
            return None
        about = region_note([self.stations[k] for k in members], self.rates[members], loops=True)
        note = UNLIKE_TOGETHER if loop.has_unlike_services else TOGETHER
        names = some_of([self.names[k] for k in members], _SHOWN)
        together = about or f"in the loop of {names}, {note}"
        notes = merged(() if is_exact(loop) else (together,), *(stop.notes for stop in loop.stops))
        if ends:
            pairs = zip(members, laws, strict=True)
            return [_RoutedPart(law, entry, 1.0, away[0], 1.0, notes) for entry, (law,) in pairs]
        parts = []
        for (i, entry), (j, last) in product(enumerate(members), repeat=2):
            out = float(away[j].sum() + self.leaving[last])
            if out > 0:
                share, left = float(loop.visits[i, j]) * out, float(self.leaving[last]) / out
                parts.append(_RoutedPart(laws[i][j], entry, share, away[j] / out, left, notes))
        return parts

    def _journey(self, parts: "list[_RoutedPart]") -> Journey:
        """The journey through the parts, each with its share of arrivals at its entry."""
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
        """Whether successive visits are independent: at most one random time, or overtake-free."""
        random = [k for k, s in enumerate(self.stations) if s.can.product_form is not _DELAY]
        if len(random) < 2:
            return True
        edges: NDArray[np.bool_] = self.onward > 0
        if not is_overtake_free(edges):
            return False
        ends = [not (edges[:, k].any() and edges[k].any()) for k in range(len(edges))]
        return all(
            (s.can.product_form in _QUEUES or edges[k].sum() == 0)
            and (s.plain_count == 1 or ends[k])
            for k, s in enumerate(self.stations)
            if k in random
        )


def region_note(stations: Sequence[VisitedStation], rates: FloatArray, *, loops: bool) -> str:
    """The note on errors measured for general service times; empty without these.

    Parameters
    ----------
    stations, rates
        The visited stations, and the arrival rate of each [1/s].
    loops
        Whether jobs can return to a station.
    """
    queues = [(s, float(rate)) for s, rate in zip(stations, rates, strict=True) if s.can.limits]
    if not any(s.can.product_form is None and s.plain_scv is not None for s, _ in queues):
        return ""
    busy = max(rate * s.mean_service / s.plain_count for s, rate in queues)
    scv = max(s.plain_scv or 0.0 for s, _ in queues)
    return MeasuredRegion.of(loops=loops, pools=False, scv=scv, busy=busy).shares()


_MOST_STATIONS = 20  # most stations of a loop, whose number of laws is the square: for speed
_SHOWN = 12  # stations that a note names
_HARDLY = 1e-9  # stands for an offered load of 0
_DELAY = ServiceKind.DELAY
_QUEUES = (ServiceKind.QUEUE, ServiceKind.PARALLEL)


@dataclass(frozen=True)
class _RoutedPart:
    """A visit to a station, or a stay in a loop from its entry to an exit.

    It is made by a `share` of the arrivals at `entry`; `onward` and `leaving` are the routing
    probabilities at its end.
    """

    law: TimeLaw
    entry: int
    share: float
    onward: FloatArray
    leaving: float
    notes: tuple[str, ...]


def _independent_note(names: list[str]) -> str:
    return (
        f"{INDEPENDENT}, although they return to {some_of(names, _SHOWN)}: 99th percentiles "
        "were up to 40% too low where measured"
    )
