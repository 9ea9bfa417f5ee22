"""Courses of an autoscaler's replicas between two looks, and what a look then sees of them.

From one look to the next a course goes on as one does that began alike: the forward equations are
linear, and no difference between two starts grows. Where a queue forgets its start within the time,
the differences of later starts do not add up either. So a course that begins as another did, with
the same replicas under the same load, is not followed again but goes on as that one did; and one
that ends as another did has the looks of that one. What looks leave recurs then, so most starts are
sums of the same columns, whose shares alone tell how far they are apart.

The number in M/M/m forgets at the rate (sqrt(m mu) - sqrt(lambda))^2 near capacity, and mu far from
it (Karlin and McGregor 1958; van Doorn 1985): `FORGETS` times of the smaller one are asked for.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import isfinite, sqrt
from typing import NamedTuple

import numpy as np

from headway.kinds import Amount, FloatArray
from headway.queueing.transient.autoscaler import Replicas, Rule
from headway.queueing.transient.careful import Columns, Seen
from headway.queueing.transient.forward import Follower, Numbers, Piece, dot
from headway.queueing.transient.service import Service

FEWEST = 1e-4
"""Probability below which a look does not split a course; chosen like `scaled.ERROR`."""

FORGETS = 5.0
"""Times in which a queue has forgotten its start, to within e^-5 or 1%; chosen."""

_KEPT = 16
"""Courses kept for each service; those that were not used for longest are dropped."""

_SAME = 64
"""Sums of columns that are known to begin like one of them, for each service."""

_ENDS = 0.2
"""Largest difference of ends that are taken as the same, over that of starts: what a look sees
forgets little of it. Chosen.
"""

_ABOUT = 1 + 1e-9  # room for rounding

_MORE = 1.25
"""How much likelier a course may be than one like it: the errors of steps are of probabilities."""

LOOKED = 3
"""Number of moments of a look's metric, including the probability."""


class Start:
    """What is known at the start of a time: a sum of columns, each times its share.

    Parameters
    ----------
    parts
        Shares and columns; the same columns may stand there several times.
    """

    def __init__(self, parts: Iterable[tuple[float, Columns]]) -> None:
        self.parts: dict[int, tuple[float, Columns]] = {}
        for share, columns in parts:
            before = self.parts.get(id(columns), (0.0, columns))[0]
            self.parts[id(columns)] = before + share, columns

    @cached_property
    def columns(self) -> Columns:
        """The sum."""
        return mixed(list(self.parts.values()))

    @cached_property
    def size(self) -> float:
        """Sum of the probabilities, each times the number of jobs and 1."""
        return sum(share * columns.sizes[0] for share, columns in self.parts.values())

    def apart(self, other: "Start") -> tuple[float, float]:
        """Most by which it differs from another sum of the same columns.

        Returns
        -------
        The sum of the differences of probabilities, each times the number of jobs and 1; and that
        of the differences of the other moments.
        """
        of_numbers = of_sums = 0.0
        for key, (share, columns) in self.parts.items():
            off = abs(share - other.parts[key][0])
            if off:
                by_number, by_sums = columns.sizes
                of_numbers, of_sums = of_numbers + off * by_number, of_sums + off * by_sums
        return of_numbers, of_sums


class Branch(NamedTuple):
    """A course of the replicas.

    Parameters
    ----------
    pods, weight
        Its replicas, with times since the last look, and its probability then.
    now
        Probabilities and sums if it is taken, one column.
    chance
        Probability of the course, and that its queue has not been left for good.
    """

    pods: Replicas
    weight: float
    now: Start
    chance: float


class Outcome(NamedTuple):
    """What a look may do to a course.

    Parameters
    ----------
    wanted, chance
        The number of replicas wanted, and its probability.
    after
        The course if it is, together with that.
    pods
        The replicas then, for each start delay; all are as likely.
    is_change, is_needless
        Whether their number changes, and adds what was removed though the load has not grown.
    """

    wanted: int
    chance: float
    after: Columns
    pods: tuple[Replicas, ...] = ()
    is_change: bool = False
    is_needless: bool = False


class Looked(NamedTuple):
    """What a look sees of a course.

    Parameters
    ----------
    above
        Probability that its metric is above the target and the tolerance.
    outcomes
        What it may do.
    """

    above: float
    outcomes: list[Outcome]


@dataclass(frozen=True, eq=False)
class End:
    """What is known at the end of a time without looks.

    Parameters
    ----------
    columns, weight
        Probabilities and sums of a course, and its own probability.
    """

    columns: Columns
    weight: float
    _seen: dict[tuple[int, int], Looked] = field(default_factory=dict)
    _looks: dict[tuple[Replicas, bool], Looked] = field(default_factory=dict)

    def looked(self, rule: Rule, pods: Replicas, *, risen: bool) -> Looked:
        """What a look sees of these replicas, and does."""
        if (pods, risen) not in self._looks:
            self._looks[pods, risen] = self._asked(rule, pods, risen)
        return self._looks[pods, risen]

    def _asked(self, rule: Rule, pods: Replicas, risen: bool) -> Looked:  # noqa: FBT001
        alike = max(sum(rule.ready(pods, 0.0)), 1), pods.number
        if alike not in self._seen:
            self._seen[alike] = self._parted(rule, *alike)
        above, outcomes = self._seen[alike]
        found = []
        for wanted, chance, after, *_ in outcomes:
            new = rule.after_look(pods, wanted, risen=risen)
            more = new[0].number - pods.number
            found.append(Outcome(wanted, chance, after, new, more != 0, more > 0 and pods.fell))
        return Looked(above, found)

    def _parted(self, rule: Rule, ready: int, count: int) -> Looked:
        cells, first = self.columns.cells[:, :, 0], self.columns.first
        law, chances = Normal.of(cells[:, :LOOKED]), cells[:, 0]
        shares, wanted = law.parted(chances, *rule.steps(ready, count))
        sums = (shares @ chances).tolist()
        least = FEWEST * float(chances.sum())
        found = []
        for number, share, chance in zip(wanted, shares, sums, strict=True):
            if chance > least:
                after = cells * share[:, None]
                after[:, 1:LOOKED] = 0.0
                found.append(Outcome(number, chance, Columns(first, after[:, :, None])))
        return Looked(law.above(chances, 1 + rule.law.tolerance), found)

    @cached_property
    def onward(self) -> Start:
        """The same, as the start of what follows."""
        return Start([(1.0, self.columns)])

    @cached_property
    def chance(self) -> float:
        """Probability that the queue has not been left for good."""
        return float(self.columns.cells[:, 0].sum())

    @cached_property
    def late(self) -> float:
        """Probability that the second sum is above 0."""
        cells = self.columns.cells[:, :, 0]
        return Normal.of(cells[:, [0, 3, 4]]).above(cells[:, 0], 0.0)


@dataclass(frozen=True, eq=False)
class Gone:
    """What became of a course in a time without looks.

    Parameters
    ----------
    start, weight
        What was known at its start, and its probability then.
    end, spent
        What is known at its end, and the integral of its probabilities over the time [s].
    """

    start: Start
    weight: float
    end: End
    spent: Numbers


class Serving:
    """How so many replicas serve, and what became of courses under the load of late.

    Parameters
    ----------
    service, follower
        Their service, and what follows it.
    seen
        The sums that are followed, by the arrival rate.
    error
        Largest difference of all starts that are taken as the same, in the norm of a step's error
        (`headway.queueing.transient.careful`).
    """

    def __init__(
        self, service: Service, follower: Follower, seen: Callable[[float], Seen], error: float
    ) -> None:
        self.service, self.follower, self.seen, self.error = service, follower, seen, error
        self.rate, self.known = -1.0, dict[float, _Known]()

    def follow(self, branches: Sequence[Branch], rate: float, length: float) -> list[Gone]:
        """What becomes of courses with these replicas, in a piece of time."""
        if rate != self.rate:
            self.rate, self.known = rate, {}
        piece = Piece(length, rate, self.service)
        if length not in self.known:
            can = forgets(piece) and not self.follower.floor
            self.known[length] = _Known(self.error, _KEPT if can else 0)
        known = self.known[length]
        found = [known.like(branch) for branch in branches]
        new = [branch for branch, gone in zip(branches, found, strict=True) if gone is None]
        after = _followed(self.follower, piece, new, self.seen(rate)) if new else []
        followed = iter([known.added(gone) for gone in after])
        return [next(followed) if gone is None else gone for gone in found]


class _Same(NamedTuple):
    """A course that goes on as one did whose start differs by so much, at most.

    Parameters
    ----------
    start, gone
        Its start, and what became of the other.
    of_numbers, of_sums
        By how much they differ, as in `Start.apart`.
    """

    start: Start
    gone: Gone
    of_numbers: float = 0.0
    of_sums: float = 0.0

    def holds(self, start: Start, limit: float, weight: float) -> bool:
        """Whether another sum of the same columns goes on alike as well, within this limit."""
        of_numbers, of_sums = start.apart(self.start)
        apart = max((self.of_numbers + of_numbers) / start.size, self.of_sums + of_sums)
        return apart <= limit and weight <= _MORE * self.gone.weight


class _Known:
    """Courses that are known, by their starts and ends.

    Parameters
    ----------
    error, most
        As for `Serving`, and how many are kept; 0 if a start is never forgotten.
    """

    def __init__(self, error: float, most: int) -> None:
        self.error, self.most = error, most
        self.gone: list[Gone] = []
        self.starts, self.ends = _Rows(most), _Rows(most)
        self.same: dict[frozenset[int], _Same] = {}

    def like(self, branch: Branch) -> Gone | None:
        """One that began alike, and is likely enough."""
        if not self.gone:
            return None
        start, weight = branch.now, branch.weight
        same = self.same.get(frozenset(start.parts))
        if same is not None and same.holds(start, self.error / weight, weight):
            return same.gone
        near = self.starts.nearest(start.columns, self.error / weight, weight)
        if near is None:
            return None
        place, *apart = near
        self._know(_Same(start, self.gone[place], *apart))
        return self.gone[place]

    def _know(self, same: _Same) -> None:
        columns = frozenset(same.start.parts)
        self.same.pop(columns, None)
        if len(self.same) >= _SAME:
            del self.same[next(iter(self.same))]
        self.same[columns] = same

    def added(self, gone: Gone) -> Gone:
        """Know one more, with the end of one that ended alike, if there is any."""
        if not self.most:
            return gone
        limit = _ENDS * self.error / gone.weight
        near = self.ends.nearest(gone.end.columns, limit, gone.weight)
        if near is not None:
            gone = replace(gone, end=self.gone[near[0]].end)
        self.gone = [*self.gone, gone][-self.most :]
        self.starts.add(gone.start.columns, gone.weight)
        self.ends.add(gone.end.columns, gone.end.weight)
        self._know(_Same(gone.start, gone))
        return gone


class _Rows:
    """Columns as rows of one array, over all numbers of jobs that any of them has.

    Parameters
    ----------
    most
        How many are kept, of those that were added last.
    """

    def __init__(self, most: int) -> None:
        self.most, self.first, self.last = most, 0, 0
        self.rows, self.by, self.likely = np.empty((0, 0)), np.empty((0, 2)), np.empty(0)
        self.sizes = np.empty((0, 2))

    def nearest(self, now: Columns, limit: float, weight: float) -> tuple[int, float, float] | None:
        """The row that differs least, if by no more than this, and is likely enough.

        Returns
        -------
        Its place, and by how much it differs, as in `Start.apart`.
        """
        if now.first < self.first or now.last > self.last:
            return None
        off = np.abs(self.sizes - now.sizes)  # no row differs by less than its size does
        least = np.maximum(off[:, 0] / now.sizes[0], off[:, 1])
        places = np.flatnonzero((least <= _ABOUT * limit) & (self.likely >= weight))
        if not len(places):
            return None
        row = now.within(self.first, self.last).cells.ravel()
        of_numbers, of_sums = (np.abs(self.rows[places] - row) @ self.by).T
        apart = np.maximum(of_numbers / now.sizes[0], of_sums)
        best = int(apart.argmin())
        if apart[best] > limit:
            return None
        return int(places[best]), float(of_numbers[best]), float(of_sums[best])

    def add(self, columns: Columns, weight: float) -> None:
        """Add columns of a course of this probability."""
        first, last = columns.first, columns.last
        moments = columns.cells.shape[1]
        if len(self.rows):
            first, last = min(first, self.first), max(last, self.last)
        rows = np.zeros((min(len(self.rows) + 1, self.most), (last - first) * moments))
        if len(rows) > 1:
            at = (self.first - first) * moments
            kept = self.rows[1 - len(rows) :]
            rows[:-1, at : at + kept.shape[1]] = kept
        rows[-1] = columns.within(first, last).cells.ravel()
        self.rows, self.likely = rows, np.append(self.likely, _MORE * weight)[-self.most :]
        self.sizes = np.concatenate([self.sizes, [columns.sizes]])[-self.most :]
        if (first, last) != (self.first, self.last):
            by = np.zeros((last - first, moments, 2))
            by[:, 0, 0] = np.arange(first + 1, last + 1)
            by[:, 1:, 1] = 1.0
            self.first, self.last, self.by = first, last, by.reshape(-1, 2)


def forgets(piece: Piece) -> bool:
    """Whether a queue forgets its start within a piece.

    Examples
    --------
    >>> forgets(Piece(15.0, 70.0, Service(0.1, 10))), forgets(Piece(15.0, 99.0, Service(0.1, 10)))
    (True, False)
    """
    service, rate = piece.service, piece.rate
    if service.speeds or rate >= service.fastest:
        return False
    pace = 1 / service.time
    if isfinite(service.fastest):
        pace = min(pace, (sqrt(service.fastest) - sqrt(rate)) ** 2)
    return pace * piece.length >= FORGETS


def mixed(parts: Sequence[tuple[float, Columns]]) -> Columns:
    """The sum of several columns, each times its weight."""
    first, last = min(each.first for _, each in parts), max(each.last for _, each in parts)
    cells = np.zeros((last - first, *parts[0][1].cells.shape[1:]))
    for weight, each in parts:
        cells[each.first - first : each.last - first] += weight * each.cells
    return Columns(first, cells)


def _followed(
    follower: Follower, piece: Piece, branches: Sequence[Branch], seen: Seen
) -> list[Gone]:
    """Follow courses side by side; the errors of steps are of their probabilities."""
    weights = np.array([branch.weight for branch in branches])
    starts = [branch.now.columns for branch in branches]
    first, last = min(each.first for each in starts), max(each.last for each in starts)
    cells = [each.within(first, last).cells for each in starts]
    now = Columns(first, np.concatenate(cells, axis=2) * weights)
    spent = []
    for _, during, after in follower.through(piece, now, seen):
        spent.append(during)
        now = after
    low, high = min(each.first for each in spent), max(each.last for each in spent)
    time = sum(each.within(low, high).cells[:, 0] for each in spent) / weights
    ends = now.cells / weights
    return [
        Gone(
            branch.now,
            branch.weight,
            End(Columns(now.first, ends[:, :, k : k + 1]), branch.weight),
            Numbers(low, time[:, k]),
        )
        for k, branch in enumerate(branches)
    ]


_NOTHING = 1e-30
"""Probability that counts as 0, as its moments would be rounding only."""

_FAR = 5.0
"""Standard deviations beyond which a metric is hardly ever seen."""

_SURE = 1e-9
"""Standard deviation given to a metric that is certain, relative to its target."""


class Normal:
    """The normal law of the metric seen, by number of jobs."""

    def __init__(self, mean: FloatArray, deviation: FloatArray) -> None:
        self.mean, self.deviation = mean, deviation

    @classmethod
    def of(cls, cells: FloatArray) -> "Normal":
        """The law from its moments."""
        chances = np.where(cells[:, 0] > _NOTHING, cells[:, 0], np.inf)
        mean = cells[:, 1] / chances
        variance = np.maximum(cells[:, 2] / chances - mean**2, 0.0)
        return cls(mean, np.sqrt(variance) + _SURE)

    def below(self, place: Amount) -> FloatArray:
        """Probability that the metric is below a value, or each of several."""
        from scipy.special import ndtr

        return np.asarray(ndtr((place - self.mean) / self.deviation))

    def above(self, chances: FloatArray, place: float) -> float:
        """Total probability that the metric is above a value."""
        return dot(chances, 1 - self.below(place))

    def parted(
        self, chances: FloatArray, places: FloatArray, wanted: list[int]
    ) -> tuple[FloatArray, list[int]]:
        """Probabilities of the numbers wanted, a step function of the metric, and those numbers."""
        likely = chances > FEWEST * chances.max()
        mean, around = self.mean[likely], _FAR * self.deviation[likely]
        ends = float((mean - around).min()), float((mean + around).max())
        start, stop = np.searchsorted(places, ends).tolist()
        below = np.ones((stop - start + 2, len(chances)))
        below[0] = 0.0
        below[1:-1] = self.below(places[start:stop, None])
        return below[1:] - below[:-1], wanted[start : stop + 1]
