"""How long a flow takes: mean and variance, of steps in series, choices, loops and branches."""

from collections.abc import Mapping

import numpy as np
from scipy.special import gammaincc

from headway.kinds import Amount, FloatArray
from headway.queueing.layers.flow import Choice, Flow, Loop, Reply, Series, Step, Together
from headway.records import dataclass

_NODES, _WEIGHTS = np.polynomial.laguerre.laggauss(48)
_LEAST = 1e-300


@dataclass(frozen=True)
class Moments:
    """Mean and variance of a time, of the shape of the operating points."""

    mean: FloatArray
    variance: FloatArray

    def then(self, other: "Moments") -> "Moments":
        """One time after the other, independent."""
        return Moments(self.mean + other.mean, self.variance + other.variance)

    def with_chance(self, chance: Amount) -> "Moments":
        """The time with a probability, otherwise none."""
        return mixture([(chance, self)])

    def times(self, number: Amount) -> "Moments":
        """A sum of a geometric number of such times, of a mean m: variance m v + m (1 + m) t2."""
        spread = number * self.variance + number * (1 + number) * self.mean**2
        return Moments(number * self.mean, spread)


def mixture(ways: "list[tuple[Amount, Moments]]") -> Moments:
    """One of several times, each with its probability; none with what is left of 1."""
    mean = sum(chance * one.mean for chance, one in ways)
    square = sum(chance * (one.variance + one.mean**2) for chance, one in ways)
    return Moments(np.asarray(mean), np.asarray(square - mean**2))


@dataclass(frozen=True)
class Conditions:
    """What a flow meets.

    Parameters
    ----------
    speed
        Of the processor.
    delay
        By which a slice is stretched, where servers are shared, or before it [s].
    shares
        Whether servers are shared.
    called
        From a call to its answer, by entry.
    """

    speed: Amount
    delay: FloatArray
    shares: bool
    called: Mapping[str, Moments]


def time_of(flow: Flow, met: Conditions) -> Moments:
    """How long a flow takes a thread."""

    def of(part: Flow) -> Moments:
        match part:
            case Step():
                return _step(part, met)
            case Series(parts):
                return _in_series([of(one) for one in parts], met.delay)
            case Choice(ways):
                return mixture([(chance, of(way)) for chance, way in ways])
            case Loop(body, mean):
                return of(body).times(mean)
            case Together(branches, needed):
                return k_th([of(one) for one in branches], needed)
            case Reply():
                return _in_series([], met.delay)

    return of(flow)


def _in_series(parts: list[Moments], like: FloatArray) -> Moments:
    total = Moments(np.zeros_like(like), np.zeros_like(like))
    for part in parts:
        total = total.then(part)
    return total


def _step(step: Step, met: Conditions) -> Moments:
    """A step: slices with calls between them, of whole or of geometric numbers.

    With a geometric number of calls of mean Y there is a slice, and Y times a call and a slice.
    """
    delay, called = met.delay, met.called
    slice_ = step.demand / met.speed / step.slices
    if met.shares:
        work = Moments(slice_ * delay, step.scv * (slice_ * delay) ** 2)
    else:
        waits = delay * np.not_equal(step.demand, 0)
        work = Moments(slice_ + waits, step.scv * slice_**2 + waits**2)
    thinks = np.asarray(step.think_time + np.zeros_like(delay))
    total = Moments(thinks, thinks**2).then(work)
    calls = step.slices - 1.0
    ways = [(mean / np.maximum(calls, _LEAST), called[n]) for n, mean in step.calls.items()]
    nothing = Moments(np.zeros_like(delay), np.zeros_like(delay))
    each = mixture(ways).then(work) if ways else nothing.then(work)
    if not step.fixed:
        return total.then(each.times(calls))
    for name, mean in step.calls.items():
        one = called[name].then(work)
        total = total.then(Moments(mean * one.mean, mean * one.variance))
    sent: Amount = sum(step.sends.values())
    return total.then(Moments(sent * work.mean, sent * work.variance))


def k_th(branches: list[Moments], needed: int) -> Moments:
    """The time until so many of independent branches are done, each of a gamma law.

    E T = int P(T > t) dt and E T^2 = 2 int t P(T > t) dt, where T > t while fewer than needed are
    done; integrated by 48 nodes of Gauss and Laguerre, on the scale of the longest branch.

    Examples
    --------
    >>> one = Moments(np.array([1.0]), np.array([1.0]))
    >>> k_th([one, one, one], 3).mean.round(4).tolist()  # 1 + 1/2 + 1/3
    [1.8333]
    """
    scale = np.max([one.mean for one in branches], axis=0) + _LEAST
    nodes, weights = (
        np.expand_dims(v, tuple(range(1, 1 + scale.ndim))) for v in (_NODES, _WEIGHTS)
    )
    times = nodes * scale
    some_done = np.zeros((len(branches) + 1, *times.shape))
    some_done[0] = 1.0
    for one in branches:
        mean = np.maximum(one.mean, _LEAST)
        shape = mean**2 / np.maximum(one.variance, 1e-4 * mean**2)
        done = 1 - gammaincc(shape, times * shape / mean)
        some_done[1:] = some_done[1:] * (1 - done) + some_done[:-1] * done
        some_done[0] *= 1 - done
    late = some_done[:needed].sum(axis=0) * weights * np.exp(nodes) * scale
    mean, square = late.sum(axis=0), 2 * (late * times).sum(axis=0)
    return Moments(mean, np.maximum(square - mean**2, 0.0))
