"""A single server to which some jobs return at once after service: the law of the total time.

Passes are not independent: a job that arrives while another waits is ahead of it at the next pass.
Given the number ahead, the transform of a pass and of the number behind at its end is a power of
that number, so the transforms of successive passes follow from each other. Exact.

With exponential service, the number ahead after k passes enters as a quotient of linear functions
of the number ahead before, so it is known for any k at once. With U the load, q = 1 - p, and x = S
s,

    E[exp(-s T)] = sum over k of q p**(k - 1) (1 - U) / d_k,
    d_k = u**k ((1 - U) + (x - (1 - U) (u - 1)) (1 - (v / u)**k) / (u - v)),

u and v being the roots of z**2 - (1 + p + x + U q) z + p (1 + x) + U q. The sum over many k is a
sum over few nodes in blocks in which the summands are smooth.

Source: Takács, "A single-server queue with feedback", Bell System Technical Journal 42, 1963.
"""

from collections.abc import Iterator
from functools import lru_cache
from math import log

import numpy as np

from headway.kinds import FloatArray
from headway.queueing.times.laws import GAMMA, ComplexArray, Piece, TimeLaw, Transform, gamma
from headway.records import dataclass

_NEGLIGIBLE, _NOTHING = 1e-14, 1e-17  # probabilities of further passes that are rounding only

STEADIEST = 0.01
"""Least squared coefficient of variation of service times if jobs return."""

NEARLY_CONSTANT = "constant service that some jobs return to is approximated as varying by 10%"


@dataclass(frozen=True)
class Feedback:
    """M/G/1, first come first served, whose served jobs rejoin the queue with a probability.

    Parameters
    ----------
    arrival_rate
        Arrivals from outside [1/s]; the server must keep up with them and those that return.
    chance
        Probability of returning, 0 or more, below 1.
    service, mean, scv
        Service time: transform, mean [s] and squared coefficient of variation.
    own
        Transform of the service time of the job itself, if it differs; the scv is then NaN, as no
        shortcut applies.

    Examples
    --------
    >>> Feedback(0.25, 0.5, gamma(1.0, 0.0), 1.0, 0.0).mean_time
    3.5
    """

    arrival_rate: float
    chance: float
    service: Transform
    mean: float
    scv: float
    own: Transform | None = None

    @property
    def mean_time(self) -> float:
        """Mean time until a job leaves [s]: that of M/G/1 with all passes as one service."""
        stay = 1 - self.chance
        whole = self.mean / stay
        square = self.mean**2 * (self.scv / stay + self.chance / stay**2) + whole**2
        return whole + self.arrival_rate * square / (2 * (1 - self._busy))

    def transform(self, s: ComplexArray) -> ComplexArray:
        """E[exp(-s T)] of the time T until a job leaves."""
        if self.scv == 1 and self.chance:
            some = s.ravel()
            parts = [self._exponential(some[k : k + _ALIKE]) for k in range(0, len(some), _ALIKE)]
            return np.concatenate(parts).reshape(s.shape)
        return np.asarray(sum(self._passes(s)))

    def _exponential(self, s: ComplexArray) -> ComplexArray:
        """The sum over passes as far as they matter, for values of s of similar size."""
        idle, back, x = 1 - self._busy, 1 - self.chance, self.mean * s
        root = np.sqrt(x + back * (1 + self._busy**0.5) ** 2)
        root = root * np.sqrt(x + back * (1 - self._busy**0.5) ** 2)
        beyond = (x - back * idle + root) / 2  # u - 1
        product = (self.chance * (1 + x) + self._busy * back) / (1 + beyond) ** 2  # v / u
        near = -np.where(np.abs(product) > _NEAR, root / (1 + beyond), 0.0)
        growth, ratio = _log1p(beyond), np.where(near != 0, _log1p(near), np.log(product))
        slope = (x - idle * beyond) / root
        decay = log(self.chance) - growth
        pace = max(float(np.abs(decay).max()), float(np.abs(ratio).max()))
        most = 1 + int(log(_NOTHING) / float(decay.real.max()))
        share, total = slope / (idle + slope), np.zeros_like(x)
        apart = log(4 * max(float(np.abs(share).max()), 1.0)) / -float(ratio.real.max())
        if apart < most / 2:  # (v / u)**k is so small that its powers are soon negligible
            most = int(apart) + 1
            for power in range(_POWERS):
                more = decay + power * ratio
                total -= share**power * np.exp((most + 1) * more) / np.expm1(more)
            total *= idle * back / self.chance / (idle + slope)
        for passes, weights in _nodes(most, pace):
            k = passes[:, None]
            shares = np.exp(k * decay) / (idle - slope * np.expm1(k * ratio))
            total += (weights * idle * back / self.chance) @ shares
        return total

    @property
    def _busy(self) -> float:
        return self.arrival_rate * self.mean / (1 - self.chance)

    def _passes(self, s: ComplexArray) -> Iterator[ComplexArray]:
        """Terms of jobs that leave after 1, 2, 3... passes."""
        most = 1 + int(log(_NEGLIGIBLE) / log(self.chance)) if self.chance else 1
        behind = np.ones_like(s)
        served, share = np.ones_like(s), 1 - self.chance
        for _ in range(most):
            during = s + self.arrival_rate * (1 - behind)
            turn = self.service(during)
            served = served * (turn if self.own is None else self.own(during))
            ahead = turn * self._returned(behind)
            yield share * served * self._ahead_of_arrival(ahead, behind, during)
            behind, share = ahead, share * self.chance

    def _returned(self, mark: ComplexArray) -> ComplexArray:
        return 1 - self.chance + self.chance * mark

    def _ahead_of_arrival(
        self, ahead: ComplexArray, behind: ComplexArray, during: ComplexArray
    ) -> ComplexArray:
        """What an arrival finds: no job, or a service in progress and `ahead` per waiting job."""
        idle = 1 - self._busy
        if self.scv == 1:  # the rest of an exponential service is distributed like all of it
            return np.asarray(idle / (1 - self._busy * ahead))
        inside = self.arrival_rate * (1 - ahead)
        turn, rest = self.service(inside), self.service(during)
        empty = self.arrival_rate * idle * (1 - ahead)
        going = empty * (rest - turn) / (ahead - turn * self._returned(ahead))
        return np.asarray(idle + self._returned(behind) * going / (during - inside))


def _log1p(z: ComplexArray) -> ComplexArray:
    """log(1 + z) of complex z, accurate for small z, where NumPy's is not."""
    a, b = z.real, z.imag
    return np.asarray(0.5 * np.log1p(a * (2 + a) + b * b) + 1j * np.arctan2(b, 1 + a))


_NEAR = 0.5  # |v / u| above which 1 - v / u is computed without cancellation
_POWERS = 27  # terms of a power series: 4**-27 = 6e-17 is rounding
_EACH = 64  # passes summed one by one: for speed
_FEW = 16  # Chebyshev nodes of a block
_LONGER = 1.5  # largest ratio of the last to the first pass of a block
_TURN = 2.0  # largest change of phase of the summand in a block [rad]
_AT_ONCE = 512  # nodes evaluated at once: for memory
_ALIKE = 20  # numbers evaluated together as a series: for speed


def _nodes(most: int, pace: float) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Nodes and weights of a sum over passes 1 to `most`: each pass, then blocks of passes.

    Parameters
    ----------
    most
        Number of passes.
    pace
        Change of the logarithm of a summand from one pass to the next.

    Examples
    --------
    >>> round(sum(float(weights.sum()) for _, weights in _nodes(5000, 1e-3)), 6)
    5000.0
    """
    start, blocks = 1, []
    while start <= most:
        end = min(most, _EACH) if start == 1 else int(min(_LONGER * start, start + _TURN / pace))
        end = min(max(end, start + _FEW - 1), most)
        blocks.append(_block(start, end) if start > 1 and end - start > _FEW else _each(start, end))
        start = end + 1
    passes, weights = (np.concatenate(part) for part in zip(*blocks, strict=True))
    for first in range(0, len(passes), _AT_ONCE):
        yield passes[first : first + _AT_ONCE], weights[first : first + _AT_ONCE]


def _each(start: int, end: int) -> tuple[FloatArray, FloatArray]:
    passes = np.arange(start, end + 1.0)
    return passes, np.ones(len(passes))


def _block(start: int, end: int) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights that sum polynomials of degree below 16 over a block exactly."""
    nodes, weights = _chebyshev_sum(end - start)
    return start + nodes, weights


@lru_cache(maxsize=128)
def _chebyshev_sum(length: int) -> tuple[FloatArray, FloatArray]:
    """Chebyshev nodes on (0, length), and weights of the sum over 0, 1, ... length."""
    angles, degrees = (np.arange(_FEW) + 0.5) * np.pi / _FEW, np.arange(_FEW)[:, None]
    whole = np.arange(length + 1.0) * 2 / length - 1
    sums = np.cos(degrees * np.arccos(whole)).sum(axis=1)
    factors = np.where(degrees[:, 0] == 0, 1.0, 2.0) * sums / _FEW
    return (1 + np.cos(angles)) * length / 2, factors @ np.cos(degrees * angles)


def feedback_law(arrival_rate: float, chance: float, mean: float, scv: float) -> TimeLaw:
    """Law of the sojourn time in an M/G/1 queue with direct feedback.

    Parameters
    ----------
    arrival_rate, chance
        As in `Feedback`.
    mean, scv
        Mean [s] and squared coefficient of variation of the service time, gamma-distributed
        (exponential at 1). Below 0.01, where all times are nearly multiples of it, 0.01 is used.

    Examples
    --------
    >>> round(feedback_law(0.05, 0.9, mean=1.0, scv=1.0).mean, 9)
    20.0
    """
    notes = (() if scv == 1 else (GAMMA,)) if scv >= STEADIEST else (NEARLY_CONSTANT,)
    scv = max(scv, STEADIEST)
    queue = Feedback(arrival_rate, chance, gamma(mean, scv), mean, scv)
    return TimeLaw((Piece(0.0, queue.transform),), queue.mean_time, notes)


def unlike_law(
    others: tuple[float, Transform, float],
    chance: float,
    own: Transform,
    means: tuple[float, float],
) -> TimeLaw:
    """The same for a job with another service time than those of other classes, approximately.

    A job that returns is served for the time of any class; the law is then stretched to the mean.

    Parameters
    ----------
    others
        Arrival rate of all classes [1/s], transform of their service times, and its mean.
    chance
        Probability of returning.
    own
        Transform of the job's service time.
    means
        Mean time until the job leaves among such others, and its true mean time [s].

    Examples
    --------
    >>> law = unlike_law((0.05, gamma(1.0, 1.0), 1.0), 0.9, gamma(1.0, 1.0), (20.0, 20.0))
    >>> round(float(1 - law.transform(np.array([1e-5 + 0j]))[0].real) / 1e-5, 2)
    19.99
    """
    rate, service, mean = others
    queue = Feedback(rate, chance, service, mean, np.nan, own)
    longer = means[1] / means[0]
    return TimeLaw((Piece(0.0, lambda s: queue.transform(longer * s)),), means[1])
