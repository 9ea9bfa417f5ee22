"""A queue under an autoscaler: forward equations from look to look, of all courses it may take.

What an autoscaler sees is the metric's mean since its last look, which is random, and what it does
decides how the queue goes on. So all courses are followed side by side: with each state of the
replicas (`headway.queueing.transient.autoscaler.Replicas`) the probabilities p_n of n jobs, and
the moments of the metric y where n jobs are left (`headway.queueing.transient.systems`),

    u_n = E[y; N = n],   w_n = E[y^2; N = n].

At a look y is taken to be normal given n, with the mean u_n / p_n and the variance
w_n / p_n - (u_n / p_n)^2, so a share

    p_n (Phi((b - u_n / p_n) / s_n) - Phi((a - u_n / p_n) / s_n))

goes on with what the rule wants for a < y <= b. Means and variances, and how they hang together
with the queue that is left, are exact; the normal law is not. Courses that come to the same state
are one from then on. Start delays that follow a law are taken to have a few values.

Whether a minute's mean response time exceeds a target is followed likewise: by the sum of the
excess R(n) - target of those that come, R(n) being the mean response time of one that meets n.
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
"""Largest difference of a step by two orders. With a hundredth of it mean response times differ by
up to 0.3% in a minute and 0.01% over a day, and replicas by up to 10% in a minute and 0.4% over a
day, as courses part at other looks; over a day that is less than the normal law is off by.
``python -m tests.campaigns.autoscaled_steps --seed 1000 --count 6`` measures it."""

FEWEST = 1e-4
"""Probability below which a look does not part a course; chosen likewise."""

MOST, FEW = 24, 4
"""Courses that are followed side by side, of days with few looks and with many; the least likely
join those that they are most like. With 4 in place of 24 replicas differ by up to 2%."""

CELLS = 6000
"""Numbers of jobs of all courses together from which on fewer courses are followed: a queue that is
long keeps all servers busy, so that the metric is certain and courses part less. Chosen."""

LOOKS = 400
"""Looks up to which a day has few; of more, fewer courses are followed, so that days take as long
as they would with so many looks, or as `FEW` courses take."""


@dataclass(frozen=True, eq=False)
class Course:
    """What an autoscaler does, on average over all courses.

    Parameters
    ----------
    replicas, servers
        Replicas asked for in each part of the time, and servers that are ready.
    low, high
        Replicas asked for in each part that 5 and 95 of 100 courses do not exceed.
    looks, above
        When it looked [s], and the probability that it then saw its metric above its target.
    changes, needless
        Expected changes, and those that add what was removed though no more is needed.
    late
        Probability that the mean response time of each minute exceeds the target; empty without.
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
    """A response time at the queue that the means of some times are not to exceed.

    Parameters
    ----------
    time
        The response time [s].
    edges
        Of these times [s], some of those of the network.
    """

    time: float
    edges: FloatArray


MOST_LOOKS = 100_000
"""Looks of a day: more than one for each second of it."""


def looks_of(law: Autoscaler, first: float, last: float) -> FloatArray:
    """When an autoscaler looks [s].

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
        Whose edges have those of `looks_of`.
    law, count
        The autoscaler, and how many replicas there are at first, all ready.
    service
        How so many replicas serve.
    needed
        Replicas that the load of each part needs.
    target
        What mean response times are compared with, if anything.
    """
    courses = Courses(network, law, count, service, needed, target)
    means = gathered(network, courses.parts())
    return means, courses.course()


@dataclass(frozen=True, eq=False)
class Together:
    """Courses whose replicas serve alike, a column of the numbers of jobs for each."""

    pods: tuple[Replicas, ...]
    columns: Columns


class Courses:
    """All courses that replicas may take, with the probabilities of numbers of jobs of each."""

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
        assert begin is not None  # noqa: S101 - its need says so
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
        """What was seen on the way."""
        replicas, servers, low, high = np.array(self.rows).T
        looks, above = np.array(self.looks).reshape(-1, 2).T
        sums, late = (self.changes, self.needless), np.array(self.late)
        return Course(replicas, servers, low, high, looks, above, *sums, late)

    def parts(self) -> Iterator[list[tuple[Numbers, Service]]]:
        """Of each part of the time: integrals of the probabilities [s], under each service."""
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
        """Follow all courses; some replicas may become ready on the way."""
        spent: dict[Service, list[Numbers]] = {}
        pods = [each for group in self.groups for each in group.pods]
        weights = [w for g in self.groups for w in g.columns.cells[:, 0].sum(axis=0).tolist()]
        inner = {time for each in pods for time in self.rule.changing(each, at, end)}
        servers = 0.0
        for start, stop in pairwise([at, *_apart(sorted(inner), self.rule.near), end]):
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
        """What follows courses whose replicas serve so."""
        del service
        return Follower(error=ERROR)

    def serving(self, full: int, warming: int) -> Service:
        """Those that warm up make all slower in common."""
        whole = self.service(full + warming)
        return whole.slowed((full + warming) / (full + self.law.warm_up_speed * warming))

    def seen(self, service: Service, ready: int, rate: float) -> Seen:
        """The mean of the metric over its target, and the excess of response times."""
        key = service, ready, rate if self.law.metric == "rate" else 0.0
        if key not in self.gains:
            self.gains[key] = self.gaining(*key)
        return self.gains[key]

    def gaining(self, service: Service, ready: int, rate: float) -> Seen:
        """What these sums gain with each number of jobs."""
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
        """Compare the mean response time of a minute that ends now."""
        assert self.target is not None  # noqa: S101 - the caller asked
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
        """Courses by how their replicas serve from a time on."""
        found: dict[tuple[int, int], list[tuple[Together, int]]] = {}
        for group in self.groups:
            for place, pods in enumerate(group.pods):
                found.setdefault(self.rule.ready(pods, time), []).append((group, place))
        alike = all(len({id(group) for group, _ in members}) == 1 for members in found.values())
        if alike and len(found) == len(self.groups):
            return list(self.groups)
        return [_joined([_one(*each) for each in members]) for members in found.values()]

    def look(self, time: float, *, risen: bool) -> None:
        """Part the courses by what a look may see, and join those that come to the same state."""
        found: dict[Replicas, list[_Part]] = {}
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
                        part = _Part(seen, row, column, share, share * chance)
                        found.setdefault(new, []).append(part)
        self.looks.append((time, above))
        states = max(len(group.columns.cells) for group in self.groups)
        most = min(self.most, max(FEW, CELLS // states))
        self.groups = _regrouped(found, most, lambda pods: self.rule.ready(pods, time))

    def kinds(self, group: Together, time: float) -> dict[tuple[int, int], list[int]]:
        """Places of courses by how many replicas were ready since the last look, and by all."""
        found: dict[tuple[int, int], list[int]] = {}
        for place, pods in enumerate(group.pods):
            ready = max(sum(self.rule.ready(pods, time - self.law.interval)), 1)
            found.setdefault((ready, pods.number), []).append(place)
        return found

    def counted(self, old: AtLook, new: Replicas, chance: float) -> None:
        """Count a change, and whether it was needless."""
        number = new.number
        if number != old.number:
            self.changes += chance
            self.needless += chance if number > old.number and old.pods.fell else 0.0


_NOTHING = 1e-30
"""Probability below which there is none: rounding is all that its moments would have."""

_FAR = 5.0
"""Deviations beyond which almost nothing is seen."""

_SURE = 1e-9
"""Deviation of what is certain, in units of its target."""


class _Normal:
    """The law of what is seen, by the number of jobs that are left (row) and course (column)."""

    def __init__(self, mean: FloatArray, deviation: FloatArray) -> None:
        self.mean, self.deviation = mean, deviation

    @classmethod
    def of(cls, cells: FloatArray) -> "_Normal":
        """By the moments."""
        chances = np.where(cells[:, 0] > _NOTHING, cells[:, 0], np.inf)
        mean = cells[:, 1] / chances
        variance = np.maximum(cells[:, 2] / chances - mean**2, 0.0)
        return cls(mean, np.sqrt(variance) + _SURE)

    def below(self, place: Amount) -> FloatArray:
        """Probability that less is seen than at one place, or several."""
        from scipy.special import ndtr

        return np.asarray(ndtr((place - self.mean) / self.deviation))

    def above(self, chances: FloatArray, place: float) -> float:
        """Probability of all that more is seen."""
        return float(np.einsum("nb,nb", chances, 1 - self.below(place)))

    def _ends(self, likely: NDArray[np.bool_]) -> tuple[float, float]:
        """Between which almost all is seen."""
        mean, around = self.mean[likely], _FAR * self.deviation[likely]
        return float((mean - around).min()), float((mean + around).max())

    def parted(self, state: Columns, places: FloatArray, wanted: list[int]) -> "_Seen":
        """The law of what is wanted, which changes at these places of what is seen."""
        chances = state.cells[:, 0]
        likely = chances > FEWEST * chances.max()
        start, stop = np.searchsorted(places, self._ends(likely)).tolist()
        below = np.ones((stop - start + 2, *chances.shape))
        below[0] = 0.0
        below[1:-1] = self.below(places[start:stop, None, None])
        return _Seen(state, below[1:] - below[:-1], wanted[start : stop + 1])


@dataclass(frozen=True, eq=False)
class _Seen:
    """What a look may see of courses side by side.

    Parameters
    ----------
    state, shares, wanted
        The courses, and by what is wanted: the share of each number of jobs that leads to it, shape
        (wanted, states, courses).
    """

    state: Columns
    shares: FloatArray
    wanted: list[int]

    def likely(self) -> Iterator[tuple[int, int, float]]:
        """Rows of what is wanted, and courses, of a probability to speak of."""
        chances = self.state.cells[:, 0]
        sums = np.einsum("nb,knb->kb", chances, self.shares)
        each = np.nonzero((sums > FEWEST) & (sums > FEWEST * chances.sum(axis=0)))
        rows, columns = (place.tolist() for place in each)
        return zip(rows, columns, sums[each].tolist(), strict=True)


class _Part(NamedTuple):
    """What goes on from a look: a row of what is wanted, a course, and how much of both."""

    seen: _Seen
    row: int
    column: int
    share: float
    chance: float

    def add(self, whole: Columns, place: int) -> None:
        """Add it to a course of others; what the look saw begins anew."""
        state = self.seen.state
        first = state.first - whole.first
        here = whole.cells[first : first + len(state.cells), :, place]
        by = self.share * self.seen.shares[self.row, :, self.column]
        cells = state.cells[:, :, self.column]
        here[:, 0] += cells[:, 0] * by
        if cells.shape[1] > _LOOKED:
            here[:, _LOOKED:] += cells[:, _LOOKED:] * by[:, None]


_LOOKED = 3
"""Moments of what a look sees, the probability being the first."""


def _apart(times: Sequence[float], near: float) -> list[float]:
    """Those that are more than a little after the one before."""
    return [at for k, at in enumerate(times) if k == 0 or at - times[k - 1] > near]


def _one(group: Together, place: int) -> tuple[Replicas, Columns]:
    cells = group.columns.cells[:, :, place : place + 1]
    return group.pods[place], Columns(group.columns.first, cells)


def _joined(each: list[tuple[Replicas, Columns]]) -> Together:
    """Side by side."""
    first = min(columns.first for _, columns in each)
    last = max(columns.last for _, columns in each)
    cells = [columns.within(first, last).cells for _, columns in each]
    return Together(tuple(pods for pods, _ in each), Columns(first, np.concatenate(cells, axis=2)))


def _regrouped(
    found: dict[Replicas, list[_Part]], most: int, kind: Callable[[Replicas], tuple[int, int]]
) -> list[Together]:
    """The likeliest courses after a look; each of the others joins the one most like it."""
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


def _added(parts: dict[Replicas, list[_Part]], whole: float) -> Together:
    """Courses side by side, each the sum of its parts, all as probable as that allows."""
    states = [part.seen.state for each in parts.values() for part in each]
    first, last = min(one.first for one in states), max(one.last for one in states)
    columns = Columns(first, np.zeros((last - first, states[0].cells.shape[1], len(parts))))
    for place, each in enumerate(parts.values()):
        for part in each:
            part.add(columns, place)
    columns.cells[:] /= whole
    return Together(tuple(parts), columns)


def _likeness(pods: Replicas) -> tuple[int, int, Replicas]:
    """By which courses are put in order, those that serve alike beside each other."""
    return pods.number, pods.settled, pods


def _nearest(kept: list[Replicas], pods: Replicas) -> Replicas:
    """The one most like it: before or after it in order, with as many replicas if there is one."""

    def far(one: Replicas) -> tuple[int, int]:
        return abs(one.number - pods.number), abs(one.settled - pods.settled)

    place = bisect(kept, _likeness(pods), key=_likeness)
    return min(kept[max(place - 1, 0) : place + 1], key=far)


def _percentiles(
    values: Sequence[float], weights: Sequence[float], shares: tuple[float, ...]
) -> tuple[float, ...]:
    """The values that so many do not exceed."""
    order = sorted(zip(values, weights, strict=True))
    whole = list(accumulate(weight for _, weight in order))
    places = (bisect_left(whole, share * whole[-1]) for share in shares)
    return tuple(order[min(place, len(order) - 1)][0] for place in places)
