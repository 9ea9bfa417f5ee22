"""Traffic variability equations: the squared coefficients of variation (scv) of all flows.

Each flow is described by its rate and the scv of the times between its jobs. With p_ij the share of
the arrivals at j that come from i (i = 0 from outside), and q_ij the probability of going from i to
j,

    departures    c_d,i = 1 + h_i (c_a,i - 1) + (1 - h_i) (x_i - 1)
    splitting     c_ij  = q_ij c_d,i + 1 - q_ij
    superposition c_a,j = 1 + w_j (sum over i of p_ij c_ij - 1)

with x_i = 1 + (max(c_s,i, 0.2) - 1) / sqrt(m_i); h_i = 1 - U_i**2, the weight of the arrivals in
the departures; and w_j = 1 / (1 + 4 (1 - U_j)**2 (v_j - 1)), v_j = 1 / sum of p_ij**2: at short
queues the superposition of many flows resembles a Poisson process.

A busy queue is sensitive to variability over long times, which passes through quieter queues before
it though their departures do not show it over short times; a single scv for a flow cannot express
this (Suresh and Whitt's bottleneck). So the equations are solved twice more, as each station j sees
the flows. Over the time in which the queue of j builds up, a station i has the weight

    h_ij = max(1 - U_i**2, w*(t)),
    t = ((1 - U_i) / (1 - U_j))**2 lambda_i U_j**2 c_j / (2 lambda_j U_i c_i)

with w* of Whitt and You and c = c_a + c_s of the solution before; superposition has the w of the
busier of i and j. A station sees its own departures that return as a Poisson flow: its jobs return
after its own service, not in bursts (the rest is in `headway.queueing.variability.returns`). That
each station sees the flows in its own way is headway's own; ``python -m tests.campaigns.constants
flows`` measures it.

Source: Whitt, "The Queueing Network Analyzer", Bell System Technical Journal 62(9), 1983,
section 4; Suresh and Whitt, "The heavy-traffic bottleneck phenomenon in open queueing
networks", Operations Research Letters 9(6), 1990; Whitt and You, "A robust queueing network
analyzer based on indices of dispersion", Naval Research Logistics 69(1), 2022 (w* of departures).
"""

from collections.abc import Callable
from dataclasses import fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from headway.kinds import FloatArray
from headway.queueing.variability.passes import groups, passed_on
from headway.records import dataclass

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_STEADIEST = 0.2  # Whitt 1983, section 4.3: max(c_s**2, 0.2) of service in departures
_FULL = 1 - 1e-9  # largest utilisation: beyond saturation, flows are those just below it
# Number of solutions as each station sees the flows. Measured (``python -m
# tests.campaigns.constants flows``): over 72 networks with loops the root mean square error is
# 12.3%, 6.1% and 6.1% with 0, 1 and 2.
_TIMES = 2
_IDLE = 1e-12  # least load times scv, against division by 0
_LEAST = 1e-300  # the same for rates and sums
_STEEPEST = 1.0639  # w*(t) <= 8 / (3 sqrt(2 pi)) sqrt(t): spares evaluating w* where h is larger
_DENSE = 40  # stations up to which equations are solved by elimination, not iteration: for speed
_MOST_NUMBERS = 1_000_000  # numbers in the equations of all points at once: for memory


@dataclass(frozen=True)
class Traffic:
    """Coefficients of the equations, at many operating points.

    Parameters
    ----------
    shares
        p_ij, shape (points, stations, stations).
    onward
        q_ij, the same shape.
    outside
        Share of the arrivals at each station that come from outside, shape (points, stations).
    outside_scv
        Scv of the times between these, the same shape.
    outside_flows
        Number of equal flows that they are the superposition of, 1 or more, the same shape.
    rates
        Arrivals [1/s].
    busy
        Utilisations.
    scvs
        Scvs of service times.
    serving
        x_i: scv of departures of a station that is always busy.
    together
        Whether two stations are on a common loop, at any of the points.
    """

    shares: FloatArray
    onward: FloatArray
    outside: FloatArray
    outside_scv: FloatArray
    outside_flows: FloatArray
    rates: FloatArray
    busy: FloatArray
    scvs: FloatArray
    serving: FloatArray
    together: NDArray[np.bool_]

    def at(self, points: slice) -> "Traffic":
        """The coefficients at some of the points."""
        changing = (each.name for each in fields(self) if each.name != "together")
        return replace(self, **{name: getattr(self, name)[points] for name in changing})

    @cached_property
    def both(self) -> FloatArray:
        """p_ij q_ij."""
        return np.asarray(self.shares * self.onward)

    @cached_property
    def fixed(self) -> FloatArray:
        """Part of the arrivals' scv without that of other flows, shape (points, stations)."""
        fixed = self.outside * self.outside_scv + (self.shares - self.both).sum(axis=-2)
        return np.where((self.outside + self.shares.sum(axis=-2)) > 0, fixed, 1.0)

    @cached_property
    def many(self) -> FloatArray:
        """v_j - 1: effective number of further flows in the superposition, from their shares."""
        flows = (self.shares**2).sum(axis=-2) + self.outside**2 / self.outside_flows
        return np.asarray(np.maximum(1 / np.maximum(flows, _LEAST) - 1, 0.0))

    @cached_property
    def backwards(self) -> "csr_array":
        """p_ij q_ij of the first point, transposed and sparse."""
        from scipy.sparse import csr_array

        return csr_array(np.ascontiguousarray(self.both[0].T))


def on_common_loops(onward: FloatArray) -> NDArray[np.bool_]:
    """Whether jobs can go from one station to another and back, at any of the points.

    Parameters
    ----------
    onward
        Routing probabilities, shape (points, stations, stations).

    Examples
    --------
    >>> on_common_loops(np.array([[[0.5, 0.5], [0.1, 0.0]]])).tolist()
    [[False, True], [True, False]]
    >>> bool(on_common_loops(np.eye(3, k=1)[None]).any())
    False
    """
    labels = groups(onward.max(axis=0, initial=0.0) > 0)
    return np.asarray((labels[:, None] == labels) & ~np.eye(len(labels), dtype=bool))


def departing_alone(scv: FloatArray, servers: FloatArray) -> FloatArray:
    """x: scv of the departures of a station that is always busy."""
    return np.asarray(1 + (np.maximum(scv, _STEADIEST) - 1) / np.sqrt(servers))


def departures(coming: FloatArray, busy: FloatArray, serving: FloatArray) -> FloatArray:
    """Scv of the times between departures, from that of the times between arrivals.

    Examples
    --------
    >>> busy = np.array([0.0, 0.5, 1.0])
    >>> departures(np.array(4.0), busy, np.array(1.0)).tolist()
    [4.0, 3.25, 1.0]
    """
    squares = np.minimum(busy, 1.0) ** 2
    return np.asarray(coming + squares * (serving - coming))


def scvs_of_arrivals(traffic: Traffic) -> FloatArray:
    """Solve the variability equations, as each station sees the flows.

    Parameters
    ----------
    traffic
        Shares and loads.

    Returns
    -------
    Scv of the times between arrivals, shape (2, points, stations): in full, and without what
    services on common loops add.

    Raises
    ------
    GraphError
        If so many stations in loops do not converge.
    """
    points, count = traffic.busy.shape
    few = count <= _DENSE
    block = max(_MOST_NUMBERS // count**3, 1) if few else 1
    solve = _eliminated if few else _iterated
    blocks = (traffic.at(slice(k, k + block)) for k in range(0, points, block))
    return np.concatenate([_as_each_station_sees(each, solve) for each in blocks], axis=1)


Solver: TypeAlias = Callable[[Traffic, FloatArray, FloatArray, FloatArray], FloatArray]
"""Function that returns the scv of each station's arrivals as it sees them itself.

From w, h and (1 - h) x of each station (rows) for each station that sees the flows (columns).
"""


def _as_each_station_sees(traffic: Traffic, solve: Solver) -> FloatArray:
    """Solve the equations as each station sees the flows, given the solution before."""
    scvs = outer = _whitt_1983(traffic, solve)
    for _ in range(_TIMES):
        weight, let, served = _weights(traffic, scvs)
        scvs = outer = solve(traffic, weight, let, served)
    if _TIMES and traffic.together.any():
        passed = np.where(traffic.together, 1 - let, served)
        outer = solve(traffic, weight, let, passed)
    return np.stack([scvs, outer])


def _whitt_1983(traffic: Traffic, solve: Solver) -> FloatArray:
    """Whitt's equations of 1983, in which all stations see a flow in the same way."""
    load = np.minimum(traffic.busy, 1.0)
    weight = 1 / (1 + 4 * (1 - load) ** 2 * traffic.many)
    squares = (load**2)[..., None]
    return solve(traffic, weight[..., None], 1 - squares, squares * traffic.serving[..., None])


def _weights(traffic: Traffic, coming: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """w, h and (1 - h) x of each station (rows), as another sees the flows (columns)."""
    idle = 1 - np.minimum(traffic.busy, 1.0)
    least = np.minimum(idle[..., :, None], idle[..., None, :])
    least *= least
    least *= (4 * traffic.many)[..., :, None]
    least += 1
    let = _arrival_weights(traffic, coming + traffic.scvs)
    served = (1 - let) * traffic.serving[..., None]
    own = np.arange(idle.shape[-1])
    let[..., own, own], served[..., own, own] = 0.0, 1.0
    return 1 / least, let, served


def _arrival_weights(traffic: Traffic, spread: FloatArray) -> FloatArray:
    """h_ij of station i (rows) as j sees it (columns), shape (..., stations, stations)."""
    load = np.minimum(traffic.busy, _FULL)
    own = traffic.rates * (1 - load) ** 2 / np.maximum(load * spread, _IDLE)
    growth = load**2 * spread / (2 * (1 - load) ** 2 * np.maximum(traffic.rates, _LEAST))
    scale = own[..., :, None] * growth[..., None, :]
    at_once = 1 - load[..., :, None] ** 2
    factors = np.broadcast_to(at_once, scale.shape).copy()
    later = np.flatnonzero(scale > (at_once / _STEEPEST) ** 2)  # elsewhere w* cannot be larger
    flat = factors.reshape(-1)
    flat[later] = np.maximum(flat[later], remembered(scale.reshape(-1)[later]))
    return factors


def remembered(scale: FloatArray) -> FloatArray:
    """w* of Whitt and You: weight of the arrivals' variability in departures after some time.

    Parameters
    ----------
    scale
        Time over the relaxation time of the queue, 0 or more.

    Examples
    --------
    >>> remembered(np.array([0.0, 0.5, 50.0])).round(3).tolist()
    [0.0, 0.539, 0.99]
    """
    from scipy.special import erfc

    time = np.clip(scale, 1e-5, 1e6)  # its limits, 0 and 1, to about 1e-6
    root, more = np.sqrt(time / 2), 1 + time
    unlike = 1 - (2 - more * more) * erfc(root)  # erfc / 2 is beyond a normal deviate of 2 root
    unlike -= root * more * np.exp(-time / 2) * (2 / np.sqrt(np.pi))
    return np.where(scale < 1e-5, 0.0, 1 - unlike / (2 * time))


def _constants(traffic: Traffic, weight: FloatArray, own: FloatArray) -> FloatArray:
    """Constant terms of the equations."""
    return 1 + weight * (own + (traffic.fixed - 1)[..., None])


def _eliminated(
    traffic: Traffic, weight: FloatArray, let: FloatArray, served: FloatArray
) -> FloatArray:
    """Solve the equations for each viewing station directly."""
    back = np.swapaxes(traffic.both, -1, -2)
    constants = _constants(traffic, weight, back @ served)
    by_viewer, let, right_sides = (np.swapaxes(v, -1, -2) for v in (weight, let, constants))
    through = back[..., None, :, :] * let[..., None, :]
    matrix = np.eye(traffic.busy.shape[-1]) - by_viewer[..., None] * through
    return _diagonal(np.asarray(np.linalg.solve(matrix, right_sides[..., None])[..., 0], float))


def _diagonal(each: FloatArray) -> FloatArray:
    """The values that each station sees of itself, from values by viewing station and station."""
    return each[..., 0, :] if each.shape[-2] == 1 else np.diagonal(each, axis1=-2, axis2=-1)


def _iterated(
    traffic: Traffic, weight: FloatArray, let: FloatArray, served: FloatArray
) -> FloatArray:
    """Solve the equations of one point with many stations and sparse routes, by iteration."""
    weight, let, backwards = weight[0], let[0], traffic.backwards
    constants = _constants(traffic, weight, backwards @ served[0])[0]
    total = passed_on(backwards, let * weight, let * constants)
    here = np.repeat(np.arange(len(total)), np.diff(backwards.indptr))
    seen = total[backwards.indices, here if total.shape[1] > 1 else 0]
    coming = np.bincount(here, backwards.data * seen, len(total))
    return (_diagonal(constants.T) + _diagonal(weight.T) * coming)[None]
