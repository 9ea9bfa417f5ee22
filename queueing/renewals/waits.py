r"""GI/M/m: renewal arrivals at m exponential servers that share one queue, exactly.

With T the time between arrivals, A(s) = E[exp(-s T)], mu = 1/S and y the root in (0, 1) of

    y = 1 - A(m mu y),                                                                   (1)

those jobs that wait do so for an exponential time with mean S / (m y), and their share is

    P(W > 0) = K / y,
    1 / K = 1 / y + sum over k = 1..m of
        C(m, k) / (C_k (1 - A_k)) (m (1 - A_k) - k) / (m y - k),                         (2)

with A_k = A(k mu) and C_k the product of A_i / (1 - A_i) over i = 1..k. By (1) the numerator and
the denominator of the last factor change sign at the same k = m y, so every term is positive.

The times between arrivals are gamma-distributed: constant for an scv of 0, Erlang for 1/2, 1/3...,
exponential for 1. If each arrival joins this queue with probability p, independently,

    A'(s) = p A(s) / (1 - (1 - p) A(s)).                                                 (3)

Source: Takács, *Introduction to the Theory of Queues*, 1962, chapter 2; Kleinrock, *Queueing
Systems* I, 1975, sections 6.2 to 6.4; for (3) Cox, *Renewal Theory*, 1962, section 8.3.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from headway.kinds import FloatArray
from headway.records import dataclass

# For digits only. Newton's method squares its relative distance in the end, so nothing is left
# after a step of _CLOSE, and a step of _ROUNDING is within the last digits of 1 - A. A term of (2)
# with a smaller denominator is computed from derivatives.
_ROUNDS, _CLOSE, _ROUNDING, _NEAR = 100, 1e-9, 1e-15, 1e-7
_EDGE, _TINY = 1e-14, 1e-300
_TERMS = 65_536  # terms of (2) computed in one block: for speed


@dataclass(frozen=True)
class RenewalWait:
    """The law of the wait in GI/M/m.

    Parameters
    ----------
    chance
        Share of jobs that wait, P(W > 0).
    behind
        Mean wait of these [s], which is exponential; infinite from saturation on.

    Examples
    --------
    >>> float(RenewalWait(np.array(0.5), np.array(2.0)).mean)
    1.0
    """

    chance: FloatArray
    behind: FloatArray

    @property
    def mean(self) -> FloatArray:
        """Mean wait of all jobs [s]."""
        return np.asarray(self.chance * self.behind)


def renewal_wait(
    arrival_rate: ArrayLike,
    service_time: ArrayLike,
    servers: ArrayLike,
    arrival_scv: ArrayLike,
    share: ArrayLike = 1.0,
) -> RenewalWait:
    """The wait in GI/M/m, first come, first served, by equations (1) to (3).

    Parameters
    ----------
    arrival_rate
        Arrivals at this queue [1/s], 0 or more. All arguments broadcast.
    service_time, servers
        Mean service time S of one server [s], above 0, and their number m, a whole number.
    arrival_scv
        Squared coefficient of variation of the times between arrivals, 0 or more, before the
        selection by `share`.
    share
        Probability p that an arrival joins this queue, above 0 and at most 1.

    Examples
    --------
    >>> d_m_1 = renewal_wait(0.5, 1.0, 1, 0.0)
    >>> round(float(d_m_1.mean), 6)  # the root of s = exp(-2 (1 - s)) over 1 - s
    0.255001
    >>> m_m_2 = renewal_wait(1.0, 1.0, 2, 1.0)
    >>> round(float(m_m_2.chance), 9), round(float(m_m_2.mean), 9)
    (0.333333333, 0.333333333)
    """
    rate, time, count, scv, part = np.broadcast_arrays(
        *(np.asarray(v, float) for v in (arrival_rate, service_time, servers, arrival_scv, share))
    )
    unknown = np.isnan(rate * time)
    busy = (rate > 0) & (time > 0)
    stable = busy & (rate * time < count)
    over = busy & ~stable
    rate, time, part = (np.where(stable, v, 1.0) for v in (rate, time, part))
    mean = np.where(stable, part / rate, 2 / count)  # a stable queue as a placeholder for others
    y, chance = np.empty(rate.shape), np.empty(rate.shape)
    for some in _blocks(count):
        gaps = Gaps(scv.flat[some], part.flat[some])
        paced, many = mean.flat[some] / time.flat[some], count.flat[some]
        y.flat[some] = gaps.root(paced * many)
        own = y.flat[some]
        single = bool((many == 1).all())  # then K / y is 1 - y
        chance.flat[some] = 1 - own if single else 1 / (1 + own * gaps.below(own, paced, many)[0])
    chance = np.where(stable, chance, over)
    behind = np.where(stable, time / (count * y), np.where(over, np.inf, 0.0))
    return RenewalWait(np.where(unknown, np.nan, chance), np.where(unknown, np.nan, behind))


def _blocks(servers: FloatArray) -> Iterator[slice]:
    """Slices of elements whose terms fit into the cache together."""
    step = max(1, int(_TERMS / max(1.0, float(servers.max(initial=1)))))
    return (slice(start, start + step) for start in range(0, servers.size, step))


@dataclass(frozen=True)
class Gaps:
    """Gamma-distributed times between arrivals, each of which is selected with a probability.

    Parameters
    ----------
    scv, share
        Their squared coefficient of variation, and that probability; arrays of one shape.

    Examples
    --------
    >>> constant = Gaps(np.zeros(1), np.ones(1))
    >>> constant.root(np.array([2.0])).round(6).tolist()
    [0.796812]
    """

    scv: FloatArray
    share: FloatArray

    def missing(self, x: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """1 - A', A' and the slope of 1 - A' at s = x / E[T] by (3), each to full precision."""
        if self.scv.any():
            some = np.where(self.scv > 0, self.scv, 1.0)
            logarithm = np.where(self.scv > 0, -np.log1p(self.scv * x) / some, -x)
        else:
            logarithm = -x
        missing, left = -np.expm1(logarithm), np.exp(logarithm)
        whole = self.share + (1 - self.share) * missing
        slope = left / (1 + self.scv * x) * self.share / whole**2
        return missing / whole, left * self.share / whole, slope

    def root(self, pace: FloatArray) -> FloatArray:
        """Solve (1) for y, with `pace` m mu E[T].

        (1 - A(m mu y)) / y - 1 is convex and decreasing, so Newton's method increases to its root
        from the zero of its tangent at 0; for y below the root, 1 - A(m mu y) is nearer to it.
        Times that vary at most as much as exponential ones have a root of at least theirs, 1 - a/m,
        which is close if few arrivals are selected and the tangent at 0 does not help.
        """
        whole, seen = pace / self.share, 1 + self.share * (self.scv - 1)
        y = 2 * (1 - 1 / whole) / (whole * (1 + seen))
        stable = whole >= 1
        y = np.maximum(y, np.where(stable & (self.scv <= 1), 1 - 1 / whole, -np.inf))
        if stable.all():
            y = np.maximum(y, self.missing(pace * y)[0])
        else:  # above saturation the root is negative, but not below this
            beyond = np.where(stable, -np.inf, 2 / whole * np.log(whole) - 2)
            y = np.maximum(y, beyond)
            y = np.maximum(y, -(1 - _EDGE) / np.maximum(self.scv * whole, _TINY))
        slack, before = np.where(stable, _ROUNDING, 0.0), np.zeros(y.shape)
        for _ in range(_ROUNDS):
            missing, _, slope = self.missing(pace * y)
            change = (missing - y) / (missing / y - pace * slope)
            y, size = y + change, np.abs(change)
            settled = size <= np.maximum(before, slack)  # near a pole each step is twice the last
            if (settled & (size <= _CLOSE * np.abs(y) + slack)).all():
                break
            before = size
        return y

    def below(
        self, y: FloatArray, mean: FloatArray, servers: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Sums over k of (2), and of C(m, k) / C_k; times in units of the service time."""
        k = np.arange(1.0, servers.max() + 1).reshape(-1, *[1] * y.ndim)
        with np.errstate(all="ignore"):
            missing, left, slope = self.missing(k * mean)
            weights = np.cumprod((servers - k + 1) / k * (missing / left), axis=0)
            ahead = servers * y - k
            near = np.abs(ahead) <= _NEAR * servers
            odds = np.where(
                near,
                1 - servers * mean * slope,
                (servers * missing - k) / np.where(near, 1.0, ahead),
            )
            terms = np.nan_to_num(weights / missing * odds, nan=np.inf)
            here = k <= servers
            weights = np.where(here, np.nan_to_num(weights, nan=np.inf), 0.0)
            return np.where(here, terms, 0.0).sum(axis=0), weights.sum(axis=0)
