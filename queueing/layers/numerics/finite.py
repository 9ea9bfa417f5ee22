"""Stations visited by finite populations, exactly: product forms, or one server of any law.

Class c has n_c members, each away for Z_c on average between visits with mean service S_c. With a_c
= S_c / Z_c the probability of k members at m servers is, up to a constant,

    p(k) ~ b_k k! / prod_{i <= k} min(i, m),   sum_k b_k z^k = prod_c (1 + a_c z)^{n_c},    (1)

as in the machine repair model with several classes (Baskett and others, JACM 22, 1975, with one
queue and delays). Without one member of class c the coefficients are q_k = b_k - a_c q_{k-1}; and
t_k = a_c q_{k-1} / b_k is the probability that a given member of class c is among the k:

    t_k = u_k (1 - t_{k-1}),   u_k = a_c b_{k-1} / b_k,   E[n_c | k] = n_c t_k.             (2)

As b is log-concave, u grows with k, so (2) is stable upwards while u is at most 1, and downwards
beyond. `waits_of_one` is for one class, one server, and service times of any law.
"""

from math import sqrt

import numpy as np

from headway.kinds import Amount, FloatArray
from headway.queueing.compiled.library import compiled
from headway.queueing.playing.rows import IntArray

_LEAST = 1e-290  # relative size below which coefficients are left out
_NEGLIGIBLE = 1e-18  # of the largest weight; smaller ones are left out
_MARGIN = 24  # further members after which a guess at the last t is forgotten
_HALVINGS = 20  # halvings of a scale that is needed roughly only
_TINY = 1e-300
_SURELY = 1 - 1e-9  # largest probability of being in service, so that odds stay finite
_ENDLESS = 1e20  # population so large that 1 more changes no digit


ROWS = 6
"""Arrays of work space that a station needs, each as long as its largest number of members."""


@compiled
def finite_stations(
    begins: IntArray,
    servers: IntArray,
    most: IntArray,
    odds: FloatArray,
    beyond: FloatArray,
    full: FloatArray,
    nearly: FloatArray,
    means: FloatArray,
    fewer: FloatArray,
    work: FloatArray,  # noqa: ARG001 - the kernel's
) -> None:
    """Distributions of numbers at many stations, each with a few classes.

    Parameters
    ----------
    begins
        Index of the first class of each station; one more number than there are stations.
    servers
        m of each station, 1 or more.
    most
        Members n of each class, 1 or more; -n for an unlimited class with coefficients a^k / k!.
    odds
        a = S / Z of each class, above 0, shape (classes, points).
    beyond, full, nearly
        Results of shape (stations, points): the mean of max(0, k - m + 1), P(k >= m) and
        P(k >= m - 1).
    means
        Result of shape (classes, points): mean members.
    Result of shape (classes, points): ``beyond`` without one member of the class; not written for
    an unlimited class.
    work
        Work space of `ROWS` (largest number of members + 1) numbers.

    Examples
    --------
    >>> import numpy as np
    >>> beyond, full, nearly = (np.zeros((1, 1)) for _ in range(3))
    >>> means, fewer, odds = np.zeros((1, 1)), np.zeros((1, 1)), np.array([[0.5]])
    >>> finite_stations(
    ...     np.array([0, 1]),
    ...     np.array([1]),
    ...     np.array([2]),
    ...     odds,
    ...     *(beyond, full, nearly, means, fewer, np.zeros(3 * ROWS)),
    ... )
    >>> full.round(12).tolist(), means.round(12).tolist(), fewer.round(12).tolist()
    ([[0.6]], [[0.8]], [[0.333333333333]])
    """
    for q in range(len(servers)):
        at = slice(begins[q], begins[q + 1])
        for point in range(odds.shape[1]):
            chances, each, there = _station(int(servers[q]), most[at], odds[at, point])
            k = np.arange(len(chances))
            beyond[q, point] = chances @ np.maximum(k - servers[q] + 1, 0)
            full[q, point] = chances[servers[q] :].sum()
            nearly[q, point] = chances[servers[q] - 1 :].sum()
            means[at, point] = each
            for c, share in enumerate(there, begins[q]):
                if most[c] > 0:
                    fewer[c, point] = _beyond_without_one(int(servers[q]), chances, share)


def _beyond_without_one(m: int, chances: FloatArray, there: FloatArray) -> float:
    """Mean of max(0, k - m + 1) without one member, by (2)."""
    k = np.arange(1, len(chances))
    weights = there[1:] * chances[1:] * np.minimum(k, m) / k
    total = weights.sum()
    return float(weights @ np.maximum(k - m, 0) / total) if total > 0 else 0.0


def _station(
    m: int, most: IntArray, odds: FloatArray
) -> tuple[FloatArray, FloatArray, list[FloatArray]]:
    """Probabilities of 0, 1, ... members up to the last that matters, and means of classes.

    And for each class the distribution of its members among so many, up to a factor.
    """
    if not len(most):
        return np.ones(1), np.zeros(0), []
    load = float(np.where(most > 0, most * odds, odds).sum())
    top = _last(m, int(np.abs(most).sum()), load)
    if len(most) == 1:
        k = np.arange(1, top + 1)
        chances = _from_largest((most[0] - k + 1) * odds[0] / np.minimum(k, m))
        chances = chances / chances.sum()
        return chances, np.array([chances @ np.arange(top + 1)]), [np.arange(top + 1.0)]
    theta = _scale(m, most, odds)
    weights, before = _weights(m, most, odds * theta, theta, top)
    chances = weights / weights.sum()
    shares = [
        n * _presence(a * theta * before) if n > 0 else np.zeros(top + 1)
        for n, a in zip(most, odds, strict=True)
    ]
    means = np.array([share @ chances for share in shares])
    means[most < 0] = chances @ np.arange(top + 1) - means.sum()
    return chances, means, shares


def _last(m: int, members: int, load: float) -> int:
    """The last number of members that matters: b_k <= load^k / k!, and p(0) is one of the terms."""
    if load >= m:
        return members
    weight, k = 1.0, 0
    while k < members and weight > _NEGLIGIBLE:
        k += 1
        weight *= load / min(k, m)
    return min(k + _MARGIN, members)


def _scale(m: int, most: IntArray, odds: FloatArray) -> float:
    """A scale z at which the terms b_k z^k are largest near the largest p(k)."""
    members = int(np.abs(most).sum())
    low, high = 1.0, members / m
    if members <= m or _gone(most, odds, low) <= m:
        return 1.0
    for _ in range(_HALVINGS):
        middle = sqrt(low * high)
        if _gone(most, odds, middle) > m:
            low = middle
        else:
            high = middle
    return low


def _gone(most: IntArray, odds: FloatArray, z: float) -> float:
    """Mean of k with the weights b_k z^k, divided by z."""
    return float(sum(n * a / (1 + a * z) if n > 0 else a for n, a in zip(most, odds, strict=True)))


def _from_largest(rise: FloatArray) -> FloatArray:
    """Terms relative to the largest, from the ratios of successive terms, which only shrink."""
    at = int(np.sum(rise >= 1))
    terms = np.concatenate([np.cumprod(1 / rise[:at][::-1])[::-1], [1.0], np.cumprod(rise[at:])])
    terms[terms < _LEAST] = 0.0
    return terms


def _rise(n: int, a: float, top: int) -> FloatArray:
    """Ratios of successive coefficients of a class, up to the last."""
    j = np.arange(1, min(abs(n), top) + 1)
    return (n - j + 1) * a / j if n > 0 else a / j


def _weights(
    m: int, most: IntArray, odds: FloatArray, theta: float, top: int
) -> tuple[FloatArray, FloatArray]:
    """p(k) up to a factor, and b_{k-1} / b_k, for odds scaled by theta."""
    b = np.ones(1)
    for n, a in zip(most, odds, strict=True):
        b = np.convolve(b, _from_largest(_rise(int(n), float(a), top)))[: top + 1]
        b = b / b.max()
        b[b < _LEAST] = 0.0
    k = np.arange(1, top + 1)
    with np.errstate(all="ignore"):
        queueing = _queueing(k / (np.minimum(k, m) * theta))
        weights = np.where(b > 0, b * queueing, 0.0)
        before = np.concatenate([[0.0], np.where(b[1:] > 0, b[:-1] / b[1:], 0.0)])
    known = np.flatnonzero(b)
    low, high = known[0], known[-1]
    lost = _NEGLIGIBLE * weights.max()
    if np.isfinite(lost) and not (
        (low > 0 and weights[low] > lost) or (high < top and weights[high] > lost)
    ):
        return weights, before
    return _by_logarithms(m, most, odds, theta, top)


def _queueing(rise: FloatArray) -> FloatArray:
    """Terms k! / prod min(i, m) theta^k relative to the least, from ratios, which only grow."""
    at = int(np.sum(rise < 1))
    return np.concatenate([np.cumprod(1 / rise[:at][::-1])[::-1], [1.0], np.cumprod(rise[at:])])


def _by_logarithms(
    m: int, most: IntArray, odds: FloatArray, theta: float, top: int
) -> tuple[FloatArray, FloatArray]:
    """As `_weights`, by logarithms, where the terms would overflow or underflow."""
    b = np.zeros(1)
    for n, a in zip(most, odds, strict=True):
        one = np.concatenate([[0.0], np.cumsum(np.log(_rise(int(n), float(a), top)))])
        summed = np.full(min(len(b) + len(one) - 1, top + 1), -np.inf)
        for j, each in enumerate(one):
            part = summed[j : j + len(b)]
            np.logaddexp(part, each + b[: len(part)], out=part)
        b = summed
    k = np.arange(1, top + 1)
    weights = b + np.concatenate([[0.0], np.cumsum(np.log(k / (np.minimum(k, m) * theta)))])
    before = np.concatenate([[0.0], np.exp(b[:-1] - b[1:])])
    return np.exp(weights - weights.max()), before


def _presence(u: FloatArray) -> FloatArray:
    """The probability that a given member of a class is among k, by (2)."""
    there = np.zeros(len(u))
    at = 0
    while at + 1 < len(u) and u[at + 1] <= 1:
        at += 1
        there[at] = u[at] * (1 - there[at - 1])
    if at + 1 < len(u):
        there[-1] = 1.0
    for k in range(len(u) - 1, at + 1, -1):
        there[k - 1] = 1 - there[k] / u[k] if u[k] > 0 else 1.0
    return there


@compiled
def first_to_leave(
    begins: IntArray,
    servers: IntArray,
    most: IntArray,
    present: FloatArray,
    service: FloatArray,
    abscissas: FloatArray,
    weights: FloatArray,
    result: FloatArray,
    work: FloatArray,  # noqa: ARG001 - the kernel's
) -> None:
    r"""Mean time until the first of m busy servers is free, from the classes in service.

    The m jobs in service are drawn from all that are present, each with an exponential service
    time, with at most n_c of class c. Let pi_c be the probability that a given member is in
    service, such that n_c pi_c is in proportion to the members present and sums to m. Then

        E min = integral of g_m(t) / g_m(0) dt,
        sum_k g_k(t) z^k = prod_c (1 - pi_c + pi_c e^(-t / S_c) z)^{n_c},

    with the factor exp(m_c (e^(-t / S_c) z - 1)) for an unlimited class with m_c in service. The
    result is S / m for equal service times, and less otherwise.

    Parameters
    ----------
    begins, servers, most
        As for `finite_stations`.
    present
        Mean members of each class at the station, shape (classes, points).
    service
        Mean times S of each class, above 0 [s], shape (classes, points).
    abscissas, weights
        Nodes and weights of integrals from 0 to infinity, for times relative to S / m.
    result
        E min [s], shape (stations, points).
    work
        Work space of (m + 1) (classes + 2) numbers for the largest station.

    Examples
    --------
    >>> half, found = np.array([[1.0], [1.0]]), np.zeros((1, 1))
    >>> x, w = np.polynomial.laguerre.laggauss(40)
    >>> given = np.array([[1.0], [3.0]]), x, w * np.exp(x), found, np.zeros(12)
    >>> first_to_leave(np.array([0, 2]), np.array([2]), np.array([1, 1]), half, *given)
    >>> found.round(6).tolist()  # one of each is there: 1 / (1 + 1/3)
    [[0.75]]
    """
    for q, m in enumerate(servers.tolist()):
        at = slice(begins[q], begins[q + 1])
        for point in range(result.shape[1]):
            means, times = present[at, point], service[at, point]
            mean = float(means @ times / max(means.sum(), _TINY)) / m
            result[q, point] = mean
            if m == 1 or len(means) <= 1 or not mean > 0:
                continue
            inside = [
                _in_service(n, m * mine / means.sum(), m)
                for n, mine in zip(most[at].tolist(), means.tolist(), strict=True)
            ]
            known = _still_there(m, inside, times, 0.0)
            if known > 0:
                left = [_still_there(m, inside, times, mean * x) for x in abscissas.tolist()]
                result[q, point] = mean * float(weights @ left) / known


def _in_service(n: int, mean: float, m: int) -> FloatArray:
    """Probabilities of 0, 1, ... members of a class in service, with the given mean."""
    share = min(mean / n, _SURELY) if n > 0 else 0.0
    odds, none = (share / (1 - share), n * np.log1p(-share)) if n > 0 else (mean, -mean)
    with np.errstate(divide="ignore"):
        rises = np.log(_rise(n, odds, m))
    return np.asarray(np.exp(none + np.concatenate([[0.0], np.cumsum(rises)])))


def _still_there(m: int, inside: list[FloatArray], service: FloatArray, time: float) -> float:
    """g_m: the probability that m are in service and none of them has left by ``time``."""
    whole = np.ones(1)
    for chances, mean in zip(inside, service.tolist(), strict=True):
        stays = np.exp(-time / mean * np.arange(len(chances)))
        whole = np.convolve(whole, chances * stays)[: m + 1]
    return float(whole[m]) if len(whole) > m else 0.0


@compiled
def waits_of_one(
    begins: IntArray,
    members: IntArray,
    away: FloatArray,
    share: FloatArray,
    mean: FloatArray,
    scv: FloatArray,
    result: FloatArray,
) -> None:
    """Mean waits for one first-come first-served server, M/G/1//N, with several kinds of service.

    With b_i = E exp(-i S / Z), the server is idle with a probability p_0 of

        1 / p_0 = 1 + N E S / Z sum_{n < N} C(N - 1, n) prod_{i <= n} (1 / b_i - 1),

    and W is the rest of a cycle: N E S / (1 - p_0) = Z + W + E S (Takacs, Introduction to the
    Theory of Queues, 1962, chapter 5). With the sum written as 1 + T, W = (N - 1) E S - Z T / (1 +
    T), which loses no digits when Z is long.

    Parameters
    ----------
    begins
        Index of the first kind of service of each server; one more number than there are servers.
    members
        N of each server, 1 or more.
    away
        Mean Z of the exponential time from the end of service to the next visit, above 0, shape
        (servers, points).
    share, mean, scv
        Share, mean and squared coefficient of variation of each kind of service, with gamma laws,
        shape (kinds, points).
    result
        W, shape (servers, points).

    Examples
    --------
    >>> import numpy as np
    >>> half, one, result = np.array([[0.5]]), np.array([[1.0]]), np.zeros((1, 1))
    >>> waits_of_one(np.array([0, 1]), np.array([2]), one, one, half, one, result)
    >>> result.round(9).tolist()  # as p_0 = 0.4
    [[0.166666667]]
    """
    for q, count in enumerate(members.tolist()):
        at = slice(begins[q], begins[q + 1])
        work = (share[at] * mean[at]).sum(axis=0)
        for point, z in enumerate(away[q].tolist()):
            kinds = share[at, point], mean[at, point] / z, scv[at, point]
            found = _cycles(count, *kinds)
            result[q, point] = (count - 1) * work[point] - z * (found / (1 + found))


def _cycles(members: int, share: FloatArray, mean: FloatArray, scv: FloatArray) -> float:
    """The sum over n from 1 until terms, which first grow and then shrink, are negligible."""
    term, total = 1.0, 0.0
    for n in range(1, members):
        rate = np.log1p(n * mean * scv) / scv
        laplace, rest = float(share @ np.exp(-rate)), float(share @ -np.expm1(-rate))
        term *= (members - n) / n * (rest / max(laplace, _TINY))
        total += term
        if term < _NEGLIGIBLE * _NEGLIGIBLE * total or total > _ENDLESS:
            break
    return total


def outliving(second: FloatArray, away: FloatArray, visits: Amount, think: Amount) -> FloatArray:
    """P(S2 > A): a member that asks again still finds the second phase of its last request.

    The time A between requests begins with a piece of the cycle, exponential with mean g. With
    probability q = v / (1 + v), for a geometric number of visits of mean v per cycle, the next
    request follows; otherwise the cycle ends, the member thinks, and another piece follows. With
    the transforms f of a piece and z of the think time,

        E exp(-s A) = q f / (1 - (1 - q) f z),   E A = (g (1 + v) + E Z) / v,

    taken at s = 1 / S2 for an exponential second phase. Without thinking A is exponential.

    Parameters
    ----------
    second
        Mean S2, 0 or more [s].
    away
        Mean A [s].
    visits
        Mean visits v per cycle, above 0.
    think
        Mean time for which a member thinks between cycles [s].

    Examples
    --------
    >>> outliving(np.array([2.0]), np.array([2.0]), 1.0, 0.0).round(12).tolist()
    [0.5]
    """
    again = visits / (1 + visits)
    piece = np.maximum(away * visits - think, 0.0) / (1 + visits)
    s = 1 / np.maximum(second, _TINY)
    f, z = 1 / (1 + s * piece), 1 / (1 + s * think)
    return np.where(second > 0, again * f / (1 - (1 - again) * f * z), 0.0)


def left_over(service: FloatArray, scv: FloatArray, away: FloatArray) -> FloatArray:
    """Mean rest of the service in progress that a member finds when it comes back.

    The service began when the member left. With phi = E[exp(-S / Z)], for an exponential time away
    with mean Z, the same service is still in progress with probability 1 - phi, and the mean of its
    rest, counted as 0 otherwise, is S - Z (1 - phi). Otherwise the rest of a later service lies
    between S, for one that has just begun, and (1 + c2) S / 2, for one at a random time; the longer
    Z is, the nearer to the second. S has a gamma law with the given scv.
    """
    phi = (1 + service * scv / away) ** (-1 / scv)
    old = away / (away + service * (1 + scv) / 2)
    rest = service * (1 + old * (scv - 1) / 2)
    return np.asarray(service - away * (1 - phi) + phi * rest)
