"""What an entry does for a request, from the calls that its requests made.

Calls that overlap are made at once: a fork, whose join waits for all of them, or for as many as
were answered when the request went on. All others are made in turn. Stages that come in the same
order in nearly all requests are blocks one after the other; how often a block is repeated is
fixed, geometric (also after a fixed number), or one of a few numbers, by what a test of its
dispersion does not reject.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import combinations
from math import sqrt
from typing import NamedTuple, TypeAlias

import numpy as np

from headway.kinds import FloatArray
from headway.models.tracing.loads import IntArray
from headway.records import dataclass

_NEARLY_ALL = 0.99
"""Share of requests that an order of stages, or a number of calls, has to hold for."""
_CLEAR = 4.0  # standard errors
_MOST_WAYS = 12  # numbers of calls, or shapes, that are told apart


class Stage(NamedTuple):
    """Calls that a request waits for together.

    Parameters
    ----------
    callees
        Whom, in order; several are called at once.
    needed
        For how many answers the request waits.
    """

    callees: tuple[int, ...]
    needed: int


@dataclass(frozen=True)
class Always:
    """A stage comes a fixed number of times."""

    times: int


@dataclass(frozen=True)
class Geometric:
    """A stage comes a geometric number of times, mean `mean` with its standard error."""

    mean: float
    error: float


@dataclass(frozen=True)
class Ways:
    """A stage comes one of several numbers of times, each with its probability."""

    chances: tuple[tuple[float, int], ...]
    error: float

    @property
    def mean(self) -> float:
        """Mean number of times."""
        return sum(chance * times for chance, times in self.chances)


Times: TypeAlias = Always | Geometric | Ways


@dataclass(frozen=True)
class Block:
    """A stage of an entry, with how often it comes and the work before it.

    Parameters
    ----------
    stages
        One; several where they come in no order.
    times
        Of each of them.
    work, scv
        Mean work of a request before these stages [s], and the squared coefficient of variation
        of what is done before each.
    with_work
        Correlation of how often each of them comes with the whole work of a request.
    """

    stages: tuple[Stage, ...]
    times: tuple[tuple[Times, ...], ...]
    work: float
    scv: float
    with_work: tuple[float, ...]


@dataclass(frozen=True)
class Doing:
    """What an entry does: its blocks, and the work behind the last."""

    blocks: tuple[Block, ...]
    last: float
    last_scv: float


class Made(NamedTuple):
    """What one request did: its stages, and the work before each and behind the last [s]."""

    stages: tuple[Stage, ...]
    gaps: tuple[float, ...]


Calls: TypeAlias = Sequence[tuple[int, float, float]]
"""Calls of one request that it waits for: whom, when begun, when answered, by the former."""


def at_once(requests: Sequence[Calls]) -> frozenset[tuple[int, int]]:
    """Pairs of callees that are called at once: they overlap in most requests that call both.

    Examples
    --------
    >>> sorted(at_once([[(1, 0.0, 2.0), (2, 0.1, 1.0), (3, 2.5, 3.0)]]))
    [(1, 2)]
    """
    met: dict[tuple[int, int], list[int]] = defaultdict(lambda: [0, 0])
    for calls in requests:
        latest, who = -np.inf, -1
        for callee, began, answered in calls:
            if who >= 0 or latest > -np.inf:
                pair = (who, callee) if who <= callee else (callee, who)
                met[pair][began < latest] += 1
            if answered > latest:
                latest, who = answered, callee
    return frozenset(pair for pair, (apart, together) in met.items() if together > apart)


def made(calls: Calls, together: frozenset[tuple[int, int]], came: float, ended: float) -> Made:
    """Stages and gaps of one request.

    Parameters
    ----------
    calls
        In the order in which they began.
    together
        Pairs that are called at once.
    came, ended
        When it got its thread, and when it was answered [s].
    """
    groups: list[tuple[list[int], list[float], float]] = []
    for callee, began, answered in calls:
        if groups and any(_pair(callee, other) in together for other in groups[-1][0]):
            groups[-1][0].append(callee)
            groups[-1][1].append(answered)
        else:
            groups.append(([callee], [answered], began))
    stages, gaps, at = [], [], came
    for k, (callees, answers, began) in enumerate(groups):
        further = groups[k + 1][2] if k + 1 < len(groups) else ended
        needed = max(sum(answer <= further for answer in answers), 1)
        gaps.append(max(began - at, 0.0))
        at = max([answer for answer in answers if answer <= further], default=began)
        stages.append(Stage(tuple(sorted(callees)), needed))
    gaps.append(max(ended - at, 0.0))
    return Made(tuple(stages), tuple(gaps))


def _pair(a: int, b: int) -> tuple[int, int]:
    return (a, b) if a <= b else (b, a)


def doing(requests: Sequence[Made]) -> Doing:
    """Put the requests of an entry into blocks.

    Parameters
    ----------
    requests
        One or more.

    Examples
    --------
    >>> read = Stage((7,), 1)
    >>> found = doing([Made((read, read), (0.1, 0.2, 0.3))] * 3)
    >>> found.blocks[0].times, round(found.blocks[0].work, 9), found.last
    (((Always(times=2),),), 0.3, 0.3)
    """
    requests = _usual_needs(requests)
    kinds = list(dict.fromkeys(stage for each in requests for stage in each.stages))
    blocks = []
    work = np.array([sum(each.gaps) for each in requests])
    for stages in _in_order(kinds, requests):
        gaps = [
            [gap for stage, gap in zip(each.stages, each.gaps, strict=False) if stage in stages]
            for each in requests
        ]
        counts = [np.array([each.stages.count(stage) for each in requests]) for stage in stages]
        before = sum(map(sum, gaps)) / len(requests)
        together = tuple(_correlation(count, work) for count in counts)
        blocks.append(Block(stages, tuple(map(_times, counts)), before, _scv(gaps), together))
    last = np.array([each.gaps[-1] for each in requests])
    return Doing(tuple(blocks), float(last.mean()), _scv([last.tolist()]))


def _usual_needs(requests: Sequence[Made]) -> list[Made]:
    """Requests whose forks wait for as many answers as most do of the same callees."""
    found: dict[tuple[int, ...], Counter[int]] = defaultdict(Counter)
    for each in requests:
        for stage in each.stages:
            found[stage.callees][stage.needed] += 1
    usual = {callees: needs.most_common(1)[0][0] for callees, needs in found.items()}
    return [
        Made(tuple(Stage(s.callees, usual[s.callees]) for s in each.stages), each.gaps)
        for each in requests
    ]


def _scv(gaps: Sequence[Sequence[float]]) -> float:
    """Squared coefficient of variation of all gaps."""
    values = np.array([gap for each in gaps for gap in each])
    if len(values) < 2 or values.mean() <= 0:
        return 1.0
    return float(values.var(ddof=1) / values.mean() ** 2)


def _correlation(some: IntArray, others: FloatArray) -> float:
    """Pearson's; 0 where one of them does not vary."""
    if len(some) < 3 or not some.std() or not others.std():
        return 0.0
    return float(np.corrcoef(some, others)[0, 1])


def _in_order(kinds: Sequence[Stage], requests: Sequence[Made]) -> list[tuple[Stage, ...]]:
    """Stages in the order in which they come; those without an order together."""
    behind: dict[tuple[Stage, Stage], int] = defaultdict(int)
    both: dict[frozenset[Stage], int] = defaultdict(int)
    place: dict[Stage, list[float]] = {kind: [] for kind in kinds}
    for each in requests:
        first: dict[Stage, int] = {}
        last: dict[Stage, int] = {}
        for k, stage in enumerate(each.stages):
            first.setdefault(stage, k)
            last[stage] = k
            place[stage].append((k + 0.5) / len(each.stages))
        for a, b in combinations(first, 2):
            both[frozenset((a, b))] += 1
            behind[a, b] += last[a] < first[b]
            behind[b, a] += last[b] < first[a]
    ordered = sorted(kinds, key=lambda kind: float(np.mean(place[kind])))
    groups: list[list[Stage]] = []
    for kind in ordered:
        mixed = [
            k
            for k, group in enumerate(groups)
            for other in group
            if (count := both[frozenset((other, kind))])
            and behind[other, kind] < _NEARLY_ALL * count
        ]
        if mixed:
            first_mixed = min(mixed)
            joined = [stage for group in groups[first_mixed:] for stage in group]
            groups[first_mixed:] = [[*joined, kind]]
        else:
            groups.append([kind])
    return [tuple(group) for group in groups]


def _times(counts: IntArray) -> tuple[Times, ...]:
    """The law of how often a stage comes, as laws whose numbers add up."""
    n = len(counts)
    base = int(np.quantile(counts, 1 - _NEARLY_ALL, method="lower"))
    rest = np.maximum(counts - base, 0)
    always: tuple[Times, ...] = (Always(base),) if base else ()
    mean, error = float(rest.mean()), float(rest.std(ddof=1) / sqrt(n)) if n > 1 else 0.0
    if np.mean(rest > 0) <= 1 - _NEARLY_ALL:
        return always or (Always(0),)
    if _is_geometric(rest):
        return (*always, Geometric(mean, error))
    chances = Counter(counts.tolist())
    if len(chances) > _MOST_WAYS:
        return (*always, Geometric(mean, error))  # no law fits: the mean is what counts
    ways = tuple((chances[k] / n, k) for k in sorted(chances))
    return (Ways(ways, error),)


def _is_geometric(counts: IntArray) -> bool:
    """Whether variance m (1 + m) and P(0) = 1 / (1 + m) are within reach of what was counted."""
    n, m = len(counts), float(counts.mean())
    variance = float(counts.var())
    fourth = float(np.mean((counts - m) ** 4))
    spread = sqrt(max(fourth - variance**2, 0.0) / n) + (1 + 2 * m) * sqrt(variance / n) * 0.5
    none, expected = float(np.mean(counts == 0)), 1 / (1 + m)
    off = abs(none - expected) / sqrt(max(expected * (1 - expected) / n, 1e-300))
    return bool(abs(variance - m * (1 + m)) <= _CLEAR * spread and off <= _CLEAR)
