"""Mean waits in GI/G/m queues, by two moments of arrivals and two of service.

Source: Kraemer and Langenbach-Belz, "Approximate formulae for the delay in the queueing system
GI/G/1", 8th International Teletraffic Congress, 1976; Whitt, "Approximations for the GI/G/m
queue", Production and Operations Management 2(2), 1993.
"""

import numpy as np
from numpy.typing import ArrayLike

from headway.kinds import FloatArray
from headway.queueing.erlang.formulas import erlang_c

_LEAST = 1e-12  # least load and spread, against division by 0
_MOST_GAMMA = 0.24  # Whitt 1993, section 2: gamma = min(0.24, ...), after Cosmetatos


def general_wait(
    arrival_rate: ArrayLike,
    service_time: ArrayLike,
    servers: ArrayLike,
    arrival_scv: ArrayLike,
    scv: ArrayLike,
) -> FloatArray:
    """Mean wait in a GI/G/m queue in order of arrival [s]: an approximation.

    W = W(M/M/m) (c_a**2 + c_s**2) / 2 times a correction: Kraemer and Langenbach-Belz's for one
    server, Whitt's for several. Exact for M/M/m and for M/G/1; with Poisson arrivals at several
    servers, the wait of `MGm`.

    Parameters
    ----------
    arrival_rate
        Arrivals [1/s], 0 or more.
    service_time, servers
        Mean service time of one server [s], and their number. All arguments broadcast.
    arrival_scv, scv
        Squared coefficients of variation of the times between arrivals and of service.

    Returns
    -------
    Infinite from saturation on; 0 without arrivals.

    Examples
    --------
    >>> float(general_wait(1.0, 0.5, 1, 1.0, 3.0))  # Pollaczek and Khinchine
    1.0
    >>> round(float(general_wait(0.5, 1.0, 1, 0.0, 1.0)), 3)  # D/M/1: exactly 0.255
    0.257
    """
    rate, time, count, coming, serving = np.broadcast_arrays(
        *(np.asarray(v, float) for v in (arrival_rate, service_time, servers, arrival_scv, scv))
    )
    busy = rate * time / count
    stable = busy < 1
    load = np.where(stable, busy, 0.0)
    poisson = erlang_c(count, count * load) * time / (count * (1 - load))
    spread = (coming + serving) / 2
    some = np.maximum(load, _LEAST)
    factor = _kraemer_langenbach_belz(some, coming, serving)
    if (count > 1).any():
        factor = np.where(count > 1, _whitt(some, count, coming, serving), factor)
    wait = poisson * spread * factor
    return np.asarray(np.where(stable, wait, np.where(np.isnan(busy), np.nan, np.inf)))


def _kraemer_langenbach_belz(
    load: FloatArray, coming: FloatArray, serving: FloatArray
) -> FloatArray:
    """Kraemer and Langenbach-Belz's factor: 1 with Poisson arrivals."""
    steadier = 2 * (1 - coming) ** 2 / (3 * load * np.maximum(coming + serving, _LEAST))
    burstier = (coming - 1) / np.maximum(coming + 4 * serving, _LEAST)
    return np.exp(-(1 - load) * np.where(coming < 1, steadier, np.maximum(burstier, 0.0)))


def _whitt(
    load: FloatArray, servers: FloatArray, coming: FloatArray, serving: FloatArray
) -> FloatArray:
    """Factor for several servers: that of `MGm`, times Whitt's ratio to Poisson arrivals."""
    steadier = (1 - load) * (servers - 1) * (np.sqrt(4 + 5 * servers) - 2) / (16 * servers * load)
    gamma = np.minimum(_MOST_GAMMA, steadier)
    poisson = 1 + gamma * (1 - serving) / (1 + serving)
    with_poisson = _whitt_factor(load, gamma, np.ones_like(load), serving)
    return np.asarray(poisson * _whitt_factor(load, gamma, coming, serving) / with_poisson)


def _whitt_factor(
    load: FloatArray, gamma: FloatArray, coming: FloatArray, serving: FloatArray
) -> FloatArray:
    """Whitt's factor phi for several servers, interpolated between M/D/m, D/M/m and M/M/m."""
    constant_service = 1 + gamma
    constant_arrivals = (1 - 4 * gamma) * np.exp(-2 * (1 - load) / (3 * load))
    both = np.minimum(1.0, (constant_service + constant_arrivals) / 2)
    rest = both ** (2 * (1 - np.minimum((coming + serving) / 2, 1.0)))
    early = np.maximum(4 * coming - 3 * serving, _LEAST)
    bursty = (4 * (coming - serving) * constant_service + serving * rest) / early
    late = np.maximum(2 * (coming + serving), _LEAST)
    steady = ((serving - coming) * constant_arrivals + (serving + 3 * coming) * rest) / late
    return np.asarray(np.where(coming > serving, bursty, steady))
