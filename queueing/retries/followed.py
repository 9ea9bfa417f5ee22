"""A request followed through its attempts: M/M/m whose clients retry soon after a timeout.

The attempts of a request come close together, while the queue has hardly changed, and meet each
other there. So attempts are not a Poisson stream, and a second attempt fails more often than a
first. Let lambda be the rate of requests, p_n the probability of n jobs, and r_n the mean number of
retries of a request that find n jobs. Then attempts find n jobs at the rate lambda_n p_n, and the
flows between n and n + 1 jobs balance:

    lambda_n = lambda (1 + r_n / p_n),   lambda_n p_n = min(n + 1, m) mu p_(n+1).        (1)

(1) is exact. r_n follows from a single request: its first attempt finds n jobs with probability
p_n, as requests are a Poisson stream. During its k-th attempt, other jobs arrive at n of them at
the rate

    lambda_(n-k),                                                                        (2)

at which they arrive at the n - k jobs that are not its own. (2) is an approximation: it ignores how
long these jobs have been there, and assumes that all k attempts are still there. Of the attempts
still unanswered at the timeout, a share is retried after its backoff. (1) and (2) are solved in
turn. Each transient is a uniformised chain: over the jobs present while the attempt is in service,
and before that over the jobs present and the departures until its turn.

Whether an attempt is answered in time depends on the jobs that it finds alone
(`headway.queueing.retries.met`). A queue with K places refuses attempts that find n = K: these are
not among its own jobs in (2), and the client backs off at once. So attempts are told apart by how
many of those before them timed out.

If lambda_n exceeds m mu for all n from some number on, a queue that reaches that number by chance
keeps growing: the good state has fewer jobs. `headway.queueing.retries.lasting` says how long it
lasts.
"""

from collections.abc import Iterator
from math import inf

import numpy as np
from scipy.special import gammaln, xlogy

from headway.errors import GraphError
from headway.kinds import FloatArray
from headway.queueing.compiled.library import compiled
from headway.queueing.erlang.birth_death import weights
from headway.queueing.flows.clients import Clients
from headway.queueing.retries.attempts import per_request
from headway.queueing.retries.met import met
from headway.queueing.retries.times import TimedQueue
from headway.records import dataclass

_TAIL = 1e-13
"""Probability below which numbers of jobs, steps and attempts are left out."""

_ENOUGH = 1e-7  # probability of the largest number of jobs below which there is enough room
_LEAST = 1e-20  # probability from which on the rate of attempts at a number of jobs is known
_NONE = 1e-25  # share of the largest number of attempts that counts as none; less than `_LEAST`
_CAP = 20.0  # largest rate of attempts, as a multiple of the service rate of all servers
_SAME = 1e-5  # relative change of the rate of attempts at which (1) and (2) have converged
_TURNS, _QUICK, _FREE = 60, 3, 8
"""Most iterations, first ones that are not damped, and ones in which the good state may widen."""

_JUMPS, _SLOWEST = 4, 0.95  # turns from jump to jump, and largest ratio of steps that is trusted
_WORK = 1e8  # most cells times steps of an iteration, which take a second: chosen
_DEEPEST = 60  # most attempts of a request that are followed
_NODES = 8  # nodes of the mean over a jittered backoff


@dataclass(frozen=True)
class Followed:
    """A steady state of a queue whose clients retry.

    Parameters
    ----------
    rate
        Attempts [1/s].
    answered
        Share of requests that are answered in time.
    time
        Mean response time of requests answered in time, from their first attempt on [s].
    late
        Share of attempts that fail.
    served
        Attempts that are not refused [1/s].
    wasted
        Share of the servers' work that goes into failed attempts.
    queue_length
        Mean jobs at the queue.
    """

    rate: float
    answered: float
    time: float
    late: float
    served: float
    wasted: float
    queue_length: float


def is_followed(queue: TimedQueue, clients: Clients, late: float) -> bool:
    """Whether enough attempts fail to follow them; otherwise attempts count as a Poisson stream.

    Examples
    --------
    >>> queue, asks = TimedQueue(0.01, 4, 0.005), Clients(timeout=0.005, retries=2)
    >>> is_followed(queue, asks, 0.6), is_followed(queue, asks, 1e-6)
    (True, False)
    """
    often = late * float(clients.persistence) >= _FEW
    return bool(often and clients.returns and queue.oldest == inf)


_FEW = 1e-3
"""Share of failed attempts below which attempts are taken as a Poisson stream: they change the
rate of attempts by about that share, so however close together they come, the error is small.
"""


def followed(queue: TimedQueue, clients: Clients, load: float, *, alone: bool = False) -> Followed:
    """Follow a request through its attempts, with other requests like it, until both agree.

    Parameters
    ----------
    queue
        M/M/m with a timeout, perhaps with limited places, which drops no jobs.
    clients, load
        How clients retry, and requests [1/s], above 0; below the capacity of the servers unless
        places are limited.
    alone
        Whether the load has a single state; otherwise the good one is sought.

    Raises
    ------
    GraphError
        For more jobs than can be followed, and if (1) and (2) do not converge.

    Examples
    --------
    >>> queue = TimedQueue(service_time=0.01, servers=4, timeout=0.005)
    >>> found = followed(queue, Clients(timeout=0.005, retries=2), 100.0)
    >>> round(found.rate), round(100 * found.answered)
    (230, 51)
    """
    for most in _rooms(queue, clients, load):
        turns = _Turns(queue, clients, load, most)
        turns.grows &= not (alone and queue.places < inf)
        if turns.settle():
            return turns.found()
    raise GraphError("its attempts meet more jobs than headway can follow; simulate")


def _rooms(queue: TimedQueue, clients: Clients, load: float) -> Iterator[int]:
    """Largest numbers of jobs to try: enough without retries, then for all attempts."""
    full = queue.servers / queue.service_time
    fewest = busiest = inf
    if load < full:
        fewest = queue.servers + 10 + int(np.ceil(np.log(_TAIL) / np.log(load / full)))
        busiest = load * per_request(clients, 1.0) / full
    most = queue.servers + int(np.log(_ENOUGH) / np.log(busiest)) + 20 if busiest < 1 else inf
    steps = 2 * full * queue.timeout * min(_DEEPEST, float(clients.attempts))
    for wanted in (1.5 * fewest, 3 * fewest, most):
        room = min(wanted, queue.places)
        if (room - queue.servers) * room * steps <= _WORK:
            yield int(room)


@dataclass(frozen=True)
class _Pause:
    """A backoff: its mean [s], squared coefficient of variation, and jitter."""

    mean: float
    scv: float
    jitter: float

    def steps(self, rate: float) -> FloatArray:
        """Probabilities of 0, 1, ... Poisson steps during the backoff, with its gamma law."""
        nodes, shares = np.polynomial.legendre.leggauss(_NODES if self.jitter else 1)
        means = rate * self.mean * (1 + self.jitter * nodes)
        rows = [_poisson(mean, self.scv) for mean in means.tolist()]
        mixed = np.zeros(max(map(len, rows)))
        for row, weight in zip(rows, shares / 2, strict=True):
            mixed[: len(row)] += weight * row
        return mixed


def _pause(clients: Clients, k: int) -> _Pause | None:
    """The backoff after failed attempt k, counted from 0; None if there is no retry."""
    mean = _backoff(clients, k)
    return _Pause(mean, float(clients.backoff_scv), float(clients.jitter)) if mean else None


def _backoff(clients: Clients, k: int) -> float:
    return float(clients.backoff) * float(clients.backoff_factor) ** k


def _poisson(mean: float, scv: float = 0.0) -> FloatArray:
    """Poisson probabilities, or those of a gamma-distributed mean (negative binomial)."""
    spread = np.sqrt(mean + scv * mean**2)
    count = np.arange(int(mean + (9 + 30 * scv) * spread) + 30)
    if not scv:
        return np.asarray(np.exp(xlogy(count, mean) - mean - gammaln(count + 1)))
    shape = 1 / scv
    logs = gammaln(count + shape) - gammaln(shape) - gammaln(count + 1)
    share = mean / (mean + shape)
    return np.asarray(np.exp(logs + xlogy(count, share) + shape * np.log1p(-share)))


class _Turns:
    """The iterations of (1) and (2), over 0..most jobs."""

    def __init__(self, queue: TimedQueue, clients: Clients, load: float, most: int) -> None:
        self.queue, self.clients, self.load = queue, clients, load
        self.numbers = np.arange(most + 1)
        self.refuses = most == queue.places
        self.departs = np.minimum(self.numbers, queue.servers) / queue.service_time
        self.grows = load * per_request(clients, 1.0) >= self.departs[-1]
        self.rates, self.share = np.full(most + 1, load), 1.0
        self.step, self.fastest = np.zeros(most + 1), max(load, _CAP * self.departs[-1])
        self.end = most  # largest number of jobs of the good state
        self.pauses = [
            _pause(clients, k) for k in range(int(min(_DEEPEST, float(clients.attempts))))
        ]

    def settle(self) -> bool:
        """Iterate until (1) and (2) agree; whether there was room for all numbers of jobs."""
        before = self.load
        for turn in range(_TURNS):
            self.settle_numbers(turn)
            self.met = list(self.attempts())
            comes = self.load * np.sum([m for each in self.met for m in each.values()], axis=0)
            wanted = self.by_number(comes)
            rate = float(comes.sum())
            self.spend(rate / self.load - 1)
            off = float(np.abs(self.chances * (wanted - self.rates)).sum())
            if max(off, abs(rate - before)) <= _SAME * rate:
                cut = self.end < self.numbers[-1] or self.refuses
                return bool(cut or self.chances[-1] < _ENOUGH)
            before = rate
            self.rates = self.following(wanted, turn)
        raise GraphError("its attempts lead to no steady state that headway finds; simulate")

    def following(self, wanted: FloatArray, turn: int) -> FloatArray:
        """The rates of the next iteration [1/s].

        Where attempts are refused the iterations rise steadily to their end. If each step is q
        times the one before, all further ones together are q / (1 - q) of it (Aitken).
        """
        if not self.refuses:
            return wanted if turn < _QUICK else (self.rates + wanted) / 2
        step = wanted - self.rates
        one, other = np.sqrt(self.chances) * step, np.sqrt(self.chances) * self.step
        self.step = step
        share = float(one @ other) / max(float(other @ other), _LEAST)
        if turn % _JUMPS or not 0 < share < _SLOWEST:
            return wanted
        self.step = np.zeros_like(step)
        return np.asarray(np.clip(wanted + share / (1 - share) * step, self.load, self.fastest))

    def settle_numbers(self, turn: int) -> None:
        """The probabilities by (1), up to where the number of jobs keeps growing."""
        full = self.numbers >= self.queue.servers
        over = np.flatnonzero(full & (self.rates > self.departs[-1]))
        if self.grows and len(over):
            self.end = int(min(over[0], self.end if turn > _FREE else over[0]))
        self.chances = np.zeros(len(self.rates))
        self.chances[: self.end + 1] = weights((self.rates[:-1] / self.departs[1:])[: self.end])
        self.chances /= self.chances.sum()

    def by_number(self, comes: FloatArray) -> FloatArray:
        """Rates of attempts by number of jobs; above the known numbers, the last rate [1/s]."""
        known = np.flatnonzero(self.chances > _LEAST)
        rates = comes[known] / self.chances[known]
        rates = np.interp(self.numbers, known, np.minimum(rates, _CAP * self.departs[-1]))
        if self.refuses:  # nobody joins the most jobs, whoever comes
            rates[-1] = rates[-2]
        return np.asarray(rates)

    def spend(self, retries: float) -> None:
        """Reduce the probability of a retry to what the retry budget allows."""
        budget = float(self.clients.retry_budget)
        if budget > 0:
            self.share = min(1.0, self.share * budget / retries) if retries > 0 else 1.0
        else:
            self.share = 0.0

    def attempts(self) -> Iterator[dict[int, FloatArray]]:
        """For each attempt of a request, the mean number that find n jobs, by timeouts before."""
        streams = {0: self.chances}
        for pause in self.pauses:
            yield streams
            streams = self.next_attempts(streams, pause)
            if sum(meets.sum() for meets in streams.values()) < _TAIL:
                return

    def next_attempts(
        self, streams: dict[int, FloatArray], pause: _Pause | None
    ) -> dict[int, FloatArray]:
        """The jobs that the retries of some attempts find, by timeouts before."""
        again = float(self.clients.persistence) * self.share
        failed: dict[int, FloatArray] = {}
        for timeouts, meets in streams.items():
            joins, refused = meets.copy(), np.zeros_like(meets)
            if self.refuses:
                joins[-1], refused[-1] = 0.0, meets[-1]
            if joins.sum() > _TAIL:
                joins = _unanswered(joins, self.others(timeouts + 1), self.queue)
            for before, there in ((timeouts + 1, joins), (timeouts, refused)):
                failed[before] = failed.get(before, 0.0) + again * there
        failed = {before: there for before, there in failed.items() if there.sum() > _TAIL}
        if pause is None:
            return failed
        return {
            before: _passed(there, self.others(before), self.queue, pause)
            for before, there in failed.items()
        }

    def others(self, own: int) -> FloatArray:
        """Rates at which others arrive, by the jobs present, of which some are its own [1/s]."""
        return np.asarray(self.rates[np.maximum(self.numbers - own, 0)])

    def found(self) -> Followed:
        """The state that follows from the numbers of jobs met by attempts."""
        queue, clients = self.queue, self.clients
        fate = met(queue.service_time, queue.servers, queue.timeout, self.numbers)
        joins = np.ones(len(self.numbers))
        if self.refuses:
            joins[-1] = 0.0
        count = served = done = spent = wasted = waited = 0.0
        for k, streams in enumerate(self.met):
            for timeouts, meets in streams.items():
                joining = joins * meets
                answered = float(joining @ (1 - fate.late))
                count, served, done = count + meets.sum(), served + joining.sum(), done + answered
                spent += answered * (waited + timeouts * queue.timeout)
                spent += float(joining @ fate.in_time)
                wasted += float(joining @ fate.wasted)
            waited += _backoff(clients, k)
        return Followed(
            self.load * float(count),
            done,
            spent / done,
            float(1 - done / count),
            self.load * float(served),
            float(wasted / served / queue.service_time),
            float(self.chances @ self.numbers),
        )


# Transients


def _unanswered(meets: FloatArray, others: FloatArray, queue: TimedQueue) -> FloatArray:
    """Attempts unanswered at the timeout, by jobs then present, from those that found n jobs.

    Shapes (jobs,); `others` are the rates of arrivals by the number of jobs, including its own.
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
    """Add to `left` the states after each number of steps, times the probability of that number.

    Parameters
    ----------
    up, stays, beside
        Probabilities of one step in service, by jobs: one job more, no change, one other job fewer.
    keeps, turn
        Probabilities of one step while waiting: no change, by jobs, and a departure.
    first
        Servers m: with m + a jobs or more present, it waits for a departures after the first.
    chances
        Probabilities of 0, 1, ... steps.
    served, waits
        Attempts in service by jobs, and waiting attempts by departures less one and jobs.
    after, moved, there
        Work space of the same shapes, and of one row; `moved` is 0 at the start.
    left
        The result, which is added to.
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
    """The jobs present after a backoff, shape (jobs,)."""
    m, mu = queue.servers, 1 / queue.service_time
    total = float(rates.max()) + m * mu
    up, down = rates / total, np.minimum(np.arange(len(there)), m) * mu / total
    up[-1] = 0.0
    stays, after, rest = 1 - up - down, np.zeros_like(there), 1.0
    for step, weight in enumerate(pause.steps(total).tolist()):
        after += weight * there
        rest -= weight
        moved = there * stays
        moved[1:] += there[:-1] * up[:-1]
        moved[:-1] += there[1:] * down[1:]
        if step % _LOOKS == 0 and np.abs(moved - there).sum() <= _SETTLED * moved.sum():
            break
        there = moved
    return after + rest * there


# relative change in a step below which no further change is expected, and steps from look to look
_SETTLED, _LOOKS = 1e-10, 8
