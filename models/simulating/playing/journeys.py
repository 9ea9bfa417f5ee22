"""Regions, and where a job goes next: the twin of the first part of ``events.c``, in its order."""

from math import floor

from headway.models.simulating.playing.chance import Play, choice_stream, rounds_stream
from headway.models.simulating.playing.clients import (
    answer,
    drop,
    owner_of_job,
    take,
    thinking_law,
)
from headway.models.simulating.playing.queues import (
    arrive,
    count,
    depart,
    is_full,
    serve,
    share_out,
)
from headway.models.simulating.playing.rows import (
    Choice,
    Fate,
    Gate,
    Job,
    Journey,
    Order,
    Station,
    Where,
)
from headway.queueing.playing.calendar import schedule
from headway.queueing.playing.chance import drawn, sample, unit
from headway.queueing.playing.lines import append, removed
from headway.queueing.playing.rows import NONE

# Arrivals, and all that follows from them


def _fork_out(p: Play, station: Station, j: int) -> None:
    p.job[j].left = station.needed
    for branch in p.branch[station.branch : station.branch + station.branches]:
        k, parts = branch.station, branch.parts
        first, queues = p.station[k].queue, p.station[k].queues
        for seen in range(queues):
            rest = queues - seen
            if parts == 0:
                break
            if parts < rest and drawn(p, choice_stream(p, k)) * float(rest) >= float(parts):
                continue
            part = take(p, p.job[j].class_)
            p.job[part].request, p.job[part].asked = j, p.job[j].visit
            _pass(p, part, Where.COMING, first + seen)
            parts -= 1


def _come(p: Play, j: int, q: int) -> bool:
    if not arrive(p, j, q):
        return False
    station = p.station[p.home[q]]
    if station.order == Order.FORK:
        _fork_out(p, station, j)
    return True


# Regions


def count_gate(p: Play, gate: Gate) -> None:
    """Add up the time integrals of a gate since its last change."""
    passed = p.now - gate.since
    gate.since = p.now
    gate.waiting_area += passed * float(gate.waiting)
    gate.inside_area += passed * float(gate.inside)
    if gate.inside >= gate.limit:
        gate.full += passed


def _admit(p: Play, gate: Gate) -> None:
    while gate.inside < gate.limit and gate.first != NONE:
        j, gate.first, gate.last = removed(p, gate.first, gate.last, 0)
        gate.waiting -= 1
        gate.entered += 1
        gate.inside += _come(p, j, p.job[j].target)


def _region_of(p: Play, q: int) -> int:
    return NONE if q < 0 else p.station[p.home[q]].region


def _leave_region(p: Play, region: int) -> None:
    if region == NONE:
        return
    gate = p.gate[region]
    count_gate(p, gate)
    gate.inside -= 1
    _admit(p, gate)


def _pass(p: Play, j: int, origin: int, to: int) -> None:
    here, there, anew = _region_of(p, origin), _region_of(p, to), p.job[j].anew
    if there == NONE or (there == here and not anew):
        _come(p, j, to)
    else:
        gate = p.gate[there]
        count_gate(p, gate)
        p.job[j].queue, p.job[j].target = Where.AT_GATE, to
        gate.waiting += 1
        gate.first, gate.last = append(p, gate.first, gate.last, j)
        _admit(p, gate)
    if here != there or anew:
        _leave_region(p, here)


# Journeys


class _Next:
    """Where a job goes: its class and station; whether a journey ends, and whether one begins."""

    __slots__ = ("begins", "class_", "ends", "round", "station")

    def __init__(self, class_: int, station: int, round_: int = 0) -> None:
        self.class_, self.station, self.round = class_, station, round_
        self.ends = self.begins = False


def _by_row(p: Play, class_: int, row: int) -> _Next:
    low, end = p.row[row], p.row[row + 1]
    sure = low < end and p.way[low].chance >= 1
    chance, high = 0.0 if sure else drawn(p, p.laws + row), end
    while low < high:
        middle = (low + high) // 2
        if chance < p.way[middle].chance:
            high = middle
        else:
            low = middle + 1
    return _Next(class_, NONE) if low == end else _Next(p.way[low].class_, p.way[low].station)


def _visits_of(p: Play, class_: int, number: int, k: int) -> int:
    mean = p.visits[class_ * p.stations + k]
    whole = floor(mean)
    if mean == whole:
        return whole
    key = p.stream[rounds_stream(p, class_)].key
    return whole + (unit(key, number * p.stations + k) < mean - whole)


def _by_rounds(p: Play, class_: int, number: int, place: int) -> _Next:
    stations = p.stations
    while True:
        turn, midway = divmod(place, stations)
        while place // stations == turn:
            if _visits_of(p, class_, number, place % stations) > turn:
                return _Next(class_, place % stations, place)
            place += 1
        if not midway:
            return _Next(class_, NONE)


def _entry(p: Play, class_: int, number: int) -> _Next:
    if p.class_[class_].rounds:
        return _by_rounds(p, class_, number, 0)
    return _by_row(p, class_, p.classes * p.stations + class_)


def _onward(p: Play, job: Job) -> _Next:
    if p.class_[job.class_].rounds:
        return _by_rounds(p, job.class_, job.number, job.round + 1)
    return _by_row(p, job.class_, job.class_ * p.stations + p.home[job.queue])


def _shortest(p: Play, first: int, count: int, chance: float) -> int:
    present = [queue.present for queue in p.queue[first : first + count]]
    alike = [q for q, number in enumerate(present) if number == min(present)]
    return first + alike[int(chance * float(len(alike)))]


def _shorter(p: Play, first: int, count: int, chance: float, k: int) -> int:
    one = int(chance * float(count))
    other = int(drawn(p, choice_stream(p, k)) * float(count - 1))
    other += other >= one
    less = p.queue[first + other].present < p.queue[first + one].present
    return first + (other if less else one)


def _chosen(p: Play, k: int) -> int:
    station = p.station[k]
    first, count = station.queue, station.queues
    if count == 1:
        return first
    stream = choice_stream(p, k)
    if station.choice == Choice.ROUND_ROBIN:
        p.stream[stream].next += 1
        return first + (p.stream[stream].next - 1) % count
    chance = drawn(p, stream)
    if station.choice == Choice.SHORTEST:
        return _shortest(p, first, count, chance)
    if station.choice == Choice.TWO_CHOICES:
        return _shorter(p, first, count, chance, k)
    return first + int(chance * float(count))


def _begin_journey(p: Play, job: Job) -> None:
    if job.begun:
        return
    job.begun, job.born, job.began = 1, job.class_, p.now
    job.number = p.crowd[job.class_].started
    p.crowd[job.class_].started += 1


def _end_journey(p: Play, job: Job) -> None:
    crowd = p.crowd[job.born]
    time = p.now - (job.began if job.peer == NONE else p.job[job.peer].began)
    job.begun = 0
    if job.peer != NONE and not answer(p, job):
        return
    crowd.ended += 1
    crowd.taken += time
    if p.clock.kept:
        p.journey[p.clock.recorded] = Journey(job.born, time)
        p.clock.recorded += 1


def think(p: Play, j: int) -> None:
    """Let a job think before its next journey."""
    job = p.job[j]
    job.queue = Where.THINKING
    time = sample(p, thinking_law(p, job.class_))
    schedule(p, owner_of_job(p, j), p.now + time)


def _leave(p: Play, j: int, origin: int) -> None:
    here = _region_of(p, origin)
    if p.class_[p.job[j].class_].closed and p.job[j].request == NONE:
        think(p, j)
    else:
        drop(p, j)
    _leave_region(p, here)


def _move(p: Play, j: int, to: int) -> None:
    while True:
        origin = p.job[j].queue
        if origin >= 0:
            depart(p, j, origin)
        if to >= 0:
            _pass(p, j, origin, to)
        else:
            _leave(p, j, origin)
        if origin < 0 or p.queue[origin].held_first == NONE or is_full(p, origin):
            return
        queue = p.queue[origin]
        j, queue.held_first, queue.held_last = removed(p, queue.held_first, queue.held_last, 0)
        to = origin


def _seat(p: Play, target: int) -> int:
    if is_full(p, target):
        free = (station.queue for station in p.station if not is_full(p, station.queue))
        return next(free, target)
    return target


def _decided(p: Play, job: Job, entering: int) -> _Next:
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


def _repeat(p: Play, j: int) -> None:
    job = p.job[j]
    q = job.queue
    if q == Where.THINKING:
        _begin_journey(p, job)
        think(p, j)
        return
    count(p, q)
    job.work = sample(p, job.class_ * p.stations + p.home[q])
    serve(p, q, j)


def _hold_up(p: Play, j: int, target: int) -> None:
    q = p.job[j].queue
    if q >= 0:
        count(p, q)
        p.queue[q].held += 1
        p.job[j].held = 1
        if p.station[p.home[q]].order == Order.SHARED:
            share_out(p, q)
    queue = p.queue[target]
    queue.held_first, queue.held_last = append(p, queue.held_first, queue.held_last, j)


def _fate(p: Play, job: Job, target: int) -> int:
    if target in (NONE, job.queue) or job.queue == Where.COMING or not is_full(p, target):
        return Fate.LOST
    return p.station[p.home[target]].blocking


def go_on(p: Play, j: int, entering: int = NONE) -> None:
    """Send a job on from where it is done: a queue, thinking, or before its first arrival."""
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


def finish_part(p: Play, part: int) -> None:
    """Finish a part; its request goes on if this was the last part that it needs."""
    request, asked = p.job[part].request, p.job[part].asked
    _move(p, part, NONE)
    if p.job[request].visit == asked:
        p.job[request].left -= 1
        if p.job[request].left == 0:
            go_on(p, request)
