"""Quantiles, from a sketch of the distribution."""

import math
import re
from fractions import Fraction

from headway.errors import InvalidParameter, quoted
from headway.models.language.units import Unit
from headway.models.solving.solutions.on_demand import check_percent
from headway.models.sweeping.reductions.reduction import (
    NORMAL,
    Reduction,
    ReductionKind,
    Row,
    State,
)
from headway.models.sweeping.reductions.sketch import Distribution, Sketched
from headway.records import dataclass

_WRITTEN = re.compile(r"p?(\d+(?:\.\d+)?)", re.ASCII)


@dataclass(frozen=True)
class Quantiles(Sketched):
    """Values that a given percentage of the points do not exceed.

    The quantile of p percent of n values is the least value that p percent of them do not exceed:
    that of rank n p / 100, rounded up (`numpy.quantile` calls it inverted_cdf). Its relative error
    is at most 1/1024; each row has its error bound, and ranks 1 and n are exact. Infinite values
    are above every number.

    Parameters
    ----------
    output, unit
        As for `Reduction`.
    percents
        Percentages between 0 and 100, both excluded.

    Examples
    --------
    >>> import numpy as np
    >>> half = Quantiles("time", percents=(50.0,))
    >>> row, = half.rows(half.of({"time": np.arange(1.0, 1000.0)}, 0))
    >>> row["statistic"], row["value"], round(row["error"], 3)
    ('p50', 500.25, 0.25)
    """

    percents: tuple[float, ...] = (50.0,)

    def __post_init__(self) -> None:
        if not self.percents:
            msg = (
                f"quantiles({self.output}): give at least one, such as "
                f"quantiles({self.output}, p50, p99)"
            )
            raise InvalidParameter(msg)
        for percent in self.percents:
            check_percent(percent)

    @property
    def text(self) -> str:
        """As one writes it."""
        return f"quantiles({', '.join((self.output, *map(_name, self.percents)))})"

    def rows(self, state: State, *, sampled: bool = False) -> list[Row]:
        """A row for each quantile."""
        distribution = Distribution.of(state)
        return [self._row(distribution, percent, sampled=sampled) for percent in self.percents]

    def _row(self, distribution: Distribution, percent: float, *, sampled: bool) -> Row:
        size, of = distribution.size, (distribution.size, distribution.absent)
        if not size:
            return self.row(_name(percent), math.nan, of)
        low, high = distribution.at(rank_of(percent, size))
        value = low if low == high else low / 2 + high / 2
        error = max(value - low, high - value) if low < high else 0.0
        within = _interval(distribution, percent) if sampled else None
        return self.row(_name(percent), value, of, error=error, interval=within)


def rank_of(percent: float, size: int) -> int:
    """Rank of a quantile; the least value has rank 1.

    Examples
    --------
    >>> rank_of(7.0, 100), rank_of(99.9, 100), rank_of(0.001, 100)  # 0.07 * 100 is above 7
    (7, 100, 1)
    """
    return max(1, math.ceil(Fraction(repr(float(percent))) * size / 100))


def _interval(distribution: Distribution, percent: float) -> tuple[float, float]:
    """The values between whose ranks the true quantile lies in 95% of samples."""
    size, share = distribution.size, percent / 100
    half = NORMAL * math.sqrt(size * share * (1 - share))
    low, high = math.floor(size * share - half), math.ceil(size * share + half) + 1
    return (
        distribution.at(low)[0] if low >= 1 else -math.inf,
        distribution.at(high)[1] if high <= size else math.inf,
    )


def _name(percent: float) -> str:
    return f"p{percent:.12g}"


def _read(output: str, arguments: tuple[str, ...], unit: Unit) -> Reduction:
    return Quantiles(output, unit, tuple(map(_percent, arguments)))


def _percent(text: str) -> float:
    match = _WRITTEN.fullmatch(text)
    if match is None:
        msg = f"{quoted(text)} is not a quantile; write, for example, p50 or p99.9"
        raise InvalidParameter(msg)
    return float(match[1])


QUANTILES = ReductionKind(
    "quantiles(OUTPUT, p50, p99)", "values that a share of the points does not exceed", _read
)
