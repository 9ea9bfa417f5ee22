"""Closed and open classes at stations, job by job: an event loop that knows no law of a queue.

Jobs think or arrive, enter, go the routes of their class, and leave or think again. Stations serve
in order of arrival, or share their servers among all who are there; as services are then
exponential, who is served next is drawn anew whenever somebody comes or goes.
"""

import heapq
from bisect import bisect
from collections import deque
from math import isinf
from random import Random

import numpy as np


def response_times(plan, events, seed):
    """Response times by class of a `headway.models.simulating` blueprint, but the first 5%."""
    run = _Run(plan, seed)
    for _ in range(events):
        run.step()
    return [np.array(each[len(each) // 20 :]) for each in run.times]


class _Queue:
    """One queue of a station."""

    def __init__(self, place, names):
        self.times = [place.times[name] for name in names]
        self.fastest = min((time for time in self.times if time), default=0.0)
        self.scv, self.servers = place.serving.scv, place.serving.servers
        self.room = place.serving.places
        self.shared = place.shared and not isinf(self.servers)
        self.counts = [0] * len(names)
        self.line, self.busy, self.turn, self.station = deque(), 0, 0, 0

    def pace(self):
        """Jobs served a second, if each had a server."""
        return sum(n / t for n, t in zip(self.counts, self.times, strict=True) if n)


class _Run:
    def __init__(self, plan, seed):
        self.plan, self.random = plan, Random(seed)
        names = [jobs.name for jobs in plan.classes]
        self.queues = [[_Queue(p, names) for _ in range(p.serving.queues)] for p in plan.places]
        for k, queues in enumerate(self.queues):
            for queue in queues:
                queue.station = k
        self.entry = [np.cumsum(jobs.ways.entry)[:-1].tolist() for jobs in plan.classes]
        self.ways = [np.cumsum(jobs.ways.onward, axis=1).tolist() for jobs in plan.classes]
        self.calendar, self.number = [], 0
        self.times = [[] for _ in names]
        for c, jobs in enumerate(plan.classes):
            for _ in range(jobs.population or 1):
                self.thinks(0.0, c)

    def thinks(self, now, c):
        jobs = self.plan.classes[c]
        mean = jobs.think_time if jobs.population else 1 / jobs.arrival_rate
        self.at(now + self.random.expovariate(1.0) * mean, [c, 0.0], None)

    def at(self, time, job, queue):
        self.number += 1
        heapq.heappush(self.calendar, (time, self.number, job, queue))

    def step(self):
        now, _, job, queue = heapq.heappop(self.calendar)
        if queue is None:
            if not self.plan.classes[job[0]].population:
                self.thinks(now, job[0])
            job[1] = now
            self.come(now, job, bisect(self.entry[job[0]], self.random.random()))
        elif not queue.shared:
            self.next_in_line(now, queue)
            self.served(now, job, queue)
        elif job == queue.turn:  # nobody has come or gone since
            job = self.taken(queue)
            self.renew(now, queue)
            self.served(now, job, queue)

    def come(self, now, job, k):
        queues = self.queues[k]
        queue = queues[0] if len(queues) == 1 else self.random.choice(queues)
        if queue.shared:
            queue.line.append(job)
            queue.counts[job[0]] += 1
            self.renew(now, queue)
        elif queue.busy < queue.servers:
            queue.busy += 1
            self.serve(now, job, queue)
        elif queue.busy + len(queue.line) < queue.room:
            queue.line.append(job)

    def serve(self, now, job, queue):
        time, scv = queue.times[job[0]], queue.scv
        if scv == 1:
            time *= self.random.expovariate(1.0)
        elif scv > 0:
            time *= self.random.gammavariate(1 / scv, scv)
        self.at(now + time, job, queue)

    def next_in_line(self, now, queue):
        if queue.line:
            self.serve(now, queue.line.popleft(), queue)
        else:
            queue.busy -= 1

    def renew(self, now, queue):
        """Draw when the next of a shared queue is served; `turn` counts the draws."""
        queue.turn += 1
        if queue.line:
            speed = queue.pace() * min(1.0, queue.servers / len(queue.line))
            self.at(now + self.random.expovariate(speed), queue.turn, queue)

    def taken(self, queue):
        """One of those who share a queue, by how fast each is served."""
        while True:
            place = int(self.random.random() * len(queue.line))
            job = queue.line[place]
            if self.random.random() * queue.times[job[0]] <= queue.fastest:
                del queue.line[place]
                queue.counts[job[0]] -= 1
                return job

    def served(self, now, job, queue):
        ways = self.ways[job[0]][queue.station]
        target = bisect(ways, self.random.random())
        if target < len(ways):
            self.come(now, job, target)
            return
        self.times[job[0]].append(now - job[1])
        if self.plan.classes[job[0]].population:
            self.thinks(now, job[0])
