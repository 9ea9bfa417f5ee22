"""Arrivals whose rate follows time, or that come when a trace says."""

from dataclasses import replace
from functools import cached_property
from math import fsum, inf
from typing import TypeAlias

import numpy as np

from headway.errors import InvalidParameter
from headway.kinds import FloatArray, check_domain
from headway.numerals import digits
from headway.records import dataclass


@dataclass(frozen=True)
class RateTable:
    """A rate of arrivals that changes with time, and repeats.

    Between two changes arrivals are Poisson; the integral of the rate between two of them is
    exponential, of mean 1, wherever it changes in between.

    Parameters
    ----------
    starts
        When each rate begins [s]: at 0 first, and later each time.
    rates
        Of arrivals, from then on [1/s].
    period
        After which the table begins anew [s], longer than the last start.

    Raises
    ------
    InvalidParameter
        For other numbers, and for rates that are all zero.

    Examples
    --------
    >>> RateTable((0.0, 1.0), (2.0, 8.0), 3.0).mean
    6.0
    """

    starts: tuple[float, ...]
    rates: tuple[float, ...]
    period: float

    def __post_init__(self) -> None:
        if len(self.starts) != len(self.rates) or not self.starts:
            msg = f"{len(self.rates)} rates of arrivals for {len(self.starts)} times; give as many"
            raise InvalidParameter(msg)
        if self.starts[0] != 0 or not all(np.diff(self.starts) > 0):
            raise InvalidParameter("times of rates must begin with 0, and only grow")
        if not self.starts[-1] < self.period < inf:
            msg = "the period of rates must be finite, and longer than the last of their times"
            raise InvalidParameter(msg)
        rates = np.array(self.rates)
        check_domain("rate of arrivals", rates, lambda r: (r >= 0) & (r < inf), "0 or more")
        if not rates.any():
            raise InvalidParameter("rates of arrivals are all zero, so nobody comes; give one more")

    @property
    def lengths(self) -> FloatArray:
        """How long each rate lasts [s]."""
        return np.diff([*self.starts, self.period])

    @cached_property
    def mean(self) -> float:
        """Over a period [1/s]."""
        return fsum(np.array(self.rates) * self.lengths) / self.period

    @property
    def words(self) -> str:
        """As tables say it."""
        return f"on average, {len(self.rates)} rates in {digits(self.period)} s"

    def times(self, factor: float) -> "RateTable":
        """The same with each rate that many times as large."""
        return replace(self, rates=tuple(factor * rate for rate in self.rates))


@dataclass(frozen=True)
class Trace:
    """Times between arrivals, which come in this order, then again from the first.

    Parameters
    ----------
    gaps
        Of one arrival to the next [s], 0 or more, and not all 0.

    Raises
    ------
    InvalidParameter
        For other numbers.

    Examples
    --------
    >>> trace = Trace((0.5, 1.5))
    >>> trace.mean, trace.scv
    (1.0, 0.25)
    """

    gaps: tuple[float, ...]

    def __post_init__(self) -> None:
        gaps = np.array(self.gaps)
        check_domain("time between arrivals", gaps, lambda g: (g >= 0) & (g < inf), "0 or more")
        if not gaps.any():
            raise InvalidParameter("times between arrivals are all zero; give one more")

    @cached_property
    def mean(self) -> float:
        """Rate of arrivals [1/s]."""
        return len(self.gaps) / fsum(self.gaps)

    @property
    def words(self) -> str:
        """As tables say it."""
        return f"a trace of {len(self.gaps):,} gaps"

    @cached_property
    def scv(self) -> float:
        """Squared coefficient of variation of the times between arrivals."""
        return float(np.mean((np.array(self.gaps) * self.mean - 1) ** 2))


Course: TypeAlias = RateTable | Trace
"""How arrivals at a station follow time."""
