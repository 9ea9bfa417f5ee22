"""Where a queue whose clients retry tips over: folds, pulses, and how long its state lasts.

The states of `headway.queueing.retries.attempts` are points of the curve lambda(x) = x / g(x). If
it rises, falls and rises again, loads between its minimum and its maximum have a good state, a bad
state, and an unstable one between them.

The pulse that pushes a good state over is found from a fluid model: attempts flow in, wait for the
work present, and failed ones flow in again after a timeout and a backoff,

    dq/dt = a_0(t) + ... + a_r(t) - min(m / S, ...),
    a_k(t + T + b_k) = h a_(k-1)(t) P(W(t) + S > T),   W(t) = S q(t) / m,

as far as the tokens of a retry budget allow. With K places, attempts that find K jobs are refused,
and come again after the backoff alone.

How long a state lasts by chance, and from or up to which load it lasts long, is found by
`headway.queueing.retries.lives`. Where good states last too long to be simulated, their time is
that of `headway.queueing.retries.lasting`; a retry budget only removes retries, so a good state
lasts at least as long with one as without.
"""

from collections.abc import Callable
from math import exp, inf, nan

import numpy as np
from scipy.optimize import minimize_scalar

from headway.errors import GraphError
from headway.kinds import FloatArray
from headway.numerals import times as written
from headway.queueing.compiled.library import compiled
from headway.queueing.flows.clients import Clients
from headway.queueing.playing.rows import IntArray
from headway.queueing.retries.attempts import (
    Stability,
    State,
    given_up,
    per_request,
    square_per_request,
)
from headway.queueing.retries.lasting import (
    is_lasting_known,
    lasting,
    lasting_at_least,
    states_at,
    without_budget,
)
from headway.queueing.retries.lives import (
    FEWEST,
    MOST,
    Lives,
    bad_lives,
    good_lives,
    lasting_up_to,
    staying_from,
)
from headway.queueing.retries.times import TimedQueue
from headway.records import dataclass

_POINTS = 600  # points of the curve, between which its folds are bracketed
_STEPS = 50  # steps of the fluid model per timeout
_LONGEST = 15.0  # time after which the fluid has settled, as a multiple of a request's longest life
_MOST = 1e7  # most steps times attempts of a request
_CLOSE = 1e-3  # relative precision of the smallest pulse


@dataclass(frozen=True)
class Folds:
    """Loads between which there are a good and a bad state.

    Parameters
    ----------
    vanishes
        Load below which there is no bad state [1/s].
    tips
        Load above which there is no good state [1/s].
    """

    vanishes: float
    tips: float


def curve(queue: TimedQueue, clients: Clients) -> tuple[FloatArray, FloatArray]:
    """Rates of attempts x, and the loads x / g(x) that have them; both [1/s], shape (points,).

    Examples
    --------
    >>> rates, loads = curve(TimedQueue(0.008, 4, 0.1), Clients(timeout=0.1, retries=3))
    >>> round(rates[-1]), round(loads[-1])
    (6000, 1500)
    """
    full = queue.servers / queue.service_time
    most = 3 * full * per_request(clients, 1.0)
    near = full * (1 - np.geomspace(1.0, 1e-9, _POINTS)[:-1])[1:]
    rates = np.concatenate([near, np.linspace(full, most, _POINTS)])
    return rates, np.array([_load(queue, clients, x) for x in rates.tolist()])


def _load(queue: TimedQueue, clients: Clients, rate: float) -> float:
    return rate / per_request(clients, queue.at(rate).late)


def folds(queue: TimedQueue, clients: Clients) -> Folds | None:
    """Where the good and the bad state vanish; None if each load has a single state.

    Examples
    --------
    >>> found = folds(TimedQueue(0.008, 4, 0.1), Clients(timeout=0.1, retries=3))
    >>> round(found.vanishes, 1), round(found.tips, 1)
    (125.0, 449.7)
    >>> folds(TimedQueue(0.008, 4, 0.1), Clients(timeout=0.1, retries=0)) is None
    True
    """
    rates, loads = curve(queue, clients)
    inner = range(1, len(loads) - 1)
    falls = loads > (1 + _CLOSE * _CLOSE) * np.minimum.accumulate(loads[::-1])[::-1]
    peaks = [k for k in inner if loads[k - 1] < loads[k] > loads[k + 1] and falls[k]]
    if not peaks:
        return None
    top = max(peaks, key=lambda k: loads[k])
    tips = -_extreme(lambda x: -_load(queue, clients, x), rates[top - 1], rates[top + 1])
    low = int(top + np.argmin(loads[top:]))
    at = rates[low - 1], rates[min(low + 1, len(rates) - 1)]
    least = _extreme(lambda x: _load(queue, clients, x), *at)
    if queue.saturation < inf:
        least = min(least, queue.saturation / per_request(clients, 1.0))
    return Folds(least, tips)


def _extreme(function: Callable[[float], float], low: float, high: float) -> float:
    """The smallest value of a function with one minimum between two points."""
    width = 1e-10 * high
    found = minimize_scalar(
        function, bounds=(low, high), method="bounded", options={"xatol": width}
    )
    return float(found.fun)


@dataclass(frozen=True)
class Flood:
    """The course of the fluid model.

    Parameters
    ----------
    times
        Time of each step [s].
    queue_length
        Jobs present at the end of each step, shape (steps,).
    failing
        Share of the attempts of each step that fail.
    """

    times: FloatArray
    queue_length: FloatArray
    failing: FloatArray

    @property
    def over(self) -> bool:
        """Whether most attempts fail at the end."""
        return bool(self.failing[-2 * _STEPS :].mean() > 0.5)


def flood(queue: TimedQueue, clients: Clients, load: float, pulse: float, lasts: float) -> Flood:
    """The course after a pulse of requests on top of a load.

    Parameters
    ----------
    queue, clients, load
        The queue, its clients, and the load: requests [1/s].
    pulse
        Requests that arrive together at time 0.
    lasts
        Time to follow [s]; it ends earlier once the queue stays empty after all retries.
    """
    step = float(queue.timeout / _STEPS)
    kinds = int(min(float(clients.retries), 50)) + 1
    if lasts / step * kinds > _MOST:
        msg = (
            f"beside a timeout of {written(queue.timeout)[0]} its clients back off for too long to "
            "follow a pulse until the last of them has come back; give a shorter backoff"
        )
        raise GraphError(msg)
    steps = int(np.ceil(lasts / step))
    wait = _waits(queue, clients, kinds - 1, step)
    comes = np.zeros((kinds, steps + 1 + wait.max(initial=0)))
    comes[0] = load * step
    comes[0, 0] += pulse
    queue_length, failing, made = np.zeros(steps), np.zeros(steps), np.zeros(1, np.int64)
    budget, drains = float(clients.retry_budget), queue.servers / queue.service_time * step
    tokens, purse = (inf, inf) if budget == inf else (10.0, float(clients.retry_tokens))
    longest = min(queue.oldest, queue.places * queue.service_time / queue.servers)
    by = queue.service_time, queue.timeout, longest, step, drains
    asks = float(clients.persistence), budget, tokens, purse
    _flood_steps(np.array(by), np.array(asks), wait, comes, queue_length, failing, made)
    through = int(made[0])
    times = np.arange(through, dtype=np.float64) * step
    return Flood(times, queue_length[:through], failing[:through])


@compiled
def _flood_steps(
    queue: FloatArray,
    clients: FloatArray,
    wait: IntArray,
    comes: FloatArray,
    queue_length: FloatArray,
    failing: FloatArray,
    made: IntArray,
) -> None:
    """Advance the fluid model step by step.

    Parameters
    ----------
    queue
        Service time, timeout, age at which jobs are dropped, and length of a step [s]; and the jobs
        served in a step.
    clients
        Probability of a retry, retry budget, and its tokens at the start and at most.
    wait
        Delays of retries in steps, from `_waits`.
    comes
        Attempts in each step, by the number of earlier attempts: first attempts are given, and
        retries are added.
    queue_length, failing
        Results, as in `Flood`.
    made
        Result: the number of steps made, until the queue stays empty.
    """
    service_time, limit, oldest, step, drains = queue.tolist()
    persistence, budget, tokens, purse = clients.tolist()
    there, later, calm, longest = 0.0, np.arange(1, len(comes)), 0, wait.max(initial=0)
    for t in range(len(queue_length)):
        total = float(np.cumsum(comes[:, t])[-1])
        first, more = there / drains * step, total / drains * step
        late, dropped = _fails(first, more, service_time, limit, oldest)
        there = max(there + total * (1 - dropped) - drains, 0.0)
        queue_length[t], failing[t] = there, late + dropped
        tokens = min(tokens + budget * comes[0, t], purse) if budget < inf else inf
        for back, share in zip(wait, (late, dropped), strict=True):
            if share:
                asks = comes[:-1, t] * (share * persistence)
                if tokens < inf:
                    asks = np.diff(np.minimum(np.cumsum(asks), tokens), prepend=0.0)
                    tokens -= np.cumsum([0.0, *asks])[-1]
                comes[later, t + back] += asks
        made[0], calm = t + 1, 0 if there else calm + 1
        if calm > longest:
            return


def _fails(
    wait: float, more: float, scale: float, limit: float, oldest: float
) -> tuple[float, float]:
    """Shares of attempts that are served too late, and dropped, if waits are uniform in a range.

    The range begins at ``wait`` and is ``more`` wide [s]; with the service time, timeout and drop
    age.
    """
    served = min(max((oldest - wait) / more, 0.0), 1.0) if more else 1.0
    last = wait + served * more
    if last - wait < _CLOSE * scale:
        late = exp(min(wait - limit, 0.0) / scale)
    else:  # mean of e^(-(T - w) / S) for waits w up to T, and of 1 for longer ones
        rising = exp((min(last, limit) - limit) / scale) - exp(min(wait - limit, 0.0) / scale)
        late = (scale * rising + max(last - max(wait, limit), 0.0)) / (last - wait)
    return served * late, 1 - served


def _waits(queue: TimedQueue, clients: Clients, retries: int, step: float) -> IntArray:
    """Steps from a late or a dropped attempt to the next one, shape (2, retries).

    A client notices at its timeout, or when its attempt is dropped or refused, and then backs off.
    """
    dropped = min(queue.oldest, queue.timeout) if queue.places == inf else 0.0
    known = np.array([[queue.timeout], [dropped]])
    pauses = float(clients.backoff) * float(clients.backoff_factor) ** np.arange(retries)
    return np.asarray(np.maximum(np.rint((known + pauses) / step), 1), np.int64)


def pulse_over(queue: TimedQueue, clients: Clients, load: float) -> float:
    """Smallest pulse of requests that a load does not recover from; infinite if it always does.

    Examples
    --------
    >>> queue, asks = TimedQueue(0.008, 4, 0.1), Clients(timeout=0.1, retries=3)
    >>> pulse_over(queue, asks, 400.0) < pulse_over(queue, asks, 200.0) < float("inf")
    True
    """
    pauses = float(clients.backoff) * float(clients.backoff_factor) ** np.arange(
        min(float(clients.retries), 50)
    )
    life = (min(float(clients.retries), 50) + 1) * queue.timeout + float(pauses.sum())
    lasts = _LONGEST * life

    def goes(pulse: float) -> bool:
        return flood(queue, clients, load, pulse, lasts).over

    low, high = 0.0, queue.servers * queue.timeout / queue.service_time
    while not goes(high):
        low, high = high, 2 * high
        if high > queue.servers / queue.service_time * lasts / 2:
            return inf  # so many would not be served in that time anyway
    while high - low > _CLOSE * high:
        middle = (low + high) / 2
        low, high = (low, middle) if goes(middle) else (middle, high)
    return high


@dataclass(frozen=True)
class Tipping:
    """Whether and when a queue whose clients retry tips over at a load.

    Parameters
    ----------
    load
        Requests [1/s].
    states
        All steady states at that load.
    folds
        Loads between which there are a good and a bad state; None if there are none.
    pulse
        Requests that tip it over if they arrive at once; infinite if none do, NaN if it has tipped.
    alone
        Bounds on the mean time until it tips over by chance [s], where too few did in a simulation;
        infinite if it does not. With a retry budget, or from few that did, the upper bound is
        infinite. None if not known.
    grows
        Rate at which the queue of the bad state grows [1/s]; 0 if it does not.
    drains
        Time to serve the jobs that gather in one second of the bad state, without new ones [s].
    sure
        How long the bad state must last for chance to change that by less than a tenth in 95 of
        100 cases [s]; 0 if its queue does not grow.
    goodput
        Requests answered in time in each of the states [1/s].
    lasts
        Load up to which the good state lasts for 10,000 requests on average [1/s]; None if not
        known, and if each load has a single state.
    stays
        Load from which the bad state lasts for 10,000 requests [1/s]; None also if its queue grows.
    falls
        How long good states lasted that were simulated; None if too few ended, and if there is no
        bad state.
    recovers
        How long bad states lasted; None if not known, if there is none, and if its queue grows.
    """

    load: float
    states: tuple[State, ...]
    folds: Folds | None
    pulse: float
    alone: tuple[float, float] | None
    grows: float
    drains: float
    sure: float
    goodput: tuple[float, ...]
    lasts: float | None = None
    stays: float | None = None
    falls: Lives | None = None
    recovers: Lives | None = None


def _until_it_tips(
    queue: TimedQueue, clients: Clients, load: float, states: tuple[State, ...]
) -> tuple[tuple[float, float] | None, Lives | None]:
    """Bounds on the mean time until a good state ends by chance [s], and those that were simulated.

    Bounds are those of the chain if too few states end in a simulation. None if not known.
    """
    known = _by_chain(queue, clients, load, states)
    if known is not None and known[0] * load > MOST / FEWEST:
        return known, None
    found = good_lives(queue, clients, load, states)
    if found is not None and found.mean is not None:
        return (found.mean, found.mean), found
    return known or (None if found is None else (found.least, inf)), None


def _by_chain(
    queue: TimedQueue, clients: Clients, load: float, states: tuple[State, ...]
) -> tuple[float, float] | None:
    """Bounds on that time by the chain of jobs and clients away [s]; None if not known."""
    if queue.places < inf:
        return None
    if is_lasting_known(queue, clients):
        return lasting(queue, clients, load, states)
    free = without_budget(clients)
    least = lasting_at_least(queue, free, load, states_at(queue, free, load))
    return None if least is None else (least, inf)


def tipping(queue: TimedQueue, clients: Clients, load: float) -> Tipping:
    """Find where a queue whose clients retry tips over.

    Parameters
    ----------
    queue, clients
        M/M/m with a timeout, and how its clients retry.
    load
        Requests [1/s], above 0.

    Examples
    --------
    >>> found = tipping(TimedQueue(0.008, 4, 0.1), Clients(timeout=0.1, retries=3), 300.0)
    >>> [one.stability.value for one in found.states], round(found.drains, 2)
    (['stable', 'unstable', 'stable'], 1.4)
    """
    found = states_at(queue, clients, load)
    stable = [one for one in found if one.stability is not Stability.UNSTABLE]
    between, full = folds(queue, clients), queue.servers / queue.service_time
    worst, pulse, falls, recovers = stable[-1], inf, None, None
    alone: tuple[float, float] | None = (inf, inf)
    if between is not None and len(stable) > 1:
        pulse = pulse_over(queue, clients, load)
        alone, falls = _until_it_tips(queue, clients, load, found)
        recovers = bad_lives(queue, clients, load, found)
    elif between is not None and load >= between.tips:
        pulse, alone = nan, (0.0, 0.0)
    growth = worst.rate - full if worst.grows else 0.0
    good = tuple(load * (1 - given_up(clients, one.late)) for one in found)
    lasts = stays = None
    if between is not None:
        lasts = lasting_up_to(queue, clients, (between.vanishes, between.tips))
        stays = staying_from(queue, clients, (between.vanishes, between.tips))
    grows = growth, growth / full, _sure_after(clients, load, worst, growth)
    return Tipping(load, found, between, pulse, alone, *grows, good, lasts, stays, falls, recovers)


_SURE = (1.96 / 0.1) ** 2
"""Square of the mean over the standard deviation of a normal number within a tenth of its mean in
95 of 100 cases."""


def _sure_after(clients: Clients, load: float, state: State, growth: float) -> float:
    """How long a queue must grow for the time to serve it to be within a tenth of its mean [s].

    A request brings A attempts, each with an exponential service. With the servers' rate c, all
    that came in a time T is done after ``x T / c`` on average, for x = load E[A], with a variance
    of ``(load E[A^2] + x) T / c^2``; and ``growth T / c`` of that is after T.

    Examples
    --------
    >>> bad = State(40.0, 1.0, Stability.STABLE, grows=True)
    >>> asks = Clients(timeout=1.0, retries=3)
    >>> round(_sure_after(asks, 10.0, bad, 10.0), 1)  # 384.16 (160 + 40) / 100
    768.3
    """
    if not growth > 0:
        return 0.0
    return _SURE * (load * square_per_request(clients, state.late) + state.rate) / growth**2
