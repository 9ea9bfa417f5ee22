"""A queue under an autoscaler: forward equations from look to look, along all possible courses.

At a look an autoscaler sees the mean of its metric since the last look, which is random, and its
decision affects the queue from then on. So all courses (histories of the replicas) are followed
side by side: for each state of the replicas (`headway.queueing.transient.autoscaler.Replicas`) the
probabilities p_n of n jobs, and the moments of the metric y together with n jobs at the look
(`headway.queueing.transient.systems`),

    u_n = E[y; N = n],   w_n = E[y^2; N = n].

Given n, y is taken as normal at a look, with mean u_n / p_n and variance w_n / p_n - (u_n / p_n)^2,
so that probability

    p_n (Phi((b - u_n / p_n) / s_n) - Phi((a - u_n / p_n) / s_n))

goes on with the number of replicas that the rule wants for a < y <= b. Means, variances and
covariances with the queue are exact; the normal law is not. Courses that reach the same state are
merged. A law of start delays is represented by a few values.

Whether the mean response time of a minute exceeds a target is followed in the same way: by the sum
of R(n) - target over arrivals, with R(n) the mean response time of an arrival that meets n.
"""

from bisect import bisect, bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from headway.errors import InvalidParameter
from headway.kinds import Amount, FloatArray
from headway.numerals import times as written
from headway.queueing.transient.autoscaler import AtLook, Autoscaler, Replicas, Rule
from headway.queueing.transient.careful import Columns, Seen
from headway.queueing.transient.forward import Follower, Numbers, Piece, total
from headway.queueing.transient.means import TimedMeans
from headway.queueing.transient.methods import gathered
from headway.queueing.transient.network import TimedNetwork
from headway.queueing.transient.service import Service

ERROR = 1e-3
"""Largest difference between two orders in a step. Against a hundredth of it, mean response
times differ by up to 0.3% in a minute and 0.01% over a day, and replicas by up to 10% in a
minute and 0.4% over a day, as courses separate at other looks; over a day the normal law is
further off. ``python -m tests.campaigns.autoscaled_steps --seed 1000 --count 6`` measures it.
"""

FEWEST = 1e-4
"""Probability below which a look does not split a course; chosen in the same way."""

MOST, FEW = 24, 4
"""Courses followed side by side, for days with few looks and for days with many; the least
likely ones are merged with those most like them. With 4 instead of 24, replicas differ by up to
2%.
"""

CELLS = 6000
"""States of all courses together above which fewer courses are followed: a long queue keeps all
servers busy, so that the metric is certain and courses separate less. Chosen.
"""

LOOKS = 400
"""Number of looks up to which a day counts as one with few. With more, fewer courses are
followed, down to `FEW`, so that days take no longer than with this number.
"""


@dataclass(frozen=True, eq=False)
class Course:
    """What an autoscaler does, as a mean over all courses.

    Parameters
    ----------
    replicas, servers
        Replicas asked for in each part of the time, and servers that are ready.
    low, high
        Replicas asked for in each part that 5 and 95 in 100 courses do not exceed.
    looks, above
        Times of looks [s], and the probability that a look saw its metric above the target.
    changes, needless
        Expected changes, and those that add back replicas that were removed though the load is no
        higher.
    late
        Probability for each minute that its mean response time exceeds the target; empty without
        one.
    """

    replicas: FloatArray
    servers: FloatArray
    low: FloatArray
    high: FloatArray
    looks: FloatArray
    above: FloatArray
    changes: float
    needless: float
    late: FloatArray


@dataclass(frozen=True)
class Target:
    """A response time at the queue, with which the means of some times are compared.

    Parameters
    ----------
    time
        The response time [s].
    edges
        Limits of these times [s], which are among those of the network.
    """

    time: float
    edges: FloatArray


MOST_LOOKS = 100_000
"""Most looks of a day: more than one a second."""


def looks_of(law: Autoscaler, first: float, last: float) -> FloatArray:
    """Times of an autoscaler's looks [s].

    Examples
    --------
    >>> looks_of(Autoscaler("queue", 1.0, maximum=2), 0.0, 60.0).tolist()
    [15.0, 30.0, 45.0]

    Raises
    ------
    InvalidParameter
        For more than `MOST_LOOKS`.
    """
    if last - first > MOST_LOOKS * law.interval:
        msg = (
            f"an interval of {written(law.interval)[0]} has more looks in this day than the "
            f"{MOST_LOOKS:,} that headway follows; give a longer interval"
        )
        raise InvalidParameter(msg)
    looks = first + law.interval * np.arange(1, np.ceil((last - first) / law.interval))
    return np.asarray(looks[looks < last - 1e-9 * law.interval])


def by_autoscaler(
    network: TimedNetwork,
    law: Autoscaler,
    count: int,
    service: Callable[[int], Service],
    needed: FloatArray,
    target: Target | None = None,
) -> tuple[TimedMeans, Course]:
    """Follow the only queue of a network under an autoscaler.

    Parameters
    ----------
    network
        The network; the times of `looks_of` are among its edges.
    law, count
        The autoscaler, and the number of replicas at the start, all ready.
    service
        Function from a number of replicas to their service.
    needed
        Replicas that the load of each part needs.
    target
        Target that mean response times are compared with, if any.
    """
    courses = Courses(network, law, count, service, needed, target)
    means = gathered(network, courses.parts())
    return means, courses.course()


@dataclass(frozen=True, eq=False)
class Together:
    """Courses whose replicas serve alike, with a column of the numbers of jobs for each."""

    pods: tuple[Replicas, ...]
    columns: Columns


class Courses:
    """All courses of the replicas, each with its probabilities of the numbers of jobs."""

    def __init__(
        self,
        network: TimedNetwork,
        law: Autoscaler,
        count: int,
        service: Callable[[int], Service],
        needed: FloatArray,
        target: Target | None,
    ) -> None:
        self.network, self.law, self.service, self.needed = network, law, service, needed
        self.rule, self.target = Rule(law), target
        begin = network.begin()
        assert begin is not None  # noqa: S101 - guaranteed by a need of the method
        self.moments = 3 if target is None else 5
        cells = np.zeros((len(begin.chances), self.moments, 1))
        cells[:, 0, 0] = begin.chances / begin.chances.sum()
        pods = self.rule.begin(count, float(network.edges[0]))
        self.groups = [Together((pods,), Columns(begin.first, cells))]
        self.followers: dict[Service, Follower] = {}
        self.gains: dict[tuple[Service, int, float], Seen] = {}
        self.rows: list[tuple[float, float, float, float]] = []
        self.looks: list[tuple[float, float]] = []
        self.changes = self.needless = 0.0
        self.late: list[float] = []
        looks = (float(network.edges[-1]) - float(network.edges[0])) / law.interval
        self.most = int(np.clip(MOST * LOOKS / max(looks, 1), FEW, MOST))

    def course(self) -> Course:
        """The means over all courses so far."""
        replicas, servers, low, high = np.array(self.rows).T
        looks, above = np.array(self.looks).reshape(-1, 2).T
        sums, late = (self.changes, self.needless), np.array(self.late)
        return Course(replicas, servers, low, high, looks, above, *sums, late)

    def parts(self) -> Iterator[list[tuple[Numbers, Service]]]:
        """For each part of the time, integrals of the probabilities [s] under each service."""
        law, due = self.law, float(self.network.edges[0]) + self.law.interval
        before = 0
        each = zip(pairwise(self.network.edges.tolist()), self.network.rates.tolist(), strict=True)
        for part, ((at, end), rate) in enumerate(each):
            if at >= due - 1e-9 * law.interval:
                self.look(at, risen=bool(self.needed[part] > self.needed[before]))
                due, before = due + law.interval, part
            yield self.through(at, end, rate)
            if self.target is not None:
                self.compare(end)

    def through(self, at: float, end: float, rate: float) -> list[tuple[Numbers, Service]]:
        """Follow all courses between two times; replicas may become ready in between."""
        spent: dict[Service, list[Numbers]] = {}
        pods = [each for group in self.groups for each in group.pods]
        weights = [w for g in self.groups for w in g.columns.cells[:, 0].sum(axis=0).tolist()]
        inner = {time for each in pods for time in self.rule.changing(each, at, end)}
        servers = 0.0
        for start, stop in pairwise([at, *_distinct_times(sorted(inner), self.rule.near), end]):
            self.groups = self.together(start)
            for place, group in enumerate(self.groups):
                full, warming = self.rule.ready(group.pods[0], start)
                service = self.serving(full, warming)
                follower = self.followers.setdefault(service, self.follower(service))
                piece, now = Piece(stop - start, rate, service), group.columns
                seen = self.seen(service, full + warming, rate)
                for _, during, after in follower.through(piece, now, seen):
                    chances = np.asarray(during.cells[:, 0].sum(axis=1))
                    spent.setdefault(service, []).append(Numbers(during.first, chances))
                    now = after
                self.groups[place] = Together(group.pods, now)
                servers += service.crowd * float(now.chances.sum()) * (stop - start)
        counts = [float(each.number) for each in pods]
        low, high = _percentiles(counts, weights, (0.05, 0.95))
        replicas = sum(count * weight for count, weight in zip(counts, weights, strict=True))
        self.rows.append((replicas, servers / (end - at), low, high))
        return [(total(each), service) for service, each in spent.items()]

    def follower(self, service: Service) -> Follower:
        """A follower of courses with this service."""
        del service
        return Follower(error=ERROR)

    def serving(self, full: int, warming: int) -> Service:
        """The service of all replicas; those warming up slow all down alike."""
        whole = self.service(full + warming)
        return whole.slowed((full + warming) / (full + self.law.warm_up_speed * warming))

    def seen(self, service: Service, ready: int, rate: float) -> Seen:
        """The sums to follow: the mean of metric over target, and the excess of response times."""
        key = service, ready, rate if self.law.metric == "rate" else 0.0
        if key not in self.gains:
            self.gains[key] = self.gaining(*key)
        return self.gains[key]

    def gaining(self, service: Service, ready: int, rate: float) -> Seen:
        """Gains of these sums, by number of jobs."""
        law, target = self.law, self.target
        scale = 1 / (law.target * law.interval)

        def gains(number: FloatArray) -> FloatArray:
            found = np.zeros((1 if target is None else 2, 3, len(number)))
            if law.metric == "rate":
                found[0, 1], found[0, 2] = rate * scale / ready, rate * (scale / ready) ** 2
            else:
                busy = law.metric == "utilisation"
                found[0, 0] = scale * (service.busy(number) if busy else number / ready)
            if target is not None:
                length = float(target.edges[1] - target.edges[0])
                found[1, 0] = (service.mean_times(number) / target.time - 1) / length
            return found

        return gains

    def compare(self, time: float) -> None:
        """Compare the mean response time of the minute that ends now with the target."""
        assert self.target is not None  # noqa: S101 - guaranteed by the caller
        edge = self.target.edges[len(self.late) + 1]
        if time < edge - 1e-9 * self.law.interval:
            return
        over = 0.0
        for group in self.groups:
            cells = group.columns.cells
            over += _Normal.of(cells[:, [0, 3, 4]]).above(cells[:, 0], 0.0)
            cells[:, 3:] = 0.0
        self.late.append(over)

    def together(self, time: float) -> list[Together]:
        """Courses, grouped by how their replicas serve from now on."""
        found: dict[tuple[int, int], list[tuple[Together, int]]] = {}
        for group in self.groups:
            for place, pods in enumerate(group.pods):
                found.setdefault(self.rule.ready(pods, time), []).append((group, place))
        alike = all(len({id(group) for group, _ in members}) == 1 for members in found.values())
        if alike and len(found) == len(self.groups):
            return list(self.groups)
        return [
            _side_by_side([_single_course(*each) for each in members]) for members in found.values()
        ]

    def look(self, time: float, *, risen: bool) -> None:
        """Split the courses by what a look may see, and merge those that reach the same state."""
        found: dict[Replicas, list[_CoursePart]] = {}
        above = 0.0
        for group in self.groups:
            for (ready, count), places in self.kinds(group, time).items():
                cells = group.columns.cells
                cells = cells if len(places) == cells.shape[2] else cells[:, :, places]
                law = _Normal.of(cells[:, :3])
                here = Columns(group.columns.first, cells)
                above += law.above(cells[:, 0], 1 + self.law.tolerance)
                seen = law.parted(here, *self.rule.steps(ready, count))
                looks = [self.rule.at(group.pods[place], time) for place in places]
                for row, column, chance in seen.likely():
                    wanted = seen.wanted[row]
                    delays = self.rule.delays if wanted > count else self.rule.delays[:1]
                    share = 1 / len(delays)
                    for delay in delays:
                        new = self.rule.asked(looks[column], wanted, delay, risen=risen)
                        self.counted(looks[column], new, share * chance)
                        part = _CoursePart(seen, row, column, share, share * chance)
                        found.setdefault(new, []).append(part)
        self.looks.append((time, above))
        states = max(len(group.columns.cells) for group in self.groups)
        most = min(self.most, max(FEW, CELLS // states))
        self.groups = _regrouped(found, most, lambda pods: self.rule.ready(pods, time))

    def kinds(self, group: Together, time: float) -> dict[tuple[int, int], list[int]]:
        """Indices of courses, by replicas ready since the last look and by all replicas."""
        found: dict[tuple[int, int], list[int]] = {}
        for place, pods in enumerate(group.pods):
            ready = max(sum(self.rule.ready(pods, time - self.law.interval)), 1)
            found.setdefault((ready, pods.number), []).append(place)
        return found

    def counted(self, old: AtLook, new: Replicas, chance: float) -> None:
        """Count a change of replicas, and whether it was needless."""
        number = new.number
        if number != old.number:
            self.changes += chance
            self.needless += chance if number > old.number and old.pods.fell else 0.0


_NOTHING = 1e-30
"""Probability that counts as 0, as its moments would be rounding only."""

_FAR = 5.0
"""Standard deviations beyond which a metric is hardly ever seen."""

_SURE = 1e-9
"""Standard deviation given to a metric that is certain, relative to its target."""


class _Normal:
    """The normal law of the metric seen, by number of jobs (row) and course (column)."""

    def __init__(self, mean: FloatArray, deviation: FloatArray) -> None:
        self.mean, self.deviation = mean, deviation

    @classmethod
    def of(cls, cells: FloatArray) -> "_Normal":
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
        return float(np.einsum("nb,nb", chances, 1 - self.below(place)))

    def _ends(self, likely: NDArray[np.bool_]) -> tuple[float, float]:
        """An interval in which almost every metric is seen."""
        mean, around = self.mean[likely], _FAR * self.deviation[likely]
        return float((mean - around).min()), float((mean + around).max())

    def parted(self, state: Columns, places: FloatArray, wanted: list[int]) -> "_Outcomes":
        """Probabilities of the numbers wanted, a step function of the metric."""
        chances = state.cells[:, 0]
        likely = chances > FEWEST * chances.max()
        start, stop = np.searchsorted(places, self._ends(likely)).tolist()
        below = np.ones((stop - start + 2, *chances.shape))
        below[0] = 0.0
        below[1:-1] = self.below(places[start:stop, None, None])
        return _Outcomes(state, below[1:] - below[:-1], wanted[start : stop + 1])


@dataclass(frozen=True, eq=False)
class _Outcomes:
    """What a look may see of courses side by side.

    Parameters
    ----------
    state, shares, wanted
        The courses; for each number wanted and each number of jobs, the probability of wanting it,
        shape (wanted, states, courses); and the numbers wanted.
    """

    state: Columns
    shares: FloatArray
    wanted: list[int]

    def likely(self) -> Iterator[tuple[int, int, float]]:
        """Row of the number wanted, course and probability, unless that is negligible."""
        chances = self.state.cells[:, 0]
        sums = np.einsum("nb,knb->kb", chances, self.shares)
        each = np.nonzero((sums > FEWEST) & (sums > FEWEST * chances.sum(axis=0)))
        rows, columns = (place.tolist() for place in each)
        return zip(rows, columns, sums[each].tolist(), strict=True)


class _CoursePart(NamedTuple):
    """A part of a course after a look: a row of the number wanted, a course, and its shares."""

    seen: _Outcomes
    row: int
    column: int
    share: float
    chance: float

    def add(self, whole: Columns, place: int) -> None:
        """Add this part to a merged course; the sums of the look start anew at 0."""
        state = self.seen.state
        first = state.first - whole.first
        here = whole.cells[first : first + len(state.cells), :, place]
        by = self.share * self.seen.shares[self.row, :, self.column]
        cells = state.cells[:, :, self.column]
        here[:, 0] += cells[:, 0] * by
        if cells.shape[1] > _LOOKED:
            here[:, _LOOKED:] += cells[:, _LOOKED:] * by[:, None]


_LOOKED = 3
"""Number of moments of a look's metric, including the probability."""


def _distinct_times(times: Sequence[float], near: float) -> list[float]:
    """Times that are more than ``near`` after the one before."""
    return [at for k, at in enumerate(times) if k == 0 or at - times[k - 1] > near]


def _single_course(group: Together, place: int) -> tuple[Replicas, Columns]:
    cells = group.columns.cells[:, :, place : place + 1]
    return group.pods[place], Columns(group.columns.first, cells)


def _side_by_side(each: list[tuple[Replicas, Columns]]) -> Together:
    """Courses side by side as one group."""
    first = min(columns.first for _, columns in each)
    last = max(columns.last for _, columns in each)
    cells = [columns.within(first, last).cells for _, columns in each]
    return Together(tuple(pods for pods, _ in each), Columns(first, np.concatenate(cells, axis=2)))


def _regrouped(
    found: dict[Replicas, list[_CoursePart]], most: int, kind: Callable[[Replicas], tuple[int, int]]
) -> list[Together]:
    """The likeliest courses after a look; all others are merged with those most like them."""
    weights = {pods: sum(part.chance for part in parts) for pods, parts in found.items()}
    order = sorted(found, key=lambda pods: -weights[pods])
    kept = sorted(order[:most], key=_likeness)
    sums = {pods: found[pods] for pods in kept}
    for pods in order[most:]:
        sums[_nearest(kept, pods)].extend(found[pods])
    groups: dict[tuple[int, int], list[Replicas]] = {}
    for pods in sums:
        groups.setdefault(kind(pods), []).append(pods)
    whole = sum(weights.values())
    return [_added({pods: sums[pods] for pods in each}, whole) for each in groups.values()]


def _added(parts: dict[Replicas, list[_CoursePart]], whole: float) -> Together:
    """Courses side by side, each the sum of its parts, with probabilities that sum to 1."""
    states = [part.seen.state for each in parts.values() for part in each]
    first, last = min(one.first for one in states), max(one.last for one in states)
    columns = Columns(first, np.zeros((last - first, states[0].cells.shape[1], len(parts))))
    for place, each in enumerate(parts.values()):
        for part in each:
            part.add(columns, place)
    columns.cells[:] /= whole
    return Together(tuple(parts), columns)


def _likeness(pods: Replicas) -> tuple[int, int, Replicas]:
    """Sort key of courses, which puts those that serve alike next to each other."""
    return pods.number, pods.settled, pods


def _nearest(kept: list[Replicas], pods: Replicas) -> Replicas:
    """The course most like this one: a neighbour in order, with as many replicas if possible."""

    def far(one: Replicas) -> tuple[int, int]:
        return abs(one.number - pods.number), abs(one.settled - pods.settled)

    place = bisect(kept, _likeness(pods), key=_likeness)
    return min(kept[max(place - 1, 0) : place + 1], key=far)


def _percentiles(
    values: Sequence[float], weights: Sequence[float], shares: tuple[float, ...]
) -> tuple[float, ...]:
    """The values not exceeded by these shares of the weight."""
    order = sorted(zip(values, weights, strict=True))
    whole = list(accumulate(weight for _, weight in order))
    places = (bisect_left(whole, share * whole[-1]) for share in shares)
    return tuple(order[min(place, len(order) - 1)][0] for place in places)
