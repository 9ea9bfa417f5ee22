r"""GI/M/m/K: renewal arrivals at m exponential servers with K places; jobs without one are lost.

Just before an arrival there are n jobs with probability p_n. An arrival that finds m or more jobs
meets m busy servers, so D jobs complete before the next arrival, with b_d = P(D = d). The set of
states from k down is entered as often as it is left: for m <= k < K,

    p_k b_0 = sum over k < i < K of p_i P(D > i - k) + p_K P(D >= K - k),                (1)

with positive terms only, from K downwards. Far from K the ratio p_(k+1) / p_k is s = 1 - y, with y
the root of (1) in `headway.queueing.renewals.waits`, where the states below m sum to p_m times the
sum of (2) there. That sum is used here too, which is an approximation if K is close to m, exact for
Poisson arrivals, and in the limit of large K - m. With K = m the loss is Takács's, 1 / (1 + sum
over k of C(m, k) / C_k).

Source: Takács, *Introduction to the Theory of Queues*, 1962, chapters 2 and 4.
"""

import numpy as np
from numpy.typing import ArrayLike

from headway.kinds import FloatArray, plain
from headway.queueing.erlang.waiting_room import FiniteQueueResult
from headway.queueing.renewals.waits import Gaps, renewal_wait

APPROXIMATE = (
    "GI/M/m/K of gamma-distributed times between arrivals: throughput within 5% and response time "
    "within 3% where K - m is 1, both within 0.5% where it is more; exact for Poisson arrivals"
)
"""The label of what is approximate: ``python -m tests.campaigns.renewal_errors``."""

# For digits only: the number of states below K from which p_(k+1) / p_k is s; the probability of no
# completion below which nothing is lost; the load at which no server is ever free; and the distance
# of s to 1 below which a sum of powers is taken from its series.
_DEPTH, _NOTHING, _HEAVY, _SERIES, _BESIDE = 48, 1e-60, 1e3, 1e-3, 1e-12


def renewal_room(
    servers: ArrayLike, places: ArrayLike, load: ArrayLike, arrival_scv: ArrayLike
) -> FiniteQueueResult:
    """Solve GI/M/m/K by equation (1).

    Parameters
    ----------
    servers, places
        m and K, whole numbers with K >= m >= 1. All arguments broadcast.
    load
        Offered load a = lambda S, 0 or more.
    arrival_scv
        Squared coefficient of variation of the times between arrivals, 0 or more.

    Examples
    --------
    >>> d_m_1_5 = renewal_room(1, 5, 0.8, 0.0)
    >>> round(d_m_1_5.loss, 4), round(d_m_1_5.wait, 4)  # M/M/1/5 loses 0.0888
    (0.023, 1.1279)
    """
    given = (np.asarray(v, float) for v in (servers, places, load, arrival_scv))
    m, room, a, scv = np.broadcast_arrays(*given)
    m, room, a, scv = (each.ravel() for each in (m, room, a, scv))
    shape = np.broadcast_shapes(*map(np.shape, (servers, places, load, arrival_scv)))
    with np.errstate(divide="ignore", over="ignore"):
        some = (a > 0) & (unserved(m / np.maximum(a, np.finfo(float).tiny), scv) > _NOTHING)
    loss, wait = np.zeros(a.shape), np.zeros(a.shape)
    if some.any():
        loss[some], wait[some] = _filled(m[some], room[some], a[some], scv[some])
    if not some.all():
        light = a[~some], 1.0, m[~some], scv[~some]
        wait[~some] = renewal_wait(*light).mean
    admitted = np.minimum(1 - loss, np.divide(m, a, out=np.ones(a.shape), where=a > m))
    loss = np.where(a > _HEAVY * m, 1 - admitted, loss)
    empty = np.where(m == 1, 1 - a * admitted, np.nan)
    rows = (plain(v.reshape(shape)) for v in (loss, admitted, wait, empty))
    return FiniteQueueResult(*rows)


def _filled(
    m: FloatArray, room: FloatArray, a: FloatArray, scv: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Loss probability, and mean wait of admitted jobs, in service times; arrays of one axis."""
    a = np.minimum(np.where(np.abs(a / m - 1) < _BESIDE, m * (1 - _BESIDE), a), _HEAVY * m)
    gaps, queue = Gaps(scv, np.ones(a.shape)), (room - m).astype(int)
    y = gaps.root(m / a)
    below, blocked = gaps.below(y, 1 / a, m)
    found, behind, lost = _from_the_end(m / a, scv, queue, 1 - y)
    bottom, scale = found
    with np.errstate(over="ignore", invalid="ignore"):  # hardly any job finds m others
        total = bottom * below + scale
        loss = np.where(queue == 0, 1 / (1 + blocked), lost / total)
        wait = np.divide(behind, m * (total - lost), out=np.zeros(a.shape), where=queue > 0)
    return loss, wait


def _from_the_end(
    pace: FloatArray, scv: FloatArray, queue: np.ndarray, ratio: FloatArray
) -> tuple[tuple[FloatArray, FloatArray], FloatArray, FloatArray]:
    """p_m and the sum of p_n from m on; the sum of (n - m + 1) p_n if admitted; p_K: relative."""
    depth = int(min(_DEPTH, queue.max(initial=0)))
    chances = ended(pace, scv, depth + 1)
    more = 1 - np.vstack([np.zeros(pace.size), np.cumsum(chances, axis=0)])  # P(D >= d)
    more = np.maximum(more, 0.0)
    seen = np.zeros((depth + 1, pace.size))  # p_(K - j)
    seen[0] = 1.0
    for j in range(1, depth + 1):
        inner = (seen[1:j] * more[j:1:-1]).sum(axis=0) if j > 1 else 0.0
        step = np.where(j <= queue, (inner + seen[0] * more[j]) / chances[0], 0.0)
        size = np.maximum(step, 1.0)  # keeps the largest number at 1
        seen[:j] /= size
        seen[j] = step / size
    steps = np.arange(depth + 1)[:, None]
    taken = np.minimum(queue, depth)
    kept = np.where(steps <= taken, seen, 0.0)
    last, rest = kept[taken, np.arange(pace.size)], queue - taken
    sums, firsts, bottom = _powers(ratio, rest)
    falls = np.minimum(np.log(np.maximum(ratio, np.finfo(float).tiny)), 0.0)
    shrink = np.exp(rest * falls)
    scale = shrink / np.where(last > 0, last, 1.0)
    kept = kept * scale
    number = queue - steps + 1.0
    total = kept.sum(axis=0) + sums
    behind = (kept * np.where(steps > 0, number, 0.0)).sum(axis=0) + firsts
    return (np.where(rest > 0, bottom, kept[taken, np.arange(pace.size)]), total), behind, kept[0]


def _powers(ratio: FloatArray, count: np.ndarray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Sums of s**n and (n + 1) s**n for n < r, and 1, all divided by max(1, s**r)."""
    up = ratio > 1
    small = np.maximum(np.where(up, 1 / np.maximum(ratio, 1.0), ratio), np.finfo(float).tiny)
    plain_sum, first = _geometric(small, count)
    # for s above 1 from the other end: s**n over s**r is small**(r - n)
    sums = np.where(up, small * plain_sum, plain_sum)
    rising = np.where(up, small * (count * plain_sum - first), first + plain_sum)
    bottom = np.where(up, np.exp(count * np.log(small)), 1.0) * (count > 0)
    return sums, rising, bottom


def _geometric(s: FloatArray, count: np.ndarray) -> tuple[FloatArray, FloatArray]:
    """Sums over n below a count of s**n and n s**n, with s at most 1."""
    r, log = count.astype(float), np.log(s)
    near = r * -log < _SERIES
    gap = np.where(near, 1.0, -np.expm1(log))
    power = np.exp(r * log)
    plain_sum = np.where(near, r * (1 - (r - 1) / 2 * -log), -np.expm1(r * log) / gap)
    first = (s * (1 - power) / gap - r * power) / gap
    series = r * (r - 1) / 2 * (1 - (2 * r - 1) / 3 * -log)
    return plain_sum, np.where(near, series, first)


def unserved(pace: FloatArray, scv: FloatArray) -> FloatArray:
    """b_0: the probability that none of m busy servers completes a job between two arrivals."""
    some = np.where(scv > 0, scv, 1.0)
    return np.exp(np.where(scv > 0, -np.log1p(scv * pace) / some, -pace))


def ended(pace: FloatArray, scv: FloatArray, most: int) -> FloatArray:
    """b_0 ... b_most: probabilities of 0, 1, ... completions between two arrivals.

    Negative binomial for gamma times between arrivals, Poisson for a constant one.
    """
    some, first = np.where(scv > 0, scv, 1.0), unserved(pace, scv)
    d = np.arange(1, most + 1)[:, None]
    spread = scv * pace
    gamma = spread / (1 + spread) * (d - 1 + 1 / some) / d
    ratios = np.where(scv > 0, gamma, pace / d)
    return np.vstack([first, first * np.cumprod(ratios, axis=0)])
