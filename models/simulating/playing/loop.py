"""The events of a network, job by job: the twin of ``events.c``, in the same order.

A call continues from a state, and stops after a number of events, at a time, or when an array is
full (`headway.models.simulating.playing.rows.Reason`). It draws the same numbers as the kernel, and
rounds as it does, so both leave the same state, bit for bit.
"""

from math import inf

import numpy as np

from headway.kinds import FloatArray
from headway.models.simulating.playing.chance import Play, batch_size
from headway.models.simulating.playing.clients import (
    come_back,
    count_open,
    disappoint,
    fail,
    lets_through,
    owner_of_job,
    source_law,
    take,
)
from headway.models.simulating.playing.journeys import count_gate, finish_part, go_on, think
from headway.models.simulating.playing.queues import (
    count,
    leave_line,
    take_from_service,
    withdraw,
)
from headway.models.simulating.playing.rows import Reason, Where
from headway.queueing.compiled.library import compiled
from headway.queueing.playing.calendar import close_hole, open_hole, schedule
from headway.queueing.playing.chance import sample
from headway.queueing.playing.lines import pop
from headway.queueing.playing.rows import NONE, IntArray

STILL = 10_000_000
"""Events at one time that count as an endless loop."""


# Events


def next_arrival(p: Play, s: int) -> float:
    """Time to the next arrival of a source: 0 to the next job of a batch [s]."""
    source = p.source[s]
    if p.left[s] > 0:
        p.left[s] -= 1
        return 0.0
    if source.sizes or source.more > 0:
        p.left[s] = batch_size(p, s) - 1
    return sample(p, source_law(p, s))


def _ask(p: Play, c: int) -> None:
    client = p.job[c]
    class_, crowd = p.class_[client.class_], p.crowd[client.class_]
    crowd.attempts += 1
    if class_.outcomes and not lets_through(p, class_, crowd):
        come_back(p, c)
        return
    client.asked = crowd.phase
    j = take(p, client.class_)
    client.queue, client.visit, client.peer = Where.ASKING, p.clock.visits, j
    p.clock.visits += 1
    p.job[j].peer, p.job[j].asked = c, client.visit
    if class_.timeout < inf:
        schedule(p, owner_of_job(p, c), p.now + class_.timeout)
    go_on(p, j, client.entering)


def _request(p: Play, c: int, entering: int) -> None:
    client = p.job[c]
    class_, crowd = p.class_[client.class_], p.crowd[client.class_]
    crowd.requests += 1
    crowd.tokens = min(crowd.tokens + class_.budget, class_.purse)
    client.began, client.left, client.entering = p.now, class_.retries, entering
    client.key = 1.0
    _ask(p, c)


def _client_event(p: Play, c: int) -> None:
    client = p.job[c]
    if client.queue == Where.AWAY:
        _ask(p, c)
        return
    if p.class_[client.class_].notices:
        withdraw(p, client.peer)
    disappoint(p, c)


def begin_request(p: Play, class_: int, station: int = NONE) -> None:
    """Let a job of a class arrive from outside, at a station or where the class enters."""
    j = take(p, class_)
    if p.class_[class_].asks:
        _request(p, j, station)
    else:
        go_on(p, j, station)


def _source_event(p: Play, s: int) -> None:
    source = p.source[s]
    schedule(p, s, p.now + next_arrival(p, s))
    begin_request(p, source.class_, source.station)


def _job_event(p: Play, j: int) -> None:
    job = p.job[j]
    if job.queue in (Where.ASKING, Where.AWAY):
        _client_event(p, j)
        return
    if job.lined:  # its patience has run out
        p.crowd[job.born].withdrawn += 1
        leave_line(p, j)
        fail(p, j)
        return
    if job.queue == Where.COMING and p.class_[job.class_].waits:
        think(p, j)
        return
    if job.queue >= 0 and p.station[p.home[job.queue]].interrupts:
        take_from_service(p, job.queue, j)
    if job.request != NONE:
        finish_part(p, j)
    else:
        go_on(p, j)


def _queue_event(p: Play, q: int) -> None:
    count(p, q)
    queue = p.queue[q]
    if queue.served_first == NONE:
        return
    j, queue.served_first = pop(p, queue.served_first)
    if p.job[j].request != NONE:
        finish_part(p, j)
    else:
        go_on(p, j)


def _most_new(p: Play) -> int:
    branches = (p.branch[s.branch : s.branch + s.branches] for s in p.station)
    return 2 + max(sum(b.parts for b in each) for each in branches) * (2 + len(p.gate))


def _event(p: Play, owner: int) -> None:
    open_hole(p)
    if owner < p.sources:
        _source_event(p, owner)
    elif owner < p.sources + p.queues:
        _queue_event(p, owner - p.sources)
    else:
        _job_event(p, owner - p.sources - p.queues)
    close_hole(p)


def _played(p: Play, until: float, most: int) -> int:
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
    sizes: IntArray,
    tables: FloatArray,
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
    left: IntArray,
    outcomes: IntArray,
    until: float,
    most: int,
) -> None:
    """Simulate until a time, or for a number of events.

    Parameters
    ----------
    stations, classes, sources, laws, routes, ways, speeds, paces, visits, branches, home
        The arrays of a `Score`; rows as int64 in one dimension.
    sizes, tables
        Further arrays of the `Score`.
    clock, queues, jobs, servers, places, events, streams, gates, crowds, journeys, left, outcomes
        The arrays of a `State`, in the same form; they are changed.
    until
        The time at which to stop [s].
    most
        The most events.
    """
    score = (stations, classes, sources, laws, routes, ways, speeds, paces)
    moving = (clock, queues, jobs, servers, places, events, streams, gates, crowds)
    state = (*moving, journeys, left, outcomes)
    p = Play((*score, np.ravel(visits), branches, home, sizes, tables), state)
    p.clock.reason = _played(p, until, most)
    if p.clock.reason == Reason.DONE and until > p.now:
        p.now = until
        for q in range(p.queues):
            count(p, q)
        for gate in p.gate:
            count_gate(p, gate)
        for crowd in p.crowd:
            count_open(p, crowd)
    p.clock.now = p.now
    p.write(state)
