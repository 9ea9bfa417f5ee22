"""Closed laws of response times in 50 digits, and whole Markov chains of a job in a loop."""

from itertools import product

import mpmath as mp
import numpy as np
from scipy.sparse import coo_array, csr_array

mp.mp.dps = 50


def crommelin(rate, time, at):
    """Chance of more than `at` in M/D/1: Crommelin's alternating sum, in digits that bear it."""
    rate, time, wait = mp.mpf(rate), mp.mpf(time), mp.mpf(at) - mp.mpf(time)
    if wait < 0:
        return 1.0
    terms = (
        (rate * (k * time - wait)) ** k / mp.factorial(k) * mp.exp(-rate * (k * time - wait))
        for k in range(int(mp.floor(wait / time)) + 1)
    )
    return float(1 - (1 - rate * time) * mp.fsum(terms))


def hypoexponential(means, at):
    """Chance that exponential times, all of different means, take more than `at` together."""
    rates = [1 / mp.mpf(mean) for mean in means]
    weights = [mp.fprod(b / (b - a) for b in rates if b != a) for a in rates]
    return float(mp.fsum(w * mp.exp(-a * mp.mpf(at)) for w, a in zip(weights, rates, strict=True)))


def pooled(servers, load, at):
    """Chance of more than `at` in M/M/m with service times of mean 1."""
    load, at = mp.mpf(load), mp.mpf(at)
    powers = [load**k / mp.factorial(k) for k in range(servers + 1)]
    last = powers[-1] * servers / (servers - load)
    waits, rest = last / (mp.fsum(powers[:-1]) + last), servers - 1 - load
    return float(mp.exp(-at) * (1 + waits * (1 - mp.exp(-rest * at)) / rest))


def loop_exceedance(times, onward, rate, room, ats):
    """Chances that a job takes more than times in two single servers, jobs entering at the first.

    The chain holds where the job is, how many are before and behind it there, and how many at
    the other server; beyond `room` of each, arrivals are turned away.
    """
    states = {s: k for k, s in enumerate(product((0, 1), *[range(room)] * 3))}
    moves = {}
    for (here, before, behind, other), k in states.items():
        for state, speed in _moves(times, onward, rate, here, (before, behind, other)):
            if state in states:
                moves[k, states[state]] = moves.get((k, states[state]), 0.0) + speed
            elif state is None:
                moves[k, -1] = moves.get((k, -1), 0.0) + speed
    return _survival(states, moves, _at_arrival(times, onward, rate, states), ats)


def _moves(times, onward, rate, here, counts):
    before, behind, other = counts
    out = [1 - sum(row) for row in onward]
    there, mu = 1 - here, [1 / t for t in times]
    yield (here, before, behind + (here == 0), other + (here == 1)), rate
    if before:
        yield (here, before - 1, behind, other), mu[here] * out[here]
        yield (here, before - 1, behind + 1, other), mu[here] * onward[here][here]
        yield (here, before - 1, behind, other + 1), mu[here] * onward[here][there]
    else:
        yield None, mu[here] * out[here]
        yield (here, behind, 0, other), mu[here] * onward[here][here]
        yield (there, other, 0, behind), mu[here] * onward[here][there]
    if other:
        yield (here, before, behind, other - 1), mu[there] * out[there]
        yield (here, before, behind + 1, other - 1), mu[there] * onward[there][here]


def _at_arrival(times, onward, rate, states):
    """What an arrival finds: queues of geometric length, it being the last at the first."""
    visits = np.linalg.solve(np.eye(2) - np.array(onward).T, [1.0, 0.0])
    busy = rate * visits * np.array(times)
    start = np.zeros(len(states))
    for (here, before, behind, other), k in states.items():
        if here == 0 and behind == 0:
            start[k] = (1 - busy[0]) * busy[0] ** before * (1 - busy[1]) * busy[1] ** other
    return start / start.sum()


def _survival(states, moves, inside, ats):
    """Step by step through the chain, steps being Poisson."""
    places, speeds = np.array(list(moves)), np.array(list(moves.values()))
    out = np.bincount(places[:, 0], speeds, len(states))
    pace, stay = out.max(), places[:, 1] >= 0
    edges = (speeds[stay], (places[stay, 1], places[stay, 0]))
    step = csr_array(coo_array(edges, (len(states),) * 2) / pace)
    left = 1 - out / pace
    steps = int(pace * max(ats) + 8 * (pace * max(ats)) ** 0.5 + 20)
    present = []
    for _ in range(steps):
        present.append(inside.sum())
        inside = step @ inside + left * inside
    numbers = np.arange(steps)
    logs = [log_poisson(numbers, pace * at) for at in ats]
    return [float(np.exp(log) @ present) for log in logs]


def log_poisson(numbers, mean):
    """Logarithms of Poisson chances."""
    sums = np.append(0.0, np.cumsum(np.log(np.arange(1, len(numbers)))))
    return numbers * np.log(mean) - mean - sums
