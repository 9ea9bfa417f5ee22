"""Response times for open clients at the rates of a closed test, from a model of the server.

The model is a fixed delay and a queue with m servers. Its throughput against the population, as a
finite source (Kleinrock, *Queueing Systems* I, 1975, section 3.8), gives m, the delay and the mean
service time; percentiles for one client, who never waits, give the variability of service times. An
open client waits as in M/M/m, times (1 + scv) / 2 (Allen, 1990, section 5.3.6); waits are
exponential for those who wait.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from headway.kinds import FloatArray
from headway.models.auditing.finding import series
from headway.models.measured.points import Loop, Point
from headway.queueing import MMm, erlang_c, solve_closed
from headway.records import dataclass

MOST_CLIENTS = 10_000
"""Most clients of a closed test that the model handles one by one."""

FEWEST = 4
"""Fewest populations that determine the server."""

_FEW = f"runs at {FEWEST} or more numbers of clients are needed"

BANDS: Mapping[float, tuple[float, float]] = {0.5: (0.03, 0.4), 0.7: (0.12, 0.35), 0.9: (0.12, 0.4)}
"""By largest utilisation: relative errors of mean and percentiles that covered nine of ten of 100
simulated servers."""

_SERVERS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
_MISFIT = 0.05  # RMS relative error of throughput above which the model does not fit the server
_GRID = 400  # quantiles of service times that represent their distribution function
_VARIES = (0.02, 4.0)  # least and largest squared coefficient of variation


@dataclass(frozen=True)
class ClosedView:
    """A server as estimated from a closed test.

    Parameters
    ----------
    delay, service_time, servers
        The server whose closed throughput is nearest to the measurements [s].
    scv
        Squared coefficient of variation of service times; None without suitable percentiles.
    misfit
        RMS relative error of its throughput.
    """

    delay: float
    service_time: float
    servers: int
    scv: float | None
    misfit: float


@dataclass(frozen=True)
class OpenPoint:
    """Response times for open clients at the rate of a closed point.

    Parameters
    ----------
    population, throughput, utilisation
        Population, throughput [1/s] and utilisation of the closed point.
    closed
        The measured mean response time [s].
    response_time, percentiles
        For the open client; None if not determined.
    error, percentile_error
        Relative errors that covered nine of ten simulated servers.
    refused
        Why it is not determined; empty if it is.
    """

    population: float
    throughput: float
    utilisation: float | None
    closed: float
    response_time: float | None = None
    percentiles: Mapping[float, float] | None = None
    error: float | None = None
    percentile_error: float | None = None
    refused: str = ""


def as_open(
    points: Sequence[Point], percents: Sequence[float] = (50.0, 90.0, 99.0)
) -> tuple[OpenPoint, ...]:
    """Predict response times for open clients at the rates of closed points.

    Parameters
    ----------
    points
        Points of a load test; only closed ones are used.
    percents
        The percentiles wanted, as percentages.

    Returns
    -------
    One for each closed point with a population.
    """
    known = [p for p in points if p.loop is Loop.CLOSED and p.inside and _is_count(p.population)]
    parts = [[known[k] for k in places] for places in series(known)]
    return tuple(each for part in parts for each in _of_one(part, percents))


def _is_count(population: float | None) -> bool:
    return population is not None and 1 <= population <= MOST_CLIENTS


def _of_one(known: Sequence[Point], percents: Sequence[float]) -> tuple[OpenPoint, ...]:
    """Response times for open clients of one operation."""
    if len({p.population for p in known}) < FEWEST:
        return tuple(_refused(p, None, _FEW) for p in known)
    server = closed_view(known)
    if server.misfit > _MISFIT:
        why = f"a delay and one queue miss these throughputs by {server.misfit:.0%}"
        return tuple(_refused(p, None, why) for p in known)
    return tuple(_opened(server, point, percents) for point in known)


def _refused(point: Point, busy: float | None, why: str) -> OpenPoint:
    return OpenPoint(
        point.population or 0.0,
        point.throughput or 0.0,
        busy,
        point.response_time or 0.0,
        refused=why,
    )


def _opened(server: ClosedView, point: Point, percents: Sequence[float]) -> OpenPoint:
    rate = point.throughput or 0.0
    busy = rate * server.service_time / server.servers
    band = next((errors for top, errors in BANDS.items() if busy <= top), None)
    if band is None:
        why = (
            f"above {max(BANDS):.0%} utilisation, a closed test does not determine the length of "
            "an open queue"
        )
        return _refused(point, busy, why)
    wait, chance = waiting(server, rate)
    percentiles_open = {q: percentile(server, wait, chance, q / 100) for q in percents}
    tells = server.scv is not None
    return OpenPoint(
        point.population or 0.0,
        rate,
        busy,
        point.response_time or 0.0,
        server.delay + server.service_time + wait,
        percentiles_open if tells else None,
        band[0],
        band[1] if tells else None,
    )


def closed_view(points: Sequence[Point]) -> ClosedView:
    """Find the server whose closed throughput is nearest to that of the points.

    Parameters
    ----------
    points
        Points of different populations, with throughput and response time.
    """
    from scipy.optimize import least_squares

    clients = np.array([round(p.population or 0.0) for p in points])
    rates = np.array([p.throughput or 0.0 for p in points])
    times = np.array([p.response_time or 0.0 for p in points])
    think = float(np.median(np.maximum(clients / rates - times, 0.0)))
    least = float(times.min())

    def misses(free: FloatArray, servers: int) -> FloatArray:
        delay, service = free * least
        return np.asarray(np.log(finite_source(clients, delay + think, service, servers) / rates))

    candidates = []
    for servers in _SERVERS:
        start = min(servers / rates.max() / least, 1.0) * 0.95
        fit = least_squares(
            misses, (max(1 - start, 0.01), start), args=(servers,), bounds=((0, 1e-4), (2, 2))
        )
        candidates.append((float(fit.cost), servers, *(fit.x * least).tolist()))
    cost, servers, delay, service = min(candidates)
    misfit = float(np.sqrt(2 * cost / len(points)))
    return ClosedView(delay, service, servers, _scv(points, delay, service), misfit)


def finite_source(clients: FloatArray, delay: float, service: float, servers: int) -> FloatArray:
    """Throughput of clients with a delay between visits to a queue with several servers.

    Parameters
    ----------
    clients
        Whole numbers.
    delay, service
        Mean times [s].
    servers
        m.

    Examples
    --------
    >>> finite_source(np.array([1, 2]), 1.0, 1.0, 1).round(6).tolist()
    [0.5, 0.8]
    """
    return np.asarray(solve_closed([MMm(service, servers)], [1.0], clients, delay).throughput)


def _scv(points: Sequence[Point], delay: float, service: float) -> float | None:
    """Variability of service times, from the highest reliable percentile for one client."""
    from scipy.optimize import brentq
    from scipy.special import gammaincinv

    alone = [p for p in points if p.population == 1 and p.percentiles]
    if not alone:
        return None
    point = alone[0]
    usable = [q for q in point.percentiles if 50 < q <= 100 * (1 - 10 / (point.samples or 1e9))]
    if not usable:
        return None
    share, spent = max(usable) / 100, point.percentiles[max(usable)] - delay

    def over(scv: float) -> float:
        return float(service * scv * gammaincinv(1 / scv, share)) - spent

    low, high = _VARIES
    if over(low) >= 0:
        return low
    return float(brentq(over, low, high)) if over(high) > 0 else high


def waiting(server: ClosedView, rate: float) -> tuple[float, float]:
    """Mean waiting time of an open client [s], and the probability of waiting."""
    scv = 1.0 if server.scv is None else server.scv
    station = MMm(server.service_time, server.servers)
    wait = float(station.response_time(rate)) - server.service_time
    return wait * (1 + scv) / 2, float(erlang_c(server.servers, rate * server.service_time))


def percentile(server: ClosedView, wait: float, chance: float, share: float) -> float:
    """Time within which a share of an open client's requests completes [s]."""
    from scipy.optimize import brentq
    from scipy.special import gammaincinv

    scv = 1.0 if server.scv is None else server.scv
    grid = (np.arange(_GRID) + 0.5) / _GRID
    times = server.service_time * scv * gammaincinv(1 / scv, grid)
    mean = max(wait / chance, 1e-12) if chance else 1e-12

    def beyond(time: float) -> float:
        later = np.maximum(time - times, 0.0)
        done = np.where(time >= times, 1 - chance * np.exp(-later / mean), 0.0)
        return float(done.mean()) - share

    top = float(times[-1]) + 40 * mean + server.service_time
    return server.delay + float(brentq(beyond, 0.0, top))
