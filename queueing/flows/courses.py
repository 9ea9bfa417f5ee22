"""Arrivals whose rate varies with time, or that follow a trace."""

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
    """An arrival rate that varies with time, and repeats.

    Arrivals are a Poisson process with this rate: the integral of the rate between two arrivals is
    exponential with mean 1.

    Parameters
    ----------
    starts
        Time at which each rate begins [s]: first 0, then ascending.
    rates
        Arrival rate from each start on [1/s].
    period
        Time after which the table repeats [s], longer than the last start.

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
            raise InvalidParameter(
                "rates of arrivals are all zero, so nothing arrives; give one more"
            )

    @property
    def lengths(self) -> FloatArray:
        """How long each rate holds [s]."""
        return np.diff([*self.starts, self.period])

    @cached_property
    def mean(self) -> float:
        """Mean rate over a period [1/s]."""
        return fsum(np.array(self.rates) * self.lengths) / self.period

    @property
    def words(self) -> str:
        """The rate in words, for tables."""
        return f"on average, {len(self.rates)} rates in {digits(self.period)} s"

    def times(self, factor: float) -> "RateTable":
        """The same with each rate multiplied by ``factor``."""
        return replace(self, rates=tuple(factor * rate for rate in self.rates))


@dataclass(frozen=True)
class Trace:
    """Times between arrivals, taken in this order, and then again from the first.

    Parameters
    ----------
    gaps
        Times between arrivals [s], 0 or more, and not all 0.

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
        """Arrival rate [1/s]."""
        return len(self.gaps) / fsum(self.gaps)

    @property
    def words(self) -> str:
        """The trace in words, for tables."""
        return f"a trace of {len(self.gaps):,} gaps"

    @cached_property
    def scv(self) -> float:
        """Squared coefficient of variation of the times between arrivals."""
        return float(np.mean((np.array(self.gaps) * self.mean - 1) ** 2))


Course: TypeAlias = RateTable | Trace
"""How arrivals at a station vary with time."""
