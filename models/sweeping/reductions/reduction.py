"""The interface of reductions: small states of blocks of numbers, merged, then read."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from headway.errors import InvalidParameter
from headway.kinds import FloatArray
from headway.models.language.units import ONE, Unit, si_text
from headway.records import dataclass

State: TypeAlias = Mapping[str, NDArray[Any]]
"""Small arrays by name, so that ``np.savez`` keeps them."""

Row: TypeAlias = dict[str, Any]
"""A statistic; `Reduction.row` documents its keys."""

NORMAL = 1.959963984540054
"""Standard normal quantile of 97.5%, for 95% intervals."""


@dataclass(frozen=True)
class Reduction(ABC):
    """A summary of one quantity over a sweep, as a state of bounded size.

    States merge by whole numbers, minima and maxima, so that every way of dividing and merging
    gives the same bits; kinds that differ say so.

    Parameters
    ----------
    output
        The quantity to reduce: an output or a parameter.
    unit
        Its unit in the model.
    """

    output: str
    unit: Unit = ONE

    @property
    @abstractmethod
    def text(self) -> str:
        """Its text form; equal texts are equal reductions."""

    @property
    def needs(self) -> tuple[str, ...]:
        """Names of the columns that `of` reads."""
        return (self.output,)

    def check(self, size: int) -> None:  # noqa: B027
        """Refuse a space with too many points; most kinds accept any number.

        Raises
        ------
        InvalidParameter
            States the limit.
        """

    @abstractmethod
    def of(self, columns: Mapping[str, FloatArray], first: int) -> State:
        """The state of a block.

        Parameters
        ----------
        columns
            Values of every point by name, each of shape (points,): infinite above every number,
            NaN for points without a value.
        first
            Index of the block's first point in the whole space.
        """

    @abstractmethod
    def merge(self, left: State, right: State) -> State:
        """The state of two neighbouring runs of points, the left one's first."""

    @abstractmethod
    def rows(self, state: State, *, sampled: bool = False) -> list[Row]:
        """The answer in SI, as one dict for each statistic, with the keys of `row`.

        Parameters
        ----------
        state
            State of all points.
        sampled
            Whether the points are random draws rather than all points: shares, means and quantiles
            then have 95% intervals, as for independent draws.
        """

    def column(self, columns: Mapping[str, FloatArray]) -> FloatArray:
        """The values of a block, contiguous in memory, because sums depend on the order."""
        return np.ascontiguousarray(columns[self.output], float)

    def row(
        self,
        statistic: str,
        value: float,
        counts: tuple[int, int],
        *,
        measures: str = "output",
        error: float = 0.0,
        interval: tuple[float, float] | None = None,
        point: int | None = None,
    ) -> Row:
        """A row of the answer.

        Parameters
        ----------
        statistic, value
            Name and value of the statistic.
        counts
            Number of points with a value, and without one.
        measures
            Kind of value: in the unit of the "output", a "count" or a "share".
        error
            Largest error of the value, in its unit.
        interval
            95% interval, if the points are a sample.
        point
            Index of the point in the space that has this value.
        """
        least = abs(value) - error
        return {
            "reduction": self.text,
            "output": self.output,
            "statistic": statistic,
            "value": value,
            "measures": measures,
            "unit": si_text(self.unit.dimension) if measures == "output" else "",
            "error": error,
            "error_relative": _quotient(error, least) if error else 0.0,
            "interval": interval,
            "point": point,
            "points": counts[0],
            "absent": counts[1],
        }


def _quotient(error: float, least: float) -> float:
    """Relative error against the least possible value; infinite if that may be zero."""
    return error / least if least > 0 else np.inf


@dataclass(frozen=True)
class ReductionKind:
    """A kind of reduction: its text pattern and its reader.

    Parameters
    ----------
    pattern
        Its text pattern, for messages.
    means
        What it keeps, for lists.
    read
        Makes the reduction from an output, its further arguments and its unit.
    """

    pattern: str
    means: str
    read: Callable[[str, tuple[str, ...], Unit], Reduction]


def no_arguments(kind: str, output: str, arguments: tuple[str, ...]) -> None:
    """Refuse arguments after the output for a kind that has none."""
    if arguments:
        msg = (
            f"{kind}({output}, {', '.join(arguments)}): {kind} needs only an output; remove "
            "the rest"
        )
        raise InvalidParameter(msg)


def share_interval(count: int, points: int) -> tuple[float, float]:
    """95% interval of a share estimated from a sample.

    Source: Wilson, *Probable inference, the law of succession, and statistical inference*, 1927.

    Examples
    --------
    >>> [round(end, 4) for end in share_interval(0, 100)]
    [0.0, 0.037]
    """
    share, extra = count / points, NORMAL**2 / points
    middle = (share + extra / 2) / (1 + extra)
    half = NORMAL * np.sqrt(share * (1 - share) / points + extra / (4 * points)) / (1 + extra)
    return max(0.0, float(middle - half)), min(1.0, float(middle + half))
