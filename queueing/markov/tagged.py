"""One job of a circuit, followed through the whole chain from where it comes in until it goes out.

Who comes in finds the others as they are at that moment: the chain of all says how often. From
there the job and the others go on, state by state, until the job goes out.

Source: Melamed and Yadin, "Randomization procedures in the computation of cumulative-time
distributions over discrete state Markov processes", Operations Research 32(4), 1984.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array

from headway.kinds import FloatArray
from headway.queueing.markov.circuits import Circuit
from headway.queueing.markov.space import Space, explore, stationary

_START, _END = "start", "end"
_SPARE = 1.05  # of the pace, so that no step is certain to move


@dataclass(frozen=True)
class TaggedCircuit:
    """A circuit, and the same with a followed job.

    Parameters
    ----------
    whole, rates
        All jobs, and their rates at one operating point, as of
        `headway.queueing.markov.circuits.solve_circuit`, shape (rates,).
    tagged, tagged_rates
        The others beside the job. It is of a second set of classes, after those of the others,
        and where it goes out it thinks for ever. Stations of its own come after those of all.
    """

    whole: Circuit
    rates: FloatArray
    tagged: Circuit
    tagged_rates: FloatArray

    def arrivals(self, state: Any) -> Iterator[tuple[int, float, Any]]:
        """Jobs that come in where all are in a state: their class, how often, and what follows."""
        places, away = state
        classes, own = len(away), len(self.tagged.orders) - len(places)
        nobody, empty = (0,) * classes, ((),) * own
        for c, jobs in enumerate(away):
            if jobs:
                rate = jobs * float(self.rates[len(places) * classes + c])
                left = (*away[:c], jobs - 1, *away[c + 1 :], *nobody)
                for after, chance in self.tagged.entered((*places, *empty), classes + c):
                    yield c, rate * chance, (after, left)
        for rest, c, rate in self._straight_back(places):
            for after, chance in self.tagged.entered((*rest, *empty), classes + c):
                yield c, rate * chance, (after, (*away, *nobody))

    def alone(self, c: int) -> Iterator[tuple[Any, float]]:
        """States of a job that comes in as a class where nobody else is, with their chances."""
        nobody = (0,) * len(self.tagged.populations)
        for after, chance in self.tagged.entered(((),) * len(self.tagged.orders), c):
            yield (after, nobody), chance

    def _straight_back(self, places: Any) -> Iterator[tuple[Any, int, float]]:
        """Jobs that go out and come in again without thinking: the places without them."""
        classes = len(self.whole.populations)
        for k, order in enumerate(self.whole.orders):
            for c, times, own in order.left(places[k]):
                rest, rate = (*places[:k], own, *places[k + 1 :]), self.rates[k * classes + c]
                for chance, target, becomes in self.whole.onward[c][k]:
                    if target is None and not self.whole.thinks[becomes]:
                        yield rest, becomes, float(rate) * times * chance


@dataclass(frozen=True)
class Passages:
    """Steps of the followed job.

    Parameters
    ----------
    pace
        Of the steps [1/s].
    moves
        Chances of going on in a step, by state after and before.
    out
        Chance of going out in a step, by state.
    starts
        Chances of the states in which jobs come in as each class, shape (classes, states); who
        comes in as a class that nobody else does is alone.
    """

    pace: float
    moves: csr_array
    out: FloatArray
    starts: FloatArray


def passages(circuit: TaggedCircuit, most: int) -> Passages | None:
    """Follow a job of each class.

    Parameters
    ----------
    circuit
        At one operating point.
    most
        States that are not too many.

    Returns
    -------
    None where there are more.
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
        if not any(states.values()):  # nobody comes: a job that would
            begun[c] = dict(circuit.alone(len(begun) + c))
    inside = _inside(circuit, begun, most)
    return None if inside is None else _passages(inside, circuit.tagged_rates, begun)


def _inside(circuit: TaggedCircuit, begun: list[dict[Any, float]], most: int) -> Space | None:
    """States of the job between coming in and going out."""
    classes = len(begun)

    def moves(state: Any) -> Iterator[tuple[Any, int, float]]:
        if state == _START:
            yield from ((after, 0, 1.0) for each in begun for after in each)
        elif state != _END:
            for after, which, times in circuit.tagged.moves(state):
                yield _END if any(after[1][classes:]) else after, which, times

    return explore(_START, moves, most)


def _passages(space: Space, rates: FloatArray, begun: list[dict[Any, float]]) -> Passages:
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
