"""Those who are met at servers: classes, their rates and times, and what an arriving job sees.

docs/explanation/layers.md derives the odds, and docs/explanation/pools-in-layers.md the law of
pools with more callers than threads.
"""

from collections.abc import Sequence
from dataclasses import fields

import numpy as np
from numpy.typing import NDArray

from headway.kinds import Amount, FloatArray
from headway.queueing.layers.decomposed.capacities import Capacities, Freed
from headway.queueing.layers.decomposed.others import (
    Callers,
    Class,
    Classes,
    together,
)
from headway.queueing.layers.decomposed.sources import Stacks
from headway.queueing.layers.decomposed.structures import Others
from headway.queueing.layers.decomposed.views import Meetings, Views
from headway.queueing.layers.decomposed.ways import Server
from headway.queueing.layers.decomposed.works import State, Works
from headway.queueing.layers.numerics.pools import HIGHEST, pool_ratios
from headway.queueing.layers.numerics.stations import (
    NEVER,
    Odds,
    Seen,
    Stations,
    Sums,
    counted,
    stacked,
)
from headway.queueing.playing.rows import IntArray
from headway.records import dataclass

NARROW = 1e-2
"""Least time away, relative to the service time, for classes that are nearly always there."""

_ALONE = Class(1, 1, {})  # an empty class: its only member never comes


@dataclass(frozen=True, eq=False)
class Coming:
    """Rates and times of classes at their servers, each of shape (classes, points).

    Parameters
    ----------
    rate
        Visits [1/s].
    service, scv
        Mean service time of a visit [s], and its squared coefficient of variation.
    there
        Mean members at the server.
    free
        Mean members who are neither at the server nor barred from it.
    """

    rate: FloatArray
    service: FloatArray
    there: FloatArray
    free: FloatArray
    scv: FloatArray

    @property
    def away(self) -> FloatArray:
        """Mean time between visits [s], of those who can come, above 0."""
        least = NARROW * np.maximum(self.service, NEVER)
        return np.maximum(self.free / np.maximum(self.rate, NEVER), least)

    def where(self, chosen: NDArray[np.bool_], others: "Coming") -> "Coming":
        """The numbers of others for some classes."""
        pairs = ((getattr(self, one.name), getattr(others, one.name)) for one in fields(self))
        return Coming(*(np.where(chosen, new, old) for old, new in pairs))


class Crowds(Stations):
    """Those who are met at servers.

    Parameters
    ----------
    met
        The classes met at each server.
    comers
        The source of the arriving job at each; -1 for none.
    servers
        Number of servers m of each.
    works, views
        All work of the system, and its views.
    """

    def __init__(
        self,
        met: Sequence[Classes],
        comers: Sequence[int],
        servers: Sequence[Amount],
        works: Works,
        views: Views,
        capacities: Capacities,
    ) -> None:
        full = [classes or (_ALONE,) for classes in met]
        self.classes = [one for each in full for one in each]
        self._column = column = views.column
        most = counted([one.most for one in self.classes], column)
        self._pooled = np.flatnonzero([one.callers is not None for one in self.classes])
        begins = np.cumsum([0, *most[self._pooled].max(axis=1)])
        self.ratios, law = int(begins[-1]), np.full(len(most), -1, np.int64)
        law[self._pooled] = begins[:-1]
        each = np.cumsum([0, *map(len, full)]).astype(np.int64)
        super().__init__(each, counted(servers, column), most, law)
        self.members = counted(list(map(together, met)), column)
        who = self._seen_by(comers)
        self.visits, self.barred = (
            Meetings([works.rows(each) for each in of], who, works.source, views)
            for of in ([one.visits for one in self.classes], [one.barred for one in self.classes])
        )
        everybody = views.of[who] == 0
        every = stacked([one.population for one in self.classes], column)
        self.population = np.where(everybody[:, np.newaxis], every, most.astype(float))
        self._read_pools(who, views, capacities)
        self._read_parts(comers, works, views)

    def _seen_by(self, comers: Sequence[int]) -> IntArray:  # noqa: ARG002 - by who waits
        """Source of which each class is seen with one member fewer: none at processors.

        There a class may hold more threads of lower pools than exist, which makes up for this.
        """
        return np.full(len(self.owner), -1)

    def _read_pools(self, who: IntArray, views: Views, capacities: Capacities) -> None:
        """Read who calls the pools of threads with more callers than threads."""
        at, names = self._pooled, capacities.names
        if not at.size:
            return
        callers = [self.classes[k].callers or Callers(0, 0) for k in at]
        everybody = views.of[who[at]] == 0
        counts = zip(*((one.count, one.above, one.in_all) for one in callers), strict=True)
        count, above, in_all = (counted(each, self._column) for each in counts)
        self._callers = np.where(everybody[:, np.newaxis], in_all, count)
        waiting = np.array([int(bool(one.task)) for one in callers], np.int64)
        self._counts = self.most[at], above, count, waiting
        self._own, self._above = (
            np.array([[name in pools for name in names] for pools in each], float)
            for each in ([(one.task,) for one in callers], [one.pools for one in callers])
        )
        self._has_above = above > 0
        self._pool_work = np.zeros(2 * (int(self.most[at].max(initial=HIGHEST)) + 1))

    def _read_parts(self, comers: Sequence[int], works: Works, views: Views) -> None:
        """The share of each kind of clients in each class, for the view with one of them fewer.

        With one of n clients fewer, a class loses as many members as that client's share of its
        visits.
        """
        parts: list[dict[int, Amount]] = []
        places: list[dict[int, Amount]] = [{} for _ in self.servers]
        of: list[int] = []
        view: list[int] = []
        most: list[Amount] = []
        for row, one in enumerate(self.classes):
            place = int(self.owner[row])
            for k in dict.fromkeys(work.source for work in one.visits):
                left = views.populations[k] - (k == comers[place])
                if views.of[k] and np.all(left > 0):
                    places[place][len(parts)] = 1.0
                    visits = {w: often for w, often in one.visits.items() if w.source == k}
                    parts.append(works.rows(visits))
                    of.append(row)
                    view.append(int(views.of[k]))
                    most.append(one.most / left)
        self._class, self._parts = np.array(of, int), Sums(parts, views.column) if parts else None
        self._most = stacked(most, views.column) * views.within(view)
        self._places = Sums(places, views.column)

    def kept(self, coming: Coming, seen: Seen, cycles: FloatArray) -> FloatArray | float:
        """The share of the jobs met that remains in a view with one client fewer."""
        if self._parts is None:
            return 1.0
        of = self._class
        share = self._parts.of(cycles) / np.maximum(coming.rate[of], NEVER)
        less = 1 - seen.fewer[of] / np.maximum(seen.beyond[self.owner[of]], NEVER)
        lost = self._places.of(np.minimum(share * self._most, 1.0) * np.maximum(less, 0.0))
        return np.asarray(np.maximum(1 - lost, 0.0))

    def odds(
        self, now: State, freed: Freed, coming: Coming, same: FloatArray | None = None
    ) -> Odds:
        """S / Z of each class, and ratios of coefficients where a pool has many callers.

        In order of arrival all jobs wait equally long, so the mean service time over all jobs of
        the server, ``same``, replaces that of each class.
        """
        service = coming.service if same is None else same
        away = coming.free / np.maximum(coming.rate, NEVER) + coming.service - service
        service = np.maximum(service, NEVER)
        servers = self.servers[self.owner]
        least = NARROW * service / servers
        each = np.asarray(service / np.maximum(away, least))
        there = coming.there + coming.rate * (service - coming.service)
        return Odds(each, self._of_pools(now, freed, coming.rate * service, there))

    def _of_pools(
        self, now: State, freed: Freed, busy: FloatArray, there: FloatArray
    ) -> FloatArray:
        """Ratios of coefficients of pools with many callers."""
        at = self._pooled
        ratios = np.zeros((self.ratios, busy.shape[1]))
        if not at.size:
            return ratios
        busy = np.maximum(busy[at], NEVER)
        there = there[at] + self.barred.of(now.held)[at]
        each = np.array([freed.inside, freed.held, freed.rate, freed.most])
        inside, held, rate, most = self._own @ each
        above, threads, all_rate, all_most = self._above @ each
        outside = self._callers - np.where(self._has_above, np.maximum(above, inside), inside)
        outside = np.maximum(outside, NARROW * busy / self.servers[self.owner[at]])
        pool_ratios(
            *self._counts,
            busy / outside,
            np.maximum(held - there, 0.0) / outside,
            np.maximum(threads - inside, 0.0) / outside,
            rate / outside / np.maximum(most, NEVER),
            all_rate / outside / np.maximum(all_most, NEVER),
            ratios,
            self._pool_work,
        )
        return ratios

    def until_free(self, coming: Coming, seen: Seen) -> FloatArray:
        """Mean wait in order of arrival until one of the m servers is free.

        The first of all busy servers is free after the time of `first_free`. In the long run
        servers are free at the rate m / S, with the mean S over all that come.
        """
        first = self.first_free(coming.rate * coming.service, coming.service)
        rate = np.maximum(self.by_server(coming.rate), NEVER)
        mean = self.by_server(coming.rate * coming.service) / rate
        longer = (seen.beyond - seen.full) * mean / self.servers
        return np.asarray(seen.full * first + longer)


class Places:
    """Servers with the classes met there, numbered as they are found."""

    def __init__(self, others: Others) -> None:
        self.others = others
        self.found: dict[tuple[int, int], int] = {}
        self.classes: list[Classes] = []
        self.owners: list[int] = []
        self.comers: list[int] = []

    def of(self, owner: int, server: Server, source: int, stacks: Stacks) -> dict[int, Amount]:
        """Places where a source comes to a server, by number, with their shares of its visits."""
        ways: dict[int, Amount] = {}
        for held, share in stacks.items():
            classes = self.others.of(server, source, held)
            place = self.found.setdefault((owner, id(classes)), len(self.classes))
            if place == len(self.classes):
                self.classes.append(classes)
                self.owners.append(owner)
                self.comers.append(source)
            ways[place] = ways.get(place, 0.0) + share
        return ways
