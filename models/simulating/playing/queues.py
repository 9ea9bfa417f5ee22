"""Queues: the twin of ``queues.h``, in the same order."""

from math import ceil, floor

from headway.models.simulating.playing.chance import Play, choice_stream, order_stream
from headway.models.simulating.playing.clients import (
    drop,
    fail,
    owner_of_job,
    owner_of_queue,
    patience_law,
)
from headway.models.simulating.playing.rows import Order, Queue, Station, Where
from headway.queueing.playing.calendar import cancel, schedule
from headway.queueing.playing.chance import drawn, sample
from headway.queueing.playing.lines import append, pop, precedes, push, removed
from headway.queueing.playing.rows import NONE

# Queues


def is_full(p: Play, q: int) -> bool:
    """Whether a queue is full."""
    return p.queue[q].present >= p.station[p.home[q]].places


def _speed_of(p: Play, station: Station, present: int) -> float:
    most = min(present, station.speeds)
    return p.speed[station.speed + max(most - 1, 0)]


def count(p: Play, q: int) -> None:
    """Add up the time integrals of a queue since its last change."""
    queue = p.queue[q]
    passed, present = p.now - queue.since, float(queue.present)
    queue.since = p.now
    if not passed > 0 or queue.present == 0:
        return
    station = p.station[p.home[q]]
    if station.order == Order.SHARED:
        queue.each += passed * _speed_of(p, station, queue.present) / float(queue.serving)
    queue.present_area += passed * present
    queue.used_area += passed * min(present, station.crew)
    queue.held_area += passed * float(queue.held)


def share_out(p: Play, q: int) -> None:
    """Find when the next job at a shared queue is done: each job receives speed / sharing.

    A job taken out of service keeps its place in the heap.
    """
    queue = p.queue[q]
    while queue.served_first != NONE and p.job[queue.served_first].queue == Where.UNUSED:
        j, queue.served_first = pop(p, queue.served_first)
        drop(p, j)
    if queue.served_first == NONE:
        cancel(p, owner_of_queue(p, q))
        if queue.present == 0:
            queue.each = 0.0
        return
    left = max(p.job[queue.served_first].key - queue.each, 0.0)
    speed = _speed_of(p, p.station[p.home[q]], queue.present)
    schedule(p, owner_of_queue(p, q), p.now + left * float(queue.serving) / speed)


def _stretched(p: Play, station: Station, queue: Queue, work: float) -> float:
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


def serve(p: Play, q: int, j: int) -> None:
    """Serve a job, at a server or at a shared queue."""
    station, queue, job = p.station[p.home[q]], p.queue[q], p.job[j]
    time = job.work
    if station.order == Order.SHARED:
        job.key = queue.each + time
        queue.served_first = push(p, queue.served_first, j)
        share_out(p, q)
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
    schedule(p, owner_of_job(p, j), p.now + time)


def _take_server(p: Play, k: int, free: int, j: int) -> None:
    station, place = p.station[k], 0
    if station.any_server:
        place = int(drawn(p, choice_stream(p, k)) * float(free))
    servers = range(station.servers)
    p.job[j].server = [s for s in servers if p.server[station.pace + s] == NONE][place]
    p.server[station.pace + p.job[j].server] = j


def _start(p: Play, q: int, j: int) -> None:
    station = p.station[p.home[q]]
    if station.pace != NONE:
        _take_server(p, p.home[q], station.servers - p.queue[q].serving, j)
    p.queue[q].serving += 1
    p.job[j].lined = 0
    p.job[j].spent += p.job[j].work
    serve(p, q, j)


def take_from_service(p: Play, q: int, j: int) -> None:
    """Take a job from the list of those in service, which may be interrupted."""
    job = p.job[j]
    if job.previous == NONE:
        p.queue[q].served_first = job.next
    else:
        p.job[job.previous].next = job.next
    if job.next != NONE:
        p.job[job.next].previous = job.previous


def _interrupted(p: Play, q: int, j: int) -> int:
    last = each = p.queue[q].served_first
    while each != NONE:
        if precedes(p.job[last], p.job[each]):
            last = each
        each = p.job[each].next
    if last == NONE or p.job[last].key <= p.job[j].key:
        return j
    owner = owner_of_job(p, last)
    if p.at[owner] != NONE:
        p.job[last].work = p.event[p.at[owner]].time - p.now
    p.job[last].spent -= p.job[last].work
    cancel(p, owner)
    take_from_service(p, q, last)
    p.job[j].spent += p.job[j].work
    serve(p, q, j)
    return last


def _lost_by_age(p: Play, q: int, j: int) -> bool:
    if not p.now - p.job[j].began > p.station[p.home[q]].oldest:
        return False
    p.queue[q].present -= 1
    p.queue[q].lost += 1
    p.crowd[p.job[j].born].lost += 1
    fail(p, j)
    drop(p, j)
    return True


def _be_patient(p: Play, j: int) -> None:
    job = p.job[j]
    if p.class_[job.born].impatient and job.peer != NONE and not job.waited:
        job.waited = 1
        schedule(p, owner_of_job(p, j), p.now + sample(p, patience_law(p, job.born)))


def _line_up(p: Play, q: int, j: int) -> None:
    station, queue, job = p.station[p.home[q]], p.queue[q], p.job[j]
    if station.order == Order.RANKED:
        priority, turn, work = float(p.class_[job.class_].priority), float(job.turn), job.work
        one, two = station.by_turn * turn, station.then_turn * turn
        job.key = one + station.by_priority * priority + station.by_work * work
        job.second = two + station.then_priority * priority + station.then_work * work
    if queue.serving < station.servers:
        if not _lost_by_age(p, q, j):
            _start(p, q, j)
        return
    waits = _interrupted(p, q, j) if station.interrupts else j
    if waits == j:
        _be_patient(p, j)
    j = waits
    p.job[j].lined = 1
    queue.waiting += 1
    if station.order == Order.RANKED:
        queue.first = push(p, queue.first, j)
    else:
        queue.first, queue.last = append(p, queue.first, queue.last, j)
    if station.order == Order.SHARED:
        share_out(p, q)


def _next_in_line(p: Play, q: int) -> int:
    station, queue, place = p.station[p.home[q]], p.queue[q], 0
    if station.order == Order.RANKED:
        j, queue.first = pop(p, queue.first)
        return j
    if station.order == Order.AT_RANDOM:
        chance = drawn(p, order_stream(p, p.home[q]))
        place = int(chance * float(queue.waiting + queue.gone))
    j, queue.first, queue.last = removed(p, queue.first, queue.last, place)
    return j


def start_next(p: Play, q: int) -> None:
    """Serve waiting jobs while servers are free."""
    station, queue = p.station[p.home[q]], p.queue[q]
    while queue.first != NONE and queue.serving < station.servers:
        j = _next_in_line(p, q)
        if p.job[j].queue == Where.UNUSED:
            queue.gone -= 1
            drop(p, j)
            continue
        queue.waiting -= 1
        cancel(p, owner_of_job(p, j))
        if not _lost_by_age(p, q, j):
            _start(p, q, j)


# Arrivals at queues, and departures


def arrive(p: Play, j: int, q: int) -> bool:
    """Let a job arrive at a queue; return whether it was admitted."""
    k = p.home[q]
    station, queue, job = p.station[k], p.queue[q], p.job[j]
    count(p, q)
    if is_full(p, q):
        queue.lost += 1
        p.crowd[job.born].lost += 1
        fail(p, j)
        drop(p, j)
        return False
    queue.present += 1
    job.queue, job.came, job.turn, job.visit = q, p.now, queue.come, p.clock.visits
    queue.come += 1
    p.clock.visits += 1
    if station.order == Order.FORK:
        return True  # journeys.py sends its parts
    job.work = sample(p, job.class_ * p.stations + k)
    if station.order == Order.AT_ONCE:
        schedule(p, owner_of_job(p, j), p.now + job.work)
    else:
        _line_up(p, q, j)
    return True


def _vacate(p: Play, j: int, q: int) -> None:
    station, queue, job = p.station[p.home[q]], p.queue[q], p.job[j]
    queue.present -= 1
    if station.order in (Order.AT_ONCE, Order.FORK):
        return
    queue.serving -= 1
    if station.pace != NONE and job.server != NONE:
        p.server[station.pace + job.server] = NONE
    job.server = NONE
    before = queue.serving
    start_next(p, q)
    if station.order == Order.SHARED and queue.serving == before:
        share_out(p, q)


def depart(p: Play, j: int, q: int) -> None:
    """Let a job leave a queue, and the next one be served."""
    queue, job = p.queue[q], p.job[j]
    count(p, q)
    queue.served += 1
    queue.stayed += p.now - job.came
    queue.held -= job.held
    job.held = 0
    _vacate(p, j, q)


def leave_line(p: Play, j: int) -> None:
    """Let a job leave a line; its place in it remains until it reaches the head."""
    job = p.job[j]
    q = job.queue
    count(p, q)
    cancel(p, owner_of_job(p, j))
    p.queue[q].present -= 1
    p.queue[q].waiting -= 1
    p.queue[q].gone += 1
    job.queue, job.visit = Where.UNUSED, NONE
    if p.station[p.home[q]].order == Order.SHARED:
        share_out(p, q)


def _left_of(p: Play, q: int, j: int) -> float:
    station = p.station[p.home[q]]
    left = p.event[p.at[owner_of_job(p, j)]].time - p.now
    return left if station.pace == NONE else left / p.pace[station.pace + p.job[j].server]


def _leave_service(p: Play, j: int) -> None:
    job = p.job[j]
    q, owner = job.queue, owner_of_job(p, j)
    station = p.station[p.home[q]]
    shared = station.order == Order.SHARED
    count(p, q)
    if shared:
        job.spent -= job.key - p.queue[q].each
    elif p.at[owner] != NONE and station.order != Order.AT_ONCE:
        job.spent -= _left_of(p, q, j)
    cancel(p, owner)
    if station.interrupts:
        take_from_service(p, q, j)
    job.queue, job.visit = Where.UNUSED, NONE
    _vacate(p, j, q)
    if not shared:
        drop(p, j)


def withdraw(p: Play, j: int) -> None:
    """Let an attempt leave wherever it is, because its client has gone and the servers notice."""
    job = p.job[j]
    p.crowd[job.born].withdrawn += 1
    if job.lined:
        leave_line(p, j)
    else:
        _leave_service(p, j)
    p.crowd[job.born].wasted += job.spent
