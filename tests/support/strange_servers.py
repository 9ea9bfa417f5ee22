"""Servers that no form of the catalogue describes, simulated from what happens inside them.

Each class is a mechanism: its fields say how strong it is, `drawn` gives one at random, `capacity`
is the rate at which it saturates [1/s], and `responses` are the response times of requests that
arrive at given times, in the order of their arrival. Service times are exponential where nothing
else is said, and queues are first come, first served.
"""

import heapq
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, Self

import numpy as np
from scipy.optimize import brentq

from headway.kinds import FloatArray

SATURATING = 100_000
"""Requests that are all there at the start, to see how fast a server completes them."""


class Server(Protocol):
    """What can be measured at any rate."""

    @classmethod
    def drawn(cls, random: np.random.Generator) -> Self: ...

    @property
    def capacity(self) -> float: ...

    def responses(self, arrivals: FloatArray, random: np.random.Generator) -> FloatArray: ...


def poisson(rate: float, requests: int, random: np.random.Generator) -> FloatArray:
    """Times of Poisson arrivals [s]."""
    return np.cumsum(random.exponential(1 / rate, requests))


def pool(arrivals: FloatArray, services: FloatArray, workers: int) -> FloatArray:
    """When equal workers that share one queue complete requests (Kiefer and Wolfowitz, 1955)."""
    free, ends = [0.0] * workers, []
    for arrival, service in zip(arrivals.tolist(), services.tolist(), strict=True):
        end = max(arrival, free[0]) + service
        heapq.heapreplace(free, end)
        ends.append(end)
    return np.array(ends)


def _between(random: np.random.Generator, low: float, high: float) -> float:
    """A number whose logarithm is uniform."""
    return float(np.exp(random.uniform(np.log(low), np.log(high))))


def _service(random: np.random.Generator) -> float:
    return _between(random, 1e-3, 20e-3)


@dataclass(frozen=True)
class Pausing:
    """Workers that all stop for a pause at exponential intervals, as for garbage collection."""

    workers: int
    service: float
    interval: float  # mean time from the end of a pause to the next [s]
    pause: float

    @classmethod
    def drawn(cls, random: np.random.Generator) -> Self:
        service = _service(random)
        pause, share = service * _between(random, 20, 200), _between(random, 0.02, 0.15)
        return cls(int(random.integers(1, 5)), service, pause * (1 / share - 1), pause)

    @property
    def capacity(self) -> float:
        return self.workers / self.service * self.interval / (self.interval + self.pause)

    def responses(self, arrivals: FloatArray, random: np.random.Generator) -> FloatArray:
        """By a clock that stands still in pauses, where the pool is an ordinary one."""
        services = random.exponential(self.service, len(arrivals))
        length = arrivals[-1] + services.sum()  # later than the last end
        count = int(length / self.interval * 1.2) + 50
        stops = np.concatenate([[-1.0], np.cumsum(random.exponential(self.interval, count))])
        begins = stops + self.pause * (np.arange(count + 1) - 1)
        before = np.searchsorted(begins, arrivals, side="right") - 1
        worked = np.maximum(stops[before], arrivals - before * self.pause)
        ends = pool(worked, services, self.workers)
        return ends + (np.searchsorted(stops, ends) - 1) * self.pause - arrivals


@dataclass(frozen=True)
class Convoy:
    """Workers that need one lock at the end of their work; a lock handed over costs a switch."""

    workers: int
    parallel: float
    locked: float
    handover: float

    @classmethod
    def drawn(cls, random: np.random.Generator) -> Self:
        parallel, workers = _service(random), int(random.integers(2, 17))
        locked = parallel / workers * _between(random, 0.3, 1.5)
        return cls(workers, parallel, locked, locked * _between(random, 0.1, 1.0))

    @cached_property
    def capacity(self) -> float:
        return saturated_rate(self)

    def responses(self, arrivals: FloatArray, random: np.random.Generator) -> FloatArray:
        """The lock is given in the order in which it is asked for, so workers end in that order."""
        parallel = random.exponential(self.parallel, len(arrivals)).tolist()
        locked = random.exponential(self.locked, len(arrivals)).tolist()
        asking: list[tuple[float, int]] = []
        ends, released, unlocked = np.empty(len(arrivals)), deque[float](), 0.0

        def give_lock() -> None:
            nonlocal unlocked
            asked, request = heapq.heappop(asking)
            switch = self.handover if asked < unlocked else 0.0
            ends[request] = unlocked = max(asked, unlocked) + switch + locked[request]
            released.append(unlocked)

        for request, arrival in enumerate(arrivals.tolist()):
            while asking and asking[0][0] <= arrival:
                give_lock()
            start = arrival
            if len(asking) + len(released) == self.workers:
                if not released:
                    give_lock()
                start = max(arrival, released.popleft())
            heapq.heappush(asking, (start + parallel[request], request))
        while asking:
            give_lock()
        return ends - arrivals


@dataclass(frozen=True)
class Priorities:
    """Workers that take waiting requests of the high class first; one in service stays."""

    workers: int
    high_service: float
    low_service: float
    high_share: float
    only_low: bool  # whether the low class alone is measured

    @classmethod
    def drawn(cls, random: np.random.Generator) -> Self:
        low = _service(random)
        high, share = low * _between(random, 0.1, 1.0), random.uniform(0.2, 0.8)
        return cls(int(random.integers(1, 9)), high, low, share, bool(random.integers(2)))

    @property
    def capacity(self) -> float:
        mean = self.high_share * self.high_service + (1 - self.high_share) * self.low_service
        return self.workers / mean

    def responses(self, arrivals: FloatArray, random: np.random.Generator) -> FloatArray:
        is_low = random.random(len(arrivals)) >= self.high_share
        means = np.where(is_low, self.low_service, self.high_service)
        services = (means * random.exponential(1.0, len(arrivals))).tolist()
        times, low, ends = arrivals.tolist(), is_low.tolist(), np.empty(len(arrivals))
        queues, free, come = (deque[int](), deque[int]()), [0.0] * self.workers, 0
        for _ in times:
            now = free[0]
            if not (queues[0] or queues[1]) and times[come] > now:
                now = times[come]
            while come < len(times) and times[come] <= now:
                queues[low[come]].append(come)
                come += 1
            request = (queues[0] or queues[1]).popleft()
            ends[request] = now + services[request]
            heapq.heapreplace(free, ends[request])
        return (ends - arrivals)[is_low | (not self.only_low)]


@dataclass(frozen=True)
class Ageing:
    """A cache whose entries expire: the more load, the more hits; what misses goes to disks."""

    workers: int
    hit_service: float
    disks: int
    disk_service: float
    keys: int
    lifetime: float  # of an entry, from when it was fetched [s]

    @classmethod
    def drawn(cls, random: np.random.Generator) -> Self:
        hit, workers = _service(random), int(random.integers(1, 9))
        lifetime = hit / workers * _between(random, 100, 3000)
        disk, disks = hit * _between(random, 2, 10), int(random.integers(1, 9))
        return cls(workers, hit, disks, disk, int(_between(random, 100, 3000)), lifetime)

    @cached_property
    def popularity(self) -> FloatArray:
        """Share of the requests by key (Zipf)."""
        weights = 1 / np.arange(1.0, self.keys + 1)
        return weights / weights.sum()

    def missing(self, rate: float) -> float:
        """Rate of misses [1/s]: one in a lifetime and the time to the next request of the key."""
        return float(np.sum(1 / (self.lifetime + 1 / (rate * self.popularity))))

    @cached_property
    def capacity(self) -> float:
        most, spare = self.workers / self.hit_service, self.disks / self.disk_service
        if self.missing(most) <= spare:
            return most
        return float(brentq(lambda rate: self.missing(rate) - spare, 1e-6 * most, most))

    def responses(self, arrivals: FloatArray, random: np.random.Generator) -> FloatArray:
        keys = random.choice(self.keys, len(arrivals), p=self.popularity)
        fresh, misses = [-np.inf] * self.keys, np.zeros(len(arrivals), bool)
        for request, (arrival, key) in enumerate(zip(arrivals.tolist(), keys, strict=True)):
            if arrival > fresh[key]:
                fresh[key] = arrival + self.lifetime
                misses[request] = True
        ends = pool(arrivals, random.exponential(self.hit_service, len(arrivals)), self.workers)
        order = np.flatnonzero(misses)[np.argsort(ends[misses])]
        times = random.exponential(self.disk_service, len(order))
        ends[order] = pool(ends[order], times, self.disks)
        return ends - arrivals


@dataclass(frozen=True)
class SlowStart:
    """Workers that are slower the longer they were idle: clocks fall, caches cool."""

    workers: int
    service: float
    slower: float  # relative increase of the service time after a long idle time
    cooling: float  # idle time after which 63% of it applies [s]

    @classmethod
    def drawn(cls, random: np.random.Generator) -> Self:
        service, slower = _service(random), random.uniform(0.3, 3.0)
        return cls(int(random.integers(1, 9)), service, slower, service * _between(random, 0.3, 30))

    @property
    def capacity(self) -> float:
        return self.workers / self.service

    def responses(self, arrivals: FloatArray, random: np.random.Generator) -> FloatArray:
        services = random.exponential(self.service, len(arrivals)).tolist()
        free, ends = [0.0] * self.workers, []
        for arrival, service in zip(arrivals.tolist(), services, strict=True):
            idle = max(0.0, arrival - free[0])
            cold = -np.expm1(-idle / self.cooling) if idle else 0.0
            end = free[0] + idle + service * (1 + self.slower * cold)
            heapq.heapreplace(free, end)
            ends.append(end)
        return np.array(ends) - arrivals


def _two_pools(
    random: np.random.Generator, low: float, high: float
) -> tuple[tuple[int, int], tuple[float, float]]:
    """Workers and service times of two pools; the load of the second is so many times the first."""
    first, second = (int(count) for count in random.integers(1, 7, 2))
    service = _service(random)
    other = service * second / first * _between(random, low, high)
    return (first, second), (service, other)


@dataclass(frozen=True)
class Fork:
    """Each request asks two pools of unequal speed, and waits for both."""

    workers: tuple[int, int]
    services: tuple[float, float]

    @classmethod
    def drawn(cls, random: np.random.Generator) -> Self:
        return cls(*_two_pools(random, 0.4, 1.0))

    @property
    def capacity(self) -> float:
        return min(m / s for m, s in zip(self.workers, self.services, strict=True))

    def responses(self, arrivals: FloatArray, random: np.random.Generator) -> FloatArray:
        ends = [
            pool(arrivals, random.exponential(service, len(arrivals)), workers)
            for workers, service in zip(self.workers, self.services, strict=True)
        ]
        return np.maximum(*ends) - arrivals


@dataclass(frozen=True)
class Connections:
    """A pool of connections, each of which is held throughout the work of two tiers."""

    connections: int
    workers: tuple[int, int]
    services: tuple[float, float]

    @classmethod
    def drawn(cls, random: np.random.Generator) -> Self:
        workers, services = _two_pools(random, 0.4, 2.5)
        held = int(np.ceil(sum(workers) * random.uniform(0.6, 2.0)))
        return cls(held, workers, services)

    @cached_property
    def capacity(self) -> float:
        return saturated_rate(self)

    def responses(self, arrivals: FloatArray, random: np.random.Generator) -> FloatArray:
        work = [random.exponential(mean, len(arrivals)).tolist() for mean in self.services]
        tiers = _Tiers(work, list(self.workers), self.connections)
        for request, arrival in enumerate(arrivals.tolist()):
            while tiers.done and tiers.done[0][0] <= arrival:
                tiers.leave()
            tiers.come(request, arrival)
        while tiers.done:
            tiers.leave()
        return np.array(tiers.ends) - arrivals


class _Tiers:
    """Who is where in two tiers that are reached by a connection."""

    def __init__(self, work: list[list[float]], idle: list[int], unused: int) -> None:
        self.work, self.idle, self.unused = work, idle, unused
        self.waiting, self.queues = deque[int](), (deque[int](), deque[int]())
        self.done: list[tuple[float, int, int]] = []
        self.ends = [0.0] * len(work[0])

    def come(self, request: int, now: float) -> None:
        if self.unused:
            self.unused -= 1
            self.enter(0, request, now)
        else:
            self.waiting.append(request)

    def enter(self, tier: int, request: int, now: float) -> None:
        if self.idle[tier]:
            self.idle[tier] -= 1
            heapq.heappush(self.done, (now + self.work[tier][request], tier, request))
        else:
            self.queues[tier].append(request)

    def leave(self) -> None:
        """The next that completes a tier goes on, and so do those that waited for it."""
        now, tier, request = heapq.heappop(self.done)
        self.idle[tier] += 1
        if self.queues[tier]:
            self.enter(tier, self.queues[tier].popleft(), now)
        if tier == 0:
            self.enter(1, request, now)
            return
        self.ends[request] = now
        self.unused += 1
        if self.waiting:
            self.come(self.waiting.popleft(), now)


@dataclass(frozen=True)
class Crowding:
    """Processors that requests share, with an overhead for each that is there beyond them."""

    processors: int
    service: float
    overhead: float  # relative loss of speed for each request more than processors
    threads: int  # requests that share at most; others wait

    @classmethod
    def drawn(cls, random: np.random.Generator) -> Self:
        processors = int(random.integers(1, 9))
        threads = processors + int(_between(random, 4, 64))
        lost = random.uniform(0.05, 0.5)  # of the capacity, with all threads
        overhead = lost / (1 - lost) / (threads - processors)
        return cls(processors, _service(random), overhead, threads)

    def rates(self) -> FloatArray:
        """Completions by the number that share, from none to all threads [1/s]."""
        there = np.arange(self.threads + 1)
        slowed = 1 + self.overhead * np.maximum(0, there - self.processors)
        return np.minimum(there, self.processors) / self.service / slowed

    @property
    def capacity(self) -> float:
        return float(self.rates()[-1])

    def responses(self, arrivals: FloatArray, random: np.random.Generator) -> FloatArray:
        """With exponential times, each of those that share is equally likely to be the next."""
        gaps, picks = self._drawn_steps(2 * len(arrivals), random)
        rates, ends = self.rates().tolist(), np.empty(len(arrivals))
        inside, waiting, now = list[int](), deque[int](), 0.0
        for request, arrival in enumerate([*arrivals[1:].tolist(), np.inf]):
            now = max(now, float(arrivals[request]))
            (inside if len(inside) < self.threads else waiting).append(request)
            while inside:
                end = now + next(gaps) / rates[len(inside)]
                if end > arrival:
                    break
                now = end
                place = int(next(picks) * len(inside))
                inside[place], inside[-1] = inside[-1], inside[place]
                ends[inside.pop()] = now
                if waiting:
                    inside.append(waiting.popleft())
        return ends - arrivals

    @staticmethod
    def _drawn_steps(
        count: int, random: np.random.Generator
    ) -> tuple[Iterator[float], Iterator[float]]:
        """Unit exponential gaps, and uniform numbers that pick who leaves."""
        return iter(random.exponential(1.0, count).tolist()), iter(random.random(count).tolist())


@dataclass(frozen=True)
class Pool:
    """Workers that share one queue, without anything else."""

    workers: int
    service: float

    @classmethod
    def drawn(cls, random: np.random.Generator) -> Self:
        return cls(int(random.integers(1, 9)), _service(random))

    @property
    def capacity(self) -> float:
        return self.workers / self.service

    def responses(self, arrivals: FloatArray, random: np.random.Generator) -> FloatArray:
        services = random.exponential(self.service, len(arrivals))
        return pool(arrivals, services, self.workers) - arrivals


def saturated_rate(server: Server) -> float:
    """Completions of a server that always has work, by simulation [1/s]."""
    ends = server.responses(np.zeros(SATURATING), np.random.default_rng(0))
    return SATURATING / float(ends.max())


KINDS: dict[str, type[Server]] = {
    "pauses": Pausing,
    "lock convoy": Convoy,
    "priorities": Priorities,
    "expiring cache": Ageing,
    "slow start": SlowStart,
    "unequal fork": Fork,
    "held connections": Connections,
    "crowded sharing": Crowding,
}

COMPARED: dict[str, type[Server]] = {"ordinary pool": Pool}
"""What a form describes, to see how much of an error is not for want of a form."""

TRIED = KINDS | COMPARED
