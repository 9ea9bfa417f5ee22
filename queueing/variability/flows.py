"""Traffic variability equations: how the times between arrivals vary at each station.

Each flow is told by its rate and one squared coefficient of variation (scv). With p_ij the share
of the arrivals at j that come from i (i = 0 from outside), q_ij the chance to go from i to j,

    departures    c_d,i = 1 + h_i (c_a,i - 1) + (1 - h_i) (x_i - 1)
    parting       c_ij  = q_ij c_d,i + 1 - q_ij
    meeting       c_a,j = 1 + w_j (sum over i of p_ij c_ij - 1)

with x_i = 1 + (max(c_s,i, 0.2) - 1) / sqrt(m_i), h_i = 1 - U_i**2 the share of what comes that is
seen in what leaves, and w_j = 1 / (1 + 4 (1 - U_j)**2 (v_j - 1)), v_j = 1 / sum of p_ij**2: many
flows that meet look like a Poisson one where the queue is short.

A busy queue sees more of what came to quieter ones before it than they let through at once, which
one scv a flow cannot tell (Suresh and Whitt's bottleneck). So the equations are solved twice more,
for each station j as what sees the flows. Over the time in which its queue builds up, a station i
lets through

    h_ij = max(1 - U_i**2, w*(t)),
    t = ((1 - U_i) / (1 - U_j))**2 lambda_i U_j**2 c_j / (2 lambda_j U_i c_i)

with w* of Whitt and You and c = c_a + c_s by the solution before, and flows meet as at the busier
of both. What has left a station itself, and returns, it sees as a Poisson flow: its jobs come back
after its own service, not in bursts of it (`headway.queueing.variability.returns` has the rest).

Source: Whitt, "The Queueing Network Analyzer", Bell System Technical Journal 62(9), 1983,
section 4; Suresh and Whitt, "The heavy-traffic bottleneck phenomenon in open queueing
networks", Operations Research Letters 9(6), 1990; Whitt and You, "A robust queueing network
analyzer based on indices of dispersion", Naval Research Logistics 69(1), 2022 (w* of departures).
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from headway.errors import GraphError
from headway.kinds import FloatArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_STEADIEST = 0.2  # scv below which service leaves departures no steadier
_FULL = 1 - 1e-9  # utilisation at which flows are looked at beyond saturation
_TIMES = 2  # how often: more changes little
_IDLE = 1e-12  # utilisation below which everything is let through
_LEAST = 1e-300
_STEEPEST = 1.0639  # w*(t) / sqrt(t) is 8 / (3 sqrt(2 pi)) at most
_DENSE = 40  # stations up to which equations are eliminated, not iterated
_MOST_NUMBERS = 1_000_000  # of all points' equations that are held at once
_SETTLED, _MOST_ROUNDS = 1e-11, 10_000


@dataclass(frozen=True)
class Traffic:
    """What the equations are made of, at many operating points.

    Parameters
    ----------
    shares
        p_ij, shape (points, stations, stations).
    onward
        q_ij, the same shape.
    outside
        Share of the arrivals at each station that come from outside, shape (points, stations).
    outside_scv
        How those vary, the same shape.
    outside_flows
        As how many flows alike they come together, 1 or more, the same shape.
    rates
        Arrivals [1/s].
    busy
        Utilisations.
    scvs
        How service times vary.
    serving
        x_i: how departures of a station that is always busy vary.
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

    def at(self, points: slice) -> "Traffic":
        """Some of the points."""
        return Traffic(*(getattr(self, each.name)[points] for each in fields(self)))

    @cached_property
    def both(self) -> FloatArray:
        """p_ij q_ij."""
        return np.asarray(self.shares * self.onward)

    @cached_property
    def fixed(self) -> FloatArray:
        """What of the arrivals' scv depends on no other, of shape (points, stations)."""
        fixed = self.outside * self.outside_scv + (self.shares - self.both).sum(axis=-2)
        return np.where((self.outside + self.shares.sum(axis=-2)) > 0, fixed, 1.0)

    @cached_property
    def many(self) -> FloatArray:
        """V - 1: how many flows meet beside one, by their shares."""
        flows = (self.shares**2).sum(axis=-2) + self.outside**2 / self.outside_flows
        return np.asarray(np.maximum(1 / np.maximum(flows, _LEAST) - 1, 0.0))

    @cached_property
    def together(self) -> NDArray[np.bool_]:
        """Whether jobs go to and fro between two stations, at any of the points."""
        from scipy.sparse.csgraph import connected_components

        ways = self.onward.max(axis=0, initial=0.0) > 0
        labels = connected_components(ways, connection="strong")[1]
        return np.asarray((labels[:, None] == labels) & ~np.eye(len(labels), dtype=bool))

    @cached_property
    def backwards(self) -> "csr_array":
        """What each flow adds to those that it meets: routes of the first point, reversed."""
        from scipy.sparse import csr_array

        return csr_array(np.ascontiguousarray(self.both[0].T))


def departing_alone(scv: FloatArray, servers: FloatArray) -> FloatArray:
    """How departures of a station that is always busy vary: x."""
    return np.asarray(1 + (np.maximum(scv, _STEADIEST) - 1) / np.sqrt(servers))


def departures(coming: FloatArray, busy: FloatArray, serving: FloatArray) -> FloatArray:
    """How the times between departures vary, by those between arrivals.

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
    Scv of the times between arrivals, shape (2, points, stations): all of it, and without what the
    services of stations add that jobs go to and fro between.

    Raises
    ------
    GraphError
        If so many stations in loops do not settle.
    """
    points, count = traffic.busy.shape
    few = count <= _DENSE
    block = max(_MOST_NUMBERS // count**3, 1) if few else 1
    solve = _eliminated if few else _iterated
    blocks = (traffic.at(slice(k, k + block)) for k in range(0, points, block))
    return np.concatenate([_again(each, solve) for each in blocks], axis=1)


Solver: TypeAlias = Callable[[Traffic, FloatArray, FloatArray, FloatArray], FloatArray]
"""Scvs of arrivals at each station (rows) by w, h and (1 - h) x as some see the flows (columns)."""


def _again(traffic: Traffic, solve: Solver) -> FloatArray:
    """Solve the equations as every station sees them, by the solution before."""
    scvs = outer = _at_once(traffic, solve)
    for _ in range(_TIMES):
        weight, let, served = _view(traffic, scvs)
        scvs = outer = _own(solve(traffic, weight, let, served))
    together = traffic.together
    if _TIMES and together.any():
        outer = _own(solve(traffic, weight, let, np.where(together, 1 - let, served)))
    return np.stack([scvs, outer])


def _own(each: FloatArray) -> FloatArray:
    """What each station sees of its own arrivals."""
    return np.diagonal(each, axis1=-2, axis2=-1)


def _at_once(traffic: Traffic, solve: Solver) -> FloatArray:
    """Whitt's equations of 1983, in which a flow has one scv whoever sees it."""
    load = np.minimum(traffic.busy, 1.0)
    weight = 1 / (1 + 4 * (1 - load) ** 2 * traffic.many)
    squares = (load**2)[..., None]
    return solve(traffic, weight[..., None], 1 - squares, squares * traffic.serving[..., None])[
        ..., 0
    ]


def _view(traffic: Traffic, coming: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """All of w, h and (1 - h) x at each station (rows), by who sees the flows (columns)."""
    idle = 1 - np.minimum(traffic.busy, 1.0)
    least = np.minimum(idle[..., :, None], idle[..., None, :])
    weight = 1 / (1 + least**2 * (4 * traffic.many)[..., :, None])
    let = _let_through(traffic, coming + traffic.scvs)
    served = (1 - let) * traffic.serving[..., None]
    own = np.eye(idle.shape[-1], dtype=bool)
    return weight, np.where(own, 0.0, let), np.where(own, 1.0, served)


def _let_through(traffic: Traffic, spread: FloatArray) -> FloatArray:
    """h_ij by who lets through (rows) and who sees (columns), shape (..., stations, stations)."""
    load = np.minimum(traffic.busy, _FULL)
    own = traffic.rates * (1 - load) ** 2 / np.maximum(load * spread, _IDLE)
    growth = load**2 * spread / (2 * (1 - load) ** 2 * np.maximum(traffic.rates, _LEAST))
    scale = own[..., :, None] * growth[..., None, :]
    at_once = 1 - load[..., :, None] ** 2
    factors = np.broadcast_to(at_once, scale.shape).copy()
    later = scale > (at_once / _STEEPEST) ** 2  # only there w* may be more
    factors[later] = np.maximum(factors[later], remembered(scale[later]))
    return factors


def remembered(scale: FloatArray) -> FloatArray:
    """w* of Whitt and You: what of the arrivals' variability departures show after some time.

    Parameters
    ----------
    scale
        Time over that in which the queue forgets, 0 or more.

    Examples
    --------
    >>> remembered(np.array([0.0, 0.5, 50.0])).round(3).tolist()
    [0.0, 0.539, 0.99]
    """
    from scipy.special import erfc

    time = np.clip(scale, 1e-5, 1e6)  # its limits, 0 and 1, to some 1e-6
    root = np.sqrt(time)
    beyond, density = erfc(root / np.sqrt(2)) / 2, np.exp(-time / 2) / np.sqrt(2 * np.pi)
    alike = 2 * (1 - 2 * time - time**2) * beyond + 2 * root * density * (1 + time)
    return np.where(scale < 1e-5, 0.0, 1 - (1 - alike) / (2 * time))


def _constants(traffic: Traffic, weight: FloatArray, own: FloatArray) -> FloatArray:
    """What of each scv depends on no other, with what services add to it."""
    return 1 + weight * (own + (traffic.fixed - 1)[..., None])


def _eliminated(
    traffic: Traffic, weight: FloatArray, let: FloatArray, served: FloatArray
) -> FloatArray:
    back = np.swapaxes(traffic.both, -1, -2)
    constants = _constants(traffic, weight, back @ served)
    by_viewer, let, right_sides = (np.swapaxes(v, -1, -2) for v in (weight, let, constants))
    through = back[..., None, :, :] * let[..., None, :]
    matrix = np.eye(traffic.busy.shape[-1]) - by_viewer[..., None] * through
    scvs = np.linalg.solve(matrix, right_sides[..., None])[..., 0]
    return np.swapaxes(scvs, -1, -2)


def _iterated(
    traffic: Traffic, weight: FloatArray, let: FloatArray, served: FloatArray
) -> FloatArray:
    """The same of one point with many stations, whose routes are few."""
    weight, let, backwards = weight[0], let[0], traffic.backwards
    own = backwards @ served[0]
    constants = _constants(traffic, weight, own)[0]
    change, passing = let * constants, let * weight
    total = change.copy()
    for _ in range(_MOST_ROUNDS):
        change = backwards @ change
        change *= passing
        total += change
        if change.max() <= _SETTLED:
            return np.asarray(constants + weight * (backwards @ total))[None]
    msg = "the flows between the stations do not converge; send fewer jobs round loops"
    raise GraphError(msg)
