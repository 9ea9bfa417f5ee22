"""How long to simulate, and what cannot be simulated, from the offered loads alone.

A replica's warm-up is five relaxation times of the slowest station and two journeys, the timeouts
and backoffs of clients included, as retries come only after these; a circuit breaker counts as a
station. A queue with utilisation rho and mean service time S at m servers has a relaxation time of
about

    tau = S (1 + scv) / 2 max(1 / (m (1 + rho - 2 sqrt(rho) cos(pi / (N + 1)))), 1),

where at most N jobs can be present (any number in an open network). With one exponential server
this is the relaxation time of M/M/1/N; with many servers, most of them idle, it is S, as each
forgets when its own job ends. In a closed network, rho is the ratio of the rate at which the
station serves and the rate at which the other stations can feed it, the smaller over the larger.

In a mixed network the slower of two counts: closed jobs at the speed that open ones leave them, tau
/ (1 - rho); and open jobs, which share the server with the n closed jobs that are present. The
number j of open jobs changes by lambda - mu j / (j + n) per second, so near its mean it takes n S /
(1 - rho)^2 longer to forget. n follows from the same rates: it is r / (1 - r) where the other
stations feed this one at r < 1 times the rate at which it serves, and all closed jobs elsewhere.

Source: Morse, *Queues, Inventories and Maintenance*, 1958, chapter 6 (relaxation times).
"""

from collections.abc import Mapping
from math import ceil, cos, isfinite, pi, sqrt

import numpy as np

from headway.errors import Saturated
from headway.kinds import FloatArray
from headway.models.simulating.plan import Blueprint, Jobs, SimulatedRegion
from headway.queueing.flows.clients import Clients
from headway.records import dataclass

RELAXATIONS, JOURNEYS = 5.0, 2.0
MOST_RETRIES = 10
"""Most retries of a request that a warm-up waits for. Chosen."""

WINDOW = 5.0
"""Shortest window of a replica, in warm-ups."""

FEWEST, FEWEST_OF_A_CLASS = 1000, 100
"""Fewest journeys in a window, of all jobs and of each class."""

AT_MOST = 3e8
"""Most events of a simulation by default: a minute or so of one processor. Chosen."""

BEYOND = 50
"""Fewest journeys of each class in a window that must exceed the highest percentile."""

CROWDED_TIMES = 8.0
"""Fewest relaxation times in a window, divided by the share of journeys beyond the highest
percentile.

Long journeys come together, while a queue is long, and a short window has few such periods, so its
percentile is too small on average: p99 of ten stations that are 80% busy is 6% too small where
windows have 0.7 of these relaxation times, and 0.5% where they have 7.
"""


@dataclass(frozen=True)
class Schedule:
    """The length of a replica.

    Parameters
    ----------
    warm_up, window
        Simulated time that is discarded, and that counts [s].
    events
        Approximate number of arrivals and departures in the two together.
    """

    warm_up: float
    window: float
    events: float

    @property
    def horizon(self) -> float:
        """Simulated time at which it ends [s]."""
        return self.warm_up + self.window


def schedule(
    plan: Blueprint,
    percentiles: tuple[float, ...] = (),
    loads: Mapping[str, float] | None = None,
) -> Schedule:
    """Plan a replica of a network in which no queue grows without limit.

    Parameters
    ----------
    plan
        The plan to simulate.
    percentiles
        The requested percentiles of the response time.
    loads
        Utilisation of each station, where losses reduce it below the offered load.
    """
    rates = {jobs.name: _rate(plan, jobs) for jobs in plan.crowd}
    journey = max(_journey(plan, jobs) for jobs in plan.crowd)
    known = loads or {}
    slowest = max(_relaxation(plan, k, known.get(p.name)) for k, p in enumerate(plan.places))
    slowest = max([slowest, *(_region_relaxation(plan, region, known) for region in plan.regions)])
    slowest = max([slowest, *map(_breaker_relaxation, plan.crowd)])
    warm_up = RELAXATIONS * slowest + JOURNEYS * journey
    wanted = max((BEYOND / (1 - p / 100) for p in percentiles), default=0.0)
    rarest = max(wanted, FEWEST_OF_A_CLASS) / min(rates.values())
    share = min((1 - p / 100 for p in percentiles), default=1.0)
    crowded = CROWDED_TIMES * slowest / share if percentiles else 0.0
    window = max(WINDOW * warm_up, FEWEST / sum(rates.values()), rarest, crowded)
    window = plan.cycle * ceil(window / plan.cycle) if plan.cycle else window
    each = (rates[j.name] * (1 + plan.visits(j).sum()) for j in plan.crowd)
    return Schedule(warm_up, window, (warm_up + window) * float(sum(each)))


def check_stable(plan: Blueprint) -> None:
    """Refuse a network without losses in which a queue grows without limit.

    Raises
    ------
    Saturated
        Naming the saturated station.
    """
    for k, place in enumerate(plan.places):
        busy = open_load(plan, k)
        if busy >= 1:
            msg = (
                f"{place.name}: utilisation {busy:.2f}; its queue grows without limit, so it "
                "cannot be simulated; reduce the load, or add capacity"
            )
            raise Saturated(msg)


def open_load(plan: Blueprint, station: int) -> float:
    """Offered load from outside, relative to a station's sustained speed."""
    place = plan.places[station]
    offered = sum(
        jobs.arrival_rate * float(plan.visits(jobs)[station]) * place.times[jobs.name]
        for jobs in plan.classes
    )
    return offered / (place.serving.most * place.serving.queues)


def _demands(plan: Blueprint, jobs: Jobs) -> FloatArray:
    """Demand of a job at each station, relative to its sustained speed [s]; 0 at delays."""
    visits = plan.visits(jobs)
    most = [p.serving.most * p.serving.queues for p in plan.places]
    times = [p.times[jobs.name] for p in plan.places]
    return np.array([v * t / m for v, t, m in zip(visits, times, most, strict=True)])


def _journey(plan: Blueprint, jobs: Jobs) -> float:
    """Time of a job without waiting; in a closed network, behind all others once [s]."""
    visits, times = (
        plan.visits(jobs),
        [p.serving.alone(p.times[jobs.name]) for p in plan.places],
    )
    own = sum(v * t for v, t in zip(visits, times, strict=True)) + plan.beyond
    own += jobs.think_time + jobs.population * _demands(plan, jobs).max()
    return float(own + (0.0 if jobs.clients is None else _away(jobs.clients)))


def _away(clients: Clients) -> float:
    """Time of a request all of whose attempts fail: its timeouts and backoffs [s]."""
    retries = np.arange(min(float(clients.retries), MOST_RETRIES))
    shares = float(clients.persistence) ** (retries + 1)
    waits = float(clients.backoff) * float(clients.backoff_factor) ** retries
    known = float(clients.timeout) if clients.gives_up else 0.0
    return float(shares @ (known + waits))


def _breaker_relaxation(jobs: Jobs) -> float:
    """Time in which a circuit breaker opens, is told of its probes, and fills its window [s]."""
    clients = jobs.clients
    if clients is None or not clients.breaks:
        return 0.0
    told = float(clients.circuit_breaker_of) + float(clients.circuit_breaker_probes)
    return float(clients.circuit_breaker_open_for) + told / jobs.arrival_rate


def _rate(plan: Blueprint, jobs: Jobs) -> float:
    """Smallest rate of journeys of a class that is alone in the network [1/s]."""
    if not jobs.population:
        return jobs.arrival_rate
    return jobs.population / _journey(plan, jobs)


def _relaxation(plan: Blueprint, station: int, known: float | None) -> float:
    serving = plan.places[station].serving
    time = max(place_time for place_time in plan.places[station].times.values())
    if not isfinite(serving.most):
        return time
    rest = serving.budget[1] if serving.budget else 0.0
    bursts = max(jobs.burst for jobs in plan.classes)
    spread = time * (max(bursts, 1.0) + serving.scv) / 2
    return max(spread * _slowness(plan, station, known) / serving.most, spread) + rest


def _slowness(plan: Blueprint, station: int, known: float | None) -> float:
    """The relaxation time of a station over S (1 + scv) / (2 m)."""
    closed = sum(jobs.population for jobs in plan.classes)
    unlike, there = _feeding(plan, station) if closed else (0.0, 0.0)
    if plan.is_closed:
        return _finite_room(unlike, closed)
    load, most = open_load(plan, station), plan.places[station].serving.places
    if known is not None and plan.gives_up:
        load = known  # the offered load may exceed what a station can do
    elif known is not None and not isfinite(most):
        load = max(known, load)
    alone = _finite_room(load, most)
    if not closed:
        return alone
    free = 1 - load
    return max(alone + there / free**2, _finite_room(unlike, closed) / free)


def _finite_room(load: float, most: float) -> float:
    """Relaxation time of M/M/1/N, in service times."""
    return 1 / (1 + load - 2 * sqrt(load) * cos(pi / (most + 1)))


def _region_relaxation(
    plan: Blueprint, region: SimulatedRegion, known: Mapping[str, float]
) -> float:
    """Relaxation time of jobs waiting outside a region of an open network, as in M/M/1 [s].

    Each place in the region becomes free after the time that a lone job spends inside.
    """
    load = known.get(region.name, 0.0)
    places = [plan.places[k] for k in region.stations]
    spent = [
        plan.visits(jobs)[list(region.stations)]
        @ [place.serving.alone(place.times[jobs.name]) for place in places]
        for jobs in plan.crowd
    ]
    return float(max(spent)) / region.limit / (1 - sqrt(load)) ** 2


def _feeding(plan: Blueprint, station: int) -> tuple[float, float]:
    """Ratio of a station's rate to the rate at which others feed it, and the closed jobs it holds.

    The ratio is the smaller rate over the larger, for the class whose rates are the closest.
    """
    free = np.array([1 - open_load(plan, k) for k in range(len(plan.places))])
    ratios, there = [0.0], 0.0
    for jobs in (jobs for jobs in plan.crowd if jobs.population):
        demands = _demands(plan, jobs) / free
        own, others = demands[station], np.delete(demands, station)
        away = _journey(plan, jobs) - jobs.population * _demands(plan, jobs).max()
        feeds = max(others.max(initial=0.0), away / jobs.population)
        if own and feeds:
            ratios.append(min(own, feeds) / max(own, feeds))
            there += min(own / max(feeds - own, own / jobs.population), jobs.population)
    return float(max(ratios)), float(there)
