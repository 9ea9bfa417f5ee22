"""Networks with blocking and finite-capacity regions: by their chain, or approximately."""

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from math import inf

import numpy as np
from numpy.typing import NDArray

from headway.errors import GraphError, Saturated
from headway.kinds import FloatArray
from headway.queueing.blocking import decomposition, window
from headway.queueing.blocking.answers import BlockingSolution, WindowAnswer, solve_chain
from headway.queueing.blocking.chain import check_chain, saturation, solvable
from headway.queueing.blocking.idle import EMPTY, Visited
from headway.queueing.blocking.measured import delayed_note, equivalent_note, poisson_note
from headway.queueing.blocking.segments import Segments, core_network, outer_rates, segments_of
from headway.queueing.closed.solve_closed import solve_closed
from headway.queueing.flows.traffic import reached
from headway.queueing.network.blocking import Blocking, BlockingNetwork, Room
from headway.queueing.stations.abilities import ServiceKind
from headway.queueing.stations.base import Station
from headway.queueing.stations.speeds.dependent import LoadDependent

SWIFT = 4_000
"""Most states of a chain solved without being asked for: a fraction of a second. Speed only."""

_CROWD = 1e5  # times the fastest service: the extrapolation errs by its inverse square, 1e-10
# [1/s], for jobs that return at once: so far above any rate that digits do not change
_AT_ONCE = 1e30
# The speed of an open region is listed up to this number of jobs; a region with a larger limit is
# refused if its last listed place is occupied with more than this probability.
_WIDE, _NEVER = 2_000, 1e-12


class BlockingMethod(StrEnum):
    """How a network with blocking is solved; ``auto`` takes the chain if it is small."""

    AUTO = "auto"
    CHAIN = "chain"
    EQUIVALENCE = "flow equivalence"
    DECOMPOSITION = "decomposition"


def room_of(station: Station, blocking: Blocking = Blocking.LOST) -> Room:
    """A station as a network with blocking sees it.

    Examples
    --------
    >>> from headway.queueing import MM1K
    >>> room_of(MM1K(0.1, 4), Blocking.AFTER_SERVICE).places
    4.0
    """
    servers = inf if station.can.product_form is ServiceKind.DELAY else station.plain_count
    places = float(np.asarray(getattr(station, "places", inf), float))
    return Room(station.mean_service, servers, places, blocking)


def solve_blocking(
    network: BlockingNetwork,
    stations: Sequence[Station],
    way: BlockingMethod = BlockingMethod.AUTO,
) -> BlockingSolution:
    """Solve a network with blocking and finite-capacity regions.

    Parameters
    ----------
    network
        Its rooms as made by `room_of`.
    stations
        Its stations; kinds without a chain must be outside the core, or have a product form.
    way
        The method; networks that it cannot solve are refused.

    Raises
    ------
    GraphError
        For a chain that is too large if no approximation applies, with the reason.
    Saturated
        For an open network in overload.

    Examples
    --------
    >>> from headway.queueing import MM1, Delay
    >>> from headway.queueing.network.blocking import Window
    >>> stations = [Delay(0.001), MM1(0.002)]
    >>> rooms = tuple(room_of(station) for station in stations)
    >>> way, first = np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([1.0, 0.0])
    >>> one = BlockingNetwork(rooms, way, first, arrival_rate=250.0, windows=(Window((1,), 1),))
    >>> solution = solve_blocking(one, stations)  # M/M/1, whose queue is outside the region
    >>> round(solution.response_time, 12), solution.method
    (0.005, 'chain')
    """
    part = Visited.of(network)
    return part.extended(network, _solved(part.network, part.pick(stations), way))


def core_of(
    network: BlockingNetwork, stations: Sequence[Station]
) -> tuple[BlockingNetwork, list[Station]]:
    """The part of a network with blocking: all of a closed one, the core of an open one.

    Parameters
    ----------
    network, stations
        As for `solve_blocking`.
    """
    part = Visited.of(network)
    inner, kinds = part.network, part.pick(stations)
    if not inner.closed and inner.arrival_rate:
        segments = segments_of(inner)
        return core_network(inner, segments), [kinds[k] for k in segments.core]
    return inner, kinds


def is_empty(network: BlockingNetwork) -> bool:
    """Whether no job ever arrives."""
    return not (network.closed or network.arrival_rate)


def has_small_chain(network: BlockingNetwork, stations: Sequence[Station]) -> bool:
    """Whether the chain of a network, or of the core of an open one, is small enough unasked.

    Parameters
    ----------
    network, stations
        As for `solve_blocking`.
    """
    core, kinds = core_of(network, stations)
    return is_empty(core) or _has_chain(core, kinds)


def _solved(
    network: BlockingNetwork, stations: Sequence[Station], method: BlockingMethod
) -> BlockingSolution:
    if network.closed:
        return _one_network(network, stations, method)
    if not network.arrival_rate:
        return _empty(network)
    segments = segments_of(network)
    core = core_network(network, segments)
    inner = [stations[k] for k in segments.core]
    solution = _one_network(core, inner, method) if core.arrival_rate else _empty(core)
    return _with_outer_stations(network, stations, segments, solution)


def _one_network(
    network: BlockingNetwork, stations: Sequence[Station], method: BlockingMethod
) -> BlockingSolution:
    """Solve a closed network, or the core of an open one, by one method; refuse others."""
    chosen = method
    if method is BlockingMethod.AUTO and _has_chain(network, stations):
        chosen = BlockingMethod.CHAIN
    elif method is BlockingMethod.AUTO:
        chosen = BlockingMethod.EQUIVALENCE if network.windows else BlockingMethod.DECOMPOSITION
    if chosen is BlockingMethod.EQUIVALENCE:
        check_equivalence(network, stations)
        return (_closed_regions if network.closed else _open_regions)(network, stations)
    check_exponential(network, stations)
    if chosen is BlockingMethod.DECOMPOSITION:
        return decomposition.solve_decomposed(network)
    check_chain(network)
    delays = any(station.can.product_form is ServiceKind.DELAY for station in stations)
    note = delayed_note(closed=network.closed) if delays else ""
    return replace(solve_chain(network), approximation=note)


def check_exponential(network: BlockingNetwork, stations: Sequence[Station]) -> None:
    """Refuse a station without a Markov chain."""
    for name, station in zip(network.called, stations, strict=True):
        if not station.can.chained:
            msg = f"{name}: {station.label} has no Markov chain"
            msg = f"{msg}; networks that block support exponential service only"
            raise GraphError(msg)


def check_equivalence(network: BlockingNetwork, stations: Sequence[Station]) -> None:
    """Refuse limited stations beside regions, and open routes without a product form."""
    full = [n for n, room in zip(network.called, network.rooms, strict=True) if room.finite]
    if full:
        msg = f"{full[0]} has a capacity, there is a region too, and the Markov chain is too large"
        msg = f"{msg}; use fewer jobs or less capacity"
        raise GraphError(msg)
    for name, station in zip(network.called, stations, strict=True):
        if not (network.closed or station.can.product_form):
            msg = f"{name}: {station.label} has no product form, and jobs go from it to"
            msg = f"{msg} a region that they have been in; use another kind"
            raise GraphError(msg)


def blocking_saturation(network: BlockingNetwork, stations: Sequence[Station]) -> float:
    """Throughput above which some queue of a network grows without limit [1/s].

    If no queue of a closed network can grow, it is the throughput while a job always waits to
    enter.

    Parameters
    ----------
    network, stations
        As for `solve_blocking`; open with any arrival rate above 0, or closed.

    Examples
    --------
    >>> from headway.queueing import MM1, MM1K
    >>> stations = [MM1(1.0), MM1K(1.0, 1)]
    >>> rooms = (room_of(stations[0]), room_of(stations[1], Blocking.AFTER_SERVICE))
    >>> way, first = np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([1.0, 0.0])
    >>> round(blocking_saturation(BlockingNetwork(rooms, way, first, 1.0), stations), 12)
    0.666666666667
    """
    part = Visited.of(replace(network, population=0, think_time=0.0, arrival_rate=1.0))
    opened, stations = part.network, part.pick(stations)
    segments = segments_of(opened)
    core = core_network(opened, segments)
    inner = [stations[k] for k in segments.core]
    visited = [k for k in (*segments.upstream, *segments.downstream) if opened.visits[k] > 0]
    most = [float(stations[k].capacity) / opened.visits[k] for k in visited]
    if not core.arrival_rate:
        return min(most, default=inf)
    own = _core_saturation(core, inner)
    if network.closed and own == inf and _has_chain(core, inner):
        own = _crowded(core)
    return min([own / core.arrival_rate, *most], default=inf)


def _core_saturation(core: BlockingNetwork, stations: Sequence[Station]) -> float:
    """Saturation of the stations that block: by their chain, their regions, or station by station.

    That of regions is the smallest limit of a region or of a station apart from them.
    """
    if _has_chain(core, stations):
        return saturation(core)
    if core.windows:
        apart = [k for k, v in enumerate(core.visits) if v > 0 and core.window_of(k) is None]
        alone = (float(stations[k].capacity) / core.visits[k] for k in apart)
        return float(min([*window_limits(core, stations), *alone]) * core.arrival_rate)
    return decomposition.decomposed_saturation(core)


def _crowded(core: BlockingNetwork) -> float:
    """Throughput while a job always waits to enter [1/s].

    For an arrival rate a that is large beside services, X(a) = X - c / a + O(a**-2), so
    X = 2 X(2 a) - X(a).
    """
    fast = _CROWD * max(1 / room.service_time for room in core.rooms)
    once, twice = (solve_chain(replace(core, arrival_rate=k * fast)).throughput for k in (1, 2))
    return 2 * twice - once


def window_limits(network: BlockingNetwork, stations: Sequence[Station]) -> list[float]:
    """Throughput of the system at which each region is always full, as if the rest were faster.

    Examples
    --------
    >>> from headway.queueing import MM1
    >>> from headway.queueing.network.blocking import Window
    >>> stations = [MM1(0.1)]
    >>> none, first = np.zeros((1, 1)), np.ones(1)
    >>> one = BlockingNetwork((room_of(stations[0]),), none, first, 1.0, windows=(Window((0,), 3),))
    >>> [round(limit, 12) for limit in window_limits(one, stations)]
    [10.0]
    """
    regions = _regions(network, stations)
    return [float(region.rates[-1]) / entries if entries else inf for region, entries in regions]


def _has_chain(network: BlockingNetwork, stations: Sequence[Station]) -> bool:
    return all(station.can.chained for station in stations) and solvable(network, SWIFT)


def _regions(
    network: BlockingNetwork, stations: Sequence[Station]
) -> list[tuple[window.Equivalent, float]]:
    """Each region as a flow-equivalent server, with a job's visits to it."""
    regions = []
    visits = network.visits
    most = network.population if network.closed else _WIDE
    for region in network.windows:
        members = list(region.stations)
        entries = network.entries(region)
        each = visits[members] / entries if entries else np.ones(len(members))  # no jobs come
        inside = [stations[k] for k in members]
        server = window.flow_equivalent(inside, each.tolist(), min(int(region.limit), most))
        regions.append((server, entries))
    return regions


def _open_regions(network: BlockingNetwork, stations: Sequence[Station]) -> BlockingSolution:
    """Solve an open network with regions as load-dependent servers with Poisson arrivals."""
    rates = network.arrival_rate * network.visits
    queue, busy, windows = np.zeros(len(stations)), np.zeros(len(stations)), []
    for (region, entries), place in zip(_regions(network, stations), network.windows, strict=True):
        state = window.open_window(region, entries * network.arrival_rate)
        if place.limit > _WIDE and state.answer.full > _NEVER:
            msg = (
                f"regions of more than {_WIDE:,} places cannot be solved when all places are "
                "taken; reduce the load or the limit"
            )
            raise GraphError(msg)
        queue[list(place.stations)], busy[list(place.stations)] = state.queues, state.working
        windows.append(state.answer)
    for k, station in enumerate(stations):
        if network.window_of(k) is None:
            queue[k] = float(station.queue_length(float(rates[k])))
            busy[k] = float(station.utilisation(float(rates[k])))
    return _completed(network, rates, (queue, busy), tuple(windows))


def _completed(
    network: BlockingNetwork,
    rates: FloatArray,
    means: tuple[FloatArray, FloatArray],
    windows: tuple[WindowAnswer, ...],
) -> BlockingSolution:
    """Complete a solution from throughputs, mean queue lengths and utilisations."""
    queue, busy = means
    present = queue.sum() + sum(w.queue_length for w in windows)
    through = float(rates[0] / network.visits[0]) if network.closed else network.arrival_rate
    time = network.population / through - network.think_time if network.closed else 0.0
    return BlockingSolution(
        throughput=through,
        response_time=time if network.closed else float(present / through),
        station_throughput=rates,
        utilisation=busy,
        blocked=np.zeros(len(rates)),
        queue_length=queue,
        windows=windows,
        method="flow equivalence",
        approximation=equivalent_note(closed=network.closed),
    )


def _closed_regions(network: BlockingNetwork, stations: Sequence[Station]) -> BlockingSolution:
    """Solve a closed network with regions as load-dependent servers.

    For a region, the rest of the network is a single server too, with the throughput of the rest
    for as many jobs as are neither in the region nor waiting for it (Chandy, Herzog and Woo).
    """
    regions = _regions(network, stations)
    visits, many = network.visits, network.population
    apart = [k for k in range(len(stations)) if network.window_of(k) is None]
    servers = [LoadDependent(tuple(region.rates.tolist())) for region, _ in regions]
    entries = [each for _, each in regions]
    queue, busy, windows, rate = np.zeros(len(stations)), np.zeros(len(stations)), [], 0.0
    for place, (region, each) in enumerate(regions):
        others = [stations[k] for k in apart] + servers[:place] + servers[place + 1 :]
        ways = [*visits[apart].tolist(), *entries[:place], *entries[place + 1 :]]
        numbers = np.arange(1.0, many + 1)
        if others:
            rest = solve_closed(others, ways, numbers, network.think_time)
            coming = np.asarray(rest.throughput, float) * each
        elif network.think_time:
            coming = numbers / network.think_time * each
        else:
            coming = np.full(many, _AT_ONCE) * each
        state = window.closed_window(region, coming[::-1])
        inside = list(network.windows[place].stations)
        queue[inside], busy[inside] = state.queues, state.working
        windows.append(state.answer)
        rate = state.answer.throughput / each
    if apart:
        whole = solve_closed(
            [*(stations[k] for k in apart), *servers],
            [*visits[apart].tolist(), *entries],
            many,
            network.think_time,
        )
        queue[apart] = np.asarray(whole.queue_length)[: len(apart)]
        busy[apart] = np.asarray(whole.utilisation)[: len(apart)]
    solution = _completed(network, rate * visits, (queue, busy), tuple(windows))
    can_block = any(w.limit < many for w in network.windows)
    return solution if can_block else replace(solution, approximation="")


def _with_outer_stations(
    network: BlockingNetwork,
    stations: Sequence[Station],
    segments: Segments,
    solution: BlockingSolution,
) -> BlockingSolution:
    """Add the stations upstream and downstream of the core, at their arrival rates."""
    outer = [*segments.upstream, *segments.downstream]
    if not outer:
        return solution
    rates = outer_rates(network, segments, solution.station_throughput)
    queue, busy, blocked, none = (np.zeros(len(stations)) for _ in range(4))
    known = solution.call_blocking
    none[segments.core] = np.nan if known is None else known
    queue[segments.core] = solution.queue_length
    busy[segments.core], blocked[segments.core] = solution.utilisation, solution.blocked
    for k in outer:
        queue[k] = float(stations[k].queue_length(float(rates[k])))
        busy[k] = float(stations[k].utilisation(float(rates[k])))
    if not np.isfinite(queue).all():
        raise Saturated("more jobs arrive than the network can pass; reduce the arrival rate")
    lost = solution.loss_probability * core_network(network, segments).arrival_rate
    through = network.arrival_rate - lost
    present = float(queue.sum() + sum(w.queue_length for w in solution.windows))
    return replace(
        solution,
        throughput=through,
        response_time=present / through,
        station_throughput=rates,
        utilisation=busy,
        blocked=blocked,
        queue_length=queue,
        call_blocking=None if known is None else none,
        loss_probability=lost / network.arrival_rate,
        approximation="; ".join(
            filter(None, [solution.approximation, _poisson_note(network, stations, segments)])
        ),
    )


def _poisson_note(network: BlockingNetwork, stations: Sequence[Station], segments: Segments) -> str:
    """Name stations with arrivals taken as Poisson though they are not; empty for none."""
    ways = np.asarray(network.onward) > 0
    rough = [k for k in segments.upstream if not stations[k].can.product_form]
    behind = reached(ways, np.asarray(ways[rough].any(axis=0)))
    late = [*(k for k in segments.upstream if behind[k]), *segments.downstream]
    queues = (k for k in late if stations[k].can.product_form is not ServiceKind.DELAY)
    touched = [network.called[k] for k in queues]
    touched += [network.called[k] for k in segments.core if rough]
    return poisson_note(touched) if touched else ""


def _empty(network: BlockingNetwork) -> BlockingSolution:
    """The solution of an open network without arrivals."""
    none: NDArray[np.float64] = np.zeros(len(network.rooms))
    alone = float(network.visits @ [room.service_time for room in network.rooms])
    nobody = (EMPTY,) * len(network.windows)
    return BlockingSolution(0.0, alone, none, none, none, none, windows=nobody)
