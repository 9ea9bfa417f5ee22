"""What becomes of an attempt that finds n jobs at M/M/m in order of arrival.

With n < m it is served at once. Otherwise it waits for n - m + 1 departures, an Erlang law of rate
m mu that later arrivals do not affect. So whether it is answered within a timeout T, when, and at
what work, depends on n alone.
"""

from collections.abc import Callable

import numpy as np
from scipy.special import gammaln, xlogy

from headway.kinds import FloatArray
from headway.queueing.playing.rows import IntArray
from headway.records import dataclass

# length of a panel of an integral, in mean services of all servers, and its nodes
_PANEL, _NODES = 4.0, 8
_FAR = 12.0  # standard deviations of the departures within a timeout beyond which none are later


@dataclass(frozen=True)
class Met:
    """What becomes of attempts, by the number of jobs that they find; shapes (jobs,).

    Parameters
    ----------
    late
        P(R > T): not answered in time.
    in_time
        E[R; R <= T], the time of those answered in time [s].
    wasted
        E[S; R > T], the work for those answered too late [s].
    """

    late: FloatArray
    in_time: FloatArray
    wasted: FloatArray


def met(service_time: float, servers: int, timeout: float, numbers: IntArray) -> Met:
    """What becomes of attempts that find so many jobs.

    From the law of the timeout's rest after the wait: T with fewer than m jobs; otherwise T - w
    with w the Erlang time of n - m + 1 departures at the rate m mu, and 0 for w > T.

    Parameters
    ----------
    service_time, servers, timeout
        S [s], m and T [s].
    numbers
        Jobs found, in rising order.

    Examples
    --------
    >>> met(1.0, 2, 1.0, np.array([0, 1, 9, 1000])).late.round(3).tolist()
    [0.368, 0.368, 1.0, 1.0]
    """
    turns = servers * timeout / service_time
    last = servers + turns + _FAR * (np.sqrt(turns) + 1)
    near = _near(service_time, servers, timeout, numbers[numbers <= last])
    beyond = len(numbers) - len(near.late)

    def longer(each: FloatArray, rest: float) -> FloatArray:
        return np.concatenate([each, np.full(beyond, rest)])

    return Met(longer(near.late, 1.0), longer(near.in_time, 0.0), longer(near.wasted, service_time))


def _near(service_time: float, servers: int, limit: float, numbers: IntArray) -> Met:
    """The same for numbers that are not far too many."""
    m, mu = servers, 1 / service_time
    panels = int(np.ceil(m * mu * limit / _PANEL))
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    width = limit / panels
    at = (width * (np.arange(panels)[:, None] + (nodes + 1) / 2)).ravel()
    shares = np.tile(weights * width / 2, panels)
    before = np.maximum(numbers - m, 0)[:, None]  # departures before the last one, by n
    density = m * mu * np.exp(xlogy(before, m * mu * at) - m * mu * at - gammaln(before + 1))
    waits = numbers >= m

    def mean(law: Callable[[FloatArray], FloatArray]) -> FloatArray:
        inside = density * shares
        gone = np.maximum(1 - inside.sum(axis=1), 0.0) * law(np.zeros(1))
        later = inside @ law(limit - at) + gone
        return np.asarray(np.where(waits, later, law(np.full(1, limit))), np.float64)

    def in_time(left: FloatArray) -> FloatArray:
        gone = np.exp(-mu * left)
        return np.asarray((limit - left) * (1 - gone) + (1 - gone * (1 + mu * left)) / mu)

    late = mean(lambda left: np.exp(-mu * left))
    wasted = mean(lambda left: np.exp(-mu * left) * (left + 1 / mu))
    return Met(late, mean(in_time), wasted)
