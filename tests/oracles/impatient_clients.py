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


@dataclass
class Guarded(Apart):
    """The same clients with a circuit breaker, told only of attempts of its present period."""

    share: float = 0.5
    of: int = 10
    open_for: float = 5.0
    probes: int = 3
    state: str = "closed"
    period: int = 0
    passed: int = 0
    told: list = field(default_factory=list)
    sent_in: dict = field(default_factory=dict)

    def turn(self, state):
        self.state, self.period, self.passed, self.told = state, self.period + 1, 0, []
        if state == "open":
            self.tell("openings")
            self.at(self.open_for, self.turn, "half-open")

    def send(self, request):
        full = self.state == "half-open" and self.passed == self.probes
        if self.state == "open" or full:
            request.attempts += 1
            request.waits = True
            self.tell("attempts")
            self.tell("barred")
            Apart.fail(self, request, request.attempts)
            return
        self.passed += 1
        self.sent_in[id(request)] = self.period
        super().send(request)

    def judge(self, request, failed):
        if self.sent_in.pop(id(request)) != self.period:
            return
        self.told.append(failed)
        size = self.probes if self.state == "half-open" else self.of
        last = self.told[-size:]
        if len(last) < size:
            return
        if sum(last) >= self.share * size:
            self.turn("open")
        elif self.state == "half-open":
            self.turn("closed")

    def fail(self, request, attempt):
        if request.waits_for(attempt):
            self.judge(request, failed=True)
        super().fail(request, attempt)

    def end(self, request, attempt, work):
        if request.waits_for(attempt):
            self.judge(request, failed=False)
            self.tell("answered")
        super().end(request, attempt, work)


IDLE, STRANGER, OWN = range(3)
"""The job at the server, if any, is of an earlier phase of the breaker, or of the present one."""


@dataclass(frozen=True)
class GuardedServer:
    """M/M/1/1 with services of mean 1, whose clients have a breaker and do not retry.

    Closed and half-open it is a Markov chain of the job at the server, the probes so far (None if
    closed) and the outcomes; while it is open the server only ends its job. From opening to opening
    that is a Markov renewal process, of two kinds: the server is then idle (0) or busy (1).
    """

    rate: float
    of: int
    opens: int
    probes: int
    reopens: int
    open_for: float

    def after(self, server, passed, told):
        """The state after an outcome, or the kind of opening."""
        size, most = (self.of, self.opens) if passed is None else (self.probes, self.reopens)
        told = told[-size:]
        if len(told) < size:
            return (server, passed, told)
        if sum(told) >= most:
            return int(server != IDLE)
        return (server, None, told if passed is None else ())

    def moves(self, state):
        server, passed, told = state
        if server == OWN:
            yield self.after(IDLE, passed, (*told, 0)), 1.0
        if server == STRANGER:
            yield (IDLE, passed, told), 1.0
        if passed == self.probes:
            return
        more = None if passed is None else passed + 1
        busy = server != IDLE
        yield (self.after(server, more, (*told, 1)) if busy else (OWN, more, told)), self.rate

    def law(self):
        """Shares of time open and of attempts refused by it, openings and answers a second."""
        states = [(IDLE, 0, ()), (STRANGER, 0, ())]
        for state in states:
            found = (to for to, _ in self.moves(state) if not isinstance(to, int))
            states += [to for to in found if to not in states]
        place = dict(zip(states, range(len(states)), strict=True)) | {0: -2, 1: -1}
        speeds = np.zeros((len(states), len(states) + 2))
        for state in states:
            for to, speed in self.moves(state):
                speeds[place[state], place[to]] += speed
        away, opened = np.diag(speeds.sum(axis=1)) - speeds[:, :-2], speeds[:, -2:]
        stays = np.exp(-self.open_for)
        starts = np.zeros((2, len(states)))
        starts[0, 0], starts[1, :2] = 1.0, (1 - stays, stays)
        spent = np.linalg.solve(away.T, starts.T).T  # in each state, until it opens again
        turns = spent @ opened
        kinds = np.array([turns[1, 0], turns[0, 1]]) / (turns[1, 0] + turns[0, 1])
        busy, full = ([test(s) for s in states] for test in (self.is_busy, self.is_full))
        cycle = kinds @ (self.open_for + spent.sum(axis=1))
        barred = kinds @ (self.open_for + spent @ full) / cycle
        answered = kinds @ ([0.0, 1 - stays] + spent @ busy) / cycle
        return self.open_for / cycle, barred, 1 / cycle, answered

    @staticmethod
    def is_busy(state):
        return state[0] != IDLE

    def is_full(self, state):
        return state[1] == self.probes
