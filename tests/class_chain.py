"""Networks of several classes at stations whose speed depends on the number there, state by state.

A state is how many jobs of each class are at each station, who share its speed in equal parts
(processor sharing); times are exponential with a mean by class. Open classes are cut off at a
number of jobs, from which on what arrives is turned away.
"""

from dataclasses import dataclass
from itertools import product

import numpy as np

from tests.fcfs_chain import stationary


@dataclass(frozen=True)
class Chain:
    """What a network is made of, for its chain.

    Parameters
    ----------
    times
        Mean service time alone by class and station [s].
    speeds
        By station: a function of the number there.
    limits
        Jobs of each class: the population, or where an open class is cut off.
    thinking
        Think time of a closed class, None for an open one.
    rates
        Arrivals of an open class.
    onward
        Chances by station to go to each other; what is left leaves (or thinks).
    """

    times: tuple
    speeds: tuple
    limits: tuple
    thinking: tuple
    rates: tuple
    onward: tuple


def solve(chain):
    """Mean numbers by class and station, throughputs by class, shares of time with anybody."""
    shape = len(chain.limits), len(chain.speeds)
    states = [
        state
        for state in product(*(range(limit + 1) for limit in np.repeat(chain.limits, shape[1])))
        if (np.reshape(state, shape).sum(axis=1) <= chain.limits).all()
    ]
    number = {state: row for row, state in enumerate(states)}
    moves = [
        (row, number[tuple(after.ravel().tolist())], rate)
        for state, row in number.items()
        for after, rate in _moves(chain, np.reshape(state, shape))
    ]
    chances = stationary(len(states), moves)
    there = np.array(states).reshape(-1, *shape)
    mean = np.tensordot(chances, there, 1)
    busy = chances @ (there.sum(axis=1) > 0)
    away = np.array(chain.limits) - there.sum(axis=2)
    come = [
        away[:, c] / chain.thinking[c] if chain.thinking[c] else chain.rates[c] * (away[:, c] > 0)
        for c in range(shape[0])
    ]
    return mean, np.array([chances @ rate for rate in come]), busy


def _moves(chain, state):
    for c, limit in enumerate(chain.limits):
        away = limit - state[c].sum()
        if away:
            rate = away / chain.thinking[c] if chain.thinking[c] else chain.rates[c]
            yield _moved(state, c, None, 0), rate
    for c, k in product(*map(range, state.shape)):
        if not state[c, k]:
            continue
        there = state[:, k].sum()
        rate = chain.speeds[k](there) * state[c, k] / there / chain.times[c][k]
        for target, chance in enumerate(chain.onward[k]):
            if chance and target != k:
                yield _moved(state, c, k, target), rate * chance
        if sum(chain.onward[k]) < 1:
            yield _moved(state, c, k, None), rate * (1 - sum(chain.onward[k]))


def _moved(state, c, source, target):
    state = state.copy()
    if source is not None:
        state[c, source] -= 1
    if target is not None:
        state[c, target] += 1
    return state
