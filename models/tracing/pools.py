"""How many threads a service has, from which requests waited for one.

In a pool of m threads that serves in order of arrival, where a request holds its thread from its
first work to its answer, request i begins when at most m - 1 of those before it are still there:

    s_i(m) = max(a_i, m-th largest of the e_j, j < i)                                   (1)

with arrivals a and answers e, both in the spans. Too small an m contradicts the spans: some request
did its first visible thing (a call, or its answer) before s_i(m). With the right m, what is left of
the first gap, f_i - s_i(m), is work, and does not depend on whether the request waited. With too
large an m, requests that found m or more others seem to work longer. So m is the smallest number
that the spans do not contradict, and it can be seen only if requests that would wait take longer
until their first visible thing than the others. In a load that is too high for the pool all
requests wait, or nearly all: then those that would wait longest are compared with the others. As
one thread more would then shorten all waits alike, the fewest threads are taken.
docs/explanation/traces.md derives this.
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
"""Most threads of a pool; above this the service is taken to have no limit."""

# share of waiting requests that may start before (1): locks are not quite in order
_CONTRADICTED = 0.02
_CLEAR = 4.0  # standard errors by which requests that wait must take longer
_SAME = 4.0  # standard errors by which their work must not differ from that of the others
_NEAR = 4.0  # squares of standard errors, as a deviance: two standard errors beyond the best
_FEW = 8  # waiting requests below which a number of threads is not tested
_RARE = 0.05  # share of requests that find a free thread, below which all are taken to wait
_FURTHER = 4  # numbers of threads tried beyond the last possible one


@dataclass(frozen=True)
class Arrivals:
    """Requests of a service in one load, in the order in which they came.

    Parameters
    ----------
    came, first, answered
        When each request came, did its first visible thing (a call or its answer), and was answered
        [s].
    entry
        The number of each request's entry: work is compared within an entry.
    trace
        The number of each request's trace.
    counts
        Whether the request counts: it does not if requests from before the file began may still be
        in service.
    """

    came: FloatArray
    first: FloatArray
    answered: FloatArray
    entry: IntArray
    trace: IntArray
    counts: BoolArray


@dataclass(frozen=True)
class Pool:
    """The threads of a service, as far as the spans show.

    Parameters
    ----------
    threads
        Their number; infinite where no request was seen to wait.
    low, high
        The fewest and the most threads that the spans allow.
    """

    threads: float
    low: int
    high: float

    @property
    def seen(self) -> bool:
        """Whether the pool was full at times."""
        return self.threads < inf


def pool_of(loads: Sequence[Arrivals]) -> Pool:
    """Find the threads of a service from loads whose requests are all known.

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
        apart = _waiters(loads, met, m)
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
    near = [m for left, m in allowed if left**2 < min(allowed)[0] ** 2 + _NEAR]
    return Pool(float(best), min(near), float(max(near)))


def fewest_threads(loads: Sequence[Arrivals]) -> int:
    """The fewest threads that the spans do not contradict, though only some requests are known.

    Parameters
    ----------
    loads
        The service's requests in each load, or a sample of them.
    """
    return min(_fewest([_later_answers(each) for each in loads]), MOST_THREADS)


def waits_of(arrivals: Arrivals, threads: float) -> FloatArray:
    """Waiting time of each request in a pool of so many threads, by (1) [s]."""
    if threads == inf:
        return np.zeros(len(arrivals.came))
    return np.maximum(_starts(arrivals, int(threads)) - arrivals.came, 0.0)


def _starts(arrivals: Arrivals, threads: int) -> FloatArray:
    """When each request gets a thread, by (1)."""
    latest = [-inf] * threads  # a heap: the latest answers of the requests before
    free = []
    for answered in arrivals.answered.tolist():
        free.append(latest[0])
        heappushpop(latest, answered)
    return np.maximum(arrivals.came, free)


def _later_answers(arrivals: Arrivals) -> tuple[IntArray, IntArray]:
    """Earlier requests that are there as each one comes, and as it does its first visible thing."""
    there: list[float] = []  # answers of earlier requests, in ascending order
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
    """How requests that would wait for a thread differ from those that would not.

    Parameters
    ----------
    raw, left
        By how many standard errors they took longer: in all, and after their wait is subtracted.
    always
        Whether nearly all would wait, so that those that would wait longest are compared with the
        others.
    """

    raw: float
    left: float
    always: bool


def _waiters(
    loads: Sequence[Arrivals], met: Sequence[tuple[IntArray, IntArray]], threads: int
) -> _Waiters | None:
    """How requests that would wait in a pool of this size differ; None where too few would."""
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
    """Mean difference of some requests from others of their entry, in standard errors.

    Whether the work of both is one law: so is its variance, taken from both together. The variance
    of some alone is small where their mean is, as work is skewed: with Welch's standard error 234
    of 3,176 exponential times that are 3.4 standard errors too short were 4.7.
    """
    apart = variance = 0.0
    for each in np.unique(entry):
        some, others = values[who & (entry == each)], values[~who & (entry == each)]
        if len(some) < 2 or len(others) < 2:
            continue
        apart += len(some) * float(some.mean() - others.mean())
        n = np.array([len(some), len(others)])
        spread = float((n - 1) @ [some.var(ddof=1), others.var(ddof=1)]) / (n.sum() - 2)
        variance += len(some) ** 2 * spread * float((1 / n).sum())
    return apart / sqrt(variance) if variance > 0 else 0.0
