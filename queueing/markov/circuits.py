"""Closed classes of jobs that circulate among stations, as a whole Markov chain."""

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np

from headway.kinds import FloatArray
from headway.queueing.markov.orders import Here, Order
from headway.queueing.markov.space import StateSpace, explore, stationary
from headway.records import dataclass

Onward: TypeAlias = tuple[tuple[float, int | None, int], ...]
"""Next destinations: probability, station (None: leaves to think), and the job's class from then
on.
"""


@dataclass(frozen=True)
class Circuit:
    """Closed classes and their routes between stations.

    Parameters
    ----------
    orders
        How each station serves.
    populations, thinks
        Jobs of each class, and whether they think before they enter again.
    entries
        By class, the probability of entering at each station.
    onward
        Next destinations by class and station.
    """

    orders: tuple[Order, ...]
    populations: tuple[int, ...]
    thinks: tuple[bool, ...]
    entries: tuple[tuple[tuple[int, float], ...], ...]
    onward: tuple[tuple[Onward, ...], ...]

    @property
    def start(self) -> Any:
        """The initial state: all jobs that can think do so, and the others have entered."""
        none = tuple(() for _ in self.orders)
        return next(self._settled(none, self.populations))[0]

    def moves(self, state: Any) -> Iterator[tuple[Any, int, float]]:
        """All transitions, with the index of their rate: class c at station k, or thinking."""
        places, away = state
        classes = len(self.populations)
        for c, jobs in enumerate(away):
            if jobs:
                for after, chance in self.entered(places, c):
                    yield (after, _changed(away, c, -1)), len(places) * classes + c, jobs * chance
        for k, order in enumerate(self.orders):
            for c, times, own in order.left(places[k]):
                rest = (*places[:k], own, *places[k + 1 :])
                for chance, target, becomes in self.onward[c][k]:
                    for after, more in self._went(rest, away, target, becomes):
                        yield after, k * classes + c, times * chance * more

    def _went(
        self, places: Any, away: Any, target: int | None, c: int
    ) -> Iterator[tuple[Any, float]]:
        if target is None:
            yield from self._settled(places, _changed(away, c, 1))
            return
        for after, chance in self._joined(places, target, c):
            yield (after, away), chance

    def _settled(self, places: Any, away: Any) -> Iterator[tuple[Any, float]]:
        """Jobs that do not think enter at once."""
        c = next((c for c, jobs in enumerate(away) if jobs and not self.thinks[c]), None)
        if c is None:
            yield (places, away), 1.0
            return
        for after, chance in self.entered(places, c):
            for state, more in self._settled(after, _changed(away, c, -1)):
                yield state, chance * more

    def entered(self, places: Any, c: int) -> Iterator[tuple[Any, float]]:
        """The stations after a job of a class has entered, with probabilities."""
        for k, share in self.entries[c]:
            for after, chance in self._joined(places, k, c):
                yield after, share * chance

    def _joined(self, places: Any, k: int, c: int) -> Iterator[tuple[Any, float]]:
        for own, chance in self.orders[k].joined(places[k], c):
            yield (*places[:k], own, *places[k + 1 :]), chance


def _changed(counts: Any, c: int, more: int) -> Any:
    return (*counts[:c], counts[c] + more, *counts[c + 1 :])


@dataclass(frozen=True)
class CircuitMeans:
    """Mean jobs and completions by class at stations, shape (classes, stations, points)."""

    queue_length: FloatArray
    throughput: FloatArray


def solve_circuit(circuit: Circuit, rates: FloatArray, most: int) -> CircuitMeans | None:
    """Solve a circuit state by state, at operating points that differ in their rates.

    Parameters
    ----------
    The populations and routes.
        Populations and ways.
    rates
        Service rates, class by class for each station, and last the rates at which thinking ends,
        above 0 for classes with jobs, shape (rates, points) [1/s].
    most
        The largest number of states to accept.

    Returns
    -------
    None if there are more states.

    Examples
    --------
    >>> from headway.queueing.markov.orders import in_order
    >>> two = Circuit((in_order(1),), (2,), (True,), (((0, 1.0),),), ((((1.0, None, 0),),),))
    >>> solve_circuit(two, np.array([[2.0], [1.0]]), 10).throughput.round(12).tolist()
    [[[1.2]]]
    """
    space = explore(circuit.start, circuit.moves, most)
    if space is None:
        return None
    counts = _counts(space, circuit)
    speeds = _speeds(space, circuit)
    shares = np.stack([stationary(space, point) for point in rates.T], axis=1)
    served = rates[: -len(circuit.populations)].reshape(*speeds.shape[:2], -1).swapaxes(0, 1)
    through = np.einsum("kcs,sp->ckp", speeds, shares) * served
    return CircuitMeans(np.einsum("kcs,sp->ckp", counts, shares), through)


def circuit_numbers(
    circuit: Circuit, rates: FloatArray, place: int, most: int
) -> tuple[FloatArray, float] | None:
    """Probabilities of 0, 1, 2... jobs of all classes at a station, and of finding no free server.

    Arrivals find as many jobs as departures leave behind, as each step up is followed by one down.
    So an arrival finds no free server with the probability that a departure leaves as many servers
    busy as before.

    Parameters
    ----------
    circuit, most
        As for `solve_circuit`.
    rates
        Rates at one operating point, shape (rates,) [1/s].
    place
        Index of the station.

    Returns
    -------
    None if there are more states; the probability is NaN without arrivals.

    Examples
    --------
    >>> from headway.queueing.markov.orders import in_order
    >>> two = Circuit((in_order(1),), (2,), (True,), (((0, 1.0),),), ((((1.0, None, 0),),),))
    >>> numbers, waits = circuit_numbers(two, np.array([2.0, 1.0]), 0, 10)
    >>> numbers.round(12).tolist(), round(waits, 12)
    ([0.4, 0.4, 0.2], 0.333333333333)
    """
    space = explore(circuit.start, circuit.moves, most)
    if space is None:
        return None
    shares, order = stationary(space, rates), circuit.orders[place]
    own = rates[place * len(circuit.populations) :]
    here: list[Here] = [state[0][place] for state in space.states]  # type: ignore[index]
    gone = [
        (share * times * own[c], order.busy(after) == order.busy(before))
        for share, before in zip(shares, here, strict=True)
        for c, times, after in order.left(before)
    ]
    flow, busy = np.array(gone).reshape(-1, 2).T
    waits = float(flow @ busy / flow.sum()) if flow.any() else np.nan
    chances = np.bincount([len(order.present(state)) for state in here], shares)
    return np.asarray(chances, np.float64), waits


def _counts(space: StateSpace, circuit: Circuit) -> FloatArray:
    """Jobs of each class at each station in each state, shape (stations, classes, states)."""
    counts = np.zeros((len(circuit.orders), len(circuit.populations), len(space.states)))
    for row, state in enumerate(space.states):
        for k, order in enumerate(circuit.orders):
            for c in order.present(state[0][k]):  # type: ignore[index]
                counts[k, c, row] += 1
    return counts


def _speeds(space: StateSpace, circuit: Circuit) -> FloatArray:
    """Multiple of its service rate at which each class completes, of the same shape."""
    speeds = np.zeros((len(circuit.orders), len(circuit.populations), len(space.states)))
    for row, state in enumerate(space.states):
        for k, order in enumerate(circuit.orders):
            for c, times, _ in order.left(state[0][k]):  # type: ignore[index]
                speeds[k, c, row] += times
    return speeds


def onward_from(chances: FloatArray, leaving: float, becomes: int) -> Onward:
    """Next destinations, from probabilities by station and class, shape (stations, classes)."""
    onward = [
        (float(chances[k, c]), int(k), int(c)) for k, c in zip(*np.nonzero(chances), strict=True)
    ]
    return (*onward, (leaving, None, becomes)) if leaving > 0 else tuple(onward)
