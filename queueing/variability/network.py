"""Open networks of GI/G/m queues, solved station by station with variability propagated.

Source: Whitt, "The Queueing Network Analyzer", Bell System Technical Journal 62(9), 1983.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from headway.errors import InvalidParameter
from headway.kinds import FloatArray, check_not_negative
from headway.numerals import digits
from headway.queueing.variability.flows import (
    Traffic,
    departing_alone,
    departures,
    scvs_of_arrivals,
)
from headway.queueing.variability.waiting import general_wait

Errors = TypeVar("Errors")


@dataclass(frozen=True)
class GeneralNetwork:
    """An open network of queues in order of arrival, each flow and service by two moments.

    Parameters
    ----------
    arrival_rates
        Jobs that come from outside to each station [1/s], shape (..., stations); what stands
        before are operating points.
    arrival_scvs
        Squared coefficient of variation of the times between those: 1 for Poisson arrivals.
    onward
        Chance to go from each station (rows) to each (columns); what is left leaves.
    service_times
        Mean service time of one server [s].
    servers
        Servers at each station; infinitely many for a delay.
    scvs
        Squared coefficients of variation of service times.
    outside_flows
        As how many flows alike jobs come from outside to each station, 1 or more: the square of
        their sum over the sum of their squares. `arrival_scvs` are then means over their jobs.
    more_work
        What the work that comes to each station varies more than arrivals of one class would, as
        something added to their scv where they wait.

    Raises
    ------
    InvalidParameter
        For numbers out of their domain, and shapes that do not fit.

    Examples
    --------
    >>> bursty = GeneralNetwork([0.8, 0], [4, 1], [[0, 1], [0, 0]], [1, 1], [1, 1], [1, 1])
    >>> solution = solve_general(bursty)
    >>> solution.arrival_scv.round(3).tolist(), solution.waiting_time.round(2).tolist()
    ([4.0, 2.28], [9.28, 6.3])
    """

    arrival_rates: FloatArray
    arrival_scvs: FloatArray
    onward: FloatArray
    service_times: FloatArray
    servers: FloatArray
    scvs: FloatArray
    outside_flows: FloatArray = field(default_factory=lambda: np.array(1.0))
    more_work: FloatArray = field(default_factory=lambda: np.array(0.0))

    def __post_init__(self) -> None:
        for name in vars(self):
            values = np.asarray(getattr(self, name), float)
            if name != "more_work":
                check_not_negative(name, np.where(np.isinf(values), 1.0, values))
            object.__setattr__(self, name, values)
        self.shape  # noqa: B018 - refuses shapes that do not fit now

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the operating points, and the stations."""
        rows = (v for n, v in vars(self).items() if n != "onward")
        try:
            return np.broadcast_shapes(self.onward.shape[:-1], *(v.shape for v in rows))
        except ValueError:
            shapes = {name: values.shape for name, values in vars(self).items()}
            msg = f"these arrays have different shapes: {shapes}; give each station one number"
            raise InvalidParameter(msg) from None


@dataclass(frozen=True)
class GeneralSolution:
    """What two moments say of an open network, each of shape (..., stations).

    Parameters
    ----------
    arrival_rate
        Visits [1/s], those that come straight back among them.
    utilisation
        Share of each station's servers that is busy; 1 or more means overload.
    waiting_time
        Mean wait of a visit [s]; infinite from saturation on.
    arrival_scv
        Squared coefficient of variation of the times between arrivals of those who do not come
        straight back, as the station's queue sees them.
    departure_scv
        The same of those who leave it and do not come straight back.
    """

    arrival_rate: FloatArray
    utilisation: FloatArray
    waiting_time: FloatArray
    arrival_scv: FloatArray
    departure_scv: FloatArray


def solve_general(network: GeneralNetwork) -> GeneralSolution:
    """Solve the rates, then the variability of all flows, then each station alone.

    Jobs that a station sends straight back to itself make one longer visit there. An
    approximation; exact for networks of M/M/m queues (Jackson) and for M/G/1 alone.

    Parameters
    ----------
    network
        An open network that every job can leave.

    Raises
    ------
    InvalidParameter
        If nothing leaves some loop.

    Examples
    --------
    >>> one = GeneralNetwork([0.5], [1.0], [[0.0]], [1.0], [1], [0.0])  # M/D/1
    >>> float(solve_general(one).waiting_time[0])
    0.5
    """
    count = network.shape[-1]
    rows = (n for n in vars(network) if n != "onward")
    flat = {n: np.broadcast_to(getattr(network, n), network.shape).reshape(-1, count) for n in rows}
    onward = np.broadcast_to(network.onward, (*network.shape, count)).reshape(-1, count, count)
    solution = _solved(onward, **flat)
    return GeneralSolution(*(each.reshape(network.shape) for each in vars(solution).values()))


def _solved(
    onward: FloatArray,
    arrival_rates: FloatArray,
    arrival_scvs: FloatArray,
    service_times: FloatArray,
    servers: FloatArray,
    scvs: FloatArray,
    outside_flows: FloatArray,
    more_work: FloatArray,
) -> GeneralSolution:
    back = np.diagonal(onward, axis1=-2, axis2=-1)
    visits = _rates(onward, arrival_rates)
    stays, time = visits * (1 - back), service_times / (1 - back)
    spread = back + (1 - back) * scvs
    busy = stays * time / servers
    away = (onward * (1 - np.eye(onward.shape[-1]))) / (1 - back)[..., None]
    outside = (arrival_rates, arrival_scvs, outside_flows)
    coming, leaving = _scvs(away, stays, outside, busy, servers, spread)
    queues = np.isfinite(servers)
    finite = np.where(queues, servers, 1.0)
    varies = coming + more_work  # below 0 where arrivals are steady and times unlike
    rest = np.maximum(spread + np.minimum(varies, 0.0), 0.0)
    moments = np.maximum(varies, 0.0), rest
    waits = general_wait(np.where(queues, stays, 0.0), time, finite, *moments) * (1 - back)
    return GeneralSolution(visits, busy, waits, coming, leaving)


def _rates(onward: FloatArray, arrival_rates: FloatArray) -> FloatArray:
    away = np.eye(onward.shape[-1]) - np.swapaxes(onward, -1, -2)
    try:
        rates = np.linalg.solve(away, arrival_rates[..., None])[..., 0]
    except np.linalg.LinAlgError:
        rates = np.full_like(arrival_rates, -1.0)
    if (rates < -_ROUNDING * np.abs(rates).max(initial=1.0)).any() or not np.isfinite(rates).all():
        msg = "no job leaves some loop of stations; lower a probability in it below 1"
        raise InvalidParameter(msg)
    return np.asarray(np.maximum(rates, 0.0))


_ROUNDING = 1e-9


def _scvs(
    away: FloatArray,
    stays: FloatArray,
    outside: tuple[FloatArray, FloatArray, FloatArray],
    busy: FloatArray,
    servers: FloatArray,
    spread: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """How what comes to each station and what leaves it varies."""
    total = np.where(stays > 0, stays, 1.0)
    shares = stays[..., :, None] * away / total[..., None, :]
    serving = departing_alone(spread, servers)
    rates, scvs, flows = outside
    traffic = Traffic(
        shares, away, rates / total, scvs, np.maximum(flows, 1.0), stays, busy, spread, serving
    )
    coming = scvs_of_arrivals(traffic)
    return coming, departures(coming, busy, serving)


_WITHIN = {0.8: 19, 0.9: 14, 0.95: 13}
"""Error of the mean response time of 95 of 100 networks [%], by their largest utilisation."""


def approximation(load: float) -> str:
    """What is approximate about it, with the error measured up to some load.

    Parameters
    ----------
    load
        Largest utilisation.

    Examples
    --------
    >>> approximation(0.85).split(", ")[-1]
    '95 of 100 within 14% of simulations at most 90% busy'
    """
    within, busy = at_load(_WITHIN, load)
    return (
        "each flow and service is approximated by two moments (QNA): mean response times of "
        f"networks, 95 of 100 within {within}% of simulations {busy}"
    )


def at_load(errors: Mapping[float, Errors], load: float) -> tuple[Errors, str]:
    """Errors measured up to some load, and the words for that load.

    Parameters
    ----------
    errors
        By largest utilisation, rising.
    load
        Largest utilisation; beyond the last the errors are those of the last.

    Examples
    --------
    >>> at_load({0.8: 19, 0.9: 14}, 0.85), at_load({0.8: 19}, 0.9)[1]
    ((14, 'at most 90% busy'), 'at most 80% busy (beyond that not measured)')
    """
    most = next((limit for limit in errors if load <= limit), max(errors))
    beyond = "" if load <= most else " (beyond that not measured)"
    return errors[most], f"at most {digits(100 * most)}% busy{beyond}"
