"""What an entry does for a request, from the calls that its requests made.

Calls that overlap are made at once: a fork, whose join waits for all of them, or for as many as had
been answered when the request went on. All other calls are made in turn. Stages that come in the
same order in nearly all requests become blocks, one after the other. The number of times that a
block is repeated is fixed, geometric (possibly after a fixed number), or one of a few numbers:
whichever a test of its dispersion does not reject.
"""

from collections.abc import Iterator
from math import sqrt
from typing import NamedTuple, TypeAlias

import numpy as np

from headway.kinds import FloatArray
from headway.models.measured.spans.columns import BoolArray, IntArray
from headway.models.tracing.spread import means_apart
from headway.records import dataclass

_NEARLY_ALL = 0.99
"""Share of requests for which an order of stages, or a number of calls, must hold."""
_CLEAR = 4.0  # standard errors
_MOST_WAYS = 12  # different numbers of calls, or shapes, that are kept apart


class Stage(NamedTuple):
    """Calls that a request makes at once, and waits for together.

    Parameters
    ----------
    callees
        The callees, in ascending order; several are called at once.
    needed
        Number of answers that the request waits for.
    """

    callees: tuple[int, ...]
    needed: int


@dataclass(frozen=True)
class Always:
    """Law of a stage that comes a fixed number of times."""

    times: int

    @property
    def mean(self) -> float:
        """Mean number of times."""
        return float(self.times)


@dataclass(frozen=True)
class Geometric:
    """Law of a stage that comes a geometric number of times: its mean, and the standard error."""

    mean: float
    error: float


@dataclass(frozen=True)
class Ways:
    """Law of a stage that comes one of several numbers of times, each with its probability."""

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
        One stage, or several that come in no fixed order.
    times
        The law of how often each of them comes.
    work, scv
        Mean work of a request before these stages [s], and the squared coefficient of variation of
        the work before each of them.
    with_work
        Correlation between how often each stage comes and the whole work of a request.
    by_load
        Mean number of times each stage comes in each load, where loads differ; otherwise empty.
    """

    stages: tuple[Stage, ...]
    times: tuple[tuple[Times, ...], ...]
    work: float
    scv: float
    with_work: tuple[float, ...]
    by_load: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Doing:
    """What an entry does: its blocks, and the work after the last of them."""

    blocks: tuple[Block, ...]
    last: float
    last_scv: float


@dataclass(frozen=True)
class Calls:
    """Calls that an entry's requests wait for, ordered by request and then by time.

    Parameters
    ----------
    request
        The request that makes each call, counted from 0.
    callee
        The entry that is called, as a number from 0.
    began, answered
        When each call began and was answered, as its caller saw it [s].
    """

    request: IntArray
    callee: IntArray
    began: FloatArray
    answered: FloatArray


@dataclass(frozen=True)
class Made:
    """The stages that an entry's requests went through, and the work between them.

    Parameters
    ----------
    stages
        The different stages.
    request, stage, gap
        For each time that a request comes to a stage, in order: the request, the stage, and the
        work before it [s].
    last
        Work of each request after its last stage [s].
    """

    stages: tuple[Stage, ...]
    request: IntArray
    stage: IntArray
    gap: FloatArray
    last: FloatArray


def at_once(calls: Calls) -> BoolArray:
    """Whether callees a and b, by rows and columns, are called at once.

    They are if their calls overlap in most requests that call both. Each call is compared with the
    one, among the earlier calls of its request, that is answered last.

    Examples
    --------
    >>> calls = Calls(np.zeros(3, int), np.array([1, 2, 3]), np.array([0.0, 0.1, 2.5]),
    ...               np.array([2.0, 1.0, 3.0]))
    >>> np.argwhere(at_once(calls)).tolist()
    [[1, 2], [2, 1]]
    """
    requests = int(calls.request.max(initial=-1)) + 1
    latest, who = np.full(requests, -np.inf), np.full(requests, -1)
    size = int(calls.callee.max(initial=-1)) + 1
    pairs: list[IntArray] = []
    overlaps: list[BoolArray] = []
    for rows in in_turn(calls.request):
        request, callee, other = calls.request[rows], calls.callee[rows], who[calls.request[rows]]
        pair = np.minimum(callee, other) * size + np.maximum(callee, other)
        met = other >= 0
        pairs.append((request * size**2 + pair)[met])
        overlaps.append((calls.began[rows] < latest[request])[met])
        later = calls.answered[rows] > latest[request]
        latest[request[later]] = calls.answered[rows][later]
        who[request[later]] = callee[later]
    both, which = np.unique(np.concatenate([*pairs, np.empty(0, int)]), return_inverse=True)
    often = np.bincount(which, np.concatenate([*overlaps, np.empty(0, bool)]), len(both)) > 0
    most = np.bincount(both % size**2 if size else both, np.where(often, 1, -1), size**2) > 0
    together = most.reshape(size, size)
    return np.asarray(together | together.T)


def made(calls: Calls, came: FloatArray, ended: FloatArray) -> Made:
    """Stages of an entry's requests, and the work before each.

    Parameters
    ----------
    calls
        The calls of all requests of the entry.
    came, ended
        When each request got its thread, and when it was answered [s].
    """
    if not len(calls.request):
        return Made((), calls.request, calls.request, calls.began, np.maximum(ended - came, 0.0))
    first = _first_of_stages(calls, len(came))
    group = np.cumsum(first) - 1
    at = np.flatnonzero(first)
    request, began = calls.request[at], calls.began[at]
    final = np.append(request[1:] != request[:-1], True)
    further = np.where(final, ended[request], np.append(began[1:], 0.0))
    in_time = calls.answered <= further[group]
    needed = np.maximum(np.add.reduceat(in_time.astype(np.int64), at), 1)
    answered = np.maximum.reduceat(np.where(in_time, calls.answered, -np.inf), at)
    on = np.where(answered > -np.inf, answered, began)
    alone = np.append(True, final[:-1])  # the first stage of its request
    before = np.where(alone, came[request], np.append(0.0, on[:-1]))
    last = ended - came
    last[request[final]] = (ended[request] - on)[final]
    stages, stage = _stages(calls.callee, group, needed)
    return Made(stages, request, stage, np.maximum(began - before, 0.0), np.maximum(last, 0.0))


def _first_of_stages(calls: Calls, requests: int) -> BoolArray:
    """Whether each call begins a stage: is not made at once with a call of the stage before it.

    A call also begins a stage, rather than join the last, if it comes after all answers of that
    stage, overlaps the next call, and would bring that next call into a stage with one that it
    follows in turn. For example, if `look` is followed by `quote` and `look` at once, then `quote`
    belongs to the second stage.
    """
    together = at_once(calls)
    members = np.zeros((requests, len(together)), bool)
    first = np.ones(len(calls.request), bool)
    if not together.any():
        return first
    latest = np.full(requests, -np.inf)
    follows = np.append(calls.callee[1:], 0)
    overlaps = np.append(
        (calls.request[1:] == calls.request[:-1]) & (calls.began[1:] < calls.answered[:-1]), False
    )
    for rows in in_turn(calls.request):
        request, callee = calls.request[rows], calls.callee[rows]
        apart = (members[request] & ~together[follows[rows]]).any(axis=1)
        ahead = overlaps[rows] & (calls.began[rows] >= latest[request]) & apart
        joins = (members[request] & together[callee]).any(axis=1) & ~ahead
        latest[request] = np.maximum(latest[request], calls.answered[rows])
        first[rows] = ~joins
        members[request[~joins]] = False
        members[request, callee] = True
    return first


def _stages(
    callee: IntArray, group: IntArray, needed: IntArray
) -> tuple[tuple[Stage, ...], IntArray]:
    """The different stages, each with its usual number of answers, and the stage of each group."""
    # a number for the callees of each group so far, in order
    number = np.zeros(len(needed), np.int64)
    order = np.lexsort((callee, group))
    size = int(callee.max()) + 1
    known: list[tuple[int, ...]] = [()]
    for rows in in_turn(group[order]):
        where = group[order][rows]
        pairs, which = np.unique(number[where] * size + callee[order][rows], return_inverse=True)
        number[where] = len(known) + which
        known += [(*known[pair // size], pair % size) for pair in pairs.tolist()]
    least = int(needed.max()) + 1
    both, counts = np.unique(number * least + needed, return_counts=True)
    usual: dict[int, int] = {}
    for code in both[np.argsort(-counts, kind="stable")].tolist():
        usual.setdefault(code // least, code % least)
    numbers, start, stage = np.unique(number, return_index=True, return_inverse=True)
    place = np.empty(len(numbers), np.int64)
    ordered = np.argsort(start)  # in the order in which they first come
    place[ordered] = np.arange(len(numbers))
    stages = tuple(Stage(known[k], usual[k]) for k in numbers[ordered].tolist())
    return stages, place[stage]


def in_turn(owner: IntArray) -> Iterator[IntArray]:
    """Rows that are the first of their owner, then those that are the second, and so on.

    Parameters
    ----------
    owner
        The owner of each row; rows of one owner stand together.

    Examples
    --------
    >>> [rows.tolist() for rows in in_turn(np.array([4, 4, 7]))]
    [[0, 2], [1]]
    """
    if not len(owner):
        return
    new = np.append(True, owner[1:] != owner[:-1])
    place = np.arange(len(owner)) - np.maximum.accumulate(np.where(new, np.arange(len(owner)), 0))
    yield from np.split(np.argsort(place, kind="stable"), np.cumsum(np.bincount(place))[:-1])


def doing(made_of: Made, load: IntArray) -> Doing:
    """Group what the requests of an entry do into blocks.

    Parameters
    ----------
    made_of
        The stages of one request or more.
    load
        Of each request.

    Examples
    --------
    >>> who, gaps = np.repeat(np.arange(3), 2), np.array([0.1, 0.2] * 3)
    >>> found = doing(Made((Stage((7,), 1),), who, np.zeros(6, int), gaps, np.full(3, 0.3)),
    ...               np.zeros(3, int))
    >>> found.blocks[0].times, round(found.blocks[0].work, 9), round(found.last, 9)
    (((Always(times=2),),), 0.3, 0.3)
    """
    requests = len(made_of.last)
    work = np.bincount(made_of.request, made_of.gap, requests) + made_of.last
    blocks = []
    for numbers in _in_order(made_of):
        counts = [
            np.bincount(made_of.request[made_of.stage == k], minlength=requests) for k in numbers
        ]
        gaps = made_of.gap[np.isin(made_of.stage, numbers)]
        blocks.append(
            Block(
                tuple(made_of.stages[k] for k in numbers),
                tuple(map(times_of, counts)),
                float(gaps.sum()) / requests,
                _scv(gaps),
                tuple(_correlation(count, work) for count in counts),
                tuple(means_apart(count, load) for count in counts),
            )
        )
    return Doing(tuple(blocks), float(made_of.last.mean()), _scv(made_of.last))


def _scv(gaps: FloatArray) -> float:
    """Squared coefficient of variation."""
    if len(gaps) < 2 or gaps.mean() <= 0:
        return 1.0
    return float(gaps.var(ddof=1) / gaps.mean() ** 2)


def _correlation(some: IntArray, others: FloatArray) -> float:
    """Pearson's correlation; 0 where one of the two does not vary."""
    if len(some) < 3 or not some.std() or not others.std():
        return 0.0
    return float(np.corrcoef(some, others)[0, 1])


def _in_order(made_of: Made) -> list[tuple[int, ...]]:
    """Stages in the order in which they come; stages without a fixed order are grouped."""
    size = len(made_of.stages)
    if not size:
        return []
    whole = np.bincount(made_of.request)
    place = np.arange(len(made_of.request)) - (np.cumsum(whole) - whole)[made_of.request]
    come = np.bincount(made_of.stage, (place + 0.5) / whole[made_of.request])
    both, ahead = _met(made_of.request * size + made_of.stage, size)
    groups: list[list[int]] = []
    for kind in np.argsort(come / np.bincount(made_of.stage), kind="stable").tolist():
        mixed = [
            k
            for k, group in enumerate(groups)
            for other in group
            if (count := both[other, kind] + both[kind, other])
            and ahead[other, kind] < _NEARLY_ALL * count
        ]
        if mixed:
            joined = [stage for group in groups[min(mixed) :] for stage in group]
            groups[min(mixed) :] = [[*joined, kind]]
        else:
            groups.append([kind])
    return [tuple(group) for group in groups]


def _met(code: IntArray, size: int) -> tuple[IntArray, IntArray]:
    """How many requests have both stages a and b, and how many have all of a before all of b."""
    seen, first = np.unique(code, return_index=True)
    last = len(code) - 1 - np.unique(code[::-1], return_index=True)[1]
    order = np.argsort(first)  # by request, and by where they first come
    seen, first, last = seen[order], first[order], last[order]
    request, stage = seen // size, seen % size
    both, ahead = np.zeros((2, size, size), np.int64)
    for apart in range(1, size):
        same = np.flatnonzero(request[apart:] == request[:-apart])
        if not len(same):
            break
        pair = stage[same], stage[same + apart]
        np.add.at(both, pair, 1)
        np.add.at(ahead, pair, last[same] < first[same + apart])
    return both, ahead


def times_of(counts: IntArray) -> tuple[Times, ...]:
    """How often a stage comes, as laws whose numbers of times add up.

    Parameters
    ----------
    counts
        How often the stage comes in each request.
    """
    n = len(counts)
    base = int(np.quantile(counts, 1 - _NEARLY_ALL, method="lower"))
    rest = np.maximum(counts - base, 0)
    always: tuple[Times, ...] = (Always(base),) if base else ()
    mean, error = float(rest.mean()), float(rest.std(ddof=1) / sqrt(n)) if n > 1 else 0.0
    if np.mean(rest > 0) <= 1 - _NEARLY_ALL:
        return always or (Always(0),)
    if _is_geometric(rest):
        return (*always, Geometric(mean, error))
    numbers, often = np.unique(counts, return_counts=True)
    if len(numbers) > _MOST_WAYS:
        return (*always, Geometric(mean, error))  # no law fits: the mean is what counts
    ways = tuple((k / n, times) for k, times in zip(often.tolist(), numbers.tolist(), strict=True))
    return (Ways(ways, error),)


def _is_geometric(counts: IntArray) -> bool:
    """Whether the counts are consistent with variance m (1 + m) and P(0) = 1 / (1 + m)."""
    n, m = len(counts), float(counts.mean())
    variance = float(counts.var())
    fourth = float(np.mean((counts - m) ** 4))
    spread = sqrt(max(fourth - variance**2, 0.0) / n) + (1 + 2 * m) * sqrt(variance / n) * 0.5
    none, expected = float(np.mean(counts == 0)), 1 / (1 + m)
    off = abs(none - expected) / sqrt(max(expected * (1 - expected) / n, 1e-300))
    return bool(abs(variance - m * (1 + m)) <= _CLEAR * spread and off <= _CLEAR)
