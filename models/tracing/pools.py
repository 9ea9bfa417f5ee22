"""How many threads a service has, by who waited: from the concurrency that each request met.

In a pool of m threads in order of arrival, held from the first work of a request to its answer,
request i begins when at most m - 1 of those before it are still there:

    s_i(m) = max(a_i, m-th largest of the e_j, j < i)                                   (1)

with arrivals a and answers e, both in the spans. Too few threads contradict the spans: a request
did its first visible thing (a call, or its answer) before s_i(m). With enough of them, what is
left of the first gap, f_i - s_i(m), is work, and does not depend on whether the request waited;
with too many, those that met m or more look as if they worked longer. So m is the smallest number
that the spans do not contradict, and it is seen only where those who would wait took longer
before their first visible thing than others did. In a load that is too high for the pool all wait,
or nearly: then those who would wait longest are held against the others. A thread more would shift
the wait of all by as much, so the fewest count. docs/explanation/traces.md derives it.
"""

from bisect import bisect_right, insort
from collections.abc import Sequence
from heapq import heappushpop
from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from headway.kinds import FloatArray
from headway.models.measured.spans.columns import BoolArray, IntArray
from headway.records import dataclass

MOST_THREADS = 1000
"""Threads that a pool may have; above, it is taken to have no limit."""

_CONTRADICTED = 0.02  # share of would-be waiters ahead of (1): locks are not quite in order
_CLEAR = 4.0  # standard errors by which waiters take longer
_SAME = 3.0  # standard errors within which their work is that of others
_FEW = 8  # waiters that tell
_RARE = 0.05  # share of requests that find a thread free, below which a load is too high
_FURTHER = 4  # numbers of threads that are tried beyond the last that was possible


@dataclass(frozen=True)
class Arrivals:
    """Requests of a service in one load, in the order in which they came.

    Parameters
    ----------
    came, first, answered
        When each came, did its first visible thing (a call or its answer), and was answered [s].
    entry
        A number for its entry: work is compared within an entry.
    trace
        A number for its trace.
    counts
        Whether the request counts: those before the file knows who is there do not.
    """

    came: FloatArray
    first: FloatArray
    answered: FloatArray
    entry: IntArray
    trace: IntArray
    counts: BoolArray


@dataclass(frozen=True)
class Pool:
    """What the spans tell of a service's threads.

    Parameters
    ----------
    threads
        How many there are; infinite where no request was seen to wait.
    low, high
        Fewest and most that the spans allow.
    """

    threads: float
    low: int
    high: float

    @property
    def seen(self) -> bool:
        """Whether the pool was full at times."""
        return self.threads < inf


def pool_of(loads: Sequence[Arrivals]) -> Pool:
    """Find the threads of a service from loads of which every request is known.

    Parameters
    ----------
    loads
        The service's requests in each load.

    Examples
    --------
    >>> draws = np.random.default_rng(1)
    >>> came = np.cumsum(draws.exponential(1.25, 2000))
    >>> answered = np.zeros(2000)
    >>> for i in range(2000):
    ...     answered[i] = max(came[i], answered[i - 1] if i else 0.0) + draws.exponential()
    >>> same, each = np.zeros(2000, int), np.arange(2000)
    >>> one = Arrivals(came, answered, answered, same, each, np.ones(2000, bool))
    >>> pool_of([one]).threads
    1.0
    """
    met = [_later_answers(each) for each in loads]
    most = max((int(m.max()) for m, _ in met if len(m)), default=0) + 1
    low = _fewest(met)
    if low > MOST_THREADS:
        return Pool(inf, MOST_THREADS, inf)
    allowed: list[tuple[float, int]] = []
    for m in range(low, most):
        apart = _apart(loads, met, m)
        if apart is None:
            break
        if apart.raw > _CLEAR and abs(apart.left) < _SAME:
            allowed.append((abs(apart.left), m))
            if apart.always:
                break
        elif m > (allowed[-1][1] if allowed else low) + _FURTHER:
            break
    if not allowed:
        return Pool(inf, low, inf)
    best = min(allowed)[1]
    near = [m for left, m in allowed if left < 2.0] or [best]
    return Pool(float(best), min(near), float(max(near)))


def waits_of(arrivals: Arrivals, threads: float) -> FloatArray:
    """Waiting time of each request for one of some threads, by (1) [s]."""
    if threads == inf:
        return np.zeros(len(arrivals.came))
    return np.maximum(_starts(arrivals, int(threads)) - arrivals.came, 0.0)


def _starts(arrivals: Arrivals, threads: int) -> FloatArray:
    """When each request gets a thread, by (1)."""
    latest = [-inf] * threads  # the answers of those before that are latest, as a heap
    free = []
    for answered in arrivals.answered.tolist():
        free.append(latest[0])
        heappushpop(latest, answered)
    return np.maximum(arrivals.came, free)


def _later_answers(arrivals: Arrivals) -> tuple[IntArray, IntArray]:
    """How many before each are there when it comes, and still when it does its first thing."""
    there: list[float] = []  # answers of those before, in order
    found = np.zeros(len(arrivals.came), np.int64)
    still = np.zeros(len(arrivals.came), np.int64)
    rows = zip(
        arrivals.came.tolist(), arrivals.first.tolist(), arrivals.answered.tolist(), strict=True
    )
    for i, (came, first, answered) in enumerate(rows):
        del there[: bisect_right(there, came)]
        found[i] = len(there)
        still[i] = len(there) - bisect_right(there, first)
        insort(there, answered)
    keep = arrivals.counts
    return np.where(keep, found, 0), np.where(keep, still, 0)


def _fewest(met: Sequence[tuple[IntArray, IntArray]]) -> int:
    """The fewest threads that the spans do not contradict."""
    found, still = (np.concatenate([each[k] for each in met]) for k in (0, 1))
    most = int(found.max(initial=0)) + 1
    would_wait, ahead = (
        np.bincount(each, minlength=most + 1)[::-1].cumsum()[::-1] for each in (found, still)
    )
    contradicted = np.flatnonzero((ahead > _CONTRADICTED * would_wait)[1:])
    return int(contradicted[-1]) + 2 if len(contradicted) else 1


class _Waiters(NamedTuple):
    """How those who would wait for one of some threads differ from others.

    Parameters
    ----------
    raw, left
        By how many standard errors they took longer: in all, and once their wait is taken off.
    always
        Whether nearly all would wait, so that those who would wait longest are told from others.
    """

    raw: float
    left: float
    always: bool


def _apart(
    loads: Sequence[Arrivals], met: Sequence[tuple[IntArray, IntArray]], threads: int
) -> _Waiters | None:
    """What tells those who would wait; None where too few would."""
    waits = [waits_of(each, threads)[each.counts] for each in loads]
    firsts = [(each.first - each.came)[each.counts] for each in loads]
    wait, first = np.concatenate(waits), np.concatenate(firsts)
    entry = np.concatenate([each.entry[each.counts] for each in loads])
    counted = [found[each.counts] for each, (found, _) in zip(loads, met, strict=True)]
    who = np.concatenate(counted) >= threads
    if who.sum() < _FEW:
        return None
    always = (~who).sum() < max(_FEW, _RARE * len(who))
    if always:
        who = wait > np.median(wait)
    left = _difference(first - wait, who, entry)
    return _Waiters(_difference(first, who, entry), left, bool(always))


def _difference(values: FloatArray, who: BoolArray, entry: IntArray) -> float:
    """The mean difference of some from the others of their entry, in standard errors (Welch)."""
    apart = variance = 0.0
    for each in np.unique(entry):
        some, others = values[who & (entry == each)], values[~who & (entry == each)]
        if len(some) < 2 or len(others) < 2:
            continue
        apart += len(some) * float(some.mean() - others.mean())
        variance += len(some) ** 2 * float(
            some.var(ddof=1) / len(some) + others.var(ddof=1) / len(others)
        )
    return apart / sqrt(variance) if variance > 0 else 0.0
