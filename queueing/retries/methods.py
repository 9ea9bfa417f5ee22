"""Methods for one queue with impatient clients: Erlang A, a chain with an orbit, and attempts."""

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from math import floor, inf, nan

import numpy as np

from headway.errors import GraphError
from headway.kinds import FloatArray
from headway.numerals import counted, digits, four_digits, times
from headway.queueing.erlang.impatience import erlang_a
from headway.queueing.flows.clients import Clients
from headway.queueing.methods.method import Error
from headway.queueing.network.network import Network
from headway.queueing.network.result import Result, one_class_result
from headway.queueing.retries.attempts import (
    Stability,
    State,
    follows,
    given_up,
    per_request,
    states,
)
from headway.queueing.retries.followed import followed, is_followed
from headway.queueing.retries.lasting import states_at
from headway.queueing.retries.lives import brief, good_lives, simulated
from headway.queueing.retries.orbit import OrbitQueue, orbit_of
from headway.queueing.retries.times import TimedQueue
from headway.queueing.retries.tipping import folds
from headway.queueing.stations.base import MM1, MMm
from headway.queueing.stations.finite import MM1K, MMmK
from headway.records import dataclass

# Needs


def no_clients(network: Network) -> str:
    """Refuse a network without impatient clients: other methods solve it."""
    return "" if network.clients is not None else "its clients wait; use method auto"


def breaks(network: Network) -> str:
    """Refuse clients that share a circuit breaker: each attempt depends on those before it."""
    if network.clients is None or not network.clients.breaks:
        return ""
    return "a circuit breaker has no formula; simulate, or delete circuit_breaker"


def no_lone_queue(network: Network) -> str:
    """Refuse all but one queue of exponential servers that each attempt visits once."""
    kinds = (MM1, MMm, MM1K, MMmK)
    if len(network.kinds) != 1 or not isinstance(network.kinds[0], kinds):
        return (
            "where clients give up, headway has formulas for one MM1, MMm, MM1K or MMmK alone, in "
            "order of arrival; simulate"
        )
    if (network.visits != 1).any():
        return "where clients give up, each attempt comes to the queue once; simulate"
    return ""


def no_erlang_a(network: Network) -> str:
    """Refuse all but exponential patience without retries."""
    clients = network.clients or Clients()
    if network.oldest is not None or not clients.leaves or clients.gives_up or clients.returns:
        return "method erlang-a needs clients with patience, no timeout and no retries; simulate"
    if not isinstance(network.kinds[0], MM1 | MMm):
        return "method erlang-a needs a queue without a capacity; simulate"
    return _spread(clients)


def _spread(clients: Clients) -> str:
    if clients.leaves and np.any(np.asarray(clients.patience_scv) != 1):
        return "headway has laws of exponential patience only (scv = 1); simulate"
    return ""


def no_orbit(network: Network) -> str:
    """Refuse all but unlimited retries after exponential backoffs, without a timeout."""
    clients = network.clients or Clients()
    if network.oldest is not None or clients.gives_up or not clients.returns:
        return "method retrials needs clients with retries and without a timeout; simulate"
    steady = np.all(np.isinf(np.asarray(clients.retries))) and not np.any(clients.jitter)
    alike = np.all(np.asarray(clients.backoff_factor) == 1)
    spread = np.all(np.asarray(clients.backoff_scv) == 1) and np.all(clients.backoff)
    if not (steady and alike and spread and np.all(np.isinf(np.asarray(clients.retry_budget)))):
        return (
            "method retrials needs retries = inf, perhaps with a persistence, and an exponential "
            'backoff, { mean = "1 s", scv = 1 }; simulate'
        )
    if not clients.leaves and isinstance(network.kinds[0], MM1 | MMm):
        return "without a capacity and with endless patience nobody comes back; give a timeout"
    return _spread(clients)


def no_timeouts(network: Network) -> str:
    """Refuse all but timeouts that servers do not notice."""
    clients = network.clients or Clients()
    if not clients.gives_up and _spread(clients):
        return _spread(clients)
    if clients.leaves or not clients.gives_up:
        return "method attempts needs clients with a timeout and without patience; simulate"
    if clients.server_notices:
        return "method attempts is for servers that do not notice clients that have gone; simulate"
    if isinstance(network.kinds[0], MM1K | MMmK):
        if network.oldest is not None:
            return "method attempts takes a capacity or drop_older_than, but not both; simulate"
        if np.max(np.asarray(network.kinds[0].places, float)) > MOST_PLACES:
            return (
                f"method attempts takes up to {MOST_PLACES:,} places, those of the servers and of "
                "the line that a capacity or shed allows; simulate, or leave out the limit"
            )
    if np.any(np.isinf(np.asarray(clients.retries)) & (np.asarray(clients.persistence) == 1)):
        return "retries without end need a persistence below 1; simulate"
    return ""


MOST_PLACES = 10_000
"""Largest capacity for which a queue is solved at each rate of attempts: chosen, for speed."""


# Methods


@dataclass(frozen=True)
class _Point:
    """The results at a point: attempts that end [1/s], times [s], and shares."""

    through: float
    time: float
    used: float
    queue: float
    goodput: float
    attempts: float
    abandonment: float
    wasted_work: float
    note: str = ""
    loss_probability: float = 0.0
    spent: float | None = None

    @property
    def stay(self) -> float:
        """Time of a served attempt at the station [s]; by Little's law if not given."""
        if self.spent is not None:
            return self.spent
        return self.queue / self.through if self.through else self.time


_UNKNOWN = _Point(nan, nan, nan, nan, nan, nan, nan, nan, loss_probability=nan)

_CLIENTS = ("goodput", "attempts", "abandonment", "wasted_work")


@dataclass(frozen=True)
class _Queue:
    """The queue of a network at one point."""

    rate: float
    service_time: float
    servers: int
    places: float
    oldest: float
    clients: Clients


def _queues(network: Network) -> list[_Queue]:
    (station,) = network.kinds
    count = network.rates.shape[1]

    def row(value: object) -> FloatArray:
        return np.broadcast_to(np.asarray(value, float), network.shape).reshape(count)

    servers = network.servers[0] if isinstance(station, MMm | MMmK) else np.ones(count)
    places = row(station.places) if isinstance(station, MM1K | MMmK) else np.full(count, inf)
    oldest = np.full(count, inf) if network.oldest is None else row(network.oldest)
    clients = network.clients or Clients()
    return [
        _Queue(
            float(network.rates[0, k]),
            float(network.service_times[0, 0, k]),
            int(servers[k]),
            float(places[k]),
            float(oldest[k]),
            clients.spread(network.shape).point(k),
        )
        for k in range(count)
    ]


def _solved(network: Network, method: str, find: Callable[[_Queue], _Point]) -> Result:
    found = [find(queue) if queue.rate > 0 else _without_load(queue) for queue in _queues(network)]

    def row(name: str) -> FloatArray:
        return np.array([float(getattr(one, name)) for one in found])

    system = row("through"), row("time")
    used, queue, stay, through = (row(n)[None] for n in ("used", "queue", "stay", "through"))
    stations = used, queue, stay, stay, through
    notes = "; ".join(dict.fromkeys(one.note for one in found if one.note))
    result = one_class_result(network.shape, method, notes, system, stations)
    refuses = isinstance(network.kinds[0], MM1K | MMmK)
    names = (*_CLIENTS, "loss_probability") if refuses else _CLIENTS
    more = {name: row(name).reshape(network.shape) for name in names}
    return replace(result, clients=more)


def _without_load(queue: _Queue) -> _Point:
    return _Point(0.0, queue.service_time, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0)


def by_erlang_a(network: Network) -> Result:
    """Solve M/M/m+M exactly."""
    return _solved(network, "erlang-a", _erlang_a)


def _erlang_a(queue: _Queue) -> _Point:
    time, load = queue.service_time, queue.rate * queue.service_time
    law = erlang_a(queue.servers, load, float(queue.clients.patience) / time)
    served = queue.rate * (1 - law.abandonment)
    jobs = queue.rate * law.waiting_time * time + served * time
    spent = (1 + law.served_waiting_time) * time
    used = served * time / queue.servers
    gone = law.abandonment
    return _Point(served, spent, used, jobs, served, 1.0, gone, 0.0, spent=spent)


def by_orbit(network: Network) -> Result:
    """Solve M/M/m/K+M with an orbit exactly, except for the states that are cut off."""
    return _solved(network, "retrials", _orbit)


def _orbit(queue: _Queue) -> _Point:
    asks = queue.clients
    found = orbit_of(
        OrbitQueue(
            queue.rate,
            queue.service_time,
            queue.servers,
            queue.places,
            float(asks.patience),
            float(asks.backoff),
            float(asks.persistence),
        )
    )
    # by Little's law, with every request that leaves for good at the queue or away until then
    time = (found.queue_length + found.away) / queue.rate
    lost = 1 - found.served / queue.rate
    lost = lost if lost > _NOBODY else 0.0
    again = found.away / float(asks.backoff) / queue.rate
    used = found.busy / queue.servers
    note = ""
    if lost:
        note = "its response time is the mean over all requests, also those that give up"
    return _Point(
        found.served,
        time,
        used,
        found.queue_length,
        found.served,
        1 + again,
        lost,
        0.0,
        note,
        found.refused / queue.rate / (1 + again),
    )


_NOBODY = 1e-9  # share of requests giving up that is rounding only


def by_attempts(network: Network) -> Result:
    """The steady state with the fewest attempts, taken as a Poisson stream.

    Points that cannot be solved are unknown; the others are solved.
    """
    unsolved: list[str] = []

    def find(queue: _Queue) -> _Point:
        try:
            found = _attempts(queue)
            notes = filter(None, (found.note, _unmeasured(queue)))
            return replace(found, note="; ".join(notes))
        except GraphError as error:
            why = f"{network.stations[0].name}: at {four_digits(queue.rate)} /s {error}"
            if not network.shape:
                raise GraphError(why) from None
            unsolved.append(why)
            return _UNKNOWN

    found = _solved(network, "attempts", find)
    found = replace(found, unsolved=unsolved[0] if unsolved else "")
    grows = np.isinf(found.queue_length[0, 0])
    if not grows.any():
        return found
    queue = _queues(network)[int(np.flatnonzero(grows)[0])]
    why = f"{network.stations[0].name}: {_overload(queue)}"
    return replace(found, saturated=grows, overload=why)


def timed_queue(queue: _Queue) -> TimedQueue:
    """The queue, with its timeout."""
    limit = float(queue.clients.timeout)
    return TimedQueue(queue.service_time, queue.servers, limit, queue.oldest, queue.places)


def timed_queues(network: Network) -> list[tuple[TimedQueue, Clients, float]]:
    """The queue of a network, its clients, and its load [1/s] at each point."""
    return [(timed_queue(one), one.clients, one.rate) for one in _queues(network)]


@lru_cache(maxsize=2**12)  # a fit solves the same points repeatedly
def _attempts(queue: _Queue) -> _Point:
    timed, asks = timed_queue(queue), queue.clients
    found = states(queue.rate, asks, lambda rate: timed.at(rate).late, timed.saturation)
    stable = [one for one in found if one.stability is not Stability.UNSTABLE]
    state, note = stable[0], ""
    if len(stable) > 1:
        note = "at this load a bad state can last too; headway retries shows what leads to it"
    if state.grows or (found[-1].grows and brief(timed, asks, queue.rate)):
        return _growing(queue)
    if not is_followed(timed, asks, state.late):
        return _poisson(queue, state, note)
    near = followed(timed, asks, queue.rate, alone=len(stable) == 1)
    if timed.places < inf and not note and _is_steep(timed, asks, queue.rate, state):
        note = _STEEP
    through = min(near.served, queue.servers / queue.service_time)
    return _Point(
        through,
        near.time,
        through * queue.service_time / queue.servers,
        near.queue_length,
        queue.rate * near.answered,
        near.rate / queue.rate,
        1 - near.answered,
        near.wasted,
        note,
        1 - near.served / near.rate,
    )


_MEASURED, _MEASURED_REFUSING = (0.1, 15.0), (0.5, 15.0)
"""Timeouts in service times that labels apply to: those drawn in `tests.campaigns.attempts`."""


def _unmeasured(queue: _Queue) -> str:
    """What is said of a timeout that no label applies to."""
    services = float(queue.clients.timeout) / queue.service_time
    least, most = _MEASURED if queue.places == inf else _MEASURED_REFUSING
    if least <= services <= most:
        return ""
    return f"a timeout of {four_digits(services)} service times is outside those measured"


_LESS, _FEWER = 1.1, 1.5
"""How much lower a load is looked at as well, and by how many times fewer its attempts for each
request are where chance leads from one to the other: chosen."""

_STEEP = (
    "with 10% less load it has far fewer attempts, and chance moves it to and fro, so its "
    "means may be further off; simulate"
)


def _is_steep(queue: TimedQueue, clients: Clients, load: float, state: State) -> bool:
    """Whether a slightly lower load has far fewer attempts for each request."""
    below = states_at(queue, clients, load / _LESS)[0]
    return bool(state.rate / load > _FEWER * below.rate / (load / _LESS))


def _growing(queue: _Queue) -> _Point:
    """The result when all servers work for clients that have given up."""
    full, most = queue.servers / queue.service_time, per_request(queue.clients, 1.0)
    return _Point(full, inf, 1.0, inf, 0.0, most, 1.0, 1.0)


def _overload(queue: _Queue) -> str:
    """Why the queue grows at a point, and what would stop that, in one line with rates in /s."""
    timed, asks, load = timed_queue(queue), queue.clients, queue.rate
    full, most = timed.saturation, per_request(asks, 1.0)
    at = four_digits(load)
    if load >= full:
        return f"utilisation {load / full:.2f} at {at} /s; it saturates at {four_digits(full)} /s"
    between, budget = folds(timed, asks), full / load - 1
    if between is None:
        why = f"at {at} /s its requests have too many attempts, and its queue grows"
    elif load >= between.tips:
        tips = four_digits(between.tips)
        why = f"at {at} /s retries keep its queue growing: there is no good state above {tips} /s"
    else:
        why = f"at {at} /s {_soon(timed, asks, load)} retries keep its queue growing"
    limit = f" below {digits(floor(1000 * budget) / 10)}%" if budget <= 1 else ""
    return f"{why}; they cannot below {four_digits(full / most)} /s, or with a retry_budget{limit}"


def _soon(queue: TimedQueue, clients: Clients, load: float) -> str:
    """How long good states last before something happens, in words."""
    found = good_lives(queue, clients, load, states_at(queue, clients, load))
    if found is None or found.mean is None:
        return "soon"
    lasts = f"{times(found.mean)[0]}, {counted(round(found.mean * load), 'request')}"
    return f"a good state lasts {lasts} on average ({simulated(found)}), until"


def _poisson(queue: _Queue, state: State, note: str) -> _Point:
    """The result of a state whose attempts are a Poisson stream."""
    asks, at = queue.clients, timed_queue(queue).at(state.rate)
    lost = given_up(asks, state.late)
    done, work = state.rate * (1 - at.dropped), 1 - at.dropped
    return _Point(
        done,
        _time(asks, state.late, at.time_in_time),
        done * queue.service_time / queue.servers,
        at.queue_length,
        queue.rate * (1 - lost),
        per_request(asks, state.late),
        lost,
        at.late_work / work if work else 0.0,
        note,
        at.dropped,
    )


def _time(clients: Clients, late: float, in_time: float) -> float:
    """Mean time of an answered request [s]: earlier timeouts and backoffs, then its last attempt.

    With ratio h p, k earlier failures take T k and the backoffs b (1 + f + ... + f^(k-1)).
    """
    most = int(min(float(clients.retries), _DEEPEST))
    k = np.arange(most + 1)
    ratio = follows(clients, late)
    chances = ratio**k
    pauses = float(clients.backoff) * float(clients.backoff_factor) ** k
    before = k * float(clients.timeout) + np.r_[0.0, np.cumsum(pauses)[:-1]]
    return float(chances @ before / chances.sum()) + in_time / (1 - late)


_DEEPEST = 1000  # most failures of a request that are counted


ATTEMPTS_ERROR = Error(
    1.3,
    3.8,
    "against simulations, for timeouts of 0.1 to 15 service times (goodput 3.3%; each within 1.5% "
    "in 90 of 100)",
    "python -m tests.campaigns.attempts --seed 1000 --count 60",
)
"""Measured errors of method ``attempts`` in a good state, for 1 to 8 servers."""

DROPPING_ERROR = Error(
    2.5,
    8.5,
    "against simulations, where servers drop what is old, for timeouts of one service time or more "
    "(goodput 3.6%; each within 6.5% in 90 of 100)",
    "python -m tests.campaigns.attempts --seed 2000 --count 30",
)
"""Measured errors with ``drop_older_than``, where attempts are always taken as a Poisson stream."""

SHORT_DROPPING_ERROR = Error(
    40.6,
    44.8,
    "against simulations, where servers drop what is old, for timeouts shorter than a service "
    "(goodput 46.7%; each within 41% in 90 of 100)",
    "python -m tests.campaigns.attempts --seed 2000 --count 30",
)
"""Measured errors with ``drop_older_than`` and shorter timeouts."""


SHEDDING_ERROR = Error(
    13.2,
    51.7,
    "against simulations, where arrivals are refused, for timeouts of 0.5 to 15 service times "
    "(goodput 26.4%; each within 12.9% in 90 of 100)",
    "python -m tests.campaigns.attempts --seed 3000 --count 150",
)
"""Measured errors with a capacity, at up to 1.3 times the load that fills the servers."""


def attempts_error(network: Network) -> Error:
    """The measured error of method ``attempts`` for a network."""
    if isinstance(network.kinds[0], MM1K | MMmK):
        return SHEDDING_ERROR
    if network.oldest is None:
        return ATTEMPTS_ERROR
    short = any(queue.timeout < queue.service_time for queue, _, _ in timed_queues(network))
    return SHORT_DROPPING_ERROR if short else DROPPING_ERROR
