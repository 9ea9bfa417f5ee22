"""A tagged job of a circuit, through the whole Markov chain from its arrival to its departure.

The chain of all jobs gives the distribution of states at arrivals. From there the chain of the
tagged job and the others is absorbed when the tagged job leaves.

Source: Melamed and Yadin, "Randomization procedures in the computation of cumulative-time
distributions over discrete state Markov processes", Operations Research 32(4), 1984.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array

from headway.kinds import FloatArray
from headway.queueing.markov.circuits import Circuit
from headway.queueing.markov.space import StateSpace, explore, stationary
from headway.records import dataclass

_START, _END = "start", "end"
_SPARE = 1.05  # uniformisation rate over the largest total rate: above 1 keeps steps aperiodic


@dataclass(frozen=True)
class TaggedCircuit:
    """A circuit, and the same circuit with a tagged job.

    Parameters
    ----------
    whole, rates
        All jobs, and their rates at one operating point, as for
        `headway.queueing.markov.circuits.solve_circuit`, shape (rates,).
    tagged, tagged_rates
        The others and the tagged job, which has a second set of classes after those of the others,
        and thinks for ever once it has left. Stations that only it visits come after all others.
    """

    whole: Circuit
    rates: FloatArray
    tagged: Circuit
    tagged_rates: FloatArray

    def arrivals(self, state: Any) -> Iterator[tuple[int, float, Any]]:
        """Arrivals in a state of all jobs: class, rate [1/s], and next state."""
        places, away = state
        classes, own = len(away), len(self.tagged.orders) - len(places)
        nobody, empty = (0,) * classes, ((),) * own
        for c, jobs in enumerate(away):
            if jobs:
                rate = jobs * float(self.rates[len(places) * classes + c])
                left = (*away[:c], jobs - 1, *away[c + 1 :], *nobody)
                for after, chance in self.tagged.entered((*places, *empty), classes + c):
                    yield c, rate * chance, (after, left)
        for rest, c, rate in self._immediate_returns(places):
            for after, chance in self.tagged.entered((*rest, *empty), classes + c):
                yield c, rate * chance, (after, (*away, *nobody))

    def alone(self, c: int) -> Iterator[tuple[Any, float]]:
        """States after a job of a class arrives in an empty network, with their probabilities."""
        nobody = (0,) * len(self.tagged.populations)
        for after, chance in self.tagged.entered(((),) * len(self.tagged.orders), c):
            yield (after, nobody), chance

    def _immediate_returns(self, places: Any) -> Iterator[tuple[Any, int, float]]:
        """Jobs that leave and arrive again at once: the stations without them, class and rate."""
        classes = len(self.whole.populations)
        for k, order in enumerate(self.whole.orders):
            for c, times, own in order.left(places[k]):
                rest, rate = (*places[:k], own, *places[k + 1 :]), self.rates[k * classes + c]
                for chance, target, becomes in self.whole.onward[c][k]:
                    if target is None and not self.whole.thinks[becomes]:
                        yield rest, becomes, float(rate) * times * chance


@dataclass(frozen=True)
class Passages:
    """The absorbing chain of the tagged job, uniformised.

    Parameters
    ----------
    pace
        Rate of uniformised steps [1/s].
    moves
        Transition probabilities of a step, by state after (rows) and before.
    out
        Probability of leaving in a step, by state.
    starts
        Distribution of states at arrivals of each class, shape (classes, states); for a class
        without arrivals, that of a job alone.
    """

    pace: float
    moves: csr_array
    out: FloatArray
    starts: FloatArray


def passages(circuit: TaggedCircuit, most: int) -> Passages | None:
    """Follow a tagged job of each class.

    Parameters
    ----------
    circuit
        The circuit at one operating point.
    most
        The largest number of states to accept.

    Returns
    -------
    None if there are more states.
    """
    space = explore(circuit.whole.start, circuit.whole.moves, most)
    if space is None:
        return None
    shares = stationary(space, circuit.rates)
    begun: list[dict[Any, float]] = [defaultdict(float) for _ in circuit.whole.populations]
    for state, share in zip(space.states, shares.tolist(), strict=True):
        for c, rate, after in circuit.arrivals(state):
            begun[c][after] += share * rate
    for c, states in enumerate(begun):
        if not any(states.values()):  # without arrivals, a job alone
            begun[c] = dict(circuit.alone(len(begun) + c))
    inside = _explored(circuit, begun, most)
    return None if inside is None else _uniformised(inside, circuit.tagged_rates, begun)


def _explored(
    circuit: TaggedCircuit, begun: list[dict[Any, float]], most: int
) -> StateSpace | None:
    """States of the chain between arrival and departure of the tagged job."""
    classes = len(begun)

    def moves(state: Any) -> Iterator[tuple[Any, int, float]]:
        if state == _START:
            yield from ((after, 0, 1.0) for each in begun for after in each)
        elif state != _END:
            for after, which, times in circuit.tagged.moves(state):
                yield _END if any(after[1][classes:]) else after, which, times

    return explore(_START, moves, most)


def _uniformised(space: StateSpace, rates: FloatArray, begun: list[dict[Any, float]]) -> Passages:
    number = {state: row for row, state in enumerate(space.states)}
    size, end = len(number), number.get(_END, -1)
    flow = rates[space.rate] * space.times
    inside, gone = space.source != number[_START], space.target == end
    out = np.bincount(space.source[gone], flow[gone], size)
    some = inside & ~gone & (space.source != space.target)
    source, target, rate = space.source[some], space.target[some], flow[some]
    leaving = np.bincount(source, rate, size) + out
    pace = _SPARE * float(leaving.max())
    every = np.arange(size)
    ends = np.append(target, every), np.append(source, every)
    chances = np.append(rate, pace - leaving) / pace
    moves = csr_array(coo_array((chances, ends), (size, size)))
    starts = np.zeros((len(begun), size))
    for c, each in enumerate(begun):
        total = sum(each.values())
        for state, much in each.items():
            starts[c, number[state]] = much / total
    return Passages(pace, moves, out / pace, starts)
