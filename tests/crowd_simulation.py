"""Closed and open classes at stations, job by job: an event loop that knows no law of a queue.

Jobs think, enter at the first station, go the routes of all, and leave or think again. Stations
serve in order of arrival, or share their servers among all who are there; as services are
exponential, who is served next there is drawn anew whenever somebody comes or goes.
"""

import heapq
from bisect import bisect
from collections import deque
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Crowd:
    """Classes by arrival rate, population and think time; stations by their numbers.

    `times` has shape (classes, stations), `onward` shape (stations, stations); of each class either
    the rate or the population is 0.
    """

    classes: list
    times: list
    servers: list
    shared: list
    onward: list


def response_times(crowd, events, seed):
    """Response times by class, without the first twentieth."""
    run = _Run(crowd, seed)
    for _ in range(events):
        run.step()
    return [np.array(each[len(each) // 20 :]) for each in run.found]


class _Run:
    def __init__(self, crowd, seed):
        self.crowd, self.random = crowd, np.random.default_rng(seed)
        self.ways = np.cumsum(crowd.onward, axis=1).tolist()
        self.calendar, self.number, self.draws = [], 0, iter(())
        self.queues = [deque() for _ in crowd.servers]
        self.busy = [0] * len(crowd.servers)
        self.found = [[] for _ in crowd.classes]
        for c, (rate, population, think) in enumerate(crowd.classes):
            for _ in range(population or 1):
                self.at(self.drawn() * (think if population else 1 / rate), [c, 0.0], -1)

    def drawn(self):
        value = next(self.draws, None)
        if value is None:
            self.draws = iter(self.random.exponential(size=65536).tolist())
            value = next(self.draws)
        return value

    def at(self, time, job, k):
        self.number += 1
        heapq.heappush(self.calendar, (time, self.number, job, k))

    def step(self):
        now, _, job, k = heapq.heappop(self.calendar)
        if k < 0:
            rate, population, _ = self.crowd.classes[job[0]]
            if not population:
                self.at(now + self.drawn() / rate, [job[0], 0.0], -1)
            job[1] = now
            self.come(now, job, 0)
        elif self.crowd.shared[k]:
            if job == self.busy[k]:  # nobody has come or gone since
                self.served(now, self.taken(k), k)
                self.renew(now, k)
        else:
            self.next_in_line(now, k)
            self.served(now, job, k)

    def come(self, now, job, k):
        if self.crowd.shared[k]:
            self.queues[k].append(job)
            self.renew(now, k)
        elif self.busy[k] < self.crowd.servers[k]:
            self.busy[k] += 1
            self.at(now + self.drawn() * self.crowd.times[job[0]][k], job, k)
        else:
            self.queues[k].append(job)

    def next_in_line(self, now, k):
        if self.queues[k]:
            job = self.queues[k].popleft()
            self.at(now + self.drawn() * self.crowd.times[job[0]][k], job, k)
        else:
            self.busy[k] -= 1

    def renew(self, now, k):
        """Draw when the next of a shared station is served; `busy` counts the draws."""
        here = self.queues[k]
        self.busy[k] += 1
        if here:
            speed = sum(1 / self.crowd.times[job[0]][k] for job in here)
            share = min(1.0, self.crowd.servers[k] / len(here))
            self.at(now + self.drawn() / (speed * share), self.busy[k], k)

    def taken(self, k):
        """One of those who share a station, by how fast each is served."""
        here = self.queues[k]
        speeds = np.cumsum([1 / self.crowd.times[job[0]][k] for job in here])
        place = int(np.searchsorted(speeds, self.random.uniform() * speeds[-1]))
        job = here[place]
        del here[place]
        return job

    def served(self, now, job, k):
        target = bisect(self.ways[k], self.random.random())
        if target < len(self.ways):
            self.come(now, job, target)
            return
        self.found[job[0]].append(now - job[1])
        _, population, think = self.crowd.classes[job[0]]
        if population:
            self.at(now + self.drawn() * think, job, -1)
