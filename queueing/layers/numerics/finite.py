"""Stations visited by finite populations, exactly: product forms, or one server of any law.

Class c has n_c members, each away for Z_c on average between visits with mean service S_c. With a_c
= S_c / Z_c the probability of k members at m servers is, up to a constant,

    p(k) ~ b_k k! / prod_{i <= k} min(i, m),   sum_k b_k z^k = prod_c (1 + a_c z)^{n_c},    (1)

as in the machine repair model with several classes (Baskett and others, JACM 22, 1975, with one
queue and delays). Without one member of class c the coefficients are q_k = b_k - a_c q_{k-1}; and
t_k = a_c q_{k-1} / b_k is the probability that a given member of class c is among the k:

    t_k = u_k (1 - t_{k-1}),   u_k = a_c b_{k-1} / b_k,   E[n_c | k] = n_c t_k.             (2)

As b is log-concave, u grows with k, so (2) is stable upwards while u is at most 1, and downwards
beyond. A class may have other coefficients than those of (1 + a z)^n, given by their ratios
(`headway.queueing.layers.numerics.pools`); then t follows from the coefficients of all others.
`waits_of_one` is for one class, one server, and service times of any law.
"""

from math import sqrt

import numpy as np

from headway.kinds import Amount, FloatArray
from headway.queueing.compiled.library import compiled
from headway.queueing.playing.rows import IntArray
from headway.records import dataclass

_LEAST = 1e-290  # relative size below which coefficients are left out
_NEGLIGIBLE = 1e-18  # of the largest weight; smaller ones are left out
_MARGIN = 24  # further members after which a guess at the last t is forgotten
_HALVINGS = 20  # halvings of a scale that is needed roughly only
_TINY = 1e-300
_SURELY = 1 - 1e-9  # largest probability of being in service, so that odds stay finite
_ENDLESS = 1e20  # population so large that 1 more changes no digit


ROWS = 6
"""Arrays of work space that a station needs, each as long as its largest number of members."""


def at_points(counts: IntArray, points: int) -> IntArray:
    """Whole numbers of rows at each point, from one number for all points or one for each.

    Examples
    --------
    >>> at_points(np.array([3, 4]), 2).tolist()
    [[3, 3], [4, 4]]
    """
    columns = counts if counts.ndim > 1 else counts[:, np.newaxis]
    return np.broadcast_to(columns, (len(counts), points))


@compiled
def finite_stations(
    begins: IntArray,
    servers: IntArray,
    most: IntArray,
    law: IntArray,
    freed: IntArray,
    odds: FloatArray,
    ratios: FloatArray,
    rates: FloatArray,
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
        m of each station, 1 or more; like ``most`` the same at all points, or of shape (stations,
        points).
    most
        Members n of each class, 1 or more.
    law
        The first row in ``ratios`` of each class with coefficients of its own; -1 for (1).
    freed
        The first row in ``rates`` of each station that has rates of its own; -1 otherwise.
    odds
        a = S / Z of each class, above 0, shape (classes, points); not used with coefficients.
    ratios
        Ratios of successive coefficients of each class that has its own, as many as the largest n
        for each, shape (rows, points).
    rates
        Rates c(1) to c(m) that replace min(k, m), as many rows as the largest m for each station
        that has its own, not falling; c(m) for more than m members.
    beyond, full, nearly
        Results of shape (stations, points): the mean of max(0, k - m + 1), P(k >= m) and
        P(k >= m - 1).
    means
        Result of shape (classes, points): mean members.
    fewer
        Result of shape (classes, points): ``beyond`` without one member of the class.
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
    ...     *(np.array([-1]), np.array([-1])),
    ...     odds,
    ...     *(np.zeros((0, 1)), np.zeros((0, 1))),
    ...     *(beyond, full, nearly, means, fewer, np.zeros(3 * ROWS)),
    ... )
    >>> full.round(12).tolist(), means.round(12).tolist(), fewer.round(12).tolist()
    ([[0.6]], [[0.8]], [[0.333333333333]])
    """
    shape = beyond.shape[1]
    for q, each in enumerate(at_points(servers, shape).tolist()):
        at = slice(begins[q], begins[q + 1])
        here = at_points(most[at], shape)
        for point, m in enumerate(each):
            classes = [
                _Class(int(n), float(a), ratios[first : first + n, point] if first >= 0 else None)
                for n, first, a in zip(here[:, point], law[at], odds[at, point], strict=True)
            ]
            rate = np.arange(1.0, m + 1)
            if freed[q] >= 0:
                rate = rates[freed[q] : freed[q] + m, point]
            chances, there = _station(rate, classes)
            k = np.arange(len(chances))
            beyond[q, point] = chances @ np.maximum(k - m + 1, 0)
            full[q, point] = chances[m:].sum()
            nearly[q, point] = chances[m - 1 :].sum()
            for c, share in enumerate(there, begins[q]):
                means[c, point] = chances @ share
                fewer[c, point] = _beyond_without_one(rate, chances, share)


@dataclass(frozen=True, eq=False)
class _Class:
    """A class of n members with the odds a, or with ratios of successive coefficients."""

    most: int
    odds: float
    ratios: FloatArray | None

    def rise(self, top: int) -> FloatArray:
        """Ratios of successive coefficients, up to the last."""
        if self.ratios is not None:
            return self.ratios[:top]
        j = np.arange(1, min(self.most, top) + 1)
        return (self.most - j + 1) * self.odds / j

    @property
    def load(self) -> float:
        """The least number z with b_k <= z^k / k! for the coefficients over the first."""
        if self.ratios is None:
            return self.most * self.odds
        return float(np.max(np.arange(1, self.most + 1) * self.ratios))

    def scaled(self, theta: float) -> "_Class":
        """The class with coefficients b_k theta^k."""
        ratios = None if self.ratios is None else self.ratios * theta
        return _Class(self.most, self.odds * theta, ratios)


def _rates(rate: FloatArray, top: int) -> FloatArray:
    """The rates c(k) with 1 to ``top`` members."""
    return np.asarray(rate[np.minimum(np.arange(top), len(rate) - 1)])


def _beyond_without_one(rate: FloatArray, chances: FloatArray, there: FloatArray) -> float:
    """Mean of max(0, k - m + 1) without one member, by (2)."""
    k = np.arange(1, len(chances))
    weights = there[1:] * chances[1:] * _rates(rate, len(k)) / k
    total = weights.sum()
    return float(weights @ np.maximum(k - len(rate), 0) / total) if total > 0 else 0.0


def _station(rate: FloatArray, classes: list[_Class]) -> tuple[FloatArray, list[FloatArray]]:
    """Probabilities of 0, 1, ... members up to the last that matters, and members of each class.

    Those are means among so many.
    """
    if not classes:
        return np.ones(1), []
    members = sum(one.most for one in classes)
    top = _last(rate, members, sum(one.load for one in classes))
    if len(classes) == 1:
        k = np.arange(1, top + 1)
        chances = from_largest(classes[0].rise(top) * k / _rates(rate, top))
        return chances / chances.sum(), [np.arange(top + 1.0)]
    theta = _scale(len(rate), classes)
    scaled = [one.scaled(theta) for one in classes]
    weights, before = _weights(rate, scaled, theta, top)
    shares = [
        one.most * _presence(one.odds * before) if one.ratios is None else _members(scaled, c, top)
        for c, one in enumerate(scaled)
    ]
    return weights / weights.sum(), shares


def _last(rate: FloatArray, members: int, load: float) -> int:
    """The last number of members that matters: b_k <= load^k / k!, and p(0) is one of the terms."""
    if load >= rate[-1]:
        return members
    weight, k = 1.0, 0
    while k < members and weight > _NEGLIGIBLE:
        k += 1
        weight *= load / rate[min(k, len(rate)) - 1]
    return min(k + _MARGIN, members)


def _scale(m: int, classes: list[_Class]) -> float:
    """A scale z at which the terms b_k z^k are largest near the largest p(k)."""
    members = sum(one.most for one in classes)
    low, high = 1.0, members / m
    if members <= m or _gone(classes, low) <= m:
        return 1.0
    for _ in range(_HALVINGS):
        middle = sqrt(low * high)
        if _gone(classes, middle) > m:
            low = middle
        else:
            high = middle
    return low


def _gone(classes: list[_Class], z: float) -> float:
    """Mean of k with the weights b_k z^k, over z; roughly for classes with coefficients."""
    return sum(one.load / (1 + one.load * z / one.most) for one in classes)


def from_largest(rise: FloatArray) -> FloatArray:
    """Terms relative to the largest, from the ratios of successive terms, which only shrink."""
    at = int(np.sum(rise >= 1))
    terms = np.concatenate([np.cumprod(1 / rise[:at][::-1])[::-1], [1.0], np.cumprod(rise[at:])])
    terms[terms < _LEAST] = 0.0
    return terms


def _product(classes: list[_Class], top: int) -> FloatArray:
    """Coefficients b of some classes over the largest, up to the last that matters."""
    b = np.ones(1)
    for one in classes:
        b = np.convolve(b, from_largest(one.rise(top)))[: top + 1]
        b = b / b.max()
        b[b < _LEAST] = 0.0
    return b


def _weights(
    rate: FloatArray, classes: list[_Class], theta: float, top: int
) -> tuple[FloatArray, FloatArray]:
    """p(k) up to a factor, and b_{k-1} / b_k, for classes scaled by theta."""
    b = _product(classes, top)
    k = np.arange(1, top + 1)
    with np.errstate(all="ignore"):
        queueing = _queueing(k / (_rates(rate, top) * theta))
        weights = np.where(b > 0, b * queueing, 0.0)
        before = np.concatenate([[0.0], np.where(b[1:] > 0, b[:-1] / b[1:], 0.0)])
    known = np.flatnonzero(b)
    low, high = known[0], known[-1]
    lost = _NEGLIGIBLE * weights.max()
    if np.isfinite(lost) and not (
        (low > 0 and weights[low] > lost) or (high < top and weights[high] > lost)
    ):
        return weights, before
    return _by_logarithms(rate, classes, theta, top)


def _queueing(rise: FloatArray) -> FloatArray:
    """Terms k! / prod min(i, m) theta^k relative to the least, from ratios, which only grow."""
    at = int(np.sum(rise < 1))
    return np.concatenate([np.cumprod(1 / rise[:at][::-1])[::-1], [1.0], np.cumprod(rise[at:])])


def _by_logarithms(
    rate: FloatArray, classes: list[_Class], theta: float, top: int
) -> tuple[FloatArray, FloatArray]:
    """As `_weights`, by logarithms, where the terms would overflow or underflow."""
    b = np.zeros(1)
    for each_class in classes:
        one = np.concatenate([[0.0], np.cumsum(np.log(each_class.rise(top)))])
        summed = np.full(min(len(b) + len(one) - 1, top + 1), -np.inf)
        for j, each in enumerate(one):
            part = summed[j : j + len(b)]
            np.logaddexp(part, each + b[: len(part)], out=part)
        b = summed
    k = np.arange(1, top + 1)
    weights = b + np.concatenate([[0.0], np.cumsum(np.log(k / (_rates(rate, top) * theta)))])
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


def _members(classes: list[_Class], c: int, top: int) -> FloatArray:
    """Mean members of class c among k, from the coefficients of all others."""
    others = _product([*classes[:c], *classes[c + 1 :]], top)
    own = from_largest(classes[c].rise(top))
    all_ = np.convolve(own, others)[: top + 1]
    mine = np.convolve(own * np.arange(len(own)), others)[: top + 1]
    there = np.zeros(top + 1)
    for k in range(1, top + 1):
        there[k] = mine[k] / all_[k] if all_[k] > 0 else there[k - 1]
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
        sum_k g_k(t) z^k = prod_c (1 - pi_c + pi_c e^(-t / S_c) z)^{n_c}.

    The result is S / m for equal service times, and less otherwise.

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
    for q, each in enumerate(at_points(servers, result.shape[1]).tolist()):
        at = slice(begins[q], begins[q + 1])
        here = at_points(most[at], result.shape[1])
        for point, m in enumerate(each):
            means, times = present[at, point], service[at, point]
            mean = float(means @ times / max(means.sum(), _TINY)) / m
            result[q, point] = mean
            if m == 1 or len(means) <= 1 or not mean > 0:
                continue
            inside = [
                _in_service(n, m * mine / means.sum(), m)
                for n, mine in zip(here[:, point].tolist(), means.tolist(), strict=True)
            ]
            known = _still_there(m, inside, times, 0.0)
            if known > 0:
                left = [_still_there(m, inside, times, mean * x) for x in abscissas.tolist()]
                result[q, point] = mean * float(weights @ left) / known


def _in_service(n: int, mean: float, m: int) -> FloatArray:
    """Probabilities that 0, 1, ... of n members are in service, with the given mean."""
    share = min(mean / n, _SURELY)
    with np.errstate(divide="ignore"):
        rises = np.log(_Class(n, share / (1 - share), None).rise(m))
    first = n * np.log1p(-share)
    return np.asarray(np.exp(first + np.concatenate([[0.0], np.cumsum(rises)])))


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
        N of each server, 1 or more; the same at all points, or of shape (servers, points).
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
    for q, counts in enumerate(at_points(members, away.shape[1]).tolist()):
        at = slice(begins[q], begins[q + 1])
        work = (share[at] * mean[at]).sum(axis=0)
        for point, (count, z) in enumerate(zip(counts, away[q].tolist(), strict=True)):
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
