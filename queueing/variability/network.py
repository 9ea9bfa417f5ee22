"""Open networks of GI/G/m queues: variability is propagated, then each station solved by itself.

Source: Whitt, "The Queueing Network Analyzer", Bell System Technical Journal 62(9), 1983.
"""

from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from typing import TypeVar

import numpy as np

from headway.errors import InvalidParameter
from headway.kinds import FloatArray, check_not_negative
from headway.numerals import digits
from headway.queueing.renewals.waits import renewal_wait
from headway.queueing.variability.flows import (
    Traffic,
    departing_alone,
    departures,
    on_common_loops,
    scvs_of_arrivals,
)
from headway.queueing.variability.returns import near_returns
from headway.queueing.variability.tandems import Flags, Tandems, tandems_of
from headway.queueing.variability.waiting import general_wait
from headway.records import dataclass

Errors = TypeVar("Errors")

_MANY = 1e12  # jobs at a saturated station, to which no job returns soon
_ROUNDING = 1e-9  # of rates, relative: smaller negative ones are rounding


@dataclass(frozen=True)
class GeneralNetwork:
    """An open network of first-come first-served queues; two moments of each flow and service.

    Parameters
    ----------
    arrival_rates
        Arrivals from outside at each station [1/s], shape (..., stations); leading axes are
        operating points.
    arrival_scvs
        Squared coefficient of variation of the times between these: 1 for Poisson arrivals.
    onward
        Routing probabilities from each station (rows) to each (columns); the remaining share
        leaves.
    service_times
        Mean service time of one server [s].
    servers
        Servers at each station; infinite for a delay.
    scvs
        Squared coefficients of variation of service times.
    outside_flows
        Number of equal flows that arrive from outside at each station, 1 or more: the square of the
        sum of their rates over the sum of their squares. `arrival_scvs` are then means over jobs.
    more_work
        Added to the scv of arrivals for waits, if classes bring different work.
    chosen
        Probability that a job of a flow with `arrival_scvs` is selected for the station,
        independently, above 0 and at most 1; `arrival_rates` are those of selected jobs.

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
    chosen: FloatArray = field(default_factory=lambda: np.array(1.0))

    def __post_init__(self) -> None:
        for name in vars(self):
            values = np.asarray(getattr(self, name), float)
            if name != "more_work":
                check_not_negative(name, np.where(np.isinf(values), 1.0, values))
            object.__setattr__(self, name, values)
        self.shape  # noqa: B018 - refuses shapes that do not fit now

    @property
    def is_poisson(self) -> bool:
        """Whether all arrivals from outside are Poisson."""
        return bool(np.all((self.arrival_scvs == 1) | (self.arrival_rates == 0)))

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
    """Means of an open network by two moments, each of shape (..., stations).

    Parameters
    ----------
    arrival_rate
        Visits [1/s], including those of jobs that return at once.
    utilisation
        Share of each station's servers that is busy; 1 or more means overload.
    waiting_time
        Mean wait of a visit [s]; infinite from saturation on.
    arrival_scv
        Squared coefficient of variation of the times between arrivals at the station's queue,
        without jobs that return at once.
    departure_scv
        The same for departures.
    exact
        Whether nothing about the waits is approximate.
    """

    arrival_rate: FloatArray
    utilisation: FloatArray
    waiting_time: FloatArray
    arrival_scv: FloatArray
    departure_scv: FloatArray
    exact: bool = False


def solve_general(network: GeneralNetwork) -> GeneralSolution:
    """Solve the rates, then the variability of all flows, then each station alone.

    Successive visits of a job that returns at once count as one longer visit. An approximation;
    exact for networks of M/M/m queues (Jackson), for M/G/1 behind these, for tandems of constant
    times behind these, and for D/M/m queues without other arrivals.

    Parameters
    ----------
    network
        An open network that every job can leave.

    Raises
    ------
    InvalidParameter
        If no job leaves some loop.

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
    arrays = {n: v.reshape(network.shape) for n, v in vars(solution).items() if n != "exact"}
    return GeneralSolution(**arrays, exact=solution.exact)


def _solved(
    onward: FloatArray,
    arrival_rates: FloatArray,
    arrival_scvs: FloatArray,
    service_times: FloatArray,
    servers: FloatArray,
    scvs: FloatArray,
    outside_flows: FloatArray,
    more_work: FloatArray,
    chosen: FloatArray,
) -> GeneralSolution:
    back = np.diagonal(onward, axis1=-2, axis2=-1)
    together = on_common_loops(onward)
    visits, ever = _visits(onward, arrival_rates, loops=bool(together.any()))
    # A job that returns at once with probability r makes one visit of 1 / (1 - r) services.
    stays, time = visits * (1 - back), service_times / (1 - back)
    spread = back + (1 - back) * scvs
    busy = stays * time / servers
    away = (onward * (1 - np.eye(onward.shape[-1]))) / (1 - back)[..., None]
    total = np.where(stays > 0, stays, 1.0)
    shares = stays[..., :, None] * away / total[..., None, :]
    serving = departing_alone(spread, servers)
    parts = np.maximum(outside_flows, 1.0)
    outside = 1 + chosen * (arrival_scvs - 1)  # of a renewal flow with random selection
    traffic = Traffic(
        shares, away, arrival_rates / total, outside, parts, stays, busy, spread, serving, together
    )
    coming, outer = scvs_of_arrivals(traffic)
    leaving = departures(coming, busy, serving)
    flows = _Queues(shares, away, ever, stays, time, servers, spread)
    waits = flows.waits(coming, outer, more_work)
    renewal = flows.renewal(arrival_scvs) & (parts == 1) & (more_work == 0)
    if renewal.any():
        rows = (np.where(renewal, v, 1.0) for v in (stays, time, servers, arrival_scvs, chosen))
        waits = np.where(renewal, renewal_wait(*rows).mean, waits)
    poisson = ((arrival_scvs == 1) | (arrival_rates == 0)).all(axis=0)
    known = flows.exact(poisson) | (renewal & (arrival_scvs == 0)).all(axis=0)
    exact = bool(not more_work.any() and known.all())
    waits = waits * (1 - back)
    return GeneralSolution(visits, busy, waits, coming, leaving, exact)


def _visits(
    onward: FloatArray, arrival_rates: FloatArray, *, loops: bool
) -> tuple[FloatArray, FloatArray]:
    """Arrivals at each station [1/s], and the probability that a job that goes on returns later."""
    system, ever = np.eye(onward.shape[-1]) - onward, np.zeros_like(arrival_rates)
    try:
        if loops:
            each = np.linalg.inv(system)
            visits = (arrival_rates[..., None, :] @ each)[..., 0, :]
            own, goes_on = (np.diagonal(m, axis1=-2, axis2=-1) for m in (each, system))
            ever = 1 - 1 / (own * goes_on)
        else:
            visits = np.linalg.solve(np.swapaxes(system, -1, -2), arrival_rates[..., None])[..., 0]
    except np.linalg.LinAlgError:
        visits = np.full_like(arrival_rates, -1.0)
    negative = visits < -_ROUNDING * np.abs(visits).max(initial=1.0)
    if negative.any() or not np.isfinite(visits).all():
        msg = "no job leaves some loop of stations; lower a probability in it below 1"
        raise InvalidParameter(msg)
    return np.maximum(visits, 0.0), ever


@dataclass(frozen=True)
class _Queues:
    """Routes, visits and services at each point; visits that return at once make one longer visit.

    `ever` is the probability that a job that goes on from a station returns there later.
    """

    shares: FloatArray
    away: FloatArray
    ever: FloatArray
    stays: FloatArray
    time: FloatArray
    servers: FloatArray
    spread: FloatArray

    def waits(self, coming: FloatArray, outer: FloatArray, more_work: FloatArray) -> FloatArray:
        """Mean wait of a visit, from the scvs of all arrivals and of those from outside the loops.

        Returns that count as immediate lengthen services; the share of arrivals that return at all
        does not have the variability that services add on loops.
        """
        loops = self.ever.any()
        soon = near_returns(self.away, self._mean_numbers()) if loops else np.zeros_like(self.ever)
        arrivals = np.maximum(outer + (coming - outer) * (1 - self.ever), 0.0)
        varies = arrivals + more_work  # below 0 for regular arrivals with different service times
        spread = soon + (1 - soon) * self.spread
        rest = np.maximum(spread + np.minimum(varies, 0.0), 0.0)
        moments = np.maximum(varies, 0.0), rest
        waits = self._wait(self.stays * (1 - soon), self.time / (1 - soon), *moments) * (1 - soon)
        tandems = self._tandems
        if not tandems.steady.any():
            return waits
        first = np.take_along_axis(arrivals, tandems.head, axis=-1)
        now, before = (
            general_wait(self.stays, time, 1.0, first, self.spread)
            for time in (tandems.peak, tandems.before)
        )
        lasting = np.isfinite(waits) & (tandems.steady > 0)  # at a saturated station for ever
        ends, own = lasting & np.isfinite(before), np.where(lasting, waits, 0.0)
        in_tandem = np.where(ends, now, 0.0) - np.where(ends, before, 0.0)
        return np.where(lasting, tandems.steady * in_tandem + (1 - tandems.steady) * own, waits)

    def exact(self, outside: Flags) -> Flags:
        """Stations with exact waits: M/G/1 and M/M/m, and tandems of constant times after them.

        Departures of M/M/m queues and of delays are Poisson if arrivals are (Jackson).
        """
        delays, exponential = np.isinf(self.servers).all(axis=0), (self.spread == 1).all(axis=0)
        ways = (self.away > 0).any(axis=0)
        poisson, passing = outside, delays | exponential
        for _ in range(len(passing)):
            before = poisson
            poisson = outside & ~(ways & ~(poisson & passing)[:, None]).any(axis=0)
            if np.array_equal(poisson, before):
                break
        known = delays | (poisson & (exponential | (self.servers == 1).all(axis=0)))
        tandems = self._tandems
        constant = tandems.steady == 1
        first = np.where(constant, tandems.head, np.arange(len(passing)))
        return np.asarray(known | (constant & poisson[first]).all(axis=0))

    def renewal(self, outside: FloatArray) -> Flags:
        """Exponential servers whose only arrivals are a renewal flow from outside.

        The times between arrivals are taken as gamma-distributed if their scv is less than 1;
        Poisson flows and more variable ones are solved elsewhere.
        """
        alone = ~(self.away > 0).any(axis=-2) & np.isfinite(self.servers)
        return np.asarray(alone & (self.spread == 1) & (outside < 1) & (self.time > 0))

    def _wait(
        self, rate: FloatArray, time: FloatArray, coming: FloatArray, spread: FloatArray
    ) -> FloatArray:
        queues = np.isfinite(self.servers)
        finite = np.where(queues, self.servers, 1.0)
        return general_wait(np.where(queues, rate, 0.0), time, finite, coming, spread)

    def _mean_numbers(self) -> FloatArray:
        """Mean numbers L at the stations, as M/M/m queues."""
        one = np.ones_like(self.time)
        busy = self.stays * self.time / self.servers
        waits = self._wait(np.where(busy < 1, self.stays, 0.0), self.time, one, one)
        return np.where(busy < 1, self.stays * (self.time + waits), _MANY)

    @cached_property
    def _tandems(self) -> Tandems:
        return tandems_of(self.away, self.shares, self.time, self.spread, self.servers)


_WITHIN = {0.8: 20, 0.9: 13, 0.95: 13}
"""Bound on the errors of mean response times of 95 of 100 networks [%], by largest utilisation:
``python -m tests.campaigns.qna_errors``.
"""


def approximation(load: float) -> str:
    """Label of an answer by two moments, with the error measured up to some load.

    Parameters
    ----------
    load
        Largest utilisation.

    Examples
    --------
    >>> approximation(0.85).split(", ")[-1]
    '95 of 100 within 13% of simulations at most 90% busy'
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
        Errors by largest utilisation, ascending.
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
