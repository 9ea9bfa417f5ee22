"""Processors that compute, are interrupted, and meet at barriers.

All laws use the mean number of interruptions of a processor during one interval of work, and give
the expected number for the slowest of several processors.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from headway.errors import InvalidParameter
from headway.kinds import (
    Amount,
    FloatArray,
    Quantity,
    apply,
    check_domain,
    check_not_negative,
    check_positive,
)
from headway.numerals import times


def mean_interruptions(available: Quantity, interval: Quantity, length: Quantity) -> Amount:
    """Interruptions of a processor during an interval of work: w (1 - a) / (a s).

    Parameters
    ----------
    available
        Share a of the processor left by interruptions, above 0 and at most 1.
    interval
        Work w between two barriers [s], above 0.
    length
        Time s of an interruption [s], above 0.

    Raises
    ------
    InvalidParameter
        For a value outside its domain.

    Examples
    --------
    >>> round(mean_interruptions(0.95, 1e-3, 84e-6), 3)
    0.627
    """
    check_domain("available", available, lambda a: (a > 0) & (a <= 1), "above 0 and at most 1")
    check_positive("interval", interval)
    check_positive("length", length)
    return interval * (1 - available) / (available * length)


def _check(mean: Quantity, processors: Quantity) -> None:
    check_not_negative("mean", mean)
    check_domain("processors", processors, lambda p: p >= 1, "1 or more")


def slowest_regular(mean: Quantity, processors: Quantity) -> Amount:
    """Expected largest number of interruptions, if they come regularly with random phases.

    A processor has floor(m) or one more, so the largest number is floor(m) + 1 - (1 - (m -
    floor(m)))**P.

    Parameters
    ----------
    mean
        Mean number m of interruptions in an interval, 0 or more.
    processors
        Processors P that meet at the barrier, 1 or more.

    Examples
    --------
    >>> slowest_regular(0.5, 1), slowest_regular(0.5, 2), slowest_regular(2.0, 16)
    (0.5, 0.75, 2.0)
    """
    _check(mean, processors)
    whole = apply("floor", mean)
    return whole + 1 - (1 - (mean - whole)) ** processors


def slowest_random(mean: float, processors: int) -> float:
    """Expected largest number of interruptions, if they are random (Poisson): sum of 1 - F(k)**P.

    Parameters
    ----------
    mean
        Mean number m of interruptions in an interval, 0 or more; F is Poisson's distribution.
    processors
        Processors P that meet at the barrier, 1 or more.

    Examples
    --------
    >>> round(slowest_random(0.5, 1), 12), round(slowest_random(0.5, 2), 3)
    (0.5, 0.837)
    """
    from scipy.stats import poisson

    _check(mean, processors)
    most = int(mean + 40 * math.sqrt(mean) + 100)
    below = poisson.cdf(np.arange(most), mean)
    return float(np.sum(-np.expm1(processors * np.log(np.maximum(below, 1e-300)))))


def usable_share(interval: Quantity, length: Quantity, most: Quantity) -> Amount:
    """Share of the time that is work, with barriers: w / (w + s E[most]).

    Parameters
    ----------
    interval, length
        Work w between barriers and time s of an interruption [s].
    most
        Expected interruptions of the slowest processor.

    Examples
    --------
    >>> round(usable_share(1e-3, 84e-6, 1.0), 4)
    0.9225
    """
    return interval / (interval + length * most)


def available_share(idle: ArrayLike, total: float, switch_time: float = 50e-6) -> float:
    """Share of a processor available to a computation in its idle intervals.

    sum of max(0, idle - switch) / total

    Parameters
    ----------
    idle
        Lengths of the idle intervals [s].
    total
        Time over which they were observed [s], above 0.
    switch_time
        Context switch for each interruption [s]; shorter intervals are useless.

    Raises
    ------
    InvalidParameter
        For idle intervals longer than the total time.

    Examples
    --------
    >>> round(available_share([1e-3, 30e-6, 450e-6], 2e-3), 3)
    0.675

    References
    ----------
    Kotz, Exploring the use of I/O nodes for computation, section 3.4.
    """
    lengths: FloatArray = np.asarray(idle, float)
    if (lengths < 0).any() or total <= 0 or lengths.sum() > total * (1 + 1e-12):
        idle_text, total_text = times(float(lengths.sum()), total)
        msg = f"idle intervals of {idle_text} exceed the total of {total_text}; check both"
        raise InvalidParameter(msg)
    return float(np.maximum(0.0, lengths - switch_time).sum() / total)
