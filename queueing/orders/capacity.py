"""Keep approximate answers within the capacity of stations.

Formulas for the mean time of a visit do not ensure that a station serves no more than it can: with
Linearizer's corrections, or service times that vary less than exponential ones, closed jobs may
come back faster than they can be served. Where that happens, every job waits longer there by h_k,
such that the station is just full,

    X_c = N_c / (Z_c + sum over k of (R_ck + a_ck h_k)),
    h_k (m_k - sum over c of X_c D_ck) = 0,  h_k >= 0,

so all operational laws hold. In order of arrival all wait equally long, a_ck = V_ck; if servers are
shared, classes are slowed down in proportion, a_ck = D_ck. In the limit of many jobs bottlenecks do
just this: for a = D these are the conditions of proportional fairness.

Source: Schweitzer, Serazzi and Broglia, "A survey of bottleneck analysis in closed networks of
queues", LNCS 729, 1993; Kelly, "On a class of approximations for closed queueing networks",
Queueing Systems 4, 1989.
"""

import numpy as np
from numpy.typing import NDArray

from headway.errors import InvalidParameter
from headway.kinds import FloatArray
from headway.records import dataclass

_JUST = 1 - 1e-12  # share of the capacity that a station is given
_NEARLY = 1 + 1e-13  # accuracy of the steps
_CLOSE = 1e-9  # relative change of waits at which the iteration ends
_SWEEPS, _STEPS = 1000, 100  # largest numbers of iterations: for speed


@dataclass(frozen=True)
class ClassDemands:
    """The demands of closed classes at stations.

    Parameters
    ----------
    population, cycle
        N, and the time of a cycle so far, Z included [s]; shape (classes, points).
    demand, weight
        D and a, shape (classes, stations, points) [s].
    room
        Servers that open classes leave, infinite at delays; shape (stations, points).
    """

    population: FloatArray
    cycle: FloatArray
    demand: FloatArray
    weight: FloatArray
    room: FloatArray

    def at(self, points: int | NDArray[np.intp]) -> "ClassDemands":
        """The demands at one of the points, or at several."""
        return ClassDemands(*(part[..., points] for part in vars(self).values()))

    def rate(self, longer: FloatArray) -> FloatArray:
        """Throughputs if all jobs wait longer by h, shape (classes, points) [1/s]."""
        cycle = self.cycle + (self.weight * longer).sum(axis=1)
        return np.where(self.population > 0, self.population / np.where(cycle > 0, cycle, 1.0), 0.0)

    def busy(self, longer: FloatArray) -> FloatArray:
        """Busy servers if all jobs wait longer by h, shape (stations, points)."""
        return np.asarray((self.rate(longer)[:, None] * self.demand).sum(axis=0))


def longer_waits(demands: ClassDemands) -> FloatArray:
    """Additional waits h at each station, such that none serves more than its capacity.

    Returns
    -------
    h, shape (stations, points); 0 where the capacity suffices.

    Raises
    ------
    InvalidParameter
        If the waits do not converge.

    Examples
    --------
    >>> one = np.ones((1, 1))
    >>> demands = ClassDemands(2 * one, 1.5 * one, one[None], one[None], one)
    >>> longer_waits(demands).ravel().round(6).tolist()
    [0.5]
    """
    longer = np.zeros(demands.room.shape)
    for point in np.flatnonzero((demands.busy(longer) > demands.room).any(axis=0)):
        here = np.array([point])
        longer[:, here] = _at_one(demands.at(here))
    return longer


def _at_one(demands: ClassDemands) -> FloatArray:
    """Fill one overloaded station after another, until none is left."""
    longer = np.zeros(demands.room.shape)
    for _ in range(_SWEEPS):
        before = longer.copy()
        for k in np.flatnonzero((demands.busy(longer) > demands.room) | (longer > 0)):
            longer[k] = _just_full(demands, int(k), longer)
        fits = (demands.busy(longer) <= demands.room).all()
        if fits and (np.abs(longer - before) <= _CLOSE * longer).all():
            return longer
    raise InvalidParameter("the approximation did not converge; use another method")


def _just_full(demands: ClassDemands, k: int, longer: FloatArray) -> FloatArray:
    """Additional wait at which a station is just full; 0 if it is not overloaded.

    1 / (sum of 1 / (b + a h)) is concave in h, so Newton steps from the left stay left.
    """
    here, limit = longer.copy(), _JUST * demands.room[k]
    here[k] = 0.0
    for _ in range(_STEPS):
        rate = demands.rate(here)
        busy = (rate * demands.demand[:, k]).sum(axis=0)
        if (busy <= limit * _NEARLY).all():
            break
        each = rate**2 / np.maximum(demands.population, 1.0) * demands.weight[:, k]
        slope = (each * demands.demand[:, k]).sum(axis=0)
        here[k] += (busy / limit - 1) * busy / slope
    extra: FloatArray = here[k]
    return extra
