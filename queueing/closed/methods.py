"""The ways to solve a closed network of one class, and the choice between them."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from headway.errors import GraphError
from headway.kinds import Amount, FloatArray
from headway.queueing.closed.approximate import Closed, linearizer, schweitzer
from headway.queueing.closed.convolution import convolution, series_bytes
from headway.queueing.closed.demands import ClosedStation
from headway.queueing.closed.digits import digit_convolution, has_few_digits
from headway.queueing.closed.fixed_point import State
from headway.queueing.closed.measured import closed_note
from headway.queueing.closed.memory import LARGEST, check_memory
from headway.queueing.closed.mva import mean_value_analysis
from headway.queueing.closed.points import by_network
from headway.queueing.closed.saturated import SinglePoint, is_saturated, saturated
from headway.queueing.network.arrays import spread
from headway.queueing.network.names import Method
from headway.queueing.stations.abilities import ServiceKind

_LONG = 200  # population from which a point, or a sweep, goes faster by convolution
_LONGER = 20_000  # population from which points without a series in common do too (measured)

_COPIES = 20  # arrays as long as the tables of speeds that an approximation works with

_Rows = tuple[FloatArray, FloatArray]


class Found(NamedTuple):
    """What a method finds.

    Parameters
    ----------
    rate
        Throughput, shape (points,) [1/s].
    queue
        Queue lengths, shape (stations, points).
    working
        Mean share of a station's servers that works where its rates are its own; NaN where that
        follows from the throughput.
    """

    rate: FloatArray
    queue: FloatArray
    working: FloatArray


_Solver = Callable[[Sequence[ClosedStation], FloatArray, FloatArray], Found]


def choose(
    method: Method, stations: Sequence[ClosedStation], think: FloatArray, jobs: FloatArray
) -> Method:
    """Name the method that a wish for ``auto`` or ``exact`` comes to.

    Left to choose, it takes an approximation where no exact method fits into memory.

    Examples
    --------
    >>> choose(Method.AUTO, [], np.zeros(1), np.ones(1)).value
    'exact'
    """
    if method in {Method.RECAL, Method.QUADRATURE}:
        method = Method.EXACT
    if method not in {Method.AUTO, Method.EXACT}:
        return method
    varying = _of(ServiceKind.VARYING, stations)
    most = jobs.max(initial=0)
    many = most >= _LONGER or (most >= _LONG and _shares(stations, think, jobs))
    if method is Method.EXACT:
        return Method.CONVOLUTION if varying or (many and jobs.size > 1) else method
    if series_bytes(varying, jobs) > LARGEST and all(s.servers is not None for s in varying):
        queues, still = _of(ServiceKind.QUEUE, stations), think + _delays(stations, jobs)
        fits = (not queues and not varying) or _short_cut(queues, varying, still, jobs)
        return Method.CONVOLUTION if fits else Method.LINEARIZER
    if varying or many:
        return Method.CONVOLUTION
    return Method.EXACT


def _shares(stations: Sequence[ClosedStation], think: FloatArray, jobs: FloatArray) -> bool:
    """Whether one series answers all operating points, or most of them."""
    if jobs.size == 1:
        return True
    numbers = [values for s in stations for values in (s.demand, s.queues)]
    rows = [np.broadcast_to(values, jobs.shape) for values in (think, *numbers)]
    return bool(by_network(np.array(rows), jobs))


def note(method: Method, stations: Sequence[ClosedStation]) -> str:
    """The note on a method's approximation of these stations.

    Examples
    --------
    >>> note(Method.EXACT, [])
    ''
    """
    return closed_note(method, pools=any(s.kind is ServiceKind.VARYING for s in stations))


def _exact(stations: Sequence[ClosedStation], think: FloatArray, jobs: FloatArray) -> Found:
    queues, still = _of(ServiceKind.QUEUE, stations), think + _delays(stations, jobs)
    if not queues:
        return _place(stations, jobs / still, [], [])
    check_memory([int(jobs.max()) + 1], 8.0 * float(jobs.max()))  # a step each, if no memory
    rate, queue = mean_value_analysis(*_rows(queues, jobs), still, jobs)
    return _place(stations, rate, queue, [])


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
    """Solve a single point of servers and pools without its series, where that can be done."""
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


def _approximate(solver: Callable[[Closed], State]) -> _Solver:
    """Make a solver of one class."""

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
    """Speeds of pools with 1, 2... jobs, as far as they change or jobs come."""
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
    split = [spread(c.queues, jobs.size) for c in queues]
    return demand, np.array(split).reshape(shape)


def _place(
    stations: Sequence[ClosedStation],
    rate: FloatArray,
    single: Iterable[FloatArray],
    several: Iterable[FloatArray],
    working: Iterable[FloatArray] = (),
) -> Found:
    """Put queue lengths of the kinds back into the order of the stations."""
    rows: dict[ServiceKind, Amount] = {
        ServiceKind.DELAY: iter([s.demand * rate for s in _of(ServiceKind.DELAY, stations)]),
        ServiceKind.QUEUE: iter(single),
        ServiceKind.VARYING: iter(several),
    }
    used, unknown = iter(working), np.full(rate.shape, np.nan)
    shares = [next(used, unknown) if s.kind is ServiceKind.VARYING else unknown for s in stations]
    own = [unknown if s.crew is None else share for s, share in zip(stations, shares, strict=True)]
    return Found(rate, np.array([next(rows[s.kind]) for s in stations]), np.array(own))


SOLVERS: dict[Method, _Solver] = {
    Method.EXACT: _exact,
    Method.CONVOLUTION: _convolution,
    Method.SCHWEITZER: _approximate(schweitzer),
    Method.LINEARIZER: _approximate(linearizer),
}
