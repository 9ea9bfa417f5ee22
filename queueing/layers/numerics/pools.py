"""Pools of threads with more callers than threads, at one station and as stations of their own.

N callers use a pool of T threads. A thread that is in use is at a station, for S in all of each
request, or elsewhere, for D. A caller who is not in the pool comes to it at the rate x. With a =
x S and d = x D, the probability that n < T threads are in use, k of them at the m servers of the
station, is, up to a constant,

    p(k, n) ~ F_n a^k / prod_{i <= k} min(i, m)  d^{n - k} / (n - k)!,   F_n = N! / (N - n)!,  (1)

by the product form of the threads (Baskett and others, JACM 22, 1975) inside a birth and death
process of those who come. While all are in use, they leave at the rate x / r, and others wait, so
that with n = T there is the further factor

    beta = sum_{n >= T} r^{n - T} F_n / F_T.                                                    (2)

If callers come from threads of other pools, T_u of them, which are elsewhere for U, they call these
pools themselves as N callers. Then with u = x U, and beta_u as (2) for these pools,

    F_n = sum_{i <= T_u - n} u^i / i! N! / (N - n - i)! (beta_u if n + i = T_u).                (3)

The coefficients of the class of the threads in `headway.queueing.layers.numerics.finite` follow as

    sum_k b_k z^k = sum_{n <= T} F_n / n! (d + a z)^n (beta if n = T).                          (4)

With N = T they are binomial, and with many callers those of a Poisson stream which is cut off at T.
"""

from math import exp, log

import numpy as np

from headway.kinds import FloatArray
from headway.queueing.compiled.library import compiled
from headway.queueing.layers.numerics.finite import at_points, from_largest
from headway.queueing.playing.rows import IntArray

MANY = 1_000_000
"""Callers that stand for a stream from outside: it is Poisson to a part in as many."""

HIGHEST = 500
"""Threads of pools above from which on they limit nobody; chosen."""

MOST = 128
"""Threads up to which `pool_capacities` follows its law: more leave the range of numbers."""

_NEGLIGIBLE = 1e-12  # of a sum
_ENDLESS = 1e12  # weight of a full pool beside which no other state matters
_FACTORS = log(100.0)  # of the largest factor by which a rate is corrected
_STEPS = 60  # of a search, of which ten or so are usual
_EQUAL = 1e-14  # logarithms that stand for 0
_STEEP = 1e290  # a ratio of a coefficient to one that is too small for a number
_LARGE = 1e200  # beyond it sums are scaled down


@compiled
def pool_ratios(
    threads: IntArray,
    above: IntArray,
    callers: IntArray,
    waiting: IntArray,
    odds: FloatArray,
    elsewhere: FloatArray,
    higher: FloatArray,
    full: FloatArray,
    all_full: FloatArray,
    result: FloatArray,
    work: FloatArray,  # noqa: ARG001 - the kernel's
) -> None:
    """Ratios b_k / b_{k-1} of the coefficients (4), for k = 1 to T of each class.

    Parameters
    ----------
    threads, above, callers
        T, T_u and N of each class, as an arriving job sees them: T_u up to `HIGHEST`, or 0 for
        callers from no other pool; N at least T_u, and at least T if T_u is 0. Each is the same at
        all points, or of shape (classes, points).
    waiting
        Whether others wait if all threads are in use: 0 if T is only where a class is cut off.
    odds, elsewhere, higher
        a, d and u, shape (classes, points).
    full, all_full
        r of the pool, and of those above, in the same shape.
    result
        Ratios, as many rows as the largest T for each class, shape (rows, points).
    work
        Work space of 2 (largest of T and `HIGHEST`, plus 1) numbers.

    Examples
    --------
    >>> import numpy as np
    >>> two, found, half = np.array([2]), np.zeros((2, 1)), np.array([[0.5]])
    >>> zero, room = 0 * half, np.zeros(2 * HIGHEST + 2)
    >>> pool_ratios(two, 0 * two, two, 0 * two, half, zero, zero, zero, zero, found, room)
    >>> found.ravel().tolist()  # of 1 + 2 (z / 2) + (z / 2)^2
    [1.0, 0.25]
    """
    begin, points = 0, odds.shape[1]
    counts = np.stack([at_points(each, points) for each in (threads, above, callers)], axis=2)
    for c, (each, waits) in enumerate(zip(counts.tolist(), waiting.tolist(), strict=True)):
        for point, (most, upper, count) in enumerate(each):
            a, d = odds[c, point], elsewhere[c, point]
            if upper:
                rises = _from_above(upper, count, higher[c, point], all_full[c, point])
                beta = _beyond(rises[most:] * full[c, point]) if waits else 1.0
            else:
                rises = count - np.arange(most, dtype=float)
                beta = _weight_of_full(count - most, full[c, point]) if waits else 1.0
            steps = np.zeros(most)  # of F_n (a + d)^n / n!
            known = min(most, len(rises))
            steps[:known] = rises[:known] * (a + d) / np.arange(1, known + 1)
            steps[-1] *= beta
            weights = from_largest(steps)
            b = np.zeros(1)
            for weight in weights[::-1]:
                b = np.convolve(b, [d / (a + d), a / (a + d)])
                b[0] += weight
            b = b[: most + 1]
            ratios = np.divide(b[1:], b[:-1], out=np.full(most, _STEEP), where=b[:-1] > 0)
            result[begin : begin + most, point] = np.minimum(ratios, _STEEP)
        begin += max(most for most, *_ in each)


def _from_above(upper: int, count: int, u: float, r: float) -> FloatArray:
    """The ratios F_n / F_{n-1} of (3), for n = 1 to T_u.

    With p = u / (1 + u) and j = T_u - n, F_n is N! / (N - n)! (1 + u)^(-n) (sum_{i <= j}
    C(N - T_u - 1 + i, i) p^i + (beta_u - 1) C(N - T_u + j, j) p^j), up to a constant.
    """
    found = np.zeros(upper)
    beta, behind, p = _weight_of_full(count - upper, r), count - upper, u / (1 + u)
    term = whole = last = 1.0
    now = beta
    for j in range(1, upper + 1):
        term *= (behind - 1 + j) / j * p
        last *= (behind + j) / j * p
        whole += term
        then, now = now, whole + (beta - 1) * last
        n = upper - j + 1
        found[n - 1] = (count - n + 1) / (1 + u) * then / now
        if now > _LARGE:
            term, last, whole, now = (each / _LARGE for each in (term, last, whole, now))
    return found


def _beyond(rises: FloatArray) -> float:
    """The sum over n from T on of the products of all ratios of terms before."""
    term = total = 1.0
    for rise in rises.tolist():
        term *= rise
        total += term
    return min(total, _ENDLESS)


def _weight_of_full(waiting: int, r: float) -> float:
    """Beta of (2) with F_n = N! / (N - n)!, the inverse of Erlang's loss formula."""
    if waiting >= MANY // 2:  # a geometric series
        return 1 / max(1 - waiting * r, 1 / _ENDLESS)
    term = total = 1.0
    for left in range(waiting, 0, -1):
        term *= left * r
        total += term
        if term < _NEGLIGIBLE * total or total > _ENDLESS:
            break
    return min(total, _ENDLESS)


@compiled
def pool_capacities(
    threads: IntArray,
    begins: IntArray,
    servers: IntArray,
    lower: IntArray,
    callers: IntArray,
    loads: FloatArray,
    others: FloatArray,
    elsewhere: FloatArray,
    coming: FloatArray,
    result: FloatArray,
    bare: FloatArray,
    work: FloatArray,  # noqa: ARG001 - the kernel's
) -> None:
    """Rate c(n) at which n busy threads are freed, relative to one thread at its mean holding time.

    With loads a_i at stations of m_i servers and d elsewhere, n threads are freed as n jobs leave a
    closed network, by which a pool is replaced by a single station (Chandy, Herzog and Woo, IBM J.
    Res. Dev. 19(1), 1975, 36-42):

        c(n) ~ w_{n-1} / w_n,
        sum_n w_n z^n = e^(d z) prod_i sum_k (a_i z)^k / prod_{l <= k} c_i(l),                  (4)

    where l jobs beside L others have the rate c_i(l) = R(l + L) l / (l + L), and R(l) is min(l,
    m_i) at a processor, and c(l) of the pool, with straight lines between, at a lower pool. The
    factor of c is such that E c(n) = E n if N callers come at the rate x, as in (1): threads at
    their mean holding time are freed at this rate. Without contention c(n) is n; if all are always
    busy, c(T) is T.

    Parameters
    ----------
    threads
        T of each pool, the lower ones first. Beyond `MOST`, c rises with each thread as with that.
    begins
        Index of the first station of each pool; one more number than there are pools.
    servers, lower
        m of each station, and the first row of the result of that pool, or -1 for min(k, m).
    callers
        N of each pool, at least T. Like T and m it is the same at all points, or of shape (pools,
        points).
    loads, others, elsewhere
        a and L, shape (stations, points), and d, shape (pools, points), above 0.
    coming
        x of each pool per mean holding time, shape (pools, points).
    result
        c(1) to c(T) of each pool, as many rows as the largest T for each, shape (rows, points).
    bare
        Result w_{T-1} / w_T, c(T) without its factor, in the shape of ``coming``.
    work
        Work space of 2 (`MOST` + 1) numbers.

    Examples
    --------
    >>> import numpy as np
    >>> two, half, found = np.array([2]), np.array([[0.5]]), np.zeros((2, 1))
    >>> stations = np.array([0, 1]), np.array([1]), np.array([-1]), two
    >>> bare, room = np.zeros((1, 1)), np.zeros(2 * MOST + 2)
    >>> given = half, 0 * half, half, 1e9 * half
    >>> pool_capacities(two, *stations, *given, found, bare, room)
    >>> found.ravel().round(6).tolist()  # w_2 = 1 / 4 + 1 / 4 + 1 / 8; both are always busy
    [1.25, 2.0]
    """
    begin, points = 0, loads.shape[1]
    counts = np.stack([at_points(each, points) for each in (threads, callers)], axis=2)
    busy = at_points(servers, points)
    for pool, each in enumerate(counts.tolist()):
        at = range(begins[pool], begins[pool + 1])
        for point, (most, count) in enumerate(each):
            if most == 1:  # freed at this rate by definition
                result[begin, point], bare[pool, point] = 1.0, 1.0
                continue
            top = min(most, MOST)
            w = np.cumprod([1.0, *(elsewhere[pool, point] / np.arange(1, top + 1))])
            for k in at:
                own = None if lower[k] < 0 else result[lower[k] : lower[k] + busy[k, point], point]
                rates = _rates(top, others[k, point], int(busy[k, point]), own)
                w = np.convolve(w, np.cumprod([1.0, *(loads[k, point] / rates)]))[: top + 1]
            c = w[:-1] / w[1:]
            further = c[-1] - c[-2]
            c = np.concatenate([c, c[-1] + further * np.arange(1, most - top + 1)])
            bare[pool, point] = c[-1]
            factor = _factor(c, count, coming[pool, point])
            result[begin : begin + most, point] = c * factor
        begin += max(most for most, _ in each)


def _rates(top: int, others: float, servers: int, own: FloatArray | None) -> FloatArray:
    """The rates of 1 to so many jobs at a station beside others, with rates of its own or not."""
    whole = np.arange(servers + 1.0)
    if own is not None:
        whole[1:] = own
    jobs = np.arange(1, top + 1)
    there = jobs + others
    return np.asarray(np.interp(there, np.arange(len(whole)), whole) * jobs / there)


def _factor(c: FloatArray, callers: int, x: float) -> float:
    """The factor f of c for which E f c(n) = E n if each of N callers comes at the rate x.

    Log E n / E f c(n) falls with log f, by as much if E c(n) / E n stays as it is: secants, the
    first of the slope -1, halving the interval of the solution where they leave it.
    """
    low, high = -_FACTORS, _FACTORS
    at = before = last = 0.0
    slope = -1.0
    for step in range(_STEPS):
        there = _surplus(c, callers, x, at)
        low, high = (at, high) if there > 0 else (low, at)
        if abs(there) < _EQUAL or high - low < _EQUAL:
            break
        if step and at != before:
            slope = (there - last) / (at - before)
        following = at - there / slope if slope < 0 else low
        before, last = at, there
        at = following if low < following < high else (low + high) / 2
    return exp(at)


def _surplus(c: FloatArray, callers: int, x: float, logarithm: float) -> float:
    """Log E n / E f c(n) for the factor f with this logarithm."""
    mean, freed = _means(exp(logarithm) * c, callers, x)
    return log(mean / freed)


def _means(c: FloatArray, callers: int, x: float) -> tuple[float, float]:
    """E n and E c(n)."""
    weight = total = 1.0
    mean = freed = 0.0
    full = _weight_of_full(callers - len(c), x / c[-1])
    for n, rate in enumerate(c.tolist(), 1):
        weight *= (callers - n + 1) * x / rate
        weight *= full if n == len(c) else 1.0
        total, mean, freed = total + weight, mean + n * weight, freed + rate * weight
        if total > _LARGE:
            weight, total, mean, freed = (each / _LARGE for each in (weight, total, mean, freed))
    return mean / total, freed / total
