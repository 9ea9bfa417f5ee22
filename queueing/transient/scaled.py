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
merged, and one that begins as another did goes on as that one
(`headway.queueing.transient.branches`). A law of start delays is represented by a few values.

Whether the mean response time of a minute exceeds a target is followed in the same way: by the sum
of R(n) - target over arrivals, with R(n) the mean response time of an arrival that meets n.
"""

from bisect import bisect, bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import accumulate, pairwise

import numpy as np

from headway.errors import InvalidParameter
from headway.kinds import FloatArray
from headway.numerals import times as written
from headway.queueing.transient.autoscaler import Autoscaler, Replicas, Rule
from headway.queueing.transient.branches import FEWEST, LOOKED, Branch, Gone, Serving, Start
from headway.queueing.transient.careful import Columns, Seen
from headway.queueing.transient.forward import Follower, Numbers, total
from headway.queueing.transient.means import TimedMeans
from headway.queueing.transient.methods import gathered
from headway.queueing.transient.network import TimedNetwork
from headway.queueing.transient.service import Service

ERROR = 1e-3
"""Largest difference between two orders in a step. Against a hundredth of it, mean response
times differ by up to 0.3% in a minute and 0.03% over a day, and replicas by up to 10% in a
minute and 0.4% over a day, as courses separate at other looks; over a day the normal law is
further off. ``python -m tests.campaigns.autoscaled_steps --seed 3000 --count 3`` measures it, and
``--seed 1000``.
"""

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
        For more than `MOST_LOOKS`, and for none.
    """
    if last - first <= law.interval * (1 + 1e-9):
        interval, length = written(law.interval, last - first)
        msg = (
            f"autoscaler: its interval of {interval} is not shorter than the day of {length}, so "
            "it never looks; give a shorter interval or a longer day"
        )
        raise InvalidParameter(msg)
    if last - first > MOST_LOOKS * law.interval:
        msg = (
            f"autoscaler: an interval of {written(law.interval)[0]} gives more looks in this day "
            f"than the {MOST_LOOKS:,} that headway follows; give a longer interval"
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


class Courses:
    """All courses of the replicas, each with its probabilities of the numbers of jobs.

    Parameters
    ----------
    network, law, count, service, needed, target
        As in `by_autoscaler`.
    """

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
        cells = np.zeros((len(begin.chances), LOOKED if target is None else LOOKED + 2, 1))
        cells[:, 0, 0] = begin.chances / begin.chances.sum()
        start = Start([(1.0, Columns(begin.first, cells))])
        self.branches = [Branch(self.rule.begin(count, 0.0), 1.0, start, 1.0)]
        self.looked = float(network.edges[0])
        self.gone: dict[int, Gone] = {}
        self.is_new = False
        self.servings: dict[tuple[int, int], Serving] = {}
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
        if self.is_new:
            self.branches = [branch._replace(now=_anew(branch.now)) for branch in self.branches]
            self.is_new = False
        at, end = at - self.looked, end - self.looked
        spent: dict[Service, list[tuple[Numbers, float]]] = {}
        counts = [float(branch.pods.number) for branch in self.branches]
        weights = [branch.chance for branch in self.branches]
        inner = {
            time for branch in self.branches for time in self.rule.changing(branch.pods, at, end)
        }
        servers = 0.0
        for start, stop in pairwise([at, *_distinct_times(sorted(inner), self.rule.near), end]):
            alike: dict[tuple[int, int], list[int]] = {}
            for place, branch in enumerate(self.branches):
                alike.setdefault(self.rule.ready(branch.pods, start), []).append(place)
            for (full, warming), places in alike.items():
                serving = self.serving(full, warming)
                here = self.follow(serving, places, rate, stop - start)
                spent.setdefault(serving.service, []).extend(here)
                chance = sum(self.branches[place].chance for place in places)
                servers += serving.service.crowd * chance * (stop - start)
        low, high = _percentiles(counts, weights, (0.05, 0.95))
        replicas = sum(count * weight for count, weight in zip(counts, weights, strict=True))
        self.rows.append((replicas, servers / (end - at), low, high))
        return [(total(*zip(*each, strict=True)), service) for service, each in spent.items()]

    def follow(
        self, serving: Serving, places: list[int], rate: float, length: float
    ) -> list[tuple[Numbers, float]]:
        """Follow courses whose replicas serve alike; integrals of probabilities, and weights."""
        branches = [self.branches[place] for place in places]
        gone = serving.follow(branches, rate, length)
        for place, (pods, weight, *_), each in zip(places, branches, gone, strict=True):
            self.gone[place] = each
            self.branches[place] = Branch(pods, weight, each.end.onward, weight * each.end.chance)
        return [(each.spent, branch.weight) for each, branch in zip(gone, branches, strict=True)]

    def follower(self, service: Service) -> Follower:
        """A follower of courses with this service."""
        del service
        return Follower(error=ERROR)

    def serving(self, full: int, warming: int) -> Serving:
        """The service of all replicas; those warming up slow all down alike."""
        if (full, warming) not in self.servings:
            whole = self.service(full + warming)
            slow = (full + warming) / (full + self.law.warm_up_speed * warming)
            service = whole.slowed(slow)
            seen = lru_cache(1)(partial(self.gaining, service, full + warming))
            follower = self.follower(service)
            self.servings[full, warming] = Serving(service, follower, seen, ERROR / self.most)
        return self.servings[full, warming]

    def gaining(self, service: Service, ready: int, rate: float) -> Seen:
        """Gains of the mean of metric over target, and of the excess of response times."""
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
        each = enumerate(self.branches)
        self.late.append(sum(branch.weight * self.gone[k].end.late for k, branch in each))
        self.is_new = True

    def look(self, time: float, *, risen: bool) -> None:
        """Split the courses by what a look may see, and merge those that reach the same state."""
        found: dict[Replicas, list[tuple[float, Columns]]] = {}
        chances: dict[Replicas, float] = {}
        above = 0.0
        for place, (pods, weight, *_) in enumerate(self.branches):
            seen = self.gone[place].end.looked(self.rule, pods, risen=risen)
            above += weight * seen.above
            for each in seen.outcomes:
                likely = weight * each.chance
                if likely <= FEWEST:
                    continue
                self.changes += likely * each.is_change
                self.needless += likely * each.is_needless
                for new in each.pods:
                    found.setdefault(new, []).append((weight / len(each.pods), each.after))
                    chances[new] = chances.get(new, 0.0) + likely / len(each.pods)
        self.looks.append((time, above))
        self.looked = time
        states = max(len(self.gone[place].end.columns.cells) for place in range(len(self.branches)))
        most = min(self.most, max(FEW, CELLS // states))
        self.branches = _regrouped(found, chances, most)


def _distinct_times(times: Sequence[float], near: float) -> list[float]:
    """Times that are more than ``near`` after the one before."""
    return [at for k, at in enumerate(times) if k == 0 or at - times[k - 1] > near]


def _anew(now: Start) -> Start:
    """The same, with the sums of response times begun anew at 0."""
    cells = now.columns.cells.copy()
    cells[:, LOOKED:] = 0.0
    return Start([(1.0, Columns(now.columns.first, cells))])


def _regrouped(
    found: dict[Replicas, list[tuple[float, Columns]]], chances: dict[Replicas, float], most: int
) -> list[Branch]:
    """The likeliest courses after a look; all others are merged with those most like them."""
    order = sorted(found, key=lambda pods: -chances[pods])
    kept = sorted(order[:most], key=_likeness)
    parts, weights = {pods: found[pods] for pods in kept}, {pods: chances[pods] for pods in kept}
    for pods in order[most:]:
        like = _nearest(kept, pods)
        parts[like].extend(found[pods])
        weights[like] += chances[pods]
    whole = sum(weights.values())
    return [
        Branch(
            pods,
            weights[pods] / whole,
            Start((share / weights[pods], after) for share, after in parts[pods]),
            weights[pods] / whole,
        )
        for pods in kept
    ]


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
