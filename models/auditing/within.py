"""Inside a run: whether its response times are those of one steady state, and whether it stalls.

The logarithms of the mean response times of 64 equal parts of the run are compared with shapes: a
step at any part, a patch between two, a straight line, and decays from the start. The statistic is
the largest F of these (a sup-F test: Andrews, Econometrica 61, 1993). Response times in a queue
are not independent: F is divided by (1 + r) / (1 - r), the factor by which the lag-one
autocorrelation r of what the shape leaves widens a mean (Bayley and Hammersley, JRSS Supplement 8,
1946), with r corrected for its bias (Marriott and Pope, Biometrika 41, 1954). The tails that remain
are measured: ``python -m tests.campaigns.steady_runs`` counts false alarms in steady queues, and
what is found in runs that are not steady.

A stall is a silence, in which requests wait and none finishes, that is too long for the tail of the
others: of a tail that falls by a power, j log(L_j / L_(j+1)) of the ordered lengths are independent
and exponential (Rényi, Acta Mathematica Hungarica 4, 1953), so the j longest stand out by chance
with probability (1 + that / (m mean))^-m, where the mean is that of the m others.
"""

import math
from collections.abc import Iterator, Sequence
from functools import cache
from statistics import median

import numpy as np
from numpy.typing import NDArray

from headway.kinds import FloatArray
from headway.models.auditing.finding import (
    Finding,
    FindingKind,
    Severity,
    naming,
    of_several,
    time_text,
)
from headway.models.measured.course import PARTS, Course, Silence
from headway.models.measured.points import Point
from headway.numerals import counted, four_digits, significant
from headway.records import dataclass

_ENOUGH = 4000.0  # requests from which the limits below apply; with fewer they are higher
_EDGE = 4  # parts before and after a step, and of a patch
_DECAYS = (1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4)  # time constants, of the run
_NEARLY = 0.85  # share of the largest F: a line that comes so close is preferred to other shapes
_EARLY = 1 / 3  # share of the run: a step before it is the end of a warm-up
_SIZE = 1.1  # ratio of means from which a change matters
_SHIFT = 0.05  # share of the mean by which a warm-up must differ
_CHANCE = 1e-4  # probability of a stall in a steady run
_TAIL, _FEW, _RARE = 20, 40, 100  # of silences: one in so many is tail, at least so many; of stalls
_LONG = 3.0  # ratio to the response time around it below which a silence is not a stall
_LOST = 0.01  # share of the time from which stalls matter
_ALIKE = 1.1  # ratio of lengths up to which stalls count as equally long
_REGULAR = 0.3  # relative spread of intervals that counts as regular

WARM_UP = FindingKind(
    "warm_up",
    Severity.WARNING,
    "response times of a run settle only `value` seconds after its start",
    "leave the start out (--skip), or warm up before you measure",
)
CHANGE = FindingKind(
    "change_within_run",
    Severity.WARNING,
    "response times of a run change by a factor `value` at one time, or between two",
    "the run has more than one steady state: find out what changed, and use one part (--window)",
)
TREND = FindingKind(
    "trend_within_run",
    Severity.WARNING,
    "response times drift by a factor `value` from the start to the end of a run",
    "the run never settles, so its mean depends on its length: find out what grows",
)
STALLS = FindingKind(
    "stalls",
    Severity.WARNING,
    "for a share `value` of a run nothing finished although requests waited",
    "find out what stops the server, such as garbage collection, checkpoints or a quota: models of "
    "queues do not",
)

STEP, PATCH, LINE, DECAY = "step", "patch", "line", "decay"
FEWEST = 256
"""Requests of a run below which 64 parts say nothing."""

LIMITS = {STEP: 30.0, LINE: 30.0, DECAY: 30.0, PATCH: 60.0}
"""The F above which a shape counts in one run of at least 4,000 requests."""


@dataclass(frozen=True)
class RunShape:
    """How the parts of a run differ.

    Parameters
    ----------
    kind
        A step, a patch, a straight line, or a decay from the start.
    first, last
        The parts at which a step or patch begins and ends.
    excess
        F over its limit: above 1 it is not chance.
    """

    kind: str
    first: int
    last: int
    excess: float


@cache
def _family() -> tuple[tuple[tuple[str, int, int], ...], FloatArray]:
    """The shapes, each with a row of values."""
    place, ends = np.arange(PARTS, dtype=float), range(_EDGE, PARTS - _EDGE + 1)
    steps = [(STEP, a, PARTS) for a in ends]
    patches = [(PATCH, a, b) for a in ends for b in ends if b - a >= _EDGE]
    within = [(place >= a) & (place < b) for _, a, b in (*steps, *patches)]
    decays = [np.exp(-place / PARTS / decay) for decay in _DECAYS]
    names = (*steps, *patches, (LINE, 0, PARTS), *((DECAY, 0, PARTS) for _ in decays))
    return names, np.array([*within, place, *decays], dtype=float)


def shape_of(course: Course, runs: int = 1) -> RunShape | None:
    """The shape with the largest F.

    Parameters
    ----------
    course
        The run.
    runs
        Number of runs examined, one of which differs by chance more easily if there are many.

    Returns
    -------
    The shape; None for too few requests.

    Examples
    --------
    >>> steady = Course(60.0, (100.0,) * 64, tuple(4.0 + 0.1 * (k % 3) for k in range(64)))
    >>> shape_of(steady).excess < 1
    True
    >>> jump = Course(60.0, (100.0,) * 64, tuple(4.0 + 4.0 * (k > 31) for k in range(64)))
    >>> found = shape_of(jump)
    >>> found.kind, found.first, found.excess > 1
    ('step', 32, True)
    """
    counts, sums = np.array(course.counts), np.array(course.sums)
    known = (counts > 0) & (sums > 0)
    if counts.sum() < FEWEST or known.sum() < PARTS / 2:
        return None
    return shape_in(np.log(sums[known] / counts[known]), known, counts.sum(), runs)


def shape_in(
    values: FloatArray, known: NDArray[np.bool_], requests: float, runs: int = 1
) -> RunShape:
    """The shape that values of the parts of a run have most of.

    Parameters
    ----------
    values
        Of the parts that are known, whose scatter is alike.
    known
        Which these are.
    requests
        How many there are in all.
    runs
        As for `shape_of`.

    Examples
    --------
    >>> places = np.arange(PARTS)
    >>> found = shape_in(places % 3 + 9.0 * (places > 40), np.ones(PARTS, bool), 1e4)
    >>> found.kind, found.first, found.excess > 1
    ('step', 41, True)
    """
    names, rows = _family()
    strict = math.sqrt(max(1.0, _ENOUGH / requests)) * (1 + 0.16 * math.log(runs))
    statistics = _statistics(values, rows[:, known])
    limits = np.array([LIMITS[kind] for kind, _, _ in names]) * strict
    best, line = int(np.argmax(statistics / limits)), names.index((LINE, 0, PARTS))
    excess = float(statistics[best] / limits[best])
    simple = statistics[line] >= _NEARLY * statistics[best]
    return RunShape(*names[line if simple else best], excess)


def _statistics(logs: FloatArray, values: FloatArray) -> FloatArray:
    """F of each shape, corrected for autocorrelated noise."""
    shapes = values - values.mean(axis=1, keepdims=True)
    norms = np.sqrt((shapes**2).sum(axis=1, keepdims=True))
    shapes = np.divide(shapes, norms, out=np.zeros_like(shapes), where=norms > 0)
    centred = logs - logs.mean()
    parts = shapes @ centred
    left = centred - parts[:, None] * shapes
    squares = np.maximum((left**2).sum(axis=1), 1e-9)
    lag = (left[:, 1:] * left[:, :-1]).sum(axis=1) / squares + 4 / logs.size
    lag = np.clip(lag, 0.0, 0.95)
    return np.asarray(parts**2 * (logs.size - 4) / squares * (1 - lag) / (1 + lag))


def settles(course: Course) -> int:
    """The part from which a run is steady: the truncation of least standard error (MSER).

    References
    ----------
    White, *Simulation* 69, 1997.
    """
    counts, sums = np.array(course.counts), np.array(course.sums)
    known = np.flatnonzero(counts > 0)
    means = sums[known] / counts[known]
    rest = [float(((m := means[k:]) - m.mean()).var() / m.size) for k in range(known.size // 2)]
    return int(known[int(np.argmin(rest))])


def _mean(course: Course, first: int, last: int) -> float:
    """Mean response time of requests sent in some parts [s]."""
    count = sum(course.counts[first:last])
    return sum(course.sums[first:last]) / count if count else math.nan


def _time(course: Course, part: int) -> float:
    """When a part begins, after the start of the run [s]."""
    return course.starts_at + course.length * part / PARTS


@dataclass(frozen=True)
class _Change:
    """A change of a run: how large, the sentence about it, and the times in it [s]."""

    kind: FindingKind
    value: float
    size: float
    sentence: str
    times: tuple[float, ...]


def _warm_up(course: Course, _: RunShape) -> _Change | None:
    end = settles(course)
    early, late, whole = (
        _mean(course, a, b) for a, b in ((0, end), (PARTS // 2, PARTS), (0, PARTS))
    )
    if not abs(whole / late - 1) >= _SHIFT:
        return None
    until = _time(course, end)
    sentence = (
        f"response time settles only {four_digits(until)} s after the start: it averages {{}} "
        "until then, {} in the second half, and {} over the whole run"
    )
    return _Change(WARM_UP, until, _ratio(whole, late), sentence, (early, late, whole))


def _step(course: Course, shape: RunShape) -> _Change | None:
    before, after = _mean(course, 0, shape.first), _mean(course, shape.first, PARTS)
    sentence = (
        f"response time changes {four_digits(_time(course, shape.first))} s after the start, from "
        f"an average of {{}} to {{}}, {_times(after / before)}"
    )
    return _Change(CHANGE, after / before, _ratio(before, after), sentence, (before, after))


def _patch(course: Course, shape: RunShape) -> _Change | None:
    inside = _mean(course, shape.first, shape.last)
    parts = (slice(0, shape.first), slice(shape.last, PARTS))
    spent, count = (sum(sum(each[p]) for p in parts) for each in (course.sums, course.counts))
    outside = spent / count
    sentence = (
        f"response time averages {{}} from {four_digits(_time(course, shape.first))} to "
        f"{four_digits(_time(course, shape.last))} s after the start, and {{}} before and after, "
        f"{_times(inside / outside)}"
    )
    return _Change(CHANGE, inside / outside, _ratio(inside, outside), sentence, (inside, outside))


def _trend(course: Course, _: RunShape) -> _Change | None:
    """A line through the mean times of the parts, weighted by their requests."""
    counts, sums = np.array(course.counts), np.array(course.sums)
    known = counts > 0
    place = (np.flatnonzero(known) + 0.5) / PARTS
    slope, start = np.polyfit(place, sums[known] / counts[known], 1, w=np.sqrt(counts[known]))
    tenth = PARTS // 10
    start = float(start) if start > 0 else _mean(course, 0, tenth)
    end = start + float(slope)
    end = end if end > 0 else _mean(course, PARTS - tenth, PARTS)
    sentence = (
        f"response time drifts from {{}} at the start to {{}} at the end, {_times(end / start)}"
    )
    return _Change(TREND, end / start, _ratio(end, start), sentence, (start, end))


def _ratio(one: float, other: float) -> float:
    return max(one / other, other / one)


def _times(ratio: float) -> str:
    """A ratio in words.

    Examples
    --------
    >>> _times(2.0), _times(0.5)
    ('2.00 times as long', '2.00 times shorter')
    """
    return f"{ratio:.2f} times as long" if ratio >= 1 else f"{1 / ratio:.2f} times shorter"


def change_of(course: Course, runs: int = 1) -> _Change | None:
    """What changes in a run; None for a steady one, or a change that hardly matters.

    Parameters
    ----------
    course, runs
        As for `shape_of`.
    """
    shape = shape_of(course, runs)
    if shape is None or shape.excess < 1:
        return None
    early = shape.kind == DECAY or (shape.kind == STEP and shape.first <= _EARLY * PARTS)
    change = (_warm_up if early else _LATER[shape.kind])(course, shape)
    if change is None or (change.kind is not WARM_UP and change.size < _SIZE):
        return None
    return change


_LATER = {STEP: _step, PATCH: _patch, LINE: _trend}


def _changes(points: Sequence[Point], kind: FindingKind) -> Iterator[Finding]:
    """Runs that change in one way; names the one that changes most."""
    courses = _courses(points)
    found = {k: each for k, c in courses.items() if (each := change_of(c, len(courses)))}
    some = {k: each for k, each in found.items() if each.kind is kind}
    if not some:
        return
    worst = max(some, key=lambda k: some[k].size)
    change = some[worst]
    shown = [time_text(time, points) for time in change.times]
    yield kind.finding(
        f"{naming([worst], points)}: {change.sentence.format(*shown)}{of_several(len(some))}",
        some,
        change.value,
        times=tuple(zip(shown, change.times, strict=True)),
    )


def _courses(points: Sequence[Point]) -> dict[int, Course]:
    return {k: p.course for k, p in enumerate(points) if p.course is not None}


def warms_up(points: Sequence[Point]) -> Iterator[Finding]:
    """Runs that settle late."""
    return _changes(points, WARM_UP)


def changes(points: Sequence[Point]) -> Iterator[Finding]:
    """Runs with a step or a patch."""
    return _changes(points, CHANGE)


def trends(points: Sequence[Point]) -> Iterator[Finding]:
    """Runs that drift."""
    return _changes(points, TREND)


def stalls_of(course: Course, runs: int = 1) -> tuple[Silence, ...]:
    """The silences of a run that are not chance, in the order of time.

    Parameters
    ----------
    course, runs
        As for `shape_of`.
    """
    tail = min(len(course.silences), max(_FEW, int(course.finished) // _TAIL))
    most = min(tail - _FEW // 2, max(5, int(course.finished) // _RARE))
    if tail < _FEW:
        return ()
    known = course.silences[:tail]
    lengths = np.maximum([each.length for each in known], course.width)
    logs, longest = np.log(lengths / lengths[-1]), np.arange(1, most + 1)
    others = np.array([logs[j:-1].mean() for j in longest])
    gaps = np.log(np.maximum((lengths[longest - 1] - course.width) / lengths[longest], 1.0))
    left = tail - 1 - longest
    chance = -left * np.log1p(longest * gaps / np.maximum(others, 0.05) / left)
    best = int(np.argmin(chance))
    if chance[best] > math.log(_CHANCE / most / runs):
        return ()
    stalls = [
        each
        for each in known[: best + 1]
        if each.waiting >= 2 and each.length >= _LONG * _usual(course, each.start)
    ]
    lost = sum(each.length for each in stalls)
    return tuple(sorted(stalls, key=_start)) if lost >= _LOST * course.length else ()


def _usual(course: Course, time: float) -> float:
    """The response time around a time of the run: the median of the parts next to it [s]."""
    place = int(PARTS * time / course.length)
    beside = range(max(place - _EDGE, 0), min(place + _EDGE + 1, PARTS))
    known = [_mean(course, k, k + 1) for k in beside if course.counts[k]]
    return median(known) if known else math.inf


def _start(silence: Silence) -> float:
    return silence.start


def stalls(points: Sequence[Point]) -> Iterator[Finding]:
    """Runs in which at times no request finishes; names the one that stalls most."""
    courses = _courses(points)
    found = {k: each for k, c in courses.items() if (each := stalls_of(c, len(courses)))}
    shares = {k: sum(s.length for s in each) / courses[k].length for k, each in found.items()}
    if shares:
        worst = max(shares, key=lambda k: shares[k])
        yield STALLS.finding(
            f"{naming([worst], points)}: {_stalled(found[worst])}, {shares[worst]:.1%} of the run"
            f"{of_several(len(shares))}",
            shares,
            shares[worst],
        )


def _stalled(silences: Sequence[Silence]) -> str:
    """How often no request finished, and for how long."""
    lengths = [each.length for each in silences]
    waiting = max(each.waiting for each in silences)
    low, high = min(lengths), max(lengths)
    ends = [float(np.mean(lengths))] if high <= _ALIKE * low else [low, high]
    spans = " to ".join(significant(each, 3) for each in ends) + " s"
    apart = np.diff([each.start for each in silences])
    regular = apart.size > 1 and bool(np.ptp(apart) <= _REGULAR * apart.mean())
    every = f", every {four_digits(float(apart.mean()))} s" if regular else ""
    return (
        f"nothing finished for {spans} although up to {four_digits(waiting)} requests waited, "
        f"{counted(len(silences), 'time')}{every}"
    )
