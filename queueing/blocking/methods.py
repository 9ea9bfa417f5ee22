"""The functions of methods for networks with blocking, as named in the table of methods."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from headway.errors import GraphError
from headway.kinds import FloatArray
from headway.queueing.blocking.answers import BlockingSolution
from headway.queueing.blocking.chain import check_chain
from headway.queueing.blocking.decomposition import check_decomposition
from headway.queueing.blocking.measured import CLOSED, DECOMPOSED, DELAYED, EQUIVALENT, OPEN
from headway.queueing.blocking.solve_blocking import (
    BlockingMethod,
    check_equivalence,
    check_exponential,
    core_of,
    has_small_chain,
    is_empty,
    solve_blocking,
)
from headway.queueing.methods.method import EXACT, Error
from headway.queueing.network.blocking import BlockingNetwork
from headway.queueing.network.network import JobClass, Network, shared_by_one
from headway.queueing.network.result import Result, one_class_result
from headway.queueing.stations.abilities import ServiceKind
from headway.queueing.stations.base import Station

_COMMAND = "python -m tests.campaigns.blocking_errors"


def network_that_blocks(blocking: BlockingNetwork, stations: Sequence[Station]) -> Network:
    """A network with blocking, at one operating point, in the form that all methods take.

    Parameters
    ----------
    blocking
        The rooms, routes and regions.
    stations
        Its stations, in the same order.
    """
    jobs = (
        JobClass("", population=blocking.population, think_time=blocking.think_time)
        if blocking.closed
        else JobClass("", arrival_rate=blocking.arrival_rate)
    )

    def column(values: Sequence[float]) -> FloatArray:
        return np.array(values, float).reshape(-1, 1)

    return Network(
        tuple(shared_by_one(*each) for each in zip(blocking.called, stations, strict=True)),
        (jobs,),
        column([station.mean_service for station in stations])[None],
        column(blocking.visits.tolist())[None],
        column([station.plain_count for station in stations]),
        column([blocking.arrival_rate]),
        column([blocking.population]),
        column([blocking.think_time]),
        (),
        blocking=blocking,
        kinds=tuple(stations),
    )


def by_chain(network: Network) -> Result:
    """Solve by the whole Markov chain."""
    return _solved(network, BlockingMethod.CHAIN)


def by_chain_unasked(network: Network) -> Result | None:
    """Solve by the whole Markov chain if that takes a fraction of a second; otherwise None."""
    return by_chain(network) if has_small_chain(_blocking(network), network.kinds) else None


def by_flow_equivalence(network: Network) -> Result:
    """Solve with each region as one flow-equivalent server."""
    return _solved(network, BlockingMethod.EQUIVALENCE)


def by_decomposition(network: Network) -> Result:
    """Solve station by station, each with its arrivals and the servers that it blocks."""
    return _solved(network, BlockingMethod.DECOMPOSITION)


def no_chain(network: Network) -> str:
    """Why the part with blocking has no whole Markov chain; empty if it has one."""
    return _refused(network, check_exponential, lambda core, _: check_chain(core))


def no_equivalence(network: Network) -> str:
    """Why regions cannot be flow-equivalent servers; empty if they can."""
    return _refused(network, check_equivalence)


def no_decomposition(network: Network) -> str:
    """Why stations cannot be isolated; empty if they can."""
    return _refused(network, check_exponential, lambda core, _: check_decomposition(core))


def _refused(network: Network, *checks: Callable[[BlockingNetwork, list[Station]], None]) -> str:
    """The first refusal by some checks of the part with blocking; empty if there is none."""
    core, stations = core_of(_blocking(network), network.kinds)
    if is_empty(core):
        return ""
    try:
        for check in checks:
            check(core, stations)
    except GraphError as refusal:
        return str(refusal)
    return ""


def chain_error(network: Network) -> Error:
    """The error of a chain: exact, except for delays, which it takes as exponential."""
    if network.blocking is None:
        return EXACT
    _, stations = core_of(network.blocking, network.kinds)
    if not any(s.can.product_form is ServiceKind.DELAY for s in stations):
        return EXACT
    return Error(*DELAYED[_side(network)], "with scv of 1/4 and 4 at delays", _COMMAND)


def equivalence_error(network: Network) -> Error:
    """The error of flow-equivalent regions: none if they hold all jobs of a closed network."""
    core, _ = core_of(_blocking(network), network.kinds)
    if core.closed and all(window.limit >= core.population for window in core.windows):
        return EXACT
    return Error(*EQUIVALENT[_side(network)], "", _COMMAND)


def decomposition_error(network: Network) -> Error:
    """The error of isolated stations."""
    return Error(*DECOMPOSED[_side(network)], "", _COMMAND)


def _side(network: Network) -> str:
    return CLOSED if network.has_closed else OPEN


def _blocking(network: Network) -> BlockingNetwork:
    if network.blocking is None:
        raise GraphError("nothing blocks in this network; use method auto")
    return network.blocking


def _solved(network: Network, method: BlockingMethod) -> Result:
    return result_of(solve_blocking(_blocking(network), network.kinds, method))


def result_of(solution: BlockingSolution) -> Result:
    """The result at one operating point, in the form of a network with C = 1."""
    stay = solution.station_response_time
    through = np.asarray(solution.station_throughput)
    residence = stay * through / solution.throughput if solution.throughput else 0 * stay
    stations = (solution.utilisation, solution.queue_length, residence, stay, through)
    used, queue, inside, time, flow = (np.asarray(each)[:, None] for each in stations)
    result = one_class_result(
        (),
        solution.method,
        solution.approximation,
        (np.array([solution.throughput]), np.array([solution.response_time])),
        (used, queue, inside, time, flow),
    )
    return replace(result, blocking=solution)
