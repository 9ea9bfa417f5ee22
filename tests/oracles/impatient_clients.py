"""Clients that give up, apart from headway: a simulation in a page, and the chain of an orbit."""

import heapq
from dataclasses import dataclass, field
from itertools import count
from math import inf

import numpy as np


@dataclass
class Request:
    """A request, its attempts so far, and whether its client waits for the last of them."""

    attempts: int = 0
    waits: bool = False

    def waits_for(self, attempt):
        """Whether the client still waits for an attempt."""
        return self.waits and self.attempts == attempt


@dataclass
class Apart:
    """M/M/m in order of arrival, services of mean 1, that works on for clients who have gone.

    They back off twice as long from time to time, jittered by a half, and a budget counts retries.
    With as many jobs as there is room for, further ones are refused at once.
    """

    seed: int
    rate: float
    servers: int
    timeout: float
    retries: int
    backoff: float
    budget: float = inf
    oldest: float = inf
    room: float = inf
    tokens: float = 10.0
    busy: int = 0
    now: float = 0.0
    from_then_on: float = 0.0
    line: list = field(default_factory=list)
    calendar: list = field(default_factory=list)
    counts: dict = field(default_factory=dict)

    def play(self, horizon):
        """Counts of all that happens after a sixth of the time."""
        self.draw, self.number = np.random.default_rng(self.seed), count()
        self.from_then_on = horizon / 6
        self.at(0.0, self.come)
        while self.calendar and self.calendar[0][0] < horizon:
            self.now, _, what, of = heapq.heappop(self.calendar)
            what(*of)
            self.serve()
        return self.counts

    def at(self, after, what, *of):
        heapq.heappush(self.calendar, (self.now + after, next(self.number), what, of))

    def tell(self, name, value=1):
        if self.now > self.from_then_on:
            self.counts[name] = self.counts.get(name, 0) + value

    def come(self):
        self.at(self.draw.exponential(1 / self.rate), self.come)
        self.tell("requests")
        self.tokens = min(self.tokens + self.budget, 100.0)
        self.send(Request())

    def send(self, request):
        request.attempts += 1
        request.waits = True
        self.tell("attempts")
        if self.busy + len(self.line) >= self.room:
            self.tell("refused")
            self.fail(request, request.attempts)
            return
        self.at(self.timeout, self.fail, request, request.attempts)
        self.line.append((self.now, request, request.attempts))

    def fail(self, request, attempt):
        if not request.waits_for(attempt):
            return
        request.waits = False
        if attempt > self.retries or self.tokens < 1:
            self.tell("given_up")
            return
        self.tokens -= 1
        spread = 0.5 + self.draw.random()
        self.at(self.backoff * 2 ** (attempt - 1) * spread, self.send, request)

    def serve(self):
        while self.line and self.busy < self.servers:
            came, request, attempt = self.line.pop(0)
            if self.now - came > self.oldest:
                self.fail(request, attempt)
                continue
            self.busy += 1
            work = self.draw.exponential(1.0)
            self.at(work, self.end, request, attempt, work)

    def end(self, request, attempt, work):
        self.busy -= 1
        self.tell("work", work)
        if request.waits_for(attempt):
            request.waits = False
            self.tell("useful", work)


def orbit_chain(rate, servers, room, persistence, backoff, patience=inf, most=60):
    """M/M/m/K whose clients return from an orbit: mean queue length and orbit, answers a second."""
    shape = (room + 1, most + 1)
    generator = np.zeros((*shape, *shape))
    for n, o in np.ndindex(shape):
        for (to, away), speed in _moves(n, o, rate, servers, room, persistence, backoff, patience):
            generator[n, o, to, min(away, most)] += speed
            generator[n, o, n, o] -= speed
    size = shape[0] * shape[1]
    equations = np.vstack([generator.reshape(size, size).T, np.ones(size)])
    found = np.linalg.lstsq(equations, np.r_[np.zeros(size), 1.0], rcond=None)[0]
    chances = found.reshape(shape)
    assert chances[:, -1].sum() < 1e-9
    jobs, away = (np.arange(each) for each in shape)
    served = float(chances.sum(axis=1) @ np.minimum(jobs, servers))
    return float(chances.sum(axis=1) @ jobs), float(chances.sum(axis=0) @ away), served


def _moves(n, o, rate, servers, room, persistence, backoff, patience):
    leave, again = max(n - servers, 0) / patience, o / backoff
    yield (n - 1, o), min(n, servers) + leave * (1 - persistence)
    yield (n - 1, o + 1), leave * persistence
    if n < room:
        yield (n + 1, o), rate
        yield (n + 1, o - 1), again
    else:
        yield (n, o + 1), rate * persistence
        yield (n, o - 1), again * (1 - persistence)
