"""The others at many servers at once, as arrays: what classes of them do, and who is met.

Rows are work, classes or servers, and columns operating points; sums over some of the rows, each
with a weight, lead from one kind of row to the next.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import isinf

import numpy as np

from headway.kinds import Amount, FloatArray
from headway.queueing.layers.numerics.finite import ROWS, finite_stations
from headway.queueing.layers.others import Class
from headway.queueing.layers.parts import Processor
from headway.queueing.layers.sources import Sources, Work
from headway.queueing.playing.rows import IntArray
from headway.records import dataclass

NEVER = 1e-300
"""As good as no rate."""

NARROW = 1e-2
"""Least time away, over that of service: what is nearly always there."""

_ALONE = Class(1, 1, {})
"""Who is never there."""

Column = Callable[[Amount], FloatArray]
"""A number as a row of all operating points."""


class Sums:
    """Sums over rows, each with its weight.

    Parameters
    ----------
    groups
        Rows of each sum, with their weights.
    column
        How a weight becomes a row.

    Attributes
    ----------
    rows, sums
        Of all weights: of which row each is, and in which sum.

    Examples
    --------
    >>> sums = Sums([{0: 1.0, 2: 0.5}, {}], lambda weight: np.full(1, weight))
    >>> sums.of(np.array([[1.0], [2.0], [4.0]])).tolist()
    [[3.0], [0.0]]
    """

    def __init__(self, groups: Sequence[Mapping[int, Amount]], column: Column) -> None:
        full = [group or {0: 0.0} for group in groups]
        each = [weight for group in full for weight in group.values()]
        self.rows = np.array([row for group in full for row in group], int)
        sizes = [len(group) for group in full]
        self.sums = np.repeat(np.arange(len(full)), sizes)
        self._starts = np.cumsum([0, *sizes])[:-1]
        same = all(np.ndim(weight) == 0 for weight in each)
        self._weights = (
            np.array(each, float).reshape(-1, 1) if same else np.stack(list(map(column, each)))
        )

    def of(self, values: FloatArray) -> FloatArray:
        """Sums of values of the shape (..., rows, points)."""
        return self.over(values[..., self.rows, :])

    def over(self, values: FloatArray) -> FloatArray:
        """Sums of values that are given for each row of each sum."""
        return np.asarray(np.add.reduceat(values * self._weights, self._starts, axis=-2))


class Works:
    """All work of a system, row by row.

    Parameters
    ----------
    sources
        Of a system.
    column
        How a number becomes a row.
    """

    def __init__(self, sources: Sources, column: Column) -> None:
        self.all = tuple(work for works in sources.works for work in works)
        self.index = {work: row for row, work in enumerate(self.all)}
        self.source = np.array([work.source for work in self.all], int)
        often = [sources.works[work.source][work] for work in self.all]
        self.often = np.stack(list(map(column, often)))
        uses = [sources.use(work) for work in self.all]
        self.slices = np.stack([column(slices) for slices, _ in uses])
        self.busy = np.stack([column(time) for _, time in uses])
        second = {s.entry: self.index[s.own] for s in sources.all if s.own and s.own.second}
        self.lasting = bool(second)
        self.second = np.array([second.get(work.entry, 0) for work in self.all], int)
        self.lasts = np.array([[float(work.entry in second)] for work in self.all])
        shared = [_shares(sources.system.processors[sources.processor(w.entry)]) for w in self.all]
        self.shared = np.array(shared, bool).reshape(-1, 1)

    def rows(self, visits: Mapping[Work, Amount]) -> dict[int, Amount]:
        """Numbers of some work by its row."""
        return {self.index[work]: often for work, often in visits.items()}


def _shares(processor: Processor) -> bool:
    return processor.discipline.shares or isinf(processor.servers)


@dataclass(frozen=True, eq=False)
class State:
    """What is known of all work at a step, of the shape (works, points).

    Parameters
    ----------
    cycles
        Of its source [1/s].
    delays
        At its processor: a stretch where servers are shared, or a wait before each slice [s].
    waits
        For the thread that does it [s].
    mean, variance
        Of its time [s].
    first
        Mean of its time alone [s], where ``mean`` is of more.
    second, spread
        Mean and variance of the second phase behind it [s].
    """

    cycles: FloatArray
    delays: FloatArray
    waits: FloatArray
    mean: FloatArray
    variance: FloatArray
    first: FloatArray
    second: FloatArray
    spread: FloatArray

    @property
    def whole(self) -> "State":
        """With the second phase as a part of each work."""
        return replace(self, mean=self.mean + self.second, variance=self.variance + self.spread)


@dataclass(frozen=True, eq=False)
class Seen:
    """Mean of those before one beyond the servers, P(k >= m), P(k >= m - 1); means of classes."""

    beyond: FloatArray
    full: FloatArray
    nearly: FloatArray
    means: FloatArray


class Stations:
    """Servers to which classes come.

    Parameters
    ----------
    begins
        Where the classes of each begin; one more than there are servers.
    servers, most
        m of each, and members n of each class, as `finite_stations` takes them.
    """

    def __init__(self, begins: IntArray, servers: IntArray, most: IntArray) -> None:
        self.begins, self.servers, self.most = begins, servers, most
        self.owner = np.repeat(np.arange(len(servers)), np.diff(begins))
        largest = np.add.reduceat(np.abs(most), begins[:-1]).max(initial=0)
        self._work = np.zeros(ROWS * (int(largest) + 1))

    def by_server(self, values: FloatArray) -> FloatArray:
        """Sums over the classes of each server."""
        return np.asarray(np.add.reduceat(values, self.begins[:-1], axis=0))

    def seen(self, odds: FloatArray) -> Seen:
        """Whom one who comes sees, by the odds S / Z of each class."""
        shape = len(self.servers), odds.shape[1]
        found = Seen(np.zeros(shape), np.zeros(shape), np.zeros(shape), np.zeros(odds.shape))
        results = found.beyond, found.full, found.nearly, found.means
        given = np.ascontiguousarray(odds)
        finite_stations(self.begins, self.servers, self.most, given, *results, self._work)
        return found

    def mixed(self, seen: Seen, values: FloatArray) -> FloatArray:
        """At each server the mean of values by classes, as often as they are there."""
        total = np.maximum(self.by_server(seen.means), NEVER)
        return np.asarray(self.by_server(seen.means * values) / total)


@dataclass(frozen=True, eq=False)
class Coming:
    """What classes do at their servers, of the shape (classes, points).

    Parameters
    ----------
    rate
        Visits [1/s].
    service, scv
        Of a visit: its mean [s], and its squared coefficient of variation.
    there
        Members there.
    free
        Members who are neither there nor barred.
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


class Crowds(Stations):
    """Those who are met at servers.

    Parameters
    ----------
    met
        The classes at each server.
    servers
        Of each: m.
    works
        What classes do.
    column
        How a number becomes a row.
    """

    def __init__(
        self,
        met: Sequence[tuple[Class, ...]],
        servers: Sequence[float],
        works: Works,
        column: Column,
    ) -> None:
        full = [classes or (_ALONE,) for classes in met]
        self.classes = [one for each in full for one in each]
        super().__init__(
            np.cumsum([0, *map(len, full)]).astype(np.int64),
            np.array(servers, np.int64),
            np.array([one.most for one in self.classes], np.int64),
        )
        self.members = np.array([sum(one.most for one in each) for each in met], np.int64)
        self.population = np.array([[float(one.population)] for one in self.classes])
        self.visits = Sums([works.rows(one.visits) for one in self.classes], column)
        self.barred = Sums([works.rows(one.barred) for one in self.classes], column)

    def odds(self, coming: Coming, same: FloatArray | None = None) -> FloatArray:
        """S / Z of each class.

        In order of arrival all wait for as long, so the mean service of all who come, ``same`` of
        each server, takes the place of each class's own.
        """
        service = coming.service if same is None else same[self.owner]
        away = coming.free / np.maximum(coming.rate, NEVER) + coming.service - service
        service = np.maximum(service, NEVER)
        least = NARROW * service / self.servers[self.owner, np.newaxis]
        return np.asarray(service / np.maximum(away, least))
