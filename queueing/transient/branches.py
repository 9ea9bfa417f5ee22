"""Courses of an autoscaler's replicas between two looks, and what a look then sees of them.

From one look to the next a course goes on as one does that began alike: the forward equations are
linear, and no difference between two starts grows. Where a queue forgets its start within the time,
the differences of later starts do not add up either. So a course that begins as another did, with
the same replicas under the same load, is not followed again but goes on as that one did.

The number in M/M/m forgets at the rate (sqrt(m mu) - sqrt(lambda))^2 near capacity, and mu far from
it (Karlin and McGregor 1958; van Doorn 1985): `FORGETS` times of the smaller one are asked for.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
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

_MORE = 1.25
"""How much likelier a course may be than one like it: the errors of steps are of probabilities."""

LOOKED = 3
"""Number of moments of a look's metric, including the probability."""


class Branch(NamedTuple):
    """A course of the replicas.

    Parameters
    ----------
    pods, weight
        Its replicas, and its probability at the last look.
    now
        Probabilities and sums if it is taken, one column.
    chance
        Probability of the course, and that its queue has not been left for good.
    """

    pods: Replicas
    weight: float
    now: Columns
    chance: float


class Looked(NamedTuple):
    """What a look sees of a course.

    Parameters
    ----------
    above
        Probability that its metric is above the target and the tolerance.
    wanted
        For each number wanted, its probability, and the course if it is, together with that.
    """

    above: float
    wanted: list[tuple[int, float, Columns]]


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

    start: Columns
    weight: float
    end: Columns
    spent: Numbers
    _looks: dict[tuple[int, int], Looked] = field(default_factory=dict)

    def looked(self, rule: Rule, ready: int, count: int) -> Looked:
        """What a look at its end sees, of so many ready replicas and replicas."""
        if (ready, count) not in self._looks:
            self._looks[ready, count] = self._found(rule, ready, count)
        return self._looks[ready, count]

    def _found(self, rule: Rule, ready: int, count: int) -> Looked:
        cells, first = self.end.cells[:, :, 0], self.end.first
        law, chances = Normal.of(cells[:, :LOOKED]), cells[:, 0]
        shares, wanted = law.parted(chances, *rule.steps(ready, count))
        sums = (shares @ chances).tolist()
        least = FEWEST * float(chances.sum())
        found = []
        for number, share, chance in zip(wanted, shares, sums, strict=True):
            if chance > least:
                after = cells * share[:, None]
                after[:, 1:LOOKED] = 0.0
                found.append((number, chance, Columns(first, after[:, :, None])))
        return Looked(law.above(chances, 1 + rule.law.tolerance), found)

    @cached_property
    def chance(self) -> float:
        """Probability at its end that the queue has not been left for good."""
        return float(self.end.cells[:, 0].sum())

    @cached_property
    def late(self) -> float:
        """Probability that the second sum is above 0 at its end."""
        cells = self.end.cells[:, :, 0]
        return Normal.of(cells[:, [0, 3, 4]]).above(cells[:, 0], 0.0)


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
        self.rate, self.known = -1.0, dict[float, _Starts]()

    def follow(self, branches: Sequence[Branch], rate: float, length: float) -> list[Gone]:
        """What becomes of courses with these replicas, in a piece of time."""
        if rate != self.rate:
            self.rate, self.known = rate, {}
        piece = Piece(length, rate, self.service)
        if length not in self.known:
            can = forgets(piece) and not self.follower.floor
            self.known[length] = _Starts(_KEPT if can else 0)
        known = self.known[length]
        found = [known.like(branch, self.error / branch.weight) for branch in branches]
        new = [branch for branch, gone in zip(branches, found, strict=True) if gone is None]
        after = _followed(self.follower, piece, new, self.seen(rate)) if new else []
        known.add(after)
        followed = iter(after)
        return [next(followed) if gone is None else gone for gone in found]


class _Starts:
    """Starts of courses as rows of one array, over all numbers of jobs that any of them has."""

    def __init__(self, most: int) -> None:
        self.most, self.first, self.last = most, 0, 0
        self.gone: list[Gone] = []
        self.rows, self.by, self.likely = np.empty((0, 0)), np.empty((0, 2)), np.empty(0)

    def like(self, branch: Branch, limit: float) -> Gone | None:
        """The course whose start differs least, if by no more than this, and is likely enough."""
        now = branch.now
        if not self.gone or now.first < self.first or now.last > self.last:
            return None
        start = now.within(self.first, self.last).cells.ravel()
        mean = dot(start, self.by[:, 0])
        by_number, of_sums = (np.abs(self.rows - start) @ self.by).T
        apart = np.maximum(by_number / mean, of_sums)
        apart[self.likely < branch.weight] = np.inf
        best = int(apart.argmin())
        return self.gone[best] if apart[best] <= limit else None

    def add(self, gone: list[Gone]) -> None:
        """Know some more; those that have been known for longest are dropped if there are many."""
        if not gone or not self.most:
            return
        self.gone = [*self.gone, *gone][-self.most :]
        starts = [each.start for each in self.gone]
        self.first, self.last = min(one.first for one in starts), max(one.last for one in starts)
        self.rows = np.array([one.within(self.first, self.last).cells.ravel() for one in starts])
        self.likely = _MORE * np.array([each.weight for each in self.gone])
        by = np.zeros((self.last - self.first, starts[0].cells.shape[1], 2))
        by[:, 0, 0] = np.arange(self.first + 1, self.last + 1)
        by[:, 1:, 1] = 1.0
        self.by = by.reshape(-1, 2)


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
    first = min(branch.now.first for branch in branches)
    last = max(branch.now.last for branch in branches)
    cells = [branch.now.within(first, last).cells for branch in branches]
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
            Columns(now.first, ends[:, :, k : k + 1]),
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
