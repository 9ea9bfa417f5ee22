"""Stations that a few members come to, exactly: product forms, or one server of any law.

Of class c there are n_c members, each of which is away for Z_c on average between visits of S_c;
with a_c = S_c / Z_c the probability of k members at m servers is, up to a constant,

    p(k) ~ b_k k! / prod_{i <= k} min(i, m),   sum_k b_k z^k = prod_c (1 + a_c z)^{n_c},    (1)

as for the machine repair model of several classes (Baskett and others, JACM 22, 1975, with one
queue and delays). Without one member of class c the coefficients are q_k = b_k - a_c q_{k-1}; of
k members t_k = a_c q_{k-1} / b_k is the probability that it is among them:

    t_k = u_k (1 - t_{k-1}),   u_k = a_c b_{k-1} / b_k,   E[n_c | k] = n_c t_k.             (2)

As b is log-concave, u grows with k: (2) is stable upwards where u is at most 1, and downwards
beyond. `waits_of_one` has one class, one server, and service times of any law.
"""

from math import sqrt

import numpy as np

from headway.kinds import Amount, FloatArray
from headway.queueing.compiled.library import compiled
from headway.queueing.playing.rows import IntArray

_LEAST = 1e-290  # relative coefficients below are left out
_NEGLIGIBLE = 1e-18  # of the largest weight
_MARGIN = 24  # more members, over which a guess at the last t is forgotten
_HALVINGS = 20  # of a scale, which needs no digits
_TINY = 1e-300
_SURELY = 1 - 1e-9  # of being in service, so that odds are finite
_ENDLESS = 1e20  # of which 1 more changes no digit


ROWS = 6
"""Arrays of as many numbers as there are members that a station needs."""


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
    """Numbers at many stations, each with a few classes.

    Parameters
    ----------
    begins
        Where the classes of each station begin; one more than there are stations.
    servers
        m of each station, 1 or more.
    most
        Members n of each class, 1 or more; below 0 -n of a class with the coefficients a^k / k!.
    odds
        a = S / Z of each class, above 0, shape (classes, points).
    beyond, full, nearly
        Results of shape (stations, points): the mean of max(0, k - m + 1), P(k >= m) and
        P(k >= m - 1).
    means
        Result of shape (classes, points): mean members.
    fewer
        Result of shape (classes, points): what is ``beyond`` without one member of the class; of
        a class without end nothing is written.
    work
        Room for `ROWS` (largest number of members + 1) numbers.

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
                    fewer[c, point] = _fewer(int(servers[q]), chances, share)


def _fewer(m: int, chances: FloatArray, there: FloatArray) -> float:
    """Mean of max(0, k - m + 1) without a member who is among k by (2)."""
    k = np.arange(1, len(chances))
    weights = there[1:] * chances[1:] * np.minimum(k, m) / k
    total = weights.sum()
    return float(weights @ np.maximum(k - m, 0) / total) if total > 0 else 0.0


def _station(
    m: int, most: IntArray, odds: FloatArray
) -> tuple[FloatArray, FloatArray, list[FloatArray]]:
    """Probabilities of 0, 1, ... members, up to the last that counts, and means of classes.

    And of each class who of it is there among so many, up to a factor.
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
        n * _there(a * theta * before) if n > 0 else np.zeros(top + 1)
        for n, a in zip(most, odds, strict=True)
    ]
    means = np.array([share @ chances for share in shares])
    means[most < 0] = chances @ np.arange(top + 1) - means.sum()
    return chances, means, shares


def _last(m: int, members: int, load: float) -> int:
    """The last number of members that counts: b_k <= load^k / k!, and p(0) is one of the terms."""
    if load >= m:
        return members
    weight, k = 1.0, 0
    while k < members and weight > _NEGLIGIBLE:
        k += 1
        weight *= load / min(k, m)
    return min(k + _MARGIN, members)


def _scale(m: int, most: IntArray, odds: FloatArray) -> float:
    """Scale z for which the terms b_k z^k are largest where those of p(k) are."""
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
    """Mean of k with the weights b_k z^k, over z."""
    return float(sum(n * a / (1 + a * z) if n > 0 else a for n, a in zip(most, odds, strict=True)))


def _from_largest(rise: FloatArray) -> FloatArray:
    """Terms of which each is so many times the one before, over the largest; rises only shrink."""
    at = int(np.sum(rise >= 1))
    terms = np.concatenate([np.cumprod(1 / rise[:at][::-1])[::-1], [1.0], np.cumprod(rise[at:])])
    terms[terms < _LEAST] = 0.0
    return terms


def _rise(n: int, a: float, top: int) -> FloatArray:
    """By how much each coefficient of a class is larger than the one before, up to the last."""
    j = np.arange(1, min(abs(n), top) + 1)
    return (n - j + 1) * a / j if n > 0 else a / j


def _weights(
    m: int, most: IntArray, odds: FloatArray, theta: float, top: int
) -> tuple[FloatArray, FloatArray]:
    """p(k) up to a factor, and b_{k-1} / b_k, of odds that are scaled by theta."""
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
    """Find k! / prod min(i, m) theta^k over its least, from its rises, which only grow."""
    at = int(np.sum(rise < 1))
    return np.concatenate([np.cumprod(1 / rise[:at][::-1])[::-1], [1.0], np.cumprod(rise[at:])])


def _by_logarithms(
    m: int, most: IntArray, odds: FloatArray, theta: float, top: int
) -> tuple[FloatArray, FloatArray]:
    """The same where numbers of floating point do not reach from one to the other."""
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


def _there(u: FloatArray) -> FloatArray:
    """The probability that a member of a class is among k, (2)."""
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
    r"""Mean time until the first of m busy servers is free, by the classes that are served.

    Those in service are m of all that are present, each for an exponential time, and of class c
    there are no more than its n_c members. With pi_c the share of these that is in service, so that
    n_c pi_c is in proportion to those present, and m in all,

        E min = integral of g_m(t) / g_m(0) dt,
        sum_k g_k(t) z^k = prod_c (1 - pi_c + pi_c e^(-t / S_c) z)^{n_c},

    and exp(m_c (e^(-t / S_c) z - 1)) for a class without end, of which m_c are in service. It is
    S / m for equal times, and less for others: the short ones go on.

    Parameters
    ----------
    begins, servers, most
        As for `finite_stations`.
    present
        Mean members of each class at the station, shape (classes, points).
    service
        Mean times S of each class, above 0 [s], shape (classes, points).
    abscissas, weights
        Of integrals from 0 to infinity, for times over S / m.
    result
        E min [s], shape (stations, points).
    work
        Room for (m + 1) (classes + 2) numbers of the largest station.

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
    """Probabilities that so many of a class are in service, of which the mean is given."""
    share = min(mean / n, _SURELY) if n > 0 else 0.0
    odds, none = (share / (1 - share), n * np.log1p(-share)) if n > 0 else (mean, -mean)
    with np.errstate(divide="ignore"):
        rises = np.log(_rise(n, odds, m))
    return np.asarray(np.exp(none + np.concatenate([[0.0], np.cumsum(rises)])))


def _still_there(m: int, inside: list[FloatArray], service: FloatArray, time: float) -> float:
    """g_m: the probability that m are in service, and none of them has left by a time."""
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
    """Mean waits for one server that serves in order of arrival, M/G/1//N, of many kinds.

    With b_i = E exp(-i S / Z), the server is idle with a probability p_0 of

        1 / p_0 = 1 + N E S / Z sum_{n < N} C(N - 1, n) prod_{i <= n} (1 / b_i - 1),

    and W is what is left of a cycle, N E S / (1 - p_0) = Z + W + E S (Takacs, Introduction to the
    Theory of Queues, 1962, chapter 5). With the sum 1 + T that is W = (N - 1) E S - Z T / (1 + T),
    which keeps its digits where Z is long.

    Parameters
    ----------
    begins
        Where the kinds of service of each server begin; one more than there are servers.
    members
        N of each, 1 or more.
    away
        Mean Z of the exponential time from the end of service to the next visit, above 0, shape
        (servers, points).
    share, mean, scv
        Of each kind of service, gamma laws: its share, mean and squared coefficient of variation,
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
    """The sum over n from 1, until its terms, which rise and then fall, are negligible."""
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
    """P(S2 > A): whether one who asks again still finds the second phase of its last request.

    Between requests A is a piece of a cycle, of the exponential mean g, with the probability
    q = v / (1 + v) of v geometric visits in a cycle; otherwise a cycle ends, its member thinks, and
    another piece follows. With the transform f of a piece and z of thinking,

        E exp(-s A) = q f / (1 - (1 - q) f z),   E A = (g (1 + v) + E Z) / v,

    taken at s = 1 / S2 for an exponential second phase. Without thinking A is exponential.

    Parameters
    ----------
    second
        Mean S2, 0 or more [s].
    away
        Mean A [s].
    visits
        v in a cycle, above 0.
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
    """Mean rest of the service that is met, by one who left when it began, a time away before.

    With phi = E[exp(-S / Z)], as the time away is exponential with mean Z: the same service is
    still on with probability 1 - phi, and then has S - Z (1 - phi) left over in all. Otherwise what
    is met lies between one that has just begun, S, and one met at any time, (1 + c2) S / 2, the
    nearer to the second the longer Z is. A gamma law of the scv stands for S.
    """
    phi = (1 + service * scv / away) ** (-1 / scv)
    old = away / (away + service * (1 + scv) / 2)
    rest = service * (1 + old * (scv - 1) / 2)
    return np.asarray(service - away * (1 - phi) + phi * rest)
