"""Networks of queues under any discipline, solved state by state.

Jobs go round: they think, visit the stations one after the other, and think again. A state is,
for each station, who is served and who waits, in the order in which they would be taken;
services and think times are exponential, with a mean by class. An open class is one of so many
jobs that more hardly ever come: what finds no job left to come is cut off.
"""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from tests.oracles.fcfs_chain import _stationary


@dataclass(frozen=True)
class Served:
    """A queue: its discipline by the word of the language, servers, and means by class [s]."""

    discipline: str
    servers: int
    times: tuple[float, ...]


@dataclass(frozen=True)
class Coming:
    """A class: jobs, think time of each [s] or arrivals of an open one [1/s], priority."""

    jobs: int
    think_time: float = 0.0
    arrival_rate: float | None = None
    priority: int = 1

    def rate(self, absent):
        """Jobs a second that come where so many are absent."""
        if self.arrival_rate is not None:
            return self.arrival_rate if absent else 0.0
        return absent / self.think_time


def solve_orders(stations, classes):
    """Throughputs by class, and mean numbers of each class (row) at each station."""
    start = tuple(((), ()) for _ in stations)
    number, todo, moves = {start: 0}, [start], []
    while todo:
        state = todo.pop()
        for following, rate in _moves(state, stations, classes):
            if following not in number:
                number[following] = len(number)
                todo.append(following)
            moves.append((number[state], number[following], rate))
    chances = _stationary(len(number), moves)
    rates, lengths = np.zeros(len(classes)), np.zeros((len(classes), len(stations)))
    for state, row in number.items():
        absent = _absent(state, classes)
        for c, coming in enumerate(classes):
            rates[c] += chances[row] * coming.rate(absent[c])
            for k, (serving, waiting) in enumerate(state):
                lengths[c, k] += chances[row] * (serving + waiting).count(c)
    return rates, lengths


def _absent(state, classes):
    there = Counter(c for queue in state for part in queue for c in part)
    return [coming.jobs - there[c] for c, coming in enumerate(classes)]


def _moves(state, stations, classes):
    for c, absent in enumerate(_absent(state, classes)):
        if absent:
            yield _with(state, 0, stations, classes, c), classes[c].rate(absent)
    for k, queue in enumerate(state):
        for following, who, rate in _ends(queue, stations[k], classes):
            left = (*state[:k], following, *state[k + 1 :])
            if k + 1 < len(stations):
                yield _with(left, k + 1, stations, classes, who), rate
            else:
                yield left, rate


def _with(state, k, stations, classes, c):
    return (*state[:k], _arrived(state[k], stations[k], classes, c), *state[k + 1 :])


def _turns(everybody, classes):
    return tuple(sorted(everybody, key=lambda c: classes[c].priority))


def _arrived(queue, station, classes, c):
    serving, waiting = queue
    if station.discipline == "ps":
        return tuple(sorted((*serving, c))), ()
    if station.discipline in {"preemptive", "lcfs"}:
        everybody = (*serving, *waiting)
        if station.discipline == "lcfs":
            everybody = (c, *everybody)
        else:
            everybody = _turns((*everybody, c), classes)
        return everybody[: station.servers], everybody[station.servers :]
    if len(serving) < station.servers:
        return tuple(sorted((*serving, c))), waiting
    waiting = (*waiting, c)
    if station.discipline == "priority":
        waiting = _turns(waiting, classes)
    return serving, tuple(sorted(waiting)) if station.discipline == "siro" else waiting


def _ends(queue, station, classes):
    """What a queue becomes when a service ends, whose, and how fast."""
    serving, waiting = queue
    speed = min(1.0, station.servers / len(serving)) if serving else 1.0
    for place, c in enumerate(serving):
        rate = speed / station.times[c]
        left = serving[:place] + serving[place + 1 :]
        if station.discipline in {"preemptive", "lcfs"}:
            everybody = (*left, *waiting)
            yield (everybody[: station.servers], everybody[station.servers :]), c, rate
        elif station.discipline == "siro" and waiting:
            for other in range(len(waiting)):
                rest = waiting[:other] + waiting[other + 1 :]
                yield (tuple(sorted((*left, waiting[other]))), rest), c, rate / len(waiting)
        else:
            taken = tuple(sorted((*left, *waiting[:1])))
            yield (taken, waiting[1:]), c, rate
