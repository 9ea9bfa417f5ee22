"""Closed classes without a product form, exactly by their whole Markov chain if it is small."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from headway.columns import distinct_columns
from headway.kinds import FloatArray
from headway.queueing.markov.circuits import (
    Circuit,
    CircuitMeans,
    Onward,
    circuit_numbers,
    onward_from,
    solve_circuit,
)
from headway.queueing.markov.orders import Order, apart, sharing
from headway.queueing.markov.tagged import TaggedCircuit
from headway.queueing.methods.needs import MOST_REQUESTED
from headway.queueing.network.names import Method
from headway.queueing.network.network import Network, SharedStation
from headway.queueing.network.routing import Routing
from headway.queueing.stations.abilities import ServiceKind
from headway.queueing.times.phase_type import STAGES

MOST_STATES = 2000
"""Most states of a chain solved without being asked for: some 30 ms a point."""

MOST_SOLVED = 200_000
"""Most states times operating points for which all points are solved."""


def most_states(asked: str) -> int:
    """Largest number of states, which is higher if an exact method was asked for."""
    return MOST_STATES if asked == Method.AUTO else MOST_REQUESTED


def whole_chain(network: Network, most: int) -> CircuitMeans | None:
    """Solve a network of closed classes state by state.

    Parameters
    ----------
    network
        Stations, classes and routes; services are exponential with a mean by class.
    most
        The largest number of states to accept.

    Returns
    -------
    Jobs and completions by class and station. None for open classes; services of no time, at
    varying speeds or not exponential; unknown routes; and chains that are too large.
    """
    ways = network.ways
    if ways is None or not _has_chain(network):
        return None
    solved: list[tuple[NDArray[np.intp], CircuitMeans]] = []
    most = min(most, max(MOST_SOLVED // network.population.shape[1], 1))
    for points in _alike(network, ways):
        part = _solved(network.at(points), ways.at(points), most)
        if part is None:
            return None
        solved.append((points, part))
    back = np.argsort(np.concatenate([points for points, _ in solved]))
    return CircuitMeans(
        *(
            np.concatenate([getattr(part, name) for _, part in solved], axis=-1)[..., back]
            for name in ("queue_length", "throughput")
        )
    )


def _has_chain(network: Network) -> bool:
    """Whether all classes are closed, and all services exponential, positive and at one speed.

    And whether every discipline has states.
    """
    known = all(s.discipline.states or s.kind is ServiceKind.DELAY for s in network.stations)
    plain = known and network.scv is None and not network.speeds
    return plain and not network.is_open.any() and not _takes_no_time(network)


def _takes_no_time(network: Network) -> bool:
    come = (network.may_be[:, None] > 0) & (network.visits > 0)
    return bool((come & (network.service_times <= 0)).any())


def _alike(network: Network, ways: Routing) -> list[NDArray[np.intp]]:
    """Operating points with the same states: they differ in times only."""
    points = network.population.shape[1]
    parts = [network.population, network.servers, network.think_time > 0]
    parts += [part.reshape(-1, part.shape[-1]) for part in ways.parts]
    rows = np.concatenate([np.broadcast_to(part, (len(part), points)) for part in parts])
    _, group = distinct_columns(rows)
    return [np.flatnonzero(group == number) for number in range(int(group.max()) + 1)]


def _solved(network: Network, ways: Routing, most: int) -> CircuitMeans | None:
    """Solve points that have the same states."""
    return solve_circuit(_circuit(network, ways), _rates(network), most)


def whole_numbers(network: Network, place: int) -> tuple[FloatArray, float] | None:
    """Numbers of jobs of all classes at a station, state by state at one operating point.

    Parameters
    ----------
    network
        As for `whole_chain`.
    place
        Index of the station.

    Returns
    -------
    As from `headway.queueing.markov.circuits.circuit_numbers`; None if there is no chain.
    """
    if network.ways is None or not _has_chain(network):
        return None
    circuit = _circuit(network, network.ways)
    return circuit_numbers(circuit, _rates(network)[:, 0], place, MOST_REQUESTED)


def tagged_circuit(network: Network) -> TaggedCircuit | None:
    """A network at one operating point, and the same network with a tagged job.

    A delay of the tagged job has `STAGES` stages, so that it is nearly constant; those of the
    others are exponential.

    Parameters
    ----------
    network
        As for `whole_chain`, at one point.

    Returns
    -------
    None if there is no chain.
    """
    ways = network.ways
    if ways is None or not _has_chain(network):
        return None
    whole, delays = _circuit(network, ways), np.flatnonzero(network.is_delay).tolist()
    count, classes = len(whole.orders), len(whole.populations)
    stages = {k: count + i * STAGES for i, k in enumerate(delays)}
    none, ends = (0,) * classes, (True,) * classes
    tagged = Circuit(
        (*_orders(network, 2), *[sharing(1)] * (STAGES * len(delays))),
        (*whole.populations, *none),
        (*whole.thinks, *ends),
        (
            *whole.entries,
            *(tuple((stages.get(k, k), p) for k, p in each) for each in whole.entries),
        ),
        (
            *((*each, *[()] * (STAGES * len(delays))) for each in whole.onward),
            *(_tagged_onward(whole, c, stages) for c in range(classes)),
        ),
    )
    return TaggedCircuit(whole, _rates(network)[:, 0], tagged, _tagged_rates(network, delays))


def _tagged_onward(whole: Circuit, c: int, stages: Mapping[int, int]) -> tuple[Onward, ...]:
    """Routes of the tagged job from each station, and from each stage of its delays."""
    classes = len(whole.populations)

    def after(k: int) -> Onward:
        ways = whole.onward[c][k]
        return tuple((p, t if t is None else stages.get(t, t), classes + d) for p, t, d in ways)

    through: list[Onward] = [after(k) for k in range(len(whole.orders))]
    for k, first in stages.items():
        through += [((1.0, first + i, classes + c),) for i in range(1, STAGES)]
        through.append(after(k))
    return tuple(through)


def _tagged_rates(network: Network, delays: Sequence[int]) -> FloatArray:
    """Rates as in `_rates`, for the tagged job and the others."""
    served = network.service_times[:, :, 0].T
    staged = np.repeat(served[list(delays)] / STAGES, STAGES, axis=0)
    times = np.tile(np.concatenate([served, staged]), 2).ravel()
    times = np.concatenate([times, network.think_time[:, 0], np.ones(len(network.think_time))])
    return np.asarray(1 / np.where(times > 0, times, 1.0))


def _orders(network: Network, copies: int = 1) -> tuple[Order, ...]:
    """How each station serves so many copies of the set of classes."""
    jobs = int(network.population[:, 0].sum())
    ranks = tuple(c.priority for c in network.classes) * copies
    return tuple(
        _order(s, int(network.servers[k, 0]), jobs, ranks) for k, s in enumerate(network.stations)
    )


def _circuit(network: Network, ways: Routing) -> Circuit:
    """Classes and routes as at the first operating point, and at all with the same states."""
    classes, stations = network.demand.shape[:2]
    return Circuit(
        _orders(network),
        tuple(network.population[:, 0].astype(int).tolist()),
        tuple((network.think_time[:, 0] > 0).tolist()),
        tuple(
            tuple((k, float(p)) for k, p in enumerate(ways.entries[c, :, 0]) if p > 0)
            for c in range(classes)
        ),
        tuple(tuple(_onward(ways, c, k) for k in range(stations)) for c in range(classes)),
    )


def _rates(network: Network) -> FloatArray:
    """Service rates by station and class, then those of thinking, shape (rates, points) [1/s]."""
    served = network.service_times.swapaxes(0, 1).reshape(-1, len(network.population[0]))
    times = np.concatenate([served, network.think_time])
    return np.asarray(1 / np.where(times > 0, times, 1.0))


def _onward(ways: Routing, c: int, k: int) -> Onward:
    chances = ways.onward[c, k, :, :, 0]
    if ways.last is not None:
        out = [(float(p), None, d) for d, p in enumerate(ways.last[c, k, :, 0]) if p > 0]
        return (*onward_from(chances, 0.0, c), *out)
    left = 1 - float(chances.sum())
    return onward_from(chances, left if left > _ROUNDING else 0.0, c)


_ROUNDING = 1e-12  # of probabilities that sum to 1


def _order(station: SharedStation, servers: int, jobs: int, ranks: tuple[int, ...]) -> Order:
    if station.kind is ServiceKind.DELAY:
        return sharing(jobs)
    order = station.discipline.chain(ranks)
    if station.kind is ServiceKind.PARALLEL:
        return apart(servers, 1, order)
    return order(min(servers, jobs) or 1)
