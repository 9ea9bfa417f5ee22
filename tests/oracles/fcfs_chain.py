"""Closed networks of queues in order of arrival, solved state by state.

Jobs think, visit the stations one after the other, and think again. A state is the order in
which the classes stand at each station; services are exponential with a mean by class.
"""

from itertools import product

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.linalg import spsolve


def solve_chain(times, servers, populations, think_times):
    """Throughputs of the classes by their whole Markov chain.

    Parameters
    ----------
    times
        Mean service time of each class at each station, by station [s].
    servers
        Servers of each station.
    populations, think_times
        By class; think times above 0 [s].
    """
    start = tuple(() for _ in times)
    number, todo, moves = {start: 0}, [start], []
    while todo:
        state = todo.pop()
        for following, rate in _moves(state, times, servers, populations, think_times):
            if following not in number:
                number[following] = len(number)
                todo.append(following)
            moves.append((number[state], number[following], rate))
    chances = _stationary(len(number), moves)
    rates = np.zeros(len(populations))
    for state, row in number.items():
        for c in range(len(populations)):
            absent = populations[c] - sum(queue.count(c) for queue in state)
            rates[c] += chances[row] * absent / think_times[c]
    return rates


def _moves(state, times, servers, populations, think_times):
    for c, size in enumerate(populations):
        absent = size - sum(queue.count(c) for queue in state)
        if absent:
            yield (state[0] + (c,), *state[1:]), absent / think_times[c]
    for k, place in product(range(len(state)), range(max(servers))):
        if place < min(servers[k], len(state[k])):
            c, queues = state[k][place], list(state)
            queues[k] = queues[k][:place] + queues[k][place + 1 :]
            if k + 1 < len(state):
                queues[k + 1] += (c,)
            yield tuple(queues), 1 / times[k][c]


def _stationary(states, moves):
    """Chances of the states: flows in equal flows out, one of them replaced by the sum."""
    source, target, rate = (np.array(part) for part in zip(*moves, strict=True))
    out = np.bincount(source, rate, states)
    rows = np.concatenate([target, np.arange(states)])
    columns = np.concatenate([source, np.arange(states)])
    values = np.concatenate([rate, -out])
    keep = rows > 0
    rows = np.concatenate([rows[keep], np.zeros(states, int)])
    columns = np.concatenate([columns[keep], np.arange(states)])
    values = np.concatenate([values[keep], np.ones(states)])
    right = np.zeros(states)
    right[0] = 1.0
    return spsolve(csr_array((values, (rows, columns)), (states, states)).tocsc(), right)
