"""Response times of an M/G/1 queue with non-preemptive (head-of-line) priorities.

Source: Takagi, *Queueing Analysis* I, 1991, section 3.2; Kella and Yechiali, "Priorities in M/G/1
queue with server vacations", Naval Research Logistics 35, 1988.
"""

from collections.abc import Sequence

import numpy as np

from headway.queueing.times.laws import ComplexArray, Transform

_SETTLED = 1e-15  # relative change at which the iteration ends: rounding
_MOST_ITERATIONS = 100_000  # for speed: it converges geometrically with the utilisation of L

Service = tuple[Transform, float]
"""Transform and mean [s] of a service time."""


def head_of_line_transform(
    rates: Sequence[float], services: Sequence[Service], own: int
) -> Transform:
    """Transform of the response time of a class; M/G/1, head of the line.

    Parameters
    ----------
    rates, services
        Poisson arrivals [1/s] and services of each class, highest priority first.
    own
        Index of the class.

    Examples
    --------
    >>> alone = head_of_line_transform([0.5], [(lambda s: 1 / (1 + s), 1.0)], 0)
    >>> alone(np.array([1.0 + 0j])).real.round(12).tolist()  # M/M/1: 0.5 / (0.5 + s)
    [0.333333333333]
    """
    idle = 1 - sum(rate * mean for rate, (_, mean) in zip(rates, services, strict=True))
    higher = list(zip(rates[:own], services[:own], strict=True))
    lower = list(zip(rates[own + 1 :], services[own + 1 :], strict=True))

    def law(s: ComplexArray) -> ComplexArray:
        z = _delayed(s, higher)
        rest = sum((rate * (1 - each(z)) for rate, (each, _) in lower), idle * z)
        wait = rest / (s - rates[own] + rates[own] * services[own][0](z))
        return np.asarray(wait * services[own][0](s))

    return law


def _delayed(s: ComplexArray, higher: Sequence[tuple[float, Service]]) -> ComplexArray:
    """The point s + L (1 - G(s)), where the transform of a delay includes interruptions.

    G solves L G = sum of lambda_i B_i(s + L - L G); found by iteration from 1 downwards.
    """
    z = s
    for _ in range(_MOST_ITERATIONS if higher else 0):
        before = z
        z = s + sum((rate * (1 - each(before)) for rate, (each, _) in higher), np.zeros_like(s))
        if np.all(np.abs(z - before) <= _SETTLED * np.abs(z)):
            break
    return z
