"""Classes of jobs aggregated into one flow, by two moments; waits by class.

Of the classes c that visit station i at rates lambda_ci, with service times S_ci of scv x_ci and
chances q_cidj to go on to station j as class d,

    lambda_i = sum of lambda_ci,    S_i = sum of lambda_ci S_ci / lambda_i,
    (1 + x_i) S_i**2 = sum of lambda_ci (1 + x_ci) S_ci**2 / lambda_i,
    q_ij = sum of lambda_ci q_cidj / lambda_i.

A share p of a class's arrivals from outside that enters at station j is a flow of scv p c + 1 - p.
All such flows are superposed there.

The aggregate does not show which class is bursty, but bursts of long jobs bring more work than
bursts of short ones. So the excess e_ci = c_ci - 1 of each class's arrivals over Poisson ones is
propagated too:

    departures    d_ci = p_ci ((1 - U_i**2) e_i + U_i**2 (x_i - 1)) + (1 - p_ci)**2 e_ci,

with p_ci = lambda_ci / lambda_i and e_i = sum of p_ci e_ci; splitting thins it. At each queue
w_i sum of p_ci ((S_ci / S_i)**2 - 1) e_ci is added to the scv of arrivals, with w_i as for the
superposition of flows. In heavy traffic W = sum of lambda_ci S_ci**2 (c_ci + x_ci) / (2 (1 - U_i)).

A job that arrives in a burst finds e_ci / 2 more jobs of its own class than one at a random time. A
job that arrived a time u before still delays it if the server has not been idle since. With u
exponential with rate g = 2 lambda_ci / (e_ci + 2), as for hyperexponential times between arrivals
with balanced means, and otherwise Poisson arrivals and exponential services of mean S_i,

    W_ci = W_i + d_ci - sum over k of p_ki d_ki,    d_ci = f_ci e_ci S_ci / (2 m_i) C_i / U_i,
    f_ci = 1 - E[exp(-g T)],    T = time until a server with the queue and S_ci would be idle,

and C_i the M/M/m probability of waiting. Both corrections are headway's own, derived in
docs/explanation/variability.md; ``python -m tests.campaigns.qna_class_errors`` measures them.

Source: Whitt, "The Queueing Network Analyzer", Bell System Technical Journal 62(9), 1983,
section 2.3 (the aggregate of classes and their routes) and 4.3 (flows that meet); Bitran and
Tirupati, "Multiproduct queueing networks with deterministic routing: decomposition approach and
the notion of interference", Management Science 34(1), 1988 (departures by class).
"""

from dataclasses import replace

import numpy as np

from headway.kinds import FloatArray
from headway.queueing.erlang.formulas import erlang_c
from headway.queueing.variability.flows import departing_alone
from headway.queueing.variability.network import GeneralNetwork
from headway.records import dataclass

_FULL = 1 - 1e-9  # largest utilisation: beyond saturation, waits by class are those just below it


@dataclass(frozen=True)
class ClassFlows:
    """Flows of classes through stations, at many operating points.

    Parameters
    ----------
    rates
        Visits [1/s] by class, shape (points, classes, stations).
    onward
        Routing probabilities from a class at a station to a class at a station, shape (points,
        classes, stations, classes, stations).
    entries
        Share of each class that enters at each station, shape (points, classes, stations).
    outside, outside_scvs
        Arrivals [1/s] of each class from outside and the scv of the times between them, shape
        (points, classes).
    times, scvs
        Mean service times [s] and their scvs, shape (points, classes, stations).
    servers
        Servers, shape (points, stations); infinite for a delay.
    """

    rates: FloatArray
    onward: FloatArray
    entries: FloatArray
    outside: FloatArray
    outside_scvs: FloatArray
    times: FloatArray
    scvs: FloatArray
    servers: FloatArray


@dataclass(frozen=True)
class Aggregate:
    """One class that represents several, and the excess of each that its flow does not show.

    Parameters
    ----------
    network
        The network of this class.
    excess
        e_ci = c_ci - 1, shape (points, classes, stations).
    """

    network: GeneralNetwork
    excess: FloatArray


def aggregated(flows: ClassFlows) -> Aggregate:
    """Aggregate classes into one.

    Parameters
    ----------
    flows
        The flows by class.

    Examples
    --------
    >>> one, here = np.ones((1, 2)), np.ones((1, 2, 1))
    >>> times, stay = np.array([[[1.0], [3.0]]]), np.zeros((1, 2, 1, 2, 1))
    >>> flows = ClassFlows(here, stay, here, one, 2 * one, times, here, np.ones((1, 1)))
    >>> network = aggregated(flows).network
    >>> network.service_times.tolist(), network.scvs.tolist(), network.outside_flows.tolist()
    ([[2.0]], [[1.5]], [[2.0]])
    """
    shares = _shares(flows)
    time = (shares * flows.times).sum(axis=1)
    square = (shares * (1 + flows.scvs) * flows.times**2).sum(axis=1)
    scvs = np.maximum(square / _safe(time**2) - 1, 0.0)
    onward = np.einsum("pci,pcidj->pij", shares, flows.onward)
    coming = flows.outside[:, :, None] * flows.entries
    thinned = 1 + flows.entries * (flows.outside_scvs[:, :, None] - 1)
    sums = coming.sum(axis=1)
    one = GeneralNetwork(
        sums,
        np.where(sums > 0, (coming * thinned).sum(axis=1) / _safe(sums), 1.0),
        onward,
        time,
        flows.servers,
        np.where(time > 0, scvs, 0.0),
        np.where(sums > 0, sums**2 / _safe((coming**2).sum(axis=1)), 1.0),
    )
    busy = _busy(flows, one)
    excess = _excesses(flows, one, busy, coming * (thinned - 1))
    weight = 1 / (1 + 4 * (1 - busy) ** 2 * (1 / (shares**2).sum(axis=1) - 1))
    work = (flows.times / _safe(time)[:, None, :]) ** 2 - 1
    more_work = np.asarray(weight * (shares * work * excess).sum(axis=1))
    return Aggregate(replace(one, more_work=more_work), excess)


def waits_by_class(flows: ClassFlows, one: Aggregate, waits: FloatArray) -> FloatArray:
    """Mean wait of each class's visits, shape (points, classes, stations) [s].

    Parameters
    ----------
    flows, one
        The flows by class, and their aggregate.
    waits
        Mean waits over all visits, shape (points, stations) [s].

    Examples
    --------
    >>> two, here = np.ones((1, 2)), np.ones((1, 2, 1))
    >>> flows = ClassFlows(here, np.zeros((1, 2, 1, 2, 1)), here, two, np.array([[8.0, 1.0]]),
    ...     0.25 * here, here, np.ones((1, 1)))
    >>> waits_by_class(flows, aggregated(flows), np.array([[0.4]])).ravel().round(3).tolist()
    [0.474, 0.326]
    """
    servers = np.where(np.isfinite(flows.servers), flows.servers, 1.0)
    busy = np.minimum(_busy(flows, one.network), _FULL)
    mean = one.network.service_times / servers
    rate = 2 * flows.rates * mean[:, None] / np.maximum(one.excess + 2, 1.0)
    felt = _still_busy(rate, busy[:, None], flows.times / _safe(mean * servers)[:, None])
    poisson = erlang_c(servers, servers * busy) / np.where(busy > 0, busy, 1.0)
    queues = np.where(np.isfinite(flows.servers), poisson / (2 * servers), 0.0)
    more = queues[:, None] * felt * one.excess * flows.times
    apart = more - (_shares(flows) * more).sum(axis=1, keepdims=True)
    return np.asarray(np.maximum(waits[:, None] + apart, 0.0))


def _still_busy(rate: FloatArray, busy: FloatArray, size: FloatArray) -> FloatArray:
    """F = 1 - E[exp(-g T)] of M/M/1, from g and a job's size in mean service times."""
    rest = 1 - busy - rate
    root = (np.sqrt(rest**2 + 4 * rate) - rest) / 2
    idle = (1 - busy) * (1 + root) / ((1 - busy + root) * (1 + root * size))
    return np.asarray(1 - idle)


def _busy(flows: ClassFlows, one: GeneralNetwork) -> FloatArray:
    busy = flows.rates.sum(axis=1) * one.service_times / flows.servers
    return np.asarray(np.minimum(busy, 1.0))


def _shares(flows: ClassFlows) -> FloatArray:
    """p_ci: share of each class in the visits to a station; equal if there are no visits."""
    total = flows.rates.sum(axis=1)[:, None, :]
    return np.where(total > 0, flows.rates / _safe(total), 1 / flows.rates.shape[1])


def _excesses(
    flows: ClassFlows, one: GeneralNetwork, busy: FloatArray, outside: FloatArray
) -> FloatArray:
    """Solve for e_ci over classes and stations together, shape (points, classes, stations)."""
    shares, rates = _shares(flows), _safe(flows.rates)
    points, classes, stations = shares.shape
    size, alike = classes * stations, np.eye(stations)
    through = np.einsum("pci,pi,pdi,ij->pcidj", shares, 1 - busy**2, shares, alike)
    own = np.einsum("pci,cd,ij->pcidj", (1 - shares) ** 2, np.eye(classes), alike)
    leaving = (through + own).reshape(points, size, size)
    served = shares * (busy**2 * (departing_alone(one.scvs, flows.servers) - 1))[:, None, :]
    moves = flows.rates[:, :, :, None, None] * flows.onward**2 / rates[:, None, None]
    onward = np.swapaxes(moves.reshape(points, size, size), 1, 2)
    constants = (outside / rates).reshape(points, size, 1)
    constants = constants + onward @ served.reshape(points, size, 1)
    excesses = np.linalg.solve(np.eye(size) - onward @ leaving, constants)
    return np.asarray(excesses.reshape(shares.shape))


def _safe(values: FloatArray) -> FloatArray:
    return np.where(values > 0, values, 1.0)
