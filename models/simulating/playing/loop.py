"""The events of a network, job by job: the twin of ``events.c``, the same functions in its order.

A call continues from a state, and stops after so many events, at a time, or when an array is full
(`headway.models.simulating.playing.rows.Reason`). It draws the same numbers as the kernel, and
rounds as it does, so both leave the same state, bit for bit.
"""

from collections.abc import Sequence
from math import ceil, floor, log, sqrt
from operator import attrgetter
from typing import Any

import numpy as np

from headway.kinds import FloatArray
from headway.models.simulating.playing.rows import (
    NONE,
    Branch,
    Choice,
    Class,
    Clock,
    Crowd,
    Event,
    Family,
    Fate,
    Gate,
    Job,
    Journey,
    Law,
    Order,
    Queue,
    Reason,
    Source,
    Station,
    Stream,
    Way,
    Where,
    dtype_of,
)
from headway.models.simulating.playing.score import IntArray
from headway.queueing.compiled.library import compiled

STILL = 10_000_000
"""Events at one time that are taken for a loop without end."""

_WORD = 2**64 - 1
_ODD = 0x9E3779B97F4A7C15


class _Play:
    """A score and a state as objects, a row each."""

    def __init__(self, score: Sequence[Any], state: Sequence[Any]) -> None:
        self.station: list[Station] = _read(Station, score[0])
        self.class_: list[Class] = _read(Class, score[1])
        self.source: list[Source] = _read(Source, score[2])
        self.law: list[Law] = _read(Law, score[3])
        self.row: list[int] = score[4].tolist()
        self.way: list[Way] = _read(Way, score[5])
        self.speed: list[float] = score[6].tolist()
        self.pace: list[float] = score[7].tolist()
        self.visits: list[float] = score[8].tolist()
        self.branch: list[Branch] = _read(Branch, score[9])
        self.home: list[int] = score[10].tolist()
        self.clock: Clock = _read(Clock, state[0])[0]
        self.queue: list[Queue] = _read(Queue, state[1])
        self.job: list[Job] = _read(Job, state[2])
        self.server: list[int] = state[3].tolist()
        self.at: list[int] = state[4].tolist()
        self.event: list[Event] = _read(Event, state[5])
        self.stream: list[Stream] = _read(Stream, state[6])
        self.gate: list[Gate] = _read(Gate, state[7])
        self.crowd: list[Crowd] = _read(Crowd, state[8])
        self.journey: list[Journey] = _read(Journey, state[9])
        self.stations, self.classes = len(self.station), len(self.class_)
        self.sources, self.queues = len(self.source), len(self.queue)
        self.laws, self.rows = len(self.law), len(self.row) - 1
        self.now: float = self.clock.now

    def write(self, state: Sequence[Any]) -> None:
        """Write the state back."""
        _write(Clock, state[0], [self.clock])
        _write(Queue, state[1], self.queue)
        _write(Job, state[2], self.job)
        state[3][:], state[4][:] = self.server, self.at
        _write(Event, state[5], self.event)
        _write(Stream, state[6], self.stream)
        _write(Gate, state[7], self.gate)
        _write(Crowd, state[8], self.crowd)
        _write(Journey, state[9], self.journey)


def _read(row: type[Any], array: IntArray) -> list[Any]:
    return [row(*values) for values in array.view(dtype_of(row)).tolist()]


def _write(row: type[Any], array: IntArray, values: list[Any]) -> None:
    if values:
        array.view(dtype_of(row))[:] = list(map(attrgetter(*dtype_of(row).names or ()), values))


# Streams


def _mixed(z: int) -> int:
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & _WORD
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & _WORD
    return z ^ z >> 31


def _bits(key: int, k: int) -> int:
    return _mixed((key + k * _ODD) & _WORD)


def _unit(key: int, k: int) -> float:
    return float(_bits(key, k) >> 11 | 1) * 2.0**-53


def _next_key(p: _Play, stream: int) -> int:
    s = p.stream[stream]
    s.next += 1
    return _bits(s.key, s.next - 1)


def _drawn(p: _Play, stream: int) -> float:
    s = p.stream[stream]
    s.next += 1
    return _unit(s.key, s.next - 1)


def _rounds_stream(p: _Play, class_: int) -> int:
    return p.laws + p.rows + class_


def _choice_stream(p: _Play, station: int) -> int:
    return p.laws + p.rows + p.classes + station


def _order_stream(p: _Play, station: int) -> int:
    return _choice_stream(p, station) + p.stations


# Samples


def _normal(key: int, k: int) -> tuple[float, int]:
    while True:
        u, v = 2 * _unit(key, k) - 1, 2 * _unit(key, k + 1) - 1
        k += 2
        s = u * u + v * v
        if 0 < s < 1:
            return u * sqrt(-2 * log(s) / s), k


def _gamma_sample(shape: float, key: int) -> float:
    k, boost = 0, 1.0
    if shape < 1:
        boost = _unit(key, k) ** (1 / shape)
        k, shape = 1, shape + 1
    d = shape - 1.0 / 3
    c = 1 / sqrt(9 * d)
    while True:
        x, k = _normal(key, k)
        v = 1 + c * x
        if v <= 0:
            continue
        v = v * v * v
        k += 1
        if log(_unit(key, k - 1)) < 0.5 * x * x + d - d * v + d * log(v):
            return d * v * boost


def _sample(p: _Play, number: int) -> float:
    law = p.law[number]
    if law.kind == Family.CONSTANT:
        return law.first + law.shift
    if law.kind == Family.EXPONENTIAL:
        return law.shift - law.first * log(_drawn(p, number))
    if law.kind == Family.GAMMA:
        return law.shift + law.second * _gamma_sample(law.first, _next_key(p, number))
    u = _drawn(p, number)
    if u < law.first:
        return law.shift - law.second * log(u / law.first)
    return law.shift - law.third * log((1 - u) / (1 - law.first))


# The calendar


def _sooner(one: Event, other: Event) -> bool:
    return one.time < other.time or (one.time == other.time and one.number < other.number)


def _put(p: _Play, place: int, event: Event) -> None:
    p.event[place] = event
    p.at[event.owner] = place


def _rise(p: _Play, place: int, event: Event) -> None:
    while place > 0:
        above = (place - 1) // 2
        if not _sooner(event, p.event[above]):
            break
        _put(p, place, p.event[above])
        place = above
    _put(p, place, event)


def _sink(p: _Play, place: int, event: Event) -> None:
    size = p.clock.size
    while (below := 2 * place + 1) < size:
        if below + 1 < size and _sooner(p.event[below + 1], p.event[below]):
            below += 1
        if not _sooner(p.event[below], event):
            break
        _put(p, place, p.event[below])
        place = below
    _put(p, place, event)


def _schedule(p: _Play, owner: int, time: float) -> None:
    place, event = p.at[owner], Event(time, p.clock.scheduled, owner)
    p.clock.scheduled += 1
    if place == NONE:
        p.clock.size += 1
        _rise(p, p.clock.size - 1, event)
    elif _sooner(event, p.event[place]):
        _rise(p, place, event)
    else:
        _sink(p, place, event)


def _cancel(p: _Play, owner: int) -> None:
    place = p.at[owner]
    if place == NONE:
        return
    p.at[owner] = NONE
    p.clock.size -= 1
    last = p.event[p.clock.size]
    if place == p.clock.size:
        return
    if _sooner(last, p.event[place]):
        _rise(p, place, last)
    else:
        _sink(p, place, last)


def _owner_of_queue(p: _Play, q: int) -> int:
    return p.sources + q


def _owner_of_job(p: _Play, j: int) -> int:
    return p.sources + p.queues + j


# The pool of jobs, their lines, and pairing heaps


def _take(p: _Play, class_: int) -> int:
    j = p.clock.unused
    if j == NONE:
        return NONE
    p.clock.unused = p.job[j].next
    p.clock.jobs += 1
    p.job[j] = Job(class_, class_, queue=Where.COMING)
    return j


def _drop(p: _Play, j: int) -> None:
    job = p.job[j]
    job.queue, job.visit, job.next = Where.UNUSED, NONE, p.clock.unused
    p.clock.unused = j
    p.clock.jobs -= 1


def _append(p: _Play, first: int, last: int, j: int) -> tuple[int, int]:
    """The first and the last of a line with one more."""
    p.job[j].next = NONE
    if NONE in (first, last):
        return j, j
    p.job[last].next = j
    return first, j


def _removed(p: _Play, first: int, last: int, place: int) -> tuple[int, int, int]:
    """A job of a line, and the first and the last of the others."""
    before, j = NONE, first
    while place > 0 and p.job[j].next != NONE:
        before, j, place = j, p.job[j].next, place - 1
    after = p.job[j].next
    if before == NONE:
        first = after
    else:
        p.job[before].next = after
    p.job[j].next = NONE
    return j, first, before if after == NONE else last


def _precedes(one: Job, other: Job) -> bool:
    return (one.key, one.second, one.turn) < (other.key, other.second, other.turn)


def _merged(p: _Play, one: int, other: int) -> int:
    if NONE in (one, other):
        return other if one == NONE else one
    if _precedes(p.job[other], p.job[one]):
        one, other = other, one
    p.job[other].next = p.job[one].child
    p.job[one].child = other
    return one


def _push(p: _Play, queue: Queue, j: int) -> None:
    p.job[j].next = p.job[j].child = NONE
    queue.first = _merged(p, queue.first, j)


def _pop(p: _Play, queue: Queue) -> int:
    first, pairs = queue.first, NONE
    each = p.job[first].child
    while each != NONE:
        one, other = each, p.job[each].next
        each = NONE if other == NONE else p.job[other].next
        one = _merged(p, one, other)
        p.job[one].next, pairs = pairs, one
    queue.first = NONE
    while pairs != NONE:
        after = p.job[pairs].next
        queue.first = _merged(p, queue.first, pairs)
        pairs = after
    if queue.first != NONE:
        p.job[queue.first].next = NONE
    p.job[first].child = NONE
    return first


# Queues


def _is_full(p: _Play, q: int) -> bool:
    return p.queue[q].present >= p.station[p.home[q]].places


def _speed_of(p: _Play, station: Station, present: int) -> float:
    most = min(present, station.speeds)
    return p.speed[station.speed + max(most - 1, 0)]


def _count(p: _Play, q: int) -> None:
    queue = p.queue[q]
    passed, present = p.now - queue.since, float(queue.present)
    queue.since = p.now
    if not passed > 0 or queue.present == 0:
        return
    station = p.station[p.home[q]]
    if station.order == Order.SHARED:
        queue.each += passed * _speed_of(p, station, queue.present) / present
    queue.present_area += passed * present
    queue.used_area += passed * min(present, station.crew)
    queue.held_area += passed * float(queue.held)


def _share_out(p: _Play, q: int) -> None:
    queue = p.queue[q]
    if queue.first == NONE:
        _cancel(p, _owner_of_queue(p, q))
        if queue.present == 0:
            queue.each = 0.0
        return
    left = max(p.job[queue.first].key - queue.each, 0.0)
    speed = _speed_of(p, p.station[p.home[q]], queue.present)
    _schedule(p, _owner_of_queue(p, q), p.now + left * float(queue.present) / speed)


def _stretched(p: _Play, station: Station, queue: Queue, work: float) -> float:
    current, budget = float(floor(p.now / station.period)), station.share * station.period
    queue.allotted += work
    if current > queue.rest:
        queue.rest, queue.worked = current, 0.0
    current = queue.rest
    left = min(budget - queue.worked, (current + 1) * station.period - p.now)
    if work <= left:
        queue.worked += work
        return work
    over = work - max(left, 0.0)
    whole = float(max(ceil(over / budget) - 1, 0))
    queue.rest = current + 1 + whole
    queue.worked = over - whole * budget
    end = queue.rest * station.period + queue.worked
    return end - p.now


def _serve(p: _Play, q: int, j: int) -> None:
    station, queue, job = p.station[p.home[q]], p.queue[q], p.job[j]
    time = job.work
    if station.order == Order.SHARED:
        job.key = queue.each + time
        _push(p, queue, j)
        _share_out(p, q)
        return
    if station.pace != NONE and job.server != NONE:
        time *= p.pace[station.pace + job.server]
    if station.period > 0:
        time = _stretched(p, station, queue, time)
    if station.interrupts:
        job.previous, job.next = NONE, queue.served_first
        if job.next != NONE:
            p.job[job.next].previous = j
        queue.served_first = j
    _schedule(p, _owner_of_job(p, j), p.now + time)


def _start(p: _Play, q: int, j: int) -> None:
    station = p.station[p.home[q]]
    p.queue[q].serving += 1
    if station.pace != NONE:
        for k in range(station.servers):
            if p.server[station.pace + k] == NONE:
                p.server[station.pace + k] = j
                p.job[j].server = k
                break
    _serve(p, q, j)


def _take_from_service(p: _Play, q: int, j: int) -> None:
    job = p.job[j]
    if job.previous == NONE:
        p.queue[q].served_first = job.next
    else:
        p.job[job.previous].next = job.next
    if job.next != NONE:
        p.job[job.next].previous = job.previous


def _interrupted(p: _Play, q: int, j: int) -> int:
    last = each = p.queue[q].served_first
    while each != NONE:
        if _precedes(p.job[last], p.job[each]):
            last = each
        each = p.job[each].next
    if last == NONE or p.job[last].key <= p.job[j].key:
        return j
    owner = _owner_of_job(p, last)
    if p.at[owner] != NONE:
        p.job[last].work = p.event[p.at[owner]].time - p.now
    _cancel(p, owner)
    _take_from_service(p, q, last)
    _serve(p, q, j)
    return last


def _line_up(p: _Play, q: int, j: int) -> None:
    station, queue, job = p.station[p.home[q]], p.queue[q], p.job[j]
    if station.order == Order.RANKED:
        priority, turn, work = float(p.class_[job.class_].priority), float(job.turn), job.work
        one, two = station.by_turn * turn, station.then_turn * turn
        job.key = one + station.by_priority * priority + station.by_work * work
        job.second = two + station.then_priority * priority + station.then_work * work
    if queue.serving < station.servers:
        _start(p, q, j)
        return
    if station.interrupts:
        j = _interrupted(p, q, j)
    queue.waiting += 1
    if station.order == Order.RANKED:
        _push(p, queue, j)
    else:
        queue.first, queue.last = _append(p, queue.first, queue.last, j)


def _start_next(p: _Play, q: int) -> None:
    station, queue, place = p.station[p.home[q]], p.queue[q], 0
    if queue.first == NONE or queue.serving >= station.servers:
        return
    if station.order == Order.AT_RANDOM:
        place = int(_drawn(p, _order_stream(p, p.home[q])) * float(queue.waiting))
    queue.waiting -= 1
    if station.order == Order.RANKED:
        _start(p, q, _pop(p, queue))
        return
    j, queue.first, queue.last = _removed(p, queue.first, queue.last, place)
    _start(p, q, j)


# Arrivals at queues, and departures


def _arrive(p: _Play, j: int, q: int) -> bool:
    k = p.home[q]
    station, queue, job = p.station[k], p.queue[q], p.job[j]
    _count(p, q)
    if _is_full(p, q):
        queue.lost += 1
        p.crowd[job.born].lost += 1
        _drop(p, j)
        return False
    queue.present += 1
    job.queue, job.came, job.turn, job.visit = q, p.now, queue.come, p.clock.visits
    queue.come += 1
    p.clock.visits += 1
    if station.order == Order.FORK:
        _fork_out(p, station, j)
        return True
    job.work = _sample(p, job.class_ * p.stations + k)
    if station.order == Order.AT_ONCE:
        _schedule(p, _owner_of_job(p, j), p.now + job.work)
    elif station.order == Order.SHARED:
        _serve(p, q, j)
    else:
        _line_up(p, q, j)
    return True


def _fork_out(p: _Play, station: Station, j: int) -> None:
    p.job[j].left = station.needed
    for branch in p.branch[station.branch : station.branch + station.branches]:
        k, parts = branch.station, branch.parts
        first, queues = p.station[k].queue, p.station[k].queues
        for seen in range(queues):
            rest = queues - seen
            if parts == 0:
                break
            if parts < rest and _drawn(p, _choice_stream(p, k)) * float(rest) >= float(parts):
                continue
            part = _take(p, p.job[j].class_)
            p.job[part].request, p.job[part].asked = j, p.job[j].visit
            _arrive(p, part, first + seen)
            parts -= 1


def _depart(p: _Play, j: int, q: int) -> None:
    station, queue, job = p.station[p.home[q]], p.queue[q], p.job[j]
    _count(p, q)
    queue.present -= 1
    queue.served += 1
    queue.stayed += p.now - job.came
    queue.held -= job.held
    job.held = 0
    if station.order == Order.SHARED:
        _share_out(p, q)
    if station.order in (Order.SHARED, Order.AT_ONCE, Order.FORK):
        return
    queue.serving -= 1
    if station.pace != NONE and job.server != NONE:
        p.server[station.pace + job.server] = NONE
    job.server = NONE
    _start_next(p, q)


# Regions


def _count_gate(p: _Play, gate: Gate) -> None:
    passed = p.now - gate.since
    gate.since = p.now
    gate.waiting_area += passed * float(gate.waiting)
    gate.inside_area += passed * float(gate.inside)
    if gate.inside >= gate.limit:
        gate.full += passed


def _admit(p: _Play, gate: Gate) -> None:
    while gate.inside < gate.limit and gate.first != NONE:
        j, gate.first, gate.last = _removed(p, gate.first, gate.last, 0)
        gate.waiting -= 1
        gate.entered += 1
        gate.inside += _arrive(p, j, p.job[j].target)


def _region_of(p: _Play, q: int) -> int:
    return NONE if q < 0 else p.station[p.home[q]].region


def _leave_region(p: _Play, region: int) -> None:
    if region == NONE:
        return
    gate = p.gate[region]
    _count_gate(p, gate)
    gate.inside -= 1
    _admit(p, gate)


def _pass(p: _Play, j: int, origin: int, to: int) -> None:
    here, there, anew = _region_of(p, origin), _region_of(p, to), p.job[j].anew
    if there == NONE or (there == here and not anew):
        _arrive(p, j, to)
    else:
        gate = p.gate[there]
        _count_gate(p, gate)
        p.job[j].queue, p.job[j].target = Where.AT_GATE, to
        gate.waiting += 1
        gate.first, gate.last = _append(p, gate.first, gate.last, j)
        _admit(p, gate)
    if here != there or anew:
        _leave_region(p, here)


# Journeys


class _Next:
    """Where a job goes: the class and station; whether a journey ends, and one begins."""

    __slots__ = ("begins", "class_", "ends", "round", "station")

    def __init__(self, class_: int, station: int, round_: int = 0) -> None:
        self.class_, self.station, self.round = class_, station, round_
        self.ends = self.begins = False


def _by_row(p: _Play, class_: int, row: int) -> _Next:
    chance = _drawn(p, p.laws + row)
    low, end = p.row[row], p.row[row + 1]
    high = end
    while low < high:
        middle = (low + high) // 2
        if chance < p.way[middle].chance:
            high = middle
        else:
            low = middle + 1
    return _Next(class_, NONE) if low == end else _Next(p.way[low].class_, p.way[low].station)


def _visits_of(p: _Play, class_: int, number: int, k: int) -> int:
    mean = p.visits[class_ * p.stations + k]
    whole = floor(mean)
    if mean == whole:
        return whole
    key = p.stream[_rounds_stream(p, class_)].key
    return whole + (_unit(key, number * p.stations + k) < mean - whole)


def _by_rounds(p: _Play, class_: int, number: int, place: int) -> _Next:
    stations = p.stations
    while True:
        turn, midway = divmod(place, stations)
        while place // stations == turn:
            if _visits_of(p, class_, number, place % stations) > turn:
                return _Next(class_, place % stations, place)
            place += 1
        if not midway:
            return _Next(class_, NONE)


def _entry(p: _Play, class_: int, number: int) -> _Next:
    if p.class_[class_].rounds:
        return _by_rounds(p, class_, number, 0)
    return _by_row(p, class_, p.classes * p.stations + class_)


def _onward(p: _Play, job: Job) -> _Next:
    if p.class_[job.class_].rounds:
        return _by_rounds(p, job.class_, job.number, job.round + 1)
    return _by_row(p, job.class_, job.class_ * p.stations + p.home[job.queue])


def _shortest(p: _Play, first: int, count: int, chance: float) -> int:
    present = [queue.present for queue in p.queue[first : first + count]]
    alike = [q for q, number in enumerate(present) if number == min(present)]
    return first + alike[int(chance * float(len(alike)))]


def _shorter(p: _Play, first: int, count: int, chance: float, k: int) -> int:
    one = int(chance * float(count))
    other = int(_drawn(p, _choice_stream(p, k)) * float(count - 1))
    other += other >= one
    less = p.queue[first + other].present < p.queue[first + one].present
    return first + (other if less else one)


def _chosen(p: _Play, k: int) -> int:
    station = p.station[k]
    first, count = station.queue, station.queues
    if count == 1:
        return first
    stream = _choice_stream(p, k)
    if station.choice == Choice.ROUND_ROBIN:
        p.stream[stream].next += 1
        return first + (p.stream[stream].next - 1) % count
    chance = _drawn(p, stream)
    if station.choice == Choice.SHORTEST:
        return _shortest(p, first, count, chance)
    if station.choice == Choice.TWO_CHOICES:
        return _shorter(p, first, count, chance, k)
    return first + int(chance * float(count))


def _begin_journey(p: _Play, job: Job) -> None:
    if job.begun:
        return
    job.begun, job.born, job.began = 1, job.class_, p.now
    job.number = p.crowd[job.class_].started
    p.crowd[job.class_].started += 1


def _end_journey(p: _Play, job: Job) -> None:
    crowd, time = p.crowd[job.born], p.now - job.began
    job.begun = 0
    crowd.ended += 1
    crowd.taken += time
    if p.clock.kept:
        p.journey[p.clock.recorded] = Journey(job.born, time)
        p.clock.recorded += 1


def _think(p: _Play, j: int) -> None:
    job = p.job[j]
    job.queue = Where.THINKING
    time = _sample(p, p.classes * p.stations + job.class_)
    _schedule(p, _owner_of_job(p, j), p.now + time)


def _leave(p: _Play, j: int, origin: int) -> None:
    is_part = p.job[j].request != NONE
    here = NONE if is_part else _region_of(p, origin)
    if p.class_[p.job[j].class_].closed and not is_part:
        _think(p, j)
    else:
        _drop(p, j)
    _leave_region(p, here)


def _move(p: _Play, j: int, to: int) -> None:
    while True:
        origin = p.job[j].queue
        if origin >= 0:
            _depart(p, j, origin)
        if to >= 0:
            _pass(p, j, origin, to)
        else:
            _leave(p, j, origin)
        if origin < 0 or p.queue[origin].held_first == NONE or _is_full(p, origin):
            return
        queue = p.queue[origin]
        j, queue.held_first, queue.held_last = _removed(p, queue.held_first, queue.held_last, 0)
        to = origin


def _seat(p: _Play, target: int) -> int:
    if _is_full(p, target):
        free = (station.queue for station in p.station if not _is_full(p, station.queue))
        return next(free, target)
    return target


def _decided(p: _Play, job: Job, entering: int) -> _Next:
    after = _Next(job.class_, entering)
    after.begins = True
    if job.queue >= 0:
        after = _onward(p, job)
        after.ends = after.station == NONE
        class_ = p.class_[after.class_]
        after.begins = after.ends and bool(class_.closed and not class_.waits)
    if after.begins and entering == NONE:
        ends, begun = after.ends, job.begun and not after.ends
        number = job.number if begun else p.crowd[after.class_].started
        after = _entry(p, after.class_, number)
        after.ends, after.begins = ends, True
    return after


def _repeat(p: _Play, j: int) -> None:
    job = p.job[j]
    q = job.queue
    if q == Where.THINKING:
        _begin_journey(p, job)
        _think(p, j)
        return
    _count(p, q)
    job.work = _sample(p, job.class_ * p.stations + p.home[q])
    _serve(p, q, j)


def _hold_up(p: _Play, j: int, target: int) -> None:
    q = p.job[j].queue
    if q >= 0:
        _count(p, q)
        p.queue[q].held += 1
        p.job[j].held = 1
        if p.station[p.home[q]].order == Order.SHARED:
            _share_out(p, q)
    queue = p.queue[target]
    queue.held_first, queue.held_last = _append(p, queue.held_first, queue.held_last, j)


def _fate(p: _Play, job: Job, target: int) -> int:
    if target in (NONE, job.queue) or job.queue == Where.COMING or not _is_full(p, target):
        return Fate.LOST
    return p.station[p.home[target]].blocking


def _go_on(p: _Play, j: int, entering: int = NONE) -> None:
    job = p.job[j]
    after = _decided(p, job, entering)
    target = NONE if after.station == NONE else _chosen(p, after.station)
    if job.queue == Where.COMING and target != NONE and p.class_[job.class_].closed:
        target = _seat(p, target)
    full = _fate(p, job, target)
    if full == Fate.REPETITIVE:
        _repeat(p, j)
        return
    if after.ends:
        _end_journey(p, job)
    job.class_, job.round, job.anew = after.class_, after.round, int(after.begins)
    if after.begins:
        _begin_journey(p, job)
    if after.begins and target == NONE:
        _end_journey(p, job)
    if full == Fate.AFTER_SERVICE:
        _hold_up(p, j, target)
    else:
        _move(p, j, target)


def _finish_part(p: _Play, part: int) -> None:
    request, asked = p.job[part].request, p.job[part].asked
    _move(p, part, NONE)
    if p.job[request].visit == asked:
        p.job[request].left -= 1
        if p.job[request].left == 0:
            _go_on(p, request)


# Events


def _source_event(p: _Play, s: int) -> None:
    source = p.source[s]
    j = _take(p, source.class_)
    _schedule(p, s, p.now + _sample(p, p.classes * p.stations + p.classes + s))
    _go_on(p, j, source.station)


def _job_event(p: _Play, j: int) -> None:
    job = p.job[j]
    if job.queue == Where.COMING and p.class_[job.class_].waits:
        _think(p, j)
        return
    if job.queue >= 0 and p.station[p.home[job.queue]].interrupts:
        _take_from_service(p, job.queue, j)
    if job.request != NONE:
        _finish_part(p, j)
    else:
        _go_on(p, j)


def _queue_event(p: _Play, q: int) -> None:
    _count(p, q)
    if p.queue[q].first == NONE:
        return
    j = _pop(p, p.queue[q])
    if p.job[j].request != NONE:
        _finish_part(p, j)
    else:
        _go_on(p, j)


def _most_new(p: _Play) -> int:
    branches = (p.branch[s.branch : s.branch + s.branches] for s in p.station)
    return 1 + max(sum(b.parts for b in each) for each in branches) * (2 + len(p.gate))


def _event(p: _Play, owner: int) -> None:
    if owner < p.sources:
        _source_event(p, owner)
        return
    _cancel(p, owner)
    if owner < p.sources + p.queues:
        _queue_event(p, owner - p.sources)
    else:
        _job_event(p, owner - p.sources - p.queues)


def _played(p: _Play, until: float, most: int) -> int:
    clock, room = p.clock, len(p.job) - _most_new(p)
    for _ in range(most):
        if clock.size == 0 or p.event[0].time > until:
            return Reason.DONE
        if clock.jobs > room:
            return Reason.CROWDED
        if clock.kept and len(p.journey) - clock.recorded < 2:
            return Reason.RECORDED
        first = p.event[0]
        clock.still = 0 if first.time > p.now else clock.still + 1
        if clock.still > STILL:
            return Reason.ENDLESS
        p.now = first.time
        clock.events += 1
        _event(p, first.owner)
    return Reason.MORE


@compiled
def play(
    stations: IntArray,
    classes: IntArray,
    sources: IntArray,
    laws: IntArray,
    routes: IntArray,
    ways: IntArray,
    speeds: FloatArray,
    paces: FloatArray,
    visits: FloatArray,
    branches: IntArray,
    home: IntArray,
    clock: IntArray,
    queues: IntArray,
    jobs: IntArray,
    servers: IntArray,
    places: IntArray,
    events: IntArray,
    streams: IntArray,
    gates: IntArray,
    crowds: IntArray,
    journeys: IntArray,
    until: float,
    most: int,
) -> None:
    """Play until a time, or so many events.

    Parameters
    ----------
    stations, classes, sources, laws, routes, ways, speeds, paces, visits, branches, home
        Of a `Score`; rows as int64 in one line.
    clock, queues, jobs, servers, places, events, streams, gates, crowds, journeys
        Of a `State`, likewise; they are written.
    until
        The time [s].
    most
        Events.
    """
    score = (stations, classes, sources, laws, routes, ways, speeds, paces)
    state = (clock, queues, jobs, servers, places, events, streams, gates, crowds, journeys)
    p = _Play((*score, np.ravel(visits), branches, home), state)
    p.clock.reason = _played(p, until, most)
    if p.clock.reason == Reason.DONE and until > p.now:
        p.now = until
        for q in range(p.queues):
            _count(p, q)
        for gate in p.gate:
            _count_gate(p, gate)
    p.clock.now = p.now
    p.write(state)
