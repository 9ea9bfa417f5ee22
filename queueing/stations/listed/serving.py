"""How kinds of station serve job by job: what a simulation needs besides their laws."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np

from headway.errors import GraphError
from headway.queueing.stations.base import Station
from headway.queueing.stations.speeds.batch import Batch
from headway.records import dataclass

Rule = Callable[[Any], "Serving"]


@dataclass(frozen=True)
class Serving:
    """How a station serves.

    Parameters
    ----------
    time
        Mean service time of a job [s]; 1, without a unit, where there are `speeds`.
    scv
        Squared coefficient of variation of service times: 0 constant, 1 exponential, else gamma.
    servers
        Servers of a queue; infinite for a delay.
    queues
        Number of queues side by side, one of which a job joins.
    places
        Places at a queue, including those in service; jobs that find none are lost.
    speeds
        Jobs served per second at 1, 2... jobs, the last for all more [1/s], shared equally by the
        jobs in service. If empty, speed is in proportion to its busy servers.
    most
        Speed that can be sustained at any load: jobs per second, or servers busy.
    crew
        Largest number of jobs in service, which utilisation is relative to; 0 if it has none.
    needed
        Parts of a request that must be done, one at each queue or branch; 0 if jobs do not fork.
    paces
        Service times of unequal servers over `time`, that of the fastest, in order of speed. A job
        that finds several free takes the fastest, or any of them if there are `speeds` too, which
        then are those of a discipline that shares. Empty if all servers are equal.
    budget
        Share of each period that it may work, and the period [s].
    arrival_scv
        Scv of the times between arrivals, if the kind has one: all must then come from outside.

    Examples
    --------
    >>> from headway.queueing import MMm
    >>> pool = serving_of("pool", MMm(0.5, 4))
    >>> pool.most, pool.crew, pool.speeds
    (4.0, 4.0, ())
    """

    time: float
    scv: float = 1.0
    servers: float = 1.0
    queues: int = 1
    places: float = inf
    speeds: tuple[float, ...] = ()
    most: float = 1.0
    crew: float = 1.0
    needed: int = 0
    paces: tuple[float, ...] = ()
    budget: tuple[float, float] | None = None
    arrival_scv: float | None = None

    def alone(self, time: float) -> float:
        """Time of a job with this service time without other jobs, a quota spread evenly [s]."""
        spent = time / self.speeds[0] if self.speeds else time
        return spent / self.budget[0] if self.budget else spent


def serving_of(name: str, station: Station) -> Serving:
    """Say how a station serves.

    Parameters
    ----------
    name, station
        Its name in messages, and the station, with numbers.

    Raises
    ------
    GraphError
        For a kind that cannot be simulated.
    """
    station = station.bare
    kind = type(station).__name__
    if kind not in SERVING:
        why = f": {station.lawless}" if station.lawless != Station.lawless else ""
        msg = f"{name}: headway cannot simulate {kind}{why}; use {', '.join(SERVING)}"
        raise GraphError(msg)
    return SERVING[kind](station)


def joining(needed: float) -> Serving:
    """A join: jobs wait there until enough of their parts are done elsewhere.

    Examples
    --------
    >>> joining(2.0).needed
    2
    """
    return Serving(0.0, 0.0, inf, most=inf, crew=0.0, needed=int(needed))


def _in_order(station: Any) -> Serving:
    servers: float = station.plain_count
    return Serving(station.mean_service, servers=servers, most=servers, crew=servers)


def _in_a_room(station: Any) -> Serving:
    return replace(_in_order(station), places=float(station.places))


def _all_at_once(station: Any) -> Serving:
    """A part of each request at every queue, ``needed`` of which must be done."""
    count, needed = int(station.branches), int(station.needed)
    return Serving(station.mean_service, float(station.scv), queues=count, needed=needed)


def _side_by_side(station: Any) -> Serving:
    return Serving(station.mean_service, queues=int(station.plain_count))


def _by_spread(station: Any) -> Serving:
    return replace(_in_order(station), scv=float(station.scv))


def _as_arrivals_vary(station: Any) -> Serving:
    return replace(_in_order(station), arrival_scv=float(station.arrival_scv))


def _as_both_vary(station: Any) -> Serving:
    return replace(_as_arrivals_vary(station), scv=float(station.scv))


def _as_losses_vary(station: Any) -> Serving:
    return replace(_as_arrivals_vary(station), places=float(station.places))


def _by_number(station: Any) -> Serving:
    """Service rates by the number of jobs present, whichever of them are served."""
    rates = tuple(np.ravel(np.asarray(station.rates_to(), float)).tolist())
    crew = float(np.asarray(station.crew))
    return Serving(1.0, servers=crew, speeds=rates, most=rates[-1], crew=crew)


def _in_batches(station: Any) -> Serving:
    """Jobs in the batch share its rate; the others wait in order of arrival."""
    return replace(_by_number(station), servers=float(station.largest_batch))


def _any_free(station: Any) -> Serving:
    """A job takes any free server, and stays there."""
    times = tuple(float(np.asarray(time, float)) for time in station.service_times)
    return replace(_by_number(station), paces=times)


def _fastest_first(station: Any) -> Serving:
    """The fastest free server takes the next job; each server has a utilisation of its own."""
    times = sorted(float(np.asarray(time, float)) for time in station.service_times)
    paces = tuple(time / times[0] for time in times)
    most = sum(1 / pace for pace in paces)
    count = float(len(times))
    return Serving(times[0], servers=count, most=most, crew=count, paces=paces)


def _batches_in_a_room(station: Any) -> Serving:
    """Batches no larger than the number of places."""
    places = int(station.places)
    largest = min(int(station.largest_batch), places)
    endless = Batch(station.batch_time, station.request_time, largest)
    return replace(_in_batches(endless), places=places)


def _on_a_quota(station: Any) -> Serving:
    share, period = float(station.quota), float(station.period)
    return Serving(station.mean_service, most=share, budget=(share, period))


SERVING: Mapping[str, Rule] = {
    "Delay": lambda s: Serving(s.mean_service, 0.0, inf, most=inf, crew=0.0),
    "MM1": _in_order,
    "MMm": _in_order,
    "Parallel": _side_by_side,
    "ChosenParallel": _side_by_side,
    "MM1K": _in_a_room,
    "MMmK": _in_a_room,
    "GIMmK": _as_losses_vary,
    "MD1": lambda s: Serving(s.mean_service, scv=0.0),
    "MG1": _by_spread,
    "MGm": _by_spread,
    "GGm": _as_both_vary,
    "SharedMG1": _by_spread,
    "SharedMGm": _by_spread,
    "LoadDependent": _by_number,
    "Batch": _in_batches,
    "Slowing": _by_number,
    "WakeUp": _by_number,
    "UnequalServers": _any_free,
    "FastestFirst": _fastest_first,
    "BatchK": _batches_in_a_room,
    "Quota": _on_a_quota,
    "ForkJoin": _all_at_once,
}
"""How each kind serves; other kinds cannot be simulated."""
