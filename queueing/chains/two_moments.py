"""Open classes with general arrivals, services and routes of their own, by two moments.

All classes are aggregated into one flow, whose variability is propagated. A visit then takes the
mean wait, longer for a class with bursty arrivals, and the service time of its class.

Source: Whitt, "The Queueing Network Analyzer", Bell System Technical Journal 62(9), 1983,
sections 2.3 and 6.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from headway.kinds import Amount, FloatArray
from headway.queueing.chains.by_class import assembled
from headway.queueing.chains.class_traffic import (
    ClassTraffic,
    class_traffic,
    network_of,
    over_points,
)
from headway.queueing.chains.routes import ClassRoutes, entry_states
from headway.queueing.chains.whole_chain import unsolved
from headway.queueing.network.names import Method
from headway.queueing.network.network import JobClass, SharedStation, read_network
from headway.queueing.network.overload import Overload, find_overload
from headway.queueing.network.result import Result
from headway.queueing.stations.abilities import ServiceKind
from headway.queueing.variability.classes import ClassFlows, aggregated, waits_by_class
from headway.queueing.variability.network import GeneralNetwork, at_load, solve_general
from headway.records import dataclass

_NOBODY = 1e-12  # [1/s], stands for no arrivals: the limit of variability without load
_ROUNDING = 1e-12  # relative, of equal mean times


@dataclass(frozen=True)
class TwoMomentSolution:
    """Result of open classes by two moments.

    Results by class.
    ----------
    classes
        The result by class.
    Squared coefficients of variation of the times between arrivals, and between departures, of all
    classes together, shape (stations, ...).
        classes, shape (stations, ...).
    exact
        Whether no part of it is approximate.
    """

    classes: Result
    arrival_scv: FloatArray
    departure_scv: FloatArray
    exact: bool


def solve_spread(
    stations: Sequence[SharedStation],
    classes: Sequence[JobClass],
    routes: ClassRoutes,
    arrival_scvs: Sequence[Amount],
) -> TwoMomentSolution:
    """Solve open classes by two moments of each flow and service.

    An approximation; exact for queues of one exponential service time for all classes with
    Poisson arrivals (Jackson), and for classes with Poisson arrivals at one M/G/1 alone.

    Parameters
    ----------
    stations
        Queues in order of arrival, and delays; visits follow from the routes.
    classes
        The open classes, in the same order.
    routes
        The routes by class.
    arrival_scvs
        Squared coefficient of variation of the times between the arrivals of each class.

    Returns
    -------
    Numbers by class as those of `headway.queueing.solve_chains`; saturated points are marked.

    Raises
    ------
    GraphError, InvalidParameter
        For invalid routes, or jobs that never leave.

    Examples
    --------
    >>> ways = ClassRoutes(("cpu",), ("a", "b"), {})
    >>> cpu = SharedStation("cpu", service_times=(0.1, 0.3), visits=(1, 1), scv=(0, 0))
    >>> two = [JobClass("a", arrival_rate=1), JobClass("b", arrival_rate=1)]
    >>> solution = solve_spread([cpu], two, ways, (1, 1))
    >>> solution.classes.response_time.round(6).tolist()  # 0.05 / (1 - 0.4) more than alone: M/G/1
    [0.183333, 0.383333]
    """
    each = {np.shape(scv) for scv in (*arrival_scvs, *(c for s in stations for c in s.scv))}
    shape = np.broadcast_shapes(*each)
    if shape:  # scvs differ between operating points, and so do results
        classes = [
            replace(c, arrival_rate=np.asarray(c.arrival_rate) + np.zeros(shape)) for c in classes
        ]
    traffic = class_traffic(stations, classes, routes)
    own = _rows([c.arrival_rate for c in traffic.classes], traffic).T
    load = np.zeros(own.shape)  # arrival rate of the chain of each class [1/s]
    for chain in map(list, traffic.cycles.chains):
        load[chain] = own[chain].sum(axis=0)
    cycles = np.maximum(load, _NOBODY)
    entries = entry_states(over_points(routes, traffic.shape))
    flows = _flows(traffic, cycles, entries, arrival_scvs)
    one = aggregated(flows)
    general = solve_general(one.network)
    overload = find_overload(read_network(*network_of(traffic)))
    waits = np.moveaxis(waits_by_class(flows, one, general.waiting_time), 0, -1)
    answers = _by_class(traffic, load, waits, overload)
    return TwoMomentSolution(
        answers,
        _shaped(traffic, general.arrival_scv),
        _shaped(traffic, general.departure_scv),
        _is_exact(flows, one.network),
    )


_WITHIN = {0.8: (26, 26, 51), 0.9: (26, 24, 51), 0.95: (29, 31, 79)}
"""Bounds on errors of mean response times of 95 of 100 networks, of 95 of 100 classes, and the
largest of these [%], by largest utilisation: ``python -m tests.campaigns.qna_class_errors`` and
``tests.campaigns.qna_laws``.
"""


def approximation(load: float) -> str:
    """Label of a result, with the error measured up to some load.

    Parameters
    ----------
    load
        Largest utilisation.

    Examples
    --------
    >>> approximation(0.85).split(", with ")[-1]
    'scvs from 0 to 8 of gamma-distributed, lognormal and two-phase times'
    """
    (network, journey, most), busy = at_load(_WITHIN, load)
    return (
        "each flow and service is approximated by two moments, of all classes together (QNA): "
        f"mean response times of networks, 95 of 100 within {network}%, of classes 95 of 100 "
        f"within {journey}% (largest error {most}%) of simulations {busy}, with scvs from 0 to 8 "
        "of gamma-distributed, lognormal and two-phase times"
    )


def _shaped(traffic: ClassTraffic, values: FloatArray) -> FloatArray:
    return values.T.reshape((len(traffic.stations), *traffic.shape))


def _rows(values: Sequence[Amount], traffic: ClassTraffic) -> FloatArray:
    """Values of classes or stations over all points, shape (points, values)."""
    each = [np.broadcast_to(np.asarray(v, float), traffic.shape).ravel() for v in values]
    return np.stack(each, axis=-1)


def _servers(traffic: ClassTraffic) -> FloatArray:
    delays = np.array([s.kind is ServiceKind.DELAY for s in traffic.stations])
    return np.where(delays, np.inf, _rows([s.servers for s in traffic.stations], traffic))


def _flows(
    traffic: ClassTraffic, cycles: FloatArray, entries: FloatArray, arrival_scvs: Sequence[Amount]
) -> ClassFlows:
    """Flows by class, from the cycle rate of each chain [1/s]."""
    count, stations = len(traffic.classes), len(traffic.stations)
    visits = np.moveaxis(traffic.visits, -1, 0)
    points = len(visits)
    begun = entries.reshape(len(entries), count, count, stations)
    own = np.stack([begun[:, c, c] for c in range(count)], axis=1)
    ones = [1.0] * count
    scvs = np.stack([_rows(s.scv or ones, traffic) for s in traffic.stations], axis=-1)
    return ClassFlows(
        cycles.T[:, :, None] * visits,
        np.broadcast_to(traffic.cycles.onward, (points, *traffic.cycles.onward.shape[1:])),
        np.broadcast_to(own, visits.shape),
        (traffic.shares * cycles).T,
        _rows(arrival_scvs, traffic),
        np.moveaxis(traffic.times, -1, 0),
        scvs,
        _servers(traffic),
    )


def _by_class(
    traffic: ClassTraffic, load: FloatArray, waits: FloatArray, overload: Overload
) -> Result:
    """Assemble the result from the waits of each class."""
    stay = traffic.times + np.where(traffic.times > 0, waits, 0.0)
    through = load[:, None] * traffic.visits
    queue = np.where(through > 0, through * np.where(through > 0, stay, 0.0), 0.0)
    busy = through * traffic.times / _servers(traffic).T
    outcome = replace(
        unsolved(traffic, Method.AUTO),
        saturated=overload.saturated.reshape(traffic.shape),
        overload=overload.message,
    )
    return assembled(traffic, outcome, stay, queue, busy, load)


def _is_exact(flows: ClassFlows, network: GeneralNetwork) -> bool:
    """Whether all stations are M/M/m queues, or there is a single M/G/1."""
    queues = np.isfinite(flows.servers)[:, None, :]
    here = queues & (flows.rates > 0)
    mean = network.service_times[:, None, :]
    exponential = (flows.scvs == 1) & (np.abs(flows.times - mean) <= _ROUNDING * mean)
    single = np.all((flows.servers == 1) | ~np.isfinite(flows.servers))
    alone = network.shape[-1] == 1 and single and not network.onward.any()
    poisson = np.all((flows.outside_scvs == 1) | (flows.outside == 0))
    return bool(poisson and (alone or np.all(exponential | ~here)))
