"""One station that a few members come to, exactly: a product form, or one server of any law.

Of class c there are n_c members, each of which is away for Z_c on average between visits of S_c;
with a_c = S_c / Z_c the probability of k members at m servers is, up to a constant,

    p(k) ~ b_k k! / prod_{i <= k} min(i, m),   sum_k b_k z^k = prod_c (1 + a_c z)^{n_c},

as for the machine repair model of several classes (Baskett and others, JACM 22, 1975, with one
queue and delays). `wait_of_one` has one class, one server, and service times of any law.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from scipy.special import gammaln

from headway.kinds import Amount, FloatArray

_LEAST = -700.0  # least logarithm of a floating point number with all its digits
_MOST = 600.0  # logarithm of what is as good as infinite, with room for factors
_TINY = 1e-300


def present(
    most: Sequence[int],
    odds: Sequence[FloatArray],
    servers: float,
    besides: Sequence[FloatArray] = (),
) -> tuple[FloatArray, list[FloatArray]]:
    """Probabilities of 0, 1, ... members at a station, and mean members of each class.

    Parameters
    ----------
    most
        Members n of each class, 1 or more.
    odds
        a = S / Z of each class, above 0, shape (points,).
    servers
        Servers m, 1 or more; infinity for a delay.
    besides
        Further classes, each by the logarithms of its coefficients of z^0, z^1, ...

    Returns
    -------
    Shape (members + 1, points), and for each class (points,).

    Examples
    --------
    >>> import numpy as np
    >>> chances, means = present([2], [np.array([0.5])], 1)
    >>> chances[:, 0].round(12).tolist(), means[0].round(12).tolist()
    ([0.4, 0.4, 0.2], [0.8])
    """
    logs = [_binomial(n, a) for n, a in zip(most, odds, strict=True)] + list(besides)
    points = logs[0].shape[1:] if logs else (1,)
    k = np.arange(sum(len(one) - 1 for one in logs) + 1)
    queueing = np.cumsum(np.log(np.maximum(k, 1) / np.minimum(np.maximum(k, 1), servers)))
    weights = _product(logs, points) + queueing[:, np.newaxis]
    top = weights.max(axis=0)
    chances = np.exp(weights - top)
    total = chances.sum(axis=0)
    means = []
    for c, one in enumerate(logs):
        counted = one[1:] + np.log(np.arange(1, len(one)))[:, np.newaxis]  # k b_k
        rest = _product([*logs[:c], counted, *logs[c + 1 :]], points) + queueing[1:, np.newaxis]
        means.append(np.exp(rest - top).sum(axis=0) / total)
    return chances / total, means


def truncated_poisson(mean: FloatArray, most: int) -> FloatArray:
    """Logarithms of a^k / k!, of a Poisson number up to the most, shape (most + 1, points)."""
    k = np.arange(most + 1)[:, np.newaxis]
    return np.asarray(k * np.log(mean) - gammaln(k + 1))


def _binomial(n: int, odds: FloatArray) -> FloatArray:
    """Logarithms of the coefficients of (1 + a z)^n, shape (n + 1, points)."""
    k = np.arange(n + 1)
    return np.asarray(_ways(n)[:, np.newaxis] + k[:, np.newaxis] * np.log(odds))


@lru_cache(maxsize=256)
def _ways(n: int) -> FloatArray:
    """Logarithms of binomial coefficients C(n, 0), ..., C(n, n)."""
    k = np.arange(n + 1)
    ways = np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))
    ways.setflags(write=False)
    return ways


def _product(logs: Sequence[FloatArray], points: tuple[int, ...]) -> FloatArray:
    """Logarithms of the coefficients of a product of polynomials, given by theirs.

    Small coefficients may not get lost, as k! members in a queue outweigh them. Where they differ
    by more than floating point numbers hold, they are summed by their logarithms.
    """
    result = np.zeros((1, *points))
    for one in sorted(logs, key=len):
        if len(result) == 1:
            result = one + result
            continue
        spread = np.ptp(result, axis=0).max() + np.ptp(one, axis=0).max()
        result = _convolved(result, one) if spread < -_LEAST else _log_convolved(result, one)
    return result


def _convolved(few: FloatArray, many: FloatArray) -> FloatArray:
    tops = few.max(axis=0), many.max(axis=0)
    small, large = np.exp(few - tops[0]), np.exp(many - tops[1])
    summed = np.zeros((len(small) + len(large) - 1, *small.shape[1:]))
    for k, share in enumerate(small):
        summed[k : k + len(large)] += share * large
    return np.asarray(np.log(summed) + tops[0] + tops[1])


def _log_convolved(few: FloatArray, many: FloatArray) -> FloatArray:
    summed = np.full(
        (len(few) + len(many) - 1, *np.broadcast_shapes(few[0].shape, many[0].shape)), -np.inf
    )
    for k, one in enumerate(few):
        part = summed[k : k + len(many)]
        np.logaddexp(part, one + many, out=part)
    return summed


def wait_of_one(
    members: int, away: FloatArray, service: Sequence[tuple[Amount, FloatArray, FloatArray]]
) -> FloatArray:
    """Mean wait for one server that serves in order of arrival, M/G/1//N.

    With b_i = E exp(-i S / Z), the server is idle with a probability p_0 of

        1 / p_0 = 1 + N E S / Z sum_{n < N} C(N - 1, n) prod_{i <= n} (1 / b_i - 1),

    and W is what is left of a cycle, N E S / (1 - p_0) = Z + W + E S (Takacs, Introduction to the
    Theory of Queues, 1962, chapter 5).

    Parameters
    ----------
    members
        N, 1 or more.
    away
        Mean Z of the exponential time from the end of service to the next visit, above 0.
    service
        Kinds of service, gamma laws: the share, mean and squared coefficient of variation of each.

    Examples
    --------
    >>> import numpy as np
    >>> half, one = np.array([0.5]), np.array([1.0])
    >>> wait_of_one(2, one, [(1.0, half, one)]).round(9).tolist()  # as p_0 = 0.4
    [0.166666667]
    """
    zero = np.zeros_like(away)
    mean = sum((share * each for share, each, _ in service), zero)
    i = np.arange(1, members)[:, np.newaxis]
    laplace = sum(
        (share * (1 + i * each * scv / away) ** (-1 / scv) for share, each, scv in service), zero
    )
    ratios = np.log(np.maximum(1 / np.maximum(laplace, _TINY) - 1, _TINY))
    ways = _ways(members - 1)[:, np.newaxis]
    logs = ways + np.concatenate([zero[np.newaxis], np.cumsum(ratios, axis=0)[: members - 1]])
    busy = members * mean / away * np.exp(np.minimum(logs, _MOST)).sum(axis=0)
    return np.asarray(members * mean * (1 + 1 / np.maximum(busy, _TINY)) - away - mean)


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
