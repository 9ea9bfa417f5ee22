"""Distribution of the number of jobs at a station of a network with blocking: exact, by its chain.

A blocked job is counted at the station that served it; a job outside a region is not counted.

Source: Neuts, *Matrix-Geometric Solutions in Stochastic Models*, 1981, for the queue without limit.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from headway.errors import GraphError
from headway.kinds import FloatArray
from headway.queueing.blocking.answers import StateSums, flows_by_state
from headway.queueing.blocking.chain import Stationary, stationary
from headway.queueing.blocking.idle import Visited
from headway.queueing.blocking.moves import Rates, rates_of
from headway.queueing.blocking.segments import core_network, segments_of
from headway.queueing.network.blocking import BlockingNetwork
from headway.queueing.numbers.laws import MOST_NUMBERS, NumberLaw
from headway.queueing.stations.base import Station

# Probabilities are listed down to _NOTHING, or until they decrease geometrically (relative to 1
# minus the ratio). Both only affect digits.
_NOTHING, _STEADY = 1e-18, 1e-14


def blocking_numbers(
    network: BlockingNetwork, stations: Sequence[Station], place: int
) -> NumberLaw:
    """The number of jobs at a station of a network with blocking, from its chain.

    Parameters
    ----------
    network, stations
        As for `headway.queueing.blocking.solve_blocking.solve_blocking`.
    place
        The index of the station.

    Raises
    ------
    GraphError
        For a station behind blocking ones, and for chains that are too large.
    Saturated
        For an open network in overload.

    Examples
    --------
    >>> from headway.queueing import MM1
    >>> from headway.queueing.network.blocking import Room, Window
    >>> none, first = np.zeros((1, 1)), np.ones(1)
    >>> one = BlockingNetwork((Room(1.0),), none, first, 0.5, windows=(Window((0,), 2),))
    >>> blocking_numbers(one, [MM1(1.0)], 0).head.round(12).tolist()  # the others are outside
    [0.5, 0.25, 0.25]
    """
    part = Visited.of(network)
    if place not in part.places:
        return NumberLaw(np.ones(1))
    network, stations = part.network, part.pick(stations)
    place = part.places.index(place)
    if network.closed:
        return chain_numbers(network, place)
    if not network.arrival_rate:
        return NumberLaw(np.ones(1))
    segments = segments_of(network)
    if place in segments.upstream:
        return stations[place].number_law(float(network.arrival_rate * network.visits[place]))
    if place in segments.downstream or not all(
        stations[k].can.product_form for k in segments.upstream
    ):
        msg = "arrivals there are not Poisson, so the number of jobs has no known distribution"
        raise GraphError(msg)
    core = core_network(network, segments)
    if not core.arrival_rate:
        return NumberLaw(np.ones(1))
    return chain_numbers(core, int(np.flatnonzero(segments.core == place)[0]))


def chain_numbers(network: BlockingNetwork, place: int) -> NumberLaw:
    """The number of jobs at a station of a network that is solved as one chain.

    The probability to wait is known if no job is blocked after service; otherwise it is NaN.

    Examples
    --------
    >>> from headway.queueing.network.blocking import Blocking, Room
    >>> full = Room(1.0, places=1, blocking=Blocking.AFTER_SERVICE)
    >>> ring = np.array([[0.0, 1.0], [0.0, 0.0]])
    >>> two = BlockingNetwork((Room(1.0), full), ring, np.array([1.0, 0.0]), population=2)
    >>> chain_numbers(two, 0).head.round(12).tolist()
    [0.0, 0.666666666667, 0.333333333333]
    """
    rates = rates_of(network)
    solution = stationary(rates)
    states, servers = StateSums.of(rates.shape, solution), network.rooms[place].servers
    count = states.count[:, place].astype(int)
    ratio, behind = 0.0, np.where(count > servers, 1.0, 0.0)
    if solution.level is not None and solution.level.station == place:
        head, ratio = _unlimited(solution, count)
        # of the longest level listed, including all longer ones
        whole = solution.chance[_last_of(solution)]
        share = np.where(whole > 0, _level(solution) / np.where(whole > 0, whole, 1.0), 1.0)
        behind[_last_of(solution)] = 1 - share
    else:
        head = np.bincount(count, solution.chance).astype(float)
    waits = (
        np.nan
        if any(r.holds_up for r in network.rooms)
        else _wait_probability(rates, states, place, behind)
    )
    return NumberLaw(np.asarray(head, float), ratio, waits)


def _wait_probability(rates: Rates, states: StateSums, place: int, behind: FloatArray) -> float:
    """Probability that an arrival waits: the share of departures that leave all servers busy.

    In each state of the rest of the network, as many jobs find n as leave n behind.
    """
    made = [flow for move, flow in flows_by_state(rates, states).items() if move.source == place]
    flow = np.sum(made, axis=0)
    return float(flow @ behind / flow.sum()) if np.any(flow) else np.nan


def _level(stationary: Stationary) -> FloatArray:
    """Probabilities of the longest level listed, without longer ones: pi sum(R**k) (I - R) = pi."""
    ratio = _rate_matrix(stationary)
    return np.asarray(stationary.chance[_last_of(stationary)] @ (np.eye(len(ratio)) - ratio))


def _rate_matrix(stationary: Stationary) -> FloatArray:
    assert stationary.ratio is not None  # noqa: S101 - every chain with levels has it
    return stationary.ratio


def _last_of(stationary: Stationary) -> NDArray[np.intp]:
    assert stationary.last is not None  # noqa: S101 - every chain with levels has it
    return stationary.last


def _unlimited(stationary: Stationary, count: NDArray[np.intp]) -> tuple[FloatArray, float]:
    """Probabilities of the unlimited queue, and the ratio of successive ones beyond them."""
    assert stationary.level is not None  # noqa: S101 - called for such chains only
    short = np.bincount(count, stationary.chance)[: stationary.level.steady]
    phases, ratio, before = _level(stationary), _rate_matrix(stationary), 0.0
    chances = [float(phases.sum())]
    for _ in range(MOST_NUMBERS):
        phases = phases @ ratio
        chances.append(float(phases.sum()))
        fall = chances[-1] / chances[-2] if chances[-2] > 0 else 0.0
        if chances[-1] <= _NOTHING or abs(fall - before) <= _STEADY * (1 - fall):
            break
        before = fall
    return np.concatenate([short, chances]), max(fall, 0.0)
