"""Methods for loads that vary with time: forward equations, modified offered load, and others.

*Pointwise stationary*: the steady state of each time's rate. It has no memory, so it suits days
that change slowly compared with the relaxation time of the queue.
Source: Green and Kolesar, *The pointwise stationary approximation for queues with nonstationary
arrivals*, Management Science 37(1), 1991, 84-97.

*Modified offered load*: the steady state of the load that infinitely many servers would have,

    a' = lambda(t) - a / S,

which lags behind the arrival rate as the queue does.
Source: Jennings, Mandelbaum, Massey and Whitt, *Server staffing to meet time-varying demand*,
Management Science 42(10), 1996, 1383-1394; Massey and Whitt, *An analysis of the modified
offered-load approximation for the nonstationary Erlang loss model*, Annals of Applied Probability
4(4), 1994, 1145-1160.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

import numpy as np

from headway.kinds import FloatArray
from headway.queueing.transient.forward import Numbers, Piece, forward, steady, total
from headway.queueing.transient.means import Met, TimedMeans
from headway.queueing.transient.network import TimedNetwork
from headway.queueing.transient.service import Service


def by_forward(network: TimedNetwork) -> TimedMeans:
    """Solve the forward equations of the network's only queue."""
    services = [network.service(network.queue, part) for part in range(len(network.rates))]
    lengths, rates = network.lengths.tolist(), network.rates.tolist()
    pieces = [Piece(*each) for each in zip(lengths, rates, services, strict=True)]
    begin = network.begin()
    assert begin is not None  # noqa: S101 - guaranteed by a need of the method
    return gathered(network, spent(pieces, begin))


def spent(pieces: Sequence[Piece], start: Numbers) -> Iterator[list[tuple[Numbers, Service]]]:
    """Integrals of the probabilities over each piece [s]."""
    held: list[Numbers] = []
    after = iter(pieces)
    for step in forward(pieces, start):
        held.append(step.spent)
        if step.is_last:
            yield [(total(held), next(after).service)]
            held = []


def gathered(network: TimedNetwork, times: Iterable[list[tuple[Numbers, Service]]]) -> TimedMeans:
    """Sums over parts of the time at the only queue; other stations are delays.

    Parameters
    ----------
    network
        The network, with one queue.
    times
        Integrals of probabilities over each part [s], under each service that the queue has in it.
    """
    rows, met = [], []
    delay, lengths = network.delay, network.lengths.tolist()
    for parts, rate, length in zip(times, network.rates.tolist(), lengths, strict=True):
        share = length / sum(float(time.chances.sum()) for time, _ in parts)
        here = [_sums(Numbers(t.first, share * t.chances), rate, service) for t, service in parts]
        each = zip(*(sums for sums, _ in here), strict=True)
        accepted, lost, served, jobs, busy, at_queue = map(sum, each)
        rows.append((
            rate * length,
            served,
            lost,
            jobs / length + rate * delay,
            busy / length,
            at_queue + accepted * (delay + network.beyond),
        ))  # fmt: skip
        met.append(tuple(one for _, one in here))
    by_number = any(one.service.speeds for each in met for one in each)
    return TimedMeans.of(rows, () if by_number else tuple(met), delay + network.beyond)


def _sums(time: Numbers, rate: float, service: Service) -> tuple[tuple[float, ...], Met]:
    """Sums over a time with these integrals of probabilities [s], and what its arrivals meet.

    The sums: jobs that enter, jobs lost, jobs served, number of jobs, busy servers, and response
    times.
    """
    first, chances = time.first, time.chances
    laws = _laws_between(service, first, first + len(chances))
    found = np.einsum("ij,j", laws, chances)
    came = rate * laws[0] * chances
    accepted, served, jobs, busy, times = found.tolist()
    lost = float((1 - laws[0]) @ chances)  # not a difference, of which few digits would be left
    times = jobs if service.speeds else rate * times
    sums = rate * accepted, rate * lost, served, jobs, busy, times
    return sums, Met(Numbers(first, came), service)


_BLOCK, _TABULATED = 64, 4096
"""Numbers of jobs by which tables begin and end, and most of them in a table that is kept."""


def _laws_between(service: Service, first: int, last: int) -> FloatArray:
    """`_laws` of the numbers of jobs from ``first`` to below ``last``."""
    low, high = first // _BLOCK * _BLOCK, -(-last // _BLOCK) * _BLOCK
    laws = _laws if high - low <= _TABULATED else _laws.__wrapped__
    return laws(service, low, high)[:, first - low : last - low]


@lru_cache(maxsize=2**8)  # the parts of a day have few different services
def _laws(service: Service, first: int, last: int) -> FloatArray:
    """By number of jobs: accepted, served, jobs, busy, and response times of those accepted."""
    number = np.arange(first, last, dtype=float)
    accepted = np.where(number < service.places, 1.0, 0.0)
    times = number if service.speeds else accepted * service.mean_times(number)
    return np.array([accepted, service.rates(number), number, service.busy(number), times])


def by_pointwise(network: TimedNetwork) -> TimedMeans:
    """Solve the steady state of each rate: of the only queue, or of each station by means."""
    return _of_loads(network, np.outer(network.rates, network.visits))


def by_offered_load(network: TimedNetwork) -> TimedMeans:
    """Solve the steady state of the load that infinitely many servers would have."""
    from scipy.linalg import expm

    count = len(network.stations)
    entry = np.array([station.entry for station in network.stations])
    flow = network.onward.T - np.eye(count)
    loads, found = np.zeros(count), []
    for part, (rate, length) in enumerate(zip(network.rates, network.lengths, strict=True)):
        times = np.array([network.service(s, part).time for s in network.stations])
        if part == 0:
            loads = rate * network.visits * times
        # a linear system for the load, its integral, and the arrival rate
        whole = np.zeros((2 * count + 1, 2 * count + 1))
        whole[:count, :count] = flow / times
        whole[:count, -1] = entry * rate
        whole[count : 2 * count, :count] = np.eye(count)
        end = expm(whole * length) @ np.concatenate([loads, np.zeros(count), [1.0]])
        loads = end[:count]
        found.append(end[count : 2 * count] / length / times)
    return _of_loads(network, np.array(found))


def _of_loads(network: TimedNetwork, rates: FloatArray) -> TimedMeans:
    """Steady states at these arrival rates of each station, shape (parts, stations)."""
    if len(network.queues) == 1 and network.visits[network.queues[0]] == 1:
        services = [network.service(network.queue, part) for part in range(len(network.rates))]
        at_queue = rates[:, network.queues[0]].tolist()
        pairs = zip(at_queue, services, network.lengths.tolist(), strict=True)
        return gathered(network, ([(_for(*each), each[1])] for each in pairs))
    rows = []
    for part, (rate, length) in enumerate(zip(network.rates, network.lengths, strict=True)):
        here = [network.service(station, part) for station in network.stations]
        each = [_for(r, s, 1.0) for r, s in zip(rates[part].tolist(), here, strict=True)]
        numbers = np.array([one.mean for one in each])
        times = [
            float(s.mean_times(n.numbers) @ n.chances) for s, n in zip(here, each, strict=True)
        ]
        busy = [float(s.busy(n.numbers) @ n.chances) for s, n in zip(here, each, strict=True)]
        jobs = rate * length
        spent = float(network.visits @ times) + network.beyond
        rows.append((jobs, jobs, 0.0, numbers.sum(), max(busy), jobs * spent))
    return TimedMeans.of(rows)


def _for(rate: float, service: Service, length: float) -> Numbers:
    if not service.speeds and not np.isfinite(service.servers):
        return Numbers(int(rate * service.time), np.full(1, length))
    found = steady(rate, service)
    assert found is not None  # noqa: S101 - guaranteed by a need of the method
    return Numbers(found.first, found.chances / found.chances.sum() * length)
