"""Bounds on closed networks with a station that slows down as jobs arrive.

With n of N jobs at such a station, the rest of the network has the throughput x(N - n) of that rest
with N - n jobs (Norton's theorem, for a product form), and the station serves at the rate r(n) / V.
So its number of jobs is a birth-death process, and the throughput is the mean of r(n) / V. Each
x(m) lies between its asymptotic bounds; which of the two gives the larger mean is found by policy
iteration. So a high rate at few jobs counts only as far as few jobs can be there.

Source: Chandy, Herzog and Woo, IBM J. Res. Dev. 19(1), 1975, for Norton's theorem; Howard, *Dynamic
Programming and Markov Processes*, 1960, for policy iteration.
"""

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np

from headway.kinds import Amount, FloatArray
from headway.queueing.erlang.birth_death import weights
from headway.queueing.stations.base import Station

Bound = Callable[[Sequence[Station], Sequence[Amount], Amount, Amount], Amount]

_MOST = 1_000_000  # most jobs times operating points; beyond, this bound is left out, for speed
# most steps of policy iteration, which needs a handful; if it does not end, there is no bound
_STEPS = 50
_AT_ONCE = 1e30  # times the largest rate: stands for an infinite throughput of the rest


def slowed_throughput(
    stations: Sequence[Station],
    visits: Sequence[Amount],
    population: Amount,
    think_time: Amount,
    ends: tuple[Bound, Bound],
) -> FloatArray:
    """Upper bound on the throughput from stations that slow down; infinite if none does [1/s].

    Parameters
    ----------
    stations, visits, population, think_time
        As for `headway.queueing.network_bounds`.
    ends
        Lower and upper bound on the throughput of any network, `least_throughput` and
        `most_throughput`.

    Examples
    --------
    >>> from headway.queueing import LoadDependent
    >>> from headway.queueing.bounds.network import least_throughput, most_throughput
    >>> slow = LoadDependent((100.0, 80.0, 60.0))
    >>> float(slowed_throughput([slow], [1.0], 10, 0.0, (least_throughput, most_throughput)))
    60.0
    """
    numbers = [np.asarray(n, float) for n in (population, think_time, *visits)]
    slow = [k for k, s in enumerate(stations) if not s.hastens and np.all(numbers[2 + k] > 0)]
    shape = np.broadcast_shapes(
        *(n.shape for n in numbers), *(np.shape(np.asarray(s.service_time)) for s in stations)
    )
    most = int(numbers[0].max())
    limits = [np.full(shape, np.inf)]
    if most * int(np.prod(shape)) <= _MOST:
        for place in slow:
            others = _without(stations, place), _without(visits, place)
            number = np.arange(1.0, most + 1).reshape(-1, *[1] * len(shape))
            rates: Any = stations[place]
            served = np.broadcast_to(
                _service_rates(rates, number) / numbers[2 + place], (most, *shape)
            )
            jobs = np.broadcast_to(numbers[0], shape)
            births = [
                _arrivals(np.broadcast_to(end(*others, number, think_time), served.shape), jobs)
                for end in ends
            ]
            limits.append(_largest_mean(served, births))
    return np.asarray(reduce(np.minimum, limits))


def _without(values: Sequence[Any], place: int) -> list[Any]:
    return [*values[:place], *values[place + 1 :]]


def _service_rates(station: Any, number: FloatArray) -> FloatArray:
    """Service rates with 1, 2... jobs [1/s], along the first axis of ``number``."""
    rates = station.rates_to(float(len(number)))
    if not isinstance(rates, np.ndarray):
        rates = np.stack(np.broadcast_arrays(*(np.asarray(rate, float) for rate in rates)))
    rates = rates.reshape(len(rates), *[1] * (number.ndim - rates.ndim), *rates.shape[1:])
    return np.asarray(rates[np.minimum(np.arange(len(number)), len(rates) - 1)])


def _arrivals(through: FloatArray, jobs: FloatArray) -> FloatArray:
    """Arrival rates with 0, 1... jobs at the station: the throughputs x(N - n) of the rest."""
    rest = jobs.astype(int) - np.arange(len(through)).reshape(-1, *[1] * jobs.ndim)
    come = np.take_along_axis(through, np.maximum(rest, 1) - 1, axis=0)
    return np.where(rest > 0, come, 0.0)


def _largest_mean(served: FloatArray, births: Sequence[FloatArray]) -> FloatArray:
    """Largest mean service rate of birth-death processes with births between two limits.

    Policy iteration: a state takes its larger birth rate if the mean reward above it is larger.
    """
    low, high = (np.minimum(each, _AT_ONCE * served.max()) for each in births)
    larger = np.ones(served.shape, bool)
    for _ in range(_STEPS):
        ratios = np.where(larger, high, low) / served
        chances = np.moveaxis(weights(np.moveaxis(ratios, 0, -1)), -1, 0)
        chances = chances / chances.sum(axis=0)
        rewards = chances[1:] * served
        mean = np.asarray(rewards.sum(axis=0))
        gained, spent = (np.cumsum(e[::-1], axis=0)[::-1] for e in (rewards, chances[1:]))
        better = gained >= mean * spent
        if (better == larger).all():
            return mean
        larger = better
    return np.full(served.shape[1:], np.inf)
