"""Methods for one class of jobs at stations with a closed product form."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from headway.errors import GraphError
from headway.kinds import Amount, FloatArray
from headway.queueing.closed.approximate import Closed, linearizer, schweitzer
from headway.queueing.closed.convolution import convolution, series_bytes
from headway.queueing.closed.demands import ClosedStation, closed_stations
from headway.queueing.closed.digits import digit_convolution, has_few_digits
from headway.queueing.closed.fixed_point import Iterate
from headway.queueing.closed.measured import closed_note
from headway.queueing.closed.mva import mean_value_analysis
from headway.queueing.closed.saturated import SinglePoint, is_saturated, saturated
from headway.queueing.methods.memory import LARGEST, check_memory
from headway.queueing.methods.method import Cost
from headway.queueing.network.arrays import rows, spread
from headway.queueing.network.names import Method
from headway.queueing.network.network import Network
from headway.queueing.network.points import by_network
from headway.queueing.network.result import Result, one_class_result
from headway.queueing.stations.abilities import ServiceKind

_STEP = 5e-6  # seconds of a step of mean value analysis, for comparison only
# The limits are for Python; with kernels both take fractions of a millisecond at these populations.
_LONG = 200  # population from which a single point, or a sweep, is faster by convolution
_LONGER = 20_000  # population from which points without a common series are, too (measured)

_COPIES = 20  # arrays of the size of the speed tables that an approximation uses

_Rows = tuple[FloatArray, FloatArray]


class Found(NamedTuple):
    """The results of a method.

    Parameters
    ----------
    rate
        Throughput, shape (points,) [1/s].
    queue
        Queue lengths, shape (stations, points).
    working
        By index, the mean share of a station's servers that works, if it has rates of its own, so
        that it does not follow from the throughput; shape (points,).
    """

    rate: FloatArray
    queue: FloatArray
    working: Mapping[int, FloatArray]


_Solver = Callable[[Sequence[ClosedStation], FloatArray, FloatArray], Found]


def walked(network: Network) -> Result:
    """Solve one class by exact mean value analysis of delays and single servers."""
    jobs, demand, rests = network.population[0], network.demand[0], network.is_roomy
    still = network.think_time[0] + demand[rests].sum(axis=0)
    if rests.all():
        rate = jobs / still
        return _answered(network, Method.EXACT, Found(rate, demand * rate, {}))
    # one step per job, if there is enough memory
    check_memory([int(jobs.max()) + 1], 8.0 * float(jobs.max()))
    rate, waiting = mean_value_analysis(demand[~rests], network.queues[~rests], still, jobs)
    queue = demand * rate
    queue[~rests] = waiting
    return _answered(network, Method.EXACT, Found(rate, queue, {}))


def convolved(network: Network) -> Result:
    """Solve one class by convolution."""
    return _by_stations(network, Method.CONVOLUTION, _convolution)


def by_linearizer(network: Network) -> Result:
    """Solve one class by approximate mean value analysis with Linearizer's correction."""
    return _by_stations(network, Method.LINEARIZER, _approximate(linearizer))


def by_schweitzer(network: Network) -> Result:
    """Solve one class by approximate mean value analysis with Bard and Schweitzer's estimate."""
    return _by_stations(network, Method.SCHWEITZER, _approximate(schweitzer))


def _by_stations(network: Network, method: Method, solver: _Solver) -> Result:
    """Solve one class at stations that may have several speeds."""
    jobs = network.population[0]
    stations = closed_stations(
        network.kinds, network.demand[0], network.servers, network.shape, jobs
    )
    pools = any(s.kind is ServiceKind.VARYING for s in stations)
    return _answered(network, method, solver(stations, network.think_time[0], jobs), pools=pools)


def _answered(network: Network, method: Method, found: Found, *, pools: bool = False) -> Result:
    """All other results by the operational laws: X V, U = X V S / m, R = Q / (X V)."""
    jobs, visits, times = network.population[0], network.visits[0], network.service_times[0]
    rate, queue, working = found
    through = visits * rate
    some = through > 0
    per_visit = np.where(some, queue / np.where(some, through, 1.0), times)
    residence = np.where(jobs > 0, visits * per_visit, 0.0)
    used = through * times / rows([station.speedup for station in network.kinds], network.shape)
    for k, share in working.items():
        used[k] = share
    return one_class_result(
        network.shape,
        method,
        closed_note(method, pools=pools),
        (rate, residence.sum(axis=0)),
        (used, queue, residence, per_visit, through),
    )


def walk_cost(network: Network) -> Cost:
    """The cost of mean value analysis: one step per job."""
    most = float(network.population.max(initial=0))
    return Cost(8.0 * most, _STEP * most)


def convolution_cost(network: Network) -> Cost:
    """The cost of a convolution: a number of steps, shared if one series gives all answers.

    It needs no memory for a series if a single point can be solved without one.
    """
    jobs, visits, times = network.population[0], network.visits[0], network.service_times[0]
    most = jobs.max(initial=0)
    demand = visits * times
    several = _LONG if jobs.size == 1 or _shares(network, demand) else _LONGER
    varying = [s for s in network.kinds if s.can.product_form is not ServiceKind.DELAY]
    memory = 8.0 * (float(most) + 1) * (6 + 2 * len(varying))
    if memory > LARGEST:
        stations = closed_stations(network.kinds, demand, network.servers, network.shape, jobs)
        queues, crowds = _of(ServiceKind.QUEUE, stations), _of(ServiceKind.VARYING, stations)
        memory = series_bytes(crowds, jobs)
        still = network.think_time[0] + _delays(stations, jobs)
        if not (queues or crowds) or _short_cut(queues, crowds, still, jobs):
            memory = 0.0
    return Cost(memory, _STEP * several)


def _shares(network: Network, demand: FloatArray) -> bool:
    """Whether one series gives all operating points, or most of them."""
    jobs = network.population[0]
    numbers = np.vstack([network.think_time[:1], demand, network.servers])
    return bool(by_network(numbers, jobs))


def _convolution(stations: Sequence[ClosedStation], think: FloatArray, jobs: FloatArray) -> Found:
    still = think + _delays(stations, jobs)
    queues, varying = _of(ServiceKind.QUEUE, stations), _of(ServiceKind.VARYING, stations)
    if not (queues or varying):
        return _place(stations, jobs / still, [], [])
    short = _short_cut(queues, varying, still, jobs)
    if short:
        return _place(stations, *short)
    return _place(stations, *convolution(queues, varying, still, jobs))


def _short_cut(
    queues: Sequence[ClosedStation],
    varying: Sequence[ClosedStation],
    still: FloatArray,
    jobs: FloatArray,
) -> tuple[FloatArray, FloatArray, FloatArray] | None:
    """Solve a single point of servers and pools without its series, if possible."""
    pools = [s.servers for s in varying if s.servers is not None]
    if jobs.size > 1 or len(pools) < len(varying):
        return None
    demand, split = _rows([*queues, *varying], jobs)
    if not demand.any():
        return None
    servers = np.concatenate([np.ones(len(queues)), *pools])
    network = SinglePoint(
        demand[:, 0], split[:, 0].astype(int), float(still[0]), int(jobs[0]), servers
    )
    if is_saturated(network):
        rate, lengths = saturated(network)
    elif not pools and has_few_digits(network):
        rate, lengths = digit_convolution(network)
    else:
        return None
    return rate, lengths[: len(queues)], lengths[len(queues) :]


def _approximate(solver: Callable[[Closed], Iterate]) -> _Solver:
    """A solver for one class."""

    def solve(stations: Sequence[ClosedStation], think: FloatArray, jobs: FloatArray) -> Found:
        for part in stations:
            _check_pool(part)
        queues, pools = _of(ServiceKind.QUEUE, stations), _of(ServiceKind.VARYING, stations)
        demand, split = _rows([*queues, *pools], jobs)
        network = Closed(
            demand[None],
            split,
            (think + _delays(stations, jobs))[None],
            jobs[None],
            crowded=tuple(range(len(queues), len(demand))),
            rates=_speeds(pools, jobs),
        )
        state = solver(network)
        single, several = np.split(state.queue[0], [len(queues)])
        return _place(stations, state.rate[0], single, several)

    return solve


def _speeds(pools: Sequence[ClosedStation], jobs: FloatArray) -> FloatArray | None:
    """Speeds of pools with 1, 2... jobs, up to where they are constant or no more jobs come."""
    if not pools:
        return None
    longest = max(len(s.speeds) for s in pools)
    present = np.arange(min(longest, max(int(jobs.max()), 1)))
    check_memory([len(present)], 8.0 * _COPIES * len(present) * len(pools) * jobs.size)
    rows = [s.speeds[np.minimum(present, len(s.speeds) - 1)] for s in pools]
    shape = len(present), jobs.size
    return np.stack([np.broadcast_to(row, shape) for row in rows], axis=1)


def _check_pool(part: ClosedStation) -> None:
    """Refuse speeds that are not those of m servers."""
    present = np.arange(1, len(part.speeds) + 1)[:, None]
    if not np.array_equal(part.speeds, np.minimum(present, part.speeds[-1])):
        raise GraphError("no approximate method supports load-dependent rates; use method exact")


def _of(kind: ServiceKind, stations: Sequence[ClosedStation]) -> list[ClosedStation]:
    return [s for s in stations if s.kind is kind]


def _delays(stations: Sequence[ClosedStation], jobs: FloatArray) -> FloatArray:
    return sum((s.demand for s in _of(ServiceKind.DELAY, stations)), np.zeros(jobs.shape))


def _rows(queues: Sequence[ClosedStation], jobs: FloatArray) -> _Rows:
    """Demands and numbers of separate queues as arrays (stations, points)."""
    shape = len(queues), jobs.size
    demand = np.array([s.demand for s in queues]).reshape(shape)
    split = [
        c.queues if c.queues.size == jobs.size else spread(c.queues, jobs.size) for c in queues
    ]
    return demand, np.array(split).reshape(shape)


def _place(
    stations: Sequence[ClosedStation],
    rate: FloatArray,
    single: Iterable[FloatArray],
    several: Iterable[FloatArray],
    working: Iterable[FloatArray] = (),
) -> Found:
    """Put the queue lengths of all kinds back into the order of the stations."""
    rows: dict[ServiceKind, Amount] = {
        ServiceKind.DELAY: iter([s.demand * rate for s in _of(ServiceKind.DELAY, stations)]),
        ServiceKind.QUEUE: iter(single),
        ServiceKind.VARYING: iter(several),
    }
    varying = [k for k, s in enumerate(stations) if s.kind is ServiceKind.VARYING]
    shares = {
        k: share for k, share in zip(varying, working, strict=False) if stations[k].crew is not None
    }
    return Found(rate, np.array([next(rows[s.kind]) for s in stations]), shares)
