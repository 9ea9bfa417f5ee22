"""A request followed through its attempts: M/M/m whose clients ask again soon after a timeout.

Attempts of a request come close together, while the queue is what it was, and behind one another.
So they are no Poisson stream, and a second attempt fails more often than the first. With lambda
requests a second, p_n the chance of n jobs and r_n the mean number of retries of a request that
come to n jobs, attempts come to n jobs at the rate lambda_n, and the flows between n and n + 1 jobs
are the same both ways:

    lambda_n = lambda (1 + r_n / p_n),   lambda_n p_n = min(n + 1, m) mu p_(n+1).        (1)

That is exact. r_n follows from one request: its first attempt meets n jobs with chance p_n, as
requests are a Poisson stream. While its k-th attempt is there, jobs come to n of them at the rate

    lambda_(n-k),                                                                        (2)

that at which they come to the n - k that are not its own. (2) is an approximation: it forgets how
long those have been there, and takes all k attempts to be there still. Of what is there a timeout
later with the attempt unanswered, a share asks again after its backoff. (1) and (2) are solved in
turn. Each transient is a uniformised chain: of the jobs there once the attempt is in service, and
before that of the jobs there and of those that must leave until its turn comes.

An attempt that meets n >= m jobs waits for n - m + 1 departures, an Erlang law of rate m mu
whatever comes later, so whether it is answered in time depends on n alone.

Where lambda_n exceeds m mu from some n on and stays above, what is there by chance then grows: a
good state is that of fewer jobs. How long it lasts is told by `headway.queueing.retries.lasting`.
"""

from collections.abc import Callable, Iterator
from math import inf

import numpy as np
from scipy.special import gammaln, xlogy

from headway.errors import GraphError
from headway.kinds import FloatArray
from headway.queueing.compiled.library import compiled
from headway.queueing.flows.clients import Clients
from headway.queueing.playing.rows import IntArray
from headway.queueing.retries.attempts import per_request
from headway.queueing.retries.times import TimedQueue
from headway.records import dataclass

_TAIL = 1e-13
"""Chance below which numbers of jobs, steps and attempts are left out."""

_ENOUGH = 1e-7  # chance of the most jobs up to which there is room for all that matter
_LEAST = 1e-20  # chance from which the rate of attempts at a number of jobs is known
_NONE = 1e-25  # of the most that meet a number of jobs, below which none do: less than `_LEAST`
_CAP = 20.0  # times the rate of the servers that the rate of attempts is at most
_SAME = 1e-5  # relative change of the rate of attempts at which (1) and (2) agree
_TURNS, _QUICK, _FREE = 60, 3, 8
"""Turns at most, those that are taken whole, and those in which a good state's end may move out."""

_WORK = 1e8  # cells times steps of a turn at most, which take a second: chosen
_DEEPEST = 60  # attempts of a request that are followed at most
_PANEL, _NODES = 4.0, 8  # mean services of all servers in a panel of an integral, and its nodes


@dataclass(frozen=True)
class Followed:
    """A state of a queue whose clients ask again.

    Parameters
    ----------
    rate
        Attempts [1/s].
    answered
        Share of the requests that are answered in time.
    time
        Mean response time of those, from their first attempt on [s].
    late
        Share of the attempts that fail.
    wasted
        Share of the work that goes into those.
    queue_length
        Jobs there.
    """

    rate: float
    answered: float
    time: float
    late: float
    wasted: float
    queue_length: float


def is_followed(queue: TimedQueue, clients: Clients, late: float) -> bool:
    """Whether attempts that fail with a probability are worth following; others count as Poisson.

    Examples
    --------
    >>> queue, asks = TimedQueue(0.01, 4, 0.005), Clients(timeout=0.005, retries=2)
    >>> is_followed(queue, asks, 0.6), is_followed(queue, asks, 1e-6)
    (True, False)
    """
    often = late * float(clients.persistence) >= _FEW
    return bool(often and clients.returns and queue.oldest == inf)


_FEW = 1e-3
"""Share of failing attempts below which they are taken as a Poisson stream: they then change the
rate of attempts by about as much, so however close together they come, it is off by little."""


def followed(queue: TimedQueue, clients: Clients, load: float) -> Followed:
    """Follow a request through its attempts, until others are as it is.

    Parameters
    ----------
    queue
        M/M/m with a timeout, from which nothing is dropped.
    clients, load
        How they ask again, and requests [1/s], above 0 and below what the servers can do.

    Raises
    ------
    GraphError
        For more jobs than can be followed, and where (1) and (2) do not come to agree.

    Examples
    --------
    >>> queue = TimedQueue(service_time=0.01, servers=4, timeout=0.005)
    >>> found = followed(queue, Clients(timeout=0.005, retries=2), 100.0)
    >>> round(found.rate), round(100 * found.answered)
    (230, 51)
    """
    for most in _rooms(queue, clients, load):
        turns = _Turns(queue, clients, load, most)
        if turns.settle():
            return turns.found()
    raise GraphError("its attempts meet too many jobs to be followed among them; simulate")


def _rooms(queue: TimedQueue, clients: Clients, load: float) -> Iterator[int]:
    """Numbers of jobs to try as the most: those of the load alone, then those of all attempts."""
    full = queue.servers / queue.service_time
    fewest = queue.servers + 10 + int(np.ceil(np.log(_TAIL) / np.log(load / full)))
    busiest = load * per_request(clients, 1.0) / full
    most = queue.servers + int(np.log(_ENOUGH) / np.log(busiest)) + 20 if busiest < 1 else inf
    steps = 2 * full * queue.timeout * min(_DEEPEST, float(clients.attempts))
    for room in (1.5 * fewest, 3 * fewest, most):
        if (room - queue.servers) * room * steps <= _WORK:
            yield int(room)


@dataclass(frozen=True)
class _Pause:
    """A backoff: its mean [s], its squared coefficient of variation, and its jitter."""

    mean: float
    scv: float
    jitter: float

    def steps(self, rate: float) -> FloatArray:
        """Chances of so many steps at a rate while it lasts: Poisson, mixed by its gamma law."""
        nodes, weights = np.polynomial.legendre.leggauss(_NODES if self.jitter else 1)
        means = rate * self.mean * (1 + self.jitter * nodes)
        rows = [_poisson(mean, self.scv) for mean in means.tolist()]
        mixed = np.zeros(max(map(len, rows)))
        for row, weight in zip(rows, weights / 2, strict=True):
            mixed[: len(row)] += weight * row
        return mixed


def _pause(clients: Clients, k: int) -> _Pause | None:
    """The backoff after the failure of attempt k, of those from 0; None where there is none."""
    mean = _backoff(clients, k)
    return _Pause(mean, float(clients.backoff_scv), float(clients.jitter)) if mean else None


def _backoff(clients: Clients, k: int) -> float:
    return float(clients.backoff) * float(clients.backoff_factor) ** k


def _poisson(mean: float, scv: float = 0.0) -> FloatArray:
    """Chances of a Poisson number, or of one with a gamma-distributed mean (negative binomial)."""
    spread = np.sqrt(mean + scv * mean**2)
    count = np.arange(int(mean + (9 + 30 * scv) * spread) + 30)
    if not scv:
        return np.asarray(np.exp(xlogy(count, mean) - mean - gammaln(count + 1)))
    shape = 1 / scv
    logs = gammaln(count + shape) - gammaln(shape) - gammaln(count + 1)
    share = mean / (mean + shape)
    return np.asarray(np.exp(logs + xlogy(count, share) + shape * np.log1p(-share)))


# What an attempt meets


def failing(queue: TimedQueue, numbers: IntArray) -> FloatArray:
    """Chance that an attempt which meets n jobs is not answered in time, shape (jobs,).

    Examples
    --------
    >>> failing(TimedQueue(1.0, 2, 1.0), np.array([0, 1, 9])).round(3).tolist()
    [0.368, 0.368, 1.0]
    """
    return _by_met(queue, numbers)[0]


def _by_met(queue: TimedQueue, numbers: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """P(R > T), E[R; R <= T] and E[S; R > T] of an attempt that meets n jobs, shapes (jobs,).

    By the law of what is left of the timeout after the wait: all of it below m jobs; else T - w
    with w of an Erlang law of n - m + 1 departures at the rate m mu, and nothing beyond T.
    """
    m, mu, limit = queue.servers, 1 / queue.service_time, queue.timeout
    panels = int(np.ceil(m * mu * limit / _PANEL))
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    width = limit / panels
    at = (width * (np.arange(panels)[:, None] + (nodes + 1) / 2)).ravel()
    shares = np.tile(weights * width / 2, panels)
    before = np.maximum(numbers - m, 0)[:, None]  # departures before the last, by n
    density = m * mu * np.exp(xlogy(before, m * mu * at) - m * mu * at - gammaln(before + 1))
    waits = numbers >= m

    def mean(law: Callable[[FloatArray], FloatArray]) -> FloatArray:
        inside = density * shares
        gone = np.maximum(1 - inside.sum(axis=1), 0.0) * law(np.zeros(1))
        later = inside @ law(limit - at) + gone
        return np.asarray(np.where(waits, later, law(np.full(1, limit))), np.float64)

    def in_time(left: FloatArray) -> FloatArray:
        gone = np.exp(-mu * left)
        return np.asarray((limit - left) * (1 - gone) + (1 - gone * (1 + mu * left)) / mu)

    late = mean(lambda left: np.exp(-mu * left))
    wasted = mean(lambda left: np.exp(-mu * left) * (left + 1 / mu))
    return late, mean(in_time), wasted


class _Turns:
    """The turns of (1) and (2), over 0..most jobs."""

    def __init__(self, queue: TimedQueue, clients: Clients, load: float, most: int) -> None:
        self.queue, self.clients, self.load = queue, clients, load
        self.numbers = np.arange(most + 1)
        self.departs = np.minimum(self.numbers, queue.servers) / queue.service_time
        self.grows = load * per_request(clients, 1.0) >= self.departs[-1]
        self.rates, self.share = np.full(most + 1, load), 1.0
        self.end = most  # of the good state
        self.pauses = [
            _pause(clients, k) for k in range(int(min(_DEEPEST, float(clients.attempts))))
        ]

    def settle(self) -> bool:
        """Take turns until they agree; whether all jobs that matter have room."""
        before = self.load
        for turn in range(_TURNS):
            self.settle_numbers(turn)
            self.met = list(self.attempts())
            comes = self.load * np.sum(self.met, axis=0)
            wanted = self.by_number(comes)
            rate = float(comes.sum())
            self.spend(rate / self.load - 1)
            off = float(np.abs(self.chances * (wanted - self.rates)).sum())
            if max(off, abs(rate - before)) <= _SAME * rate:
                return bool(self.end < self.numbers[-1] or self.chances[-1] < _ENOUGH)
            before = rate
            self.rates = wanted if turn < _QUICK else (self.rates + wanted) / 2
        raise GraphError("its attempts lead to no steady state that headway finds; simulate")

    def settle_numbers(self, turn: int) -> None:
        """The chances of (1), up to where the number of jobs grows on."""
        full = self.numbers >= self.queue.servers
        over = np.flatnonzero(full & (self.rates > self.departs[-1]))
        if self.grows and len(over):
            self.end = int(min(over[0], self.end if turn > _FREE else over[0]))
        logs = np.r_[0.0, np.cumsum(np.log(self.rates[:-1] / self.departs[1:]))]
        good = logs[: self.end + 1]
        self.chances = np.zeros(len(logs))
        self.chances[: self.end + 1] = np.exp(good - good.max())
        self.chances /= self.chances.sum()

    def by_number(self, comes: FloatArray) -> FloatArray:
        """Rates at which attempts come to numbers of jobs; beyond those known, the last [1/s]."""
        known = np.flatnonzero(self.chances > _LEAST)
        rates = comes[known] / self.chances[known]
        rates = np.minimum(rates, _CAP * self.departs[-1])
        return np.asarray(np.interp(self.numbers, known, rates))

    def spend(self, retries: float) -> None:
        """Let fewer ask again where a budget allows no more."""
        budget = float(self.clients.retry_budget)
        self.share = min(1.0, self.share * budget / retries) if retries > 0 else 1.0

    def attempts(self) -> Iterator[FloatArray]:
        """For each attempt of a request: mean number of them that meet n jobs."""
        meets, again = self.chances, float(self.clients.persistence) * self.share
        for k, pause in enumerate(self.pauses):
            yield meets
            if k + 1 == len(self.pauses) or meets.sum() < _TAIL:
                return
            others = np.r_[np.full(k + 1, self.rates[0]), self.rates[: -k - 1]]
            left = _unanswered(meets, others, self.queue)
            meets = again * (left if pause is None else _passed(left, others, self.queue, pause))

    def found(self) -> Followed:
        """What follows of the numbers that attempts meet."""
        queue, clients = self.queue, self.clients
        late, in_time, wasted = _by_met(queue, self.numbers)
        met = np.array(self.met)
        answered = met @ (1 - late)
        waits = np.cumsum(
            [0.0, *(queue.timeout + _backoff(clients, k) for k in range(len(met) - 1))]
        )
        spent = float(answered @ waits) + float((met @ in_time).sum())
        count, done = float(met.sum()), float(answered.sum())
        return Followed(
            self.load * count,
            done,
            spent / done,
            1 - done / count,
            float((met @ wasted).sum()) / count / queue.service_time,
            float(self.chances @ self.numbers),
        )


# Transients


def _unanswered(meets: FloatArray, others: FloatArray, queue: TimedQueue) -> FloatArray:
    """Of attempts that meet n jobs: how many are there after a timeout if it is unanswered.

    Shapes (jobs,); `others` are the rates at which jobs come to each number, its own counted.
    """
    m, mu, most = queue.servers, 1 / queue.service_time, len(meets) - 1
    total = float(others.max()) + m * mu
    up, ends, turn = others / total, mu / total, m * mu / total
    up[-1] = 0.0
    beside = np.minimum(np.maximum(np.arange(most + 1) - 1, 0), m - 1) * mu / total
    stays, keeps = 1 - up - beside - ends, 1 - up - turn
    longest = max(int(np.flatnonzero(meets > _NONE * meets.max())[-1]), m)
    served, waits = np.zeros(most + 1), np.zeros((longest - m + 1, most + 1))
    served[1 : m + 1] = meets[:m]
    ahead = np.arange(longest - m + 1)  # departures before its turn, less one
    waits[ahead, np.minimum(m + ahead + 1, most)] = meets[m : longest + 1]
    left, work = np.zeros(most + 1), (np.empty(most + 1), np.zeros_like(waits), np.empty(most + 1))
    chances = _poisson(total * queue.timeout)
    _unanswered_steps(up, stays, beside, keeps, turn, m, chances, served, waits, *work, left)
    return left


@compiled
def _unanswered_steps(
    up: FloatArray,
    stays: FloatArray,
    beside: FloatArray,
    keeps: FloatArray,
    turn: float,
    first: int,  # noqa: ARG001 - the kernel passes over what is 0 before it
    chances: FloatArray,
    served: FloatArray,
    waits: FloatArray,
    after: FloatArray,
    moved: FloatArray,
    there: FloatArray,
    left: FloatArray,
) -> None:
    """Add to `left` what is there after each number of steps, times the chance of so many.

    Parameters
    ----------
    up, stays, beside
        Chances of a step while it is served: one more job, nothing, one less beside it, by jobs.
    keeps, turn
        While it waits: that nothing happens, by jobs, and that a job departs.
    first
        Servers m: it waits behind a departures less one where m + a jobs or more are there.
    chances
        Of 0, 1... steps.
    served, waits
        Attempts in service by jobs, and those that wait by departures less one and jobs.
    after, moved, there
        Room for as many, and for a row; `moved` is 0.
    left
        What is added to.
    """
    for chance in chances.tolist():
        there[:] = waits.sum(axis=0)
        left += chance * (served + there)
        np.multiply(served, stays, out=after)
        after[1:] += served[:-1] * up[:-1]
        after[:-1] += served[1:] * beside[1:]
        after[:-1] += turn * waits[0, 1:]
        np.multiply(waits, keeps, out=moved)
        moved[:, 1:] += waits[:, :-1] * up[:-1]
        moved[:-1, :-1] += turn * waits[1:, 1:]
        served, after, waits, moved = after, served, moved, waits


def _passed(there: FloatArray, rates: FloatArray, queue: TimedQueue, pause: _Pause) -> FloatArray:
    """How many are there after a backoff, shape (jobs,)."""
    m, mu = queue.servers, 1 / queue.service_time
    total = float(rates.max()) + m * mu
    up, down = rates / total, np.minimum(np.arange(len(there)), m) * mu / total
    up[-1] = 0.0
    stays, after, rest = 1 - up - down, np.zeros_like(there), 1.0
    for weight in pause.steps(total):
        after += weight * there
        rest -= weight
        moved = there * stays
        moved[1:] += there[:-1] * up[:-1]
        moved[:-1] += there[1:] * down[1:]
        if np.abs(moved - there).sum() <= _SETTLED * moved.sum():
            break
        there = moved
    return after + rest * there


_SETTLED = 1e-10  # relative change in a step after which none is to come
