"""One job of a small closed network, followed through the whole Markov chain of it and the others.

The chain holds where the job is, how many departures it waits for there, and how many of the
others are at each station; the rest of them think. Stations serve in order of arrival, or share.
"""

from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.special import gammaln
from scipy.stats import poisson


@dataclass(frozen=True)
class Small:
    """A closed network: mean times, servers, routes of all jobs, N and a think time above 0.

    Where `shares` holds, a station's servers are shared; `open_rates` of other jobs, which visit a
    station once, are not followed here.
    """

    times: tuple[float, ...]
    servers: tuple[int, ...]
    entries: tuple[float, ...]
    onward: tuple[tuple[float, ...], ...]
    population: int
    think_time: float
    shares: tuple[bool, ...] = ()

    @property
    def leaving(self):
        return 1 - np.array(self.onward).sum(axis=1)

    @property
    def visits(self):
        return np.linalg.solve(np.eye(len(self.times)) - np.array(self.onward).T, self.entries)

    def shared(self, k):
        return bool(self.shares) and self.shares[k]


def exceedances(net, ats):
    """Chances that a job takes more than each time."""
    chain = _chain(net)
    return _survival(chain, np.asarray(ats, float))


def percentiles(net, shares):
    """Times within which shares of all jobs are answered."""
    return _percentiles(_steps(_chain(net), 1e-9), shares)


def _percentiles(steps, shares):
    present, pace, mean = steps
    rows = []
    for share in shares:
        low, high = 0.0, -20 * mean * np.log(1 - share)
        for _ in range(60):
            middle = (low + high) / 2
            above = _at(present, pace, middle) > 1 - share
            low, high = (middle, high) if above else (low, middle)
        rows.append(high)
    return rows


def _chain(net):
    many = range(len(net.times))
    fits = [n for n in product(range(net.population), repeat=len(many)) if sum(n) < net.population]
    states = {}
    for k, n in product(many, fits):
        for ahead in range(max(n[k] - net.servers[k] + 1, 0) + 1):
            if ahead == 0 or not net.shared(k):
                states[k, ahead, n] = len(states)
    moves = [
        (states[s], states[t] if t else -1, rate)
        for s in states
        for t, rate in _moves(net, *s)
        if rate > 0
    ]
    start = np.zeros(len(states))
    for n in fits:
        for k in many:
            ahead = 0 if net.shared(k) else max(n[k] - net.servers[k] + 1, 0)
            start[states[k, ahead, n]] += net.entries[k] * _weight(net, n)
    return len(states), moves, start / start.sum()


def _weight(net, n):
    think = net.population - 1 - sum(n)
    weight = 1.0
    for i in range(1, think + 1):
        weight *= net.think_time / i
    for count, visits, time, servers in zip(n, net.visits, net.times, net.servers, strict=True):
        for i in range(1, count + 1):
            weight *= visits * time / min(i, servers)
    return weight


def _moves(net, here, ahead, n):
    think = net.population - 1 - sum(n)
    for k, share in enumerate(net.entries):
        yield (here, ahead, _moved(n, None, k)), think * share / net.think_time
    for k, count in enumerate(n):
        served = min(count + (k == here), net.servers[k]) / net.times[k]
        if k != here:
            yield from _others(net, k, (here, ahead, n), served, 0)
        elif ahead:
            yield from _others(net, k, (here, ahead, n), served, 1)
        elif net.shared(k):
            yield from _others(net, k, (here, 0, n), served * count / (count + 1), 0)
            yield from _own(net, k, n, served / (count + 1))
        else:
            others = min(count, net.servers[k] - 1) / net.times[k]
            yield from _others(net, k, (here, 0, n), others, 0)
            yield from _own(net, k, n, 1 / net.times[k])


def _others(net, k, state, rate, passed):
    here, ahead, n = state
    if rate == 0:
        return
    for target, chance in enumerate(net.onward[k]):
        yield (here, ahead - passed, _moved(n, k, target)), rate * chance
    yield (here, ahead - passed, _moved(n, k, None)), rate * net.leaving[k]


def _own(net, k, n, rate):
    for target, chance in enumerate(net.onward[k]):
        ahead = 0 if net.shared(target) else max(n[target] - net.servers[target] + 1, 0)
        yield (target, ahead, n), rate * chance
    yield None, rate * net.leaving[k]


def _moved(n, source, target):
    return tuple(c - (i == source) + (i == target) for i, c in enumerate(n))


def _steps(chain, rest):
    size, moves, inside = chain
    source, target, rate = (np.array(part) for part in zip(*moves, strict=True))
    out = np.bincount(source, rate, size)
    pace, stay = out.max(), target >= 0
    step = csr_array(coo_array((rate[stay] / pace, (target[stay], source[stay])), (size, size)))
    present = []
    while not present or present[-1] > rest:
        present.append(inside.sum())
        inside = step @ inside + (1 - out / pace) * inside
    return np.array(present), pace, sum(present) / pace


def _survival(chain, ats):
    present, pace, _ = _steps(chain, 1e-13)
    return np.array([_at(present, pace, at) for at in ats])


def _at(present, pace, at):
    return float(poisson.pmf(np.arange(len(present)), pace * at) @ present)


def mean_time(net):
    """Mean time of a job."""
    return _steps(_chain(net), 1e-9)[2]


def shared_percentiles(rates, times, servers, shares):
    """Percentiles of the first of two open classes at servers that all who are there share."""
    room = int(np.log(1e-5) / np.log(float(rates @ times) / servers)) + servers + 4
    states = {
        s: k for k, s in enumerate(s for s in product(range(room), repeat=2) if sum(s) < room)
    }
    moves, start = [], np.zeros(len(states))
    for (a, b), k in states.items():
        part = min(1, servers / (a + b + 1))
        moves.append((k, -1, part / times[0]))
        nexts = ((a + 1, b), rates[0]), ((a, b + 1), rates[1])
        nexts += ((a - 1, b), a * part / times[0]), ((a, b - 1), b * part / times[1])
        moves += [(k, states[s], rate) for s, rate in nexts if s in states and rate > 0]
        busy = sum(np.log(np.minimum(np.arange(1, a + b + 1), servers)))
        logs = a * np.log(rates[0] * times[0]) + b * np.log(rates[1] * times[1]) - busy
        start[k] = np.exp(logs + gammaln(a + b + 1) - gammaln(a + 1) - gammaln(b + 1))
    return _percentiles(_steps((len(states), moves, start / start.sum()), 1e-6), shares)
