"""Contradictions among the numbers of one measured point, whatever tool or table it came from.

What is impossible in a single number, such as a negative time, is refused when a `Point` is made.
Here each number is compared with the others of its point: times with times, counts with rates,
outstanding requests with clients, utilisation with the queue.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from itertools import pairwise

from headway.models.auditing.finding import (
    Finding,
    FindingKind,
    Look,
    Severity,
    naming,
    of_several,
    time_text,
)
from headway.models.measured.points import DRAIN, LAG, LONGEST, QUEUE, SHORTEST, Loop, Point
from headway.numerals import digits, four_digits, grouped, significant
from headway.records import dataclass

# relative: effect of sketches, and of rounding times to two digits, on the order of times
_ALIKE = 0.05
_MILLISECOND = 1e-3  # the coarsest unit in which tools print times [s]
_COUNT = 0.1  # relative difference of rate times duration and the number of requests
_ENDS = 2.0  # requests that may be counted or not at either end of a test
# lowest percentage of the top percentiles that a mean may not exceed without being reported
_TOP = 99.0
_LONGER = 1.1  # times the length of a test: no response time can be longer
_DRAINED = 0.1  # of the time in which requests were sent: the wait for the last answer
_LATE = 0.1  # of the response time: a mean wait for a free client
_ALL = 0.95  # of its clients: a generator that keeps so many busy cannot catch up
_OVER = 1.05  # times its clients: more requests than they can have outstanding
_BEHIND = 0.995  # of the offered rate: throughput below it, where all clients are busy
_GROWN = (0.4, 0.65)  # ratio of mean to longest time, for times that grow from start to end
_BELOW = 0.05  # share of the asked rate that paced clients may miss without being reported
_ABOVE = 0.1  # relative excess of throughput over the offered rate
_CHANCE = 4.0  # standard deviations of a Poisson number of arrivals
_SHORT = 0.9  # times the utilisation: a mean number in a device that is too small
_PRINTED = 0.02  # requests: to which monitors round the mean number in a device
_FACTOR = 2.0  # between the number in a device as printed and throughput times response time

ORDER = FindingKind(
    "times_out_of_order",
    Severity.ERROR,
    "response times that contradict each other: a percentile below a lower one, or a mean, "
    "`value`, that shortest time, longest time and percentiles rule out",
    "at least one of these numbers is wrong: check the columns and their units",
)
TAIL = FindingKind(
    "mean_above_tail",
    Severity.WARNING,
    "a mean time `value` above the highest percentile, from the 99th on",
    "the percentiles may end at the longest time that the tool can store: use neither until you "
    "know which is right",
)
CYCLE = FindingKind(
    "cycle_above_tail",
    Severity.WARNING,
    "clients sent a request every `value` seconds, longer than the percentiles of its time allow",
    "clients were thinking, or waited in the generator: check the load on it",
)
COUNTS = FindingKind(
    "counts_differ",
    Severity.ERROR,
    "rate times duration, `value`, differs by more than 10% from the number of requests",
    "the tool stopped storing times, or its clock or one number is wrong: find out which before "
    "you use this point",
)
LONGER = FindingKind(
    "longer_than_test",
    Severity.WARNING,
    "a response time, `value`, longer than the test",
    "check the units of times and duration",
)
DRAINED = FindingKind(
    "drain",
    Severity.WARNING,
    "the last answer came `value` seconds after the last request, more than a tenth of the time in "
    "which requests were sent",
    "find out what the last requests waited for: a rate that counts this time is too low",
)
BUSY = FindingKind(
    "clients_busy",
    Severity.ERROR,
    "a rate was asked for, but `value` requests were outstanding or due: all clients, or more",
    "the generator fell behind, and server or generator is overloaded: exclude this point, whose "
    "times grow with the length of the run",
)
BELOW = FindingKind(
    "below_asked_rate",
    Severity.WARNING,
    "clients that keep a pace completed a share `value` less than was asked for",
    "the pace is not that of these points: take their throughput for the load, or exclude them",
)
WAITED = FindingKind(
    "waited_for_client",
    Severity.WARNING,
    "requests waited `value` seconds on average for a free client, which their times include",
    "the server does not cause all of it: use more clients, or subtract it; if it grows with the "
    "run, server or clients fell behind the schedule, so exclude such points",
)
ABOVE = FindingKind(
    "above_offered_rate",
    Severity.ERROR,
    "throughput exceeds the offered rate by a share `value`",
    "no test completes more than is offered: check both numbers and their units",
)
QUEUED = FindingKind(
    "queue_contradicts",
    Severity.WARNING,
    "the mean number of requests in a device, `value`, contradicts its utilisation, or throughput "
    "times response time",
    "do not use this utilisation, or check how the monitor counts",
)


@dataclass(frozen=True)
class _Found:
    """What is wrong with a point: a sentence with times in braces, its number, and the severity."""

    sentence: str
    value: float
    times: tuple[float, ...] = ()
    worse: float = 1.0


Why = Callable[[Point], _Found | None]
"""A function that says what is wrong with one point; None if nothing is."""


def each_point(kind: FindingKind, why: Why) -> Look:
    """Make a check of single points, whose finding names the worst of them.

    Parameters
    ----------
    kind
        The kind of its findings.
    why
        What is wrong with a point.
    """

    def looks(points: Sequence[Point]) -> Iterator[Finding]:
        wrong = {k: found for k, p in enumerate(points) if (found := why(p)) is not None}
        if wrong:
            worst = max(wrong, key=lambda k: wrong[k].worse)
            found = wrong[worst]
            shown = [time_text(time, points) for time in found.times]
            yield kind.finding(
                f"{naming([worst], points)}: {found.sentence.format(*shown)}"
                f"{of_several(len(wrong))}",
                wrong,
                found.value,
                times=tuple(zip(shown, found.times, strict=True)),
            )

    return looks


@dataclass(frozen=True)
class _Time:
    """A time of a point: which statistic, the share of requests that it bounds, and its value."""

    name: str
    share: float
    time: float
    coarse: float

    @property
    def least(self) -> float:
        return max(self.time - _last_digit(self.time) / 2, 0.0) / (1 + self.coarse)

    @property
    def most(self) -> float:
        return (self.time + _last_digit(self.time) / 2) * (1 + self.coarse)


def _last_digit(time: float) -> float:
    """A unit of the last digit of a time, at most a millisecond [s]."""
    exact = Decimal(f"{time:.9g}").normalize()
    return min(float(10.0 ** int(exact.as_tuple().exponent)), _MILLISECOND)


def _times(point: Point) -> list[_Time]:
    """Its known times in the order in which they must increase, without the mean."""
    ends = ((SHORTEST, "shortest", 0.0), (LONGEST, "longest", 1.0))
    known = [(name, share, point.more[key]) for key, name, share in ends if key in point.more]
    known += [(f"p{digits(q)}", q / 100, time) for q, time in point.percentiles.items()]
    ordered = sorted(known, key=lambda each: each[1])
    coarse = max(_ALIKE, point.coarseness)
    at_ends = max(_ALIKE, min(point.coarseness, 1.0))
    return [
        _Time(name, share, time, coarse if 0 < share < 1 else at_ends)
        for name, share, time in ordered
    ]


def _out_of_order(point: Point) -> _Found | None:
    """Times that fall where they must rise, and a mean that they exclude."""
    times = _times(point)
    for low, high in pairwise(times):
        if low.least > high.most:
            sentence = f"{high.name} ({{}}) is below {low.name} ({{}}), which is impossible"
            return _Found(
                sentence, high.time, (high.time, low.time), low.time / (high.time or 1e-9)
            )
    mean = point.response_time
    if mean is None or not times or point.mean_of_rate:
        return None
    least, most = _mean_between(times)
    least += _of_the_longest(point, times)
    error = _last_digit(mean) / 2
    if least <= mean + error and mean - error <= most:
        return None
    shown = ", ".join(each.name for each in times)
    bound, which = (least, "least") if mean < least else (most, "greatest")
    sentence = f"the mean ({{}}) is impossible: {{}} is the {which} that {shown} allow"
    return _Found(sentence, mean, (mean, bound), max(bound, mean) / max(min(bound, mean), 1e-9))


def _mean_between(times: Sequence[_Time]) -> tuple[float, float]:
    """The least and the greatest mean of times with known percentiles.

    A share q2 - q1 of the requests takes between t(q1) and t(q2); without a longest time there is
    no greatest mean.
    """
    first, last = times[0], times[-1]
    steps = list(pairwise(times))
    low = sum((b.share - a.share) * a.least for a, b in steps) + (1 - last.share) * last.least
    if last.share < 1:
        return low, math.inf
    return low, sum((b.share - a.share) * min(b.most, last.most) for a, b in steps) + (
        first.share * min(first.most, last.most)
    )


def _of_the_longest(point: Point, times: Sequence[_Time]) -> float:
    """What the longest time adds to the least mean, as one of so many requests."""
    *others, last = times
    below = others[-1].most if others else 0.0
    counted = last.share == 1 and point.samples
    return max(last.least - below, 0.0) / max(point.samples or 1.0, 1.0) if counted else 0.0


def _above_tail(point: Point) -> _Found | None:
    """A mean above the top percentile, where no longest time explains it."""
    tail = _beyond(point, point.response_time)
    if tail is None or point.mean_of_rate or point.response_time is None:
        return None
    top, longer = tail
    sentence = (
        f"the mean ({{}}) is above {top.name} ({{}}): the {digits(100 - 100 * top.share)}% of "
        "requests beyond would take {} on average"
    )
    times = (point.response_time, top.time, longer)
    return _Found(sentence, point.response_time, times, point.response_time / (top.time or 1e-9))


def _beyond(point: Point, mean: float | None) -> tuple[_Time, float] | None:
    """The top percentile below a mean, and the mean of the times beyond that it takes [s]."""
    times = _times(point)
    top = times[-1] if times else None
    if mean is None or top is None or not _TOP / 100 <= top.share < 1 or mean <= top.most:
        return None
    low, _ = _mean_between(times)
    return top, (mean - low) / (1 - top.share) + top.least


def _above_cycle(point: Point) -> _Found | None:
    """N/X of clients that do not think, above what percentiles of the time allow."""
    counted = point.mean_of_rate or point.response_time is None
    if point.loop is not Loop.CLOSED or point.offered_rate or point.think_time or not counted:
        return None
    if not point.throughput or not point.population or not (times := _times(point)):
        return None
    cycle, top = point.population / point.throughput, times[-1]
    _, most = _mean_between(times)
    most = top.most if top.share < 1 else most
    if top.share < _TOP / 100 or cycle - _last_digit(cycle) / 2 <= most:
        return None
    sentence = (
        f"each of {digits(point.population)} clients sends a request every {{}} (N/X), which is "
        f"above {'its top percentile, ' + top.name if top.share < 1 else 'any mean of these times'}"
        " ({})"
    )
    return _Found(sentence, cycle, (cycle, top.time if top.share < 1 else most), cycle / most)


def _miscounted(point: Point) -> _Found | None:
    """Rate times duration against the number of requests."""
    rate, length, samples = point.throughput, point.duration, point.samples
    if rate is None or length is None or samples is None:
        return None
    failed = point.errors or 0.0
    spans = (rate * length, rate * (length + point.more.get(DRAIN, 0.0)))
    counts = (samples, max(samples - failed, 0.0), samples + failed)
    free = _ENDS + (point.population or 0.0) * (point.loop is Loop.CLOSED)
    pairs = [(made, counted) for made in spans for counted in counts]
    if any(abs(made - n) <= _COUNT * max(made, n) + free for made, n in pairs):
        return None
    made, apart = rate * length, 1 - min(rate * length, samples) / max(rate * length, samples)
    covers = (
        f", so times and percentiles cover only {significant(samples / rate, 3)} s"
        if samples < made
        else ""
    )
    sentence = (
        f"rate times duration is {four_digits(made)} requests, but {grouped(f'{samples:.0f}')} were"
        f" counted, {apart:.0%} {'fewer' if samples < made else 'more'}{covers}"
    )
    return _Found(sentence, made, (), apart)


def _too_long(point: Point) -> _Found | None:
    """A time longer than a load test, with the wait for its last answers.

    A monitor also sees what began before it did.
    """
    if point.loop is None and point.offered_rate is None:
        return None
    known = [(each.time, each.name) for each in _times(point)]
    known += [(point.response_time, "the mean")] if point.response_time is not None else []
    length = (point.duration or math.inf) + point.more.get(DRAIN, 0.0)
    time, name = max(known, default=(0.0, ""))
    if time <= _LONGER * length:
        return None
    sentence = f"{name} ({{}}) is longer than the test ({{}})"
    return _Found(sentence, time, (time, length), time / length)


def _drains(point: Point) -> _Found | None:
    """A long wait for the last answers."""
    drain, length = point.more.get(DRAIN), point.duration
    if drain is None or length is None or drain <= _DRAINED * length:
        return None
    sentence = "the last answer came {} after the last request, which were sent for {}"
    return _Found(sentence, drain, (drain, length), drain / (length or 1e-9))


def _all_busy(point: Point) -> _Found | None:
    """Clients that are all busy in a test with an asked rate."""
    clients, inside = point.population, _due(point)
    asked = point.offered_rate is not None or point.loop is Loop.OPEN
    least = _ALL if _behind(point) else _OVER
    if not asked or not clients or inside < least * clients:
        return None
    waiting = inside - clients
    rest = (
        f"{four_digits(waiting)} waited in the generator"
        if inside >= _OVER * clients
        else "none was free"
    )
    sentence = (
        f"throughput times response time is {four_digits(inside)} requests due and unanswered, but "
        f"there are {grouped(digits(clients))} clients: {rest}{_asked_for(point)}"
    )
    return _Found(sentence, inside, (), inside / clients)


def _less_than_asked(point: Point) -> _Found | None:
    """Clients that do not keep their pace, though not all are busy."""
    offered, rate = point.offered_rate, point.throughput
    if point.loop is not Loop.CLOSED or not offered or rate is None or _all_busy(point) is not None:
        return None
    below = 1 - rate / offered
    if below <= _BELOW:
        return None
    sentence = f"throughput is {four_digits(rate)} op/s, but {four_digits(offered)} were asked for"
    return _Found(sentence, below, (), below)


def _due(point: Point) -> float:
    """Requests that are due and unanswered in the mean, X R; times start when requests were due."""
    late = point.lateness or 0.0
    return (point.throughput or 0.0) * ((point.response_time or 0.0) + late)


def _behind(point: Point) -> bool:
    """Whether throughput is below an offered rate that is known."""
    return (point.throughput or 0.0) < _BEHIND * (point.offered_rate or 0.0)


def _asked_for(point: Point) -> str:
    """The least rate that times show which grow up to at most (1 - X / rate) T."""
    longest = max((each.time for each in _times(point) if each.share == 1), default=0.0)
    mean, length, rate = point.response_time, point.duration, point.throughput
    if point.offered_rate or not (longest and mean and length and rate) or longest >= length:
        return ""
    if not _GROWN[0] < mean / longest < _GROWN[1]:
        return ""
    return f"; at least about {four_digits(rate / (1 - longest / length))} op/s were asked for"


def overloaded(points: Sequence[Point]) -> list[int]:
    """Positions of points whose clients were all busy in a test with an asked rate.

    Parameters
    ----------
    points
        In any order.

    Examples
    --------
    >>> overloaded([Point("wrk2", Loop.OPEN, population=8, throughput=90.0, response_time=0.5)])
    [0]
    """
    return [k for k, point in enumerate(points) if _all_busy(point) is not None]


def _waits(point: Point) -> _Found | None:
    """A wait for a free client that the times include."""
    lag = point.more.get(LAG, 0.0)
    if lag <= _LATE * (point.response_time or math.inf):
        return None
    sentence = "requests waited {} on average for a free client, of a response time of {}"
    return _Found(sentence, lag, (lag, point.response_time or 0.0), lag)


def _more_than_offered(point: Point) -> _Found | None:
    """Throughput above the offered rate, beyond chance."""
    offered, rate = point.offered_rate, point.throughput
    if not offered or not rate:
        return None
    count = rate * point.duration if point.duration else math.inf
    above = rate / offered - 1
    if above <= max(_ABOVE, _CHANCE / math.sqrt(max(count, 1.0))):
        return None
    sentence = (
        f"throughput ({four_digits(rate)} op/s) exceeds the offered {four_digits(offered)} op/s"
    )
    return _Found(sentence, above, (), above)


def _queue_differs(point: Point) -> _Found | None:
    """The number in a device against the share of time that it has any, and against X R.

    A device holds at least one request while it is busy, so its mean number is at least U.
    """
    queue, busy = point.more.get(QUEUE), point.utilisation.get(point.name)
    if queue is None:
        return None
    held = f"the mean number of requests in {point.name} is {four_digits(queue)}"
    if busy is not None and queue < _SHORT * busy - _PRINTED:
        sentence = f"{held}, but it was busy for {busy:.0%} of the time"
        return _Found(sentence, queue, (), busy - queue)
    inside = point.inside
    if inside is None or _near(queue, inside):
        return None
    sentence = f"{held}, but throughput times response time is {four_digits(inside)}"
    return _Found(sentence, queue, (), abs(queue - inside))


def _near(one: float, other: float) -> bool:
    """Whether two numbers in a device agree within a factor, or by their printed digits."""
    low, high = sorted((one, other))
    return high <= _FACTOR * low + _FACTOR * _PRINTED


CONTRADICTIONS: dict[FindingKind, Look] = {
    kind: each_point(kind, why)
    for kind, why in {
        BUSY: _all_busy,
        ORDER: _out_of_order,
        COUNTS: _miscounted,
        ABOVE: _more_than_offered,
        BELOW: _less_than_asked,
        WAITED: _waits,
        DRAINED: _drains,
        TAIL: _above_tail,
        CYCLE: _above_cycle,
        LONGER: _too_long,
        QUEUED: _queue_differs,
    }.items()
}
"""What contradicts itself within a point, by kind: applied to the points of every source."""


def contradictions(points: Sequence[Point]) -> tuple[Finding, ...]:
    """Contradictions within points, whoever made them.

    Parameters
    ----------
    points
        In the order of their load.

    Examples
    --------
    >>> [each.kind for each in contradictions([Point("CSV", percentiles={95.0: 2.8, 99.0: 1.6})])]
    ['times_out_of_order']
    """
    return tuple(finding for look in CONTRADICTIONS.values() for finding in look(points))
