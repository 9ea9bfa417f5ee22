"""What a reduction is: blocks of numbers turned into small states, states merged, and read."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from headway.errors import InvalidParameter
from headway.kinds import FloatArray
from headway.models.language.units import ONE, Unit, si_text

State: TypeAlias = Mapping[str, NDArray[Any]]
"""Small arrays by name, so that ``np.savez`` keeps them."""

Row: TypeAlias = dict[str, Any]
"""A statistic: `Reduction.row` says which keys it has."""

NORMAL = 1.959963984540054
"""Standard normal quantile of 97.5 %, for 95 % intervals."""


@dataclass(frozen=True)
class Reduction(ABC):
    """A number of every point of a sweep, kept as a state that does not grow with the points.

    States merge by whole numbers, minima and maxima, so that any way of cutting and merging gives
    the same bits; where a kind's do not, it says so.

    Parameters
    ----------
    output
        What is reduced: an output, or a parameter.
    unit
        The unit of its dimension that its model shows it in.
    """

    output: str
    unit: Unit = ONE

    @property
    @abstractmethod
    def text(self) -> str:
        """As one writes it; equal texts are equal reductions."""

    @property
    def needs(self) -> tuple[str, ...]:
        """Names of the columns that `of` reads."""
        return (self.output,)

    def check(self, size: int) -> None:  # noqa: B027
        """Refuse a space of too many points; most kinds take any number.

        Raises
        ------
        InvalidParameter
            With the limit.
        """

    @abstractmethod
    def of(self, columns: Mapping[str, FloatArray], first: int) -> State:
        """The state of a block.

        Parameters
        ----------
        columns
            Values of every point by name, each of shape (points,): infinite above every number,
            NaN where a point has none.
        first
            Number of the block's first point in the whole space.
        """

    @abstractmethod
    def merge(self, left: State, right: State) -> State:
        """The state of two neighbouring runs of points, the left one's first."""

    @abstractmethod
    def rows(self, state: State, *, sampled: bool = False) -> list[Row]:
        """The answer in SI, a dict a statistic, of the keys that `row` gives.

        Parameters
        ----------
        state
            Of all points.
        sampled
            Whether the points are draws from laws, and not all the points there are: then shares,
            means and quantiles have 95 % intervals, as of independent draws.
        """

    def column(self, columns: Mapping[str, FloatArray]) -> FloatArray:
        """The values of a block, side by side in memory, as sums depend on the order."""
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
            What is told.
        counts
            Of how many points, and how many have no such number.
        measures
            What the value is: of the "output"'s dimension, a "count" or a "share".
        error
            How far the value may be from the points' own, at most, in the value's unit.
        interval
            Where 95 % of such samples would have it, where points are a sample.
        point
            Number of the point in the space whose own value it is.
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
    """An error of the least that a value can be; infinite where that may be nothing."""
    return error / least if least > 0 else np.inf


@dataclass(frozen=True)
class Kind:
    """A kind of reduction: how one writes it, and what reads it.

    Parameters
    ----------
    pattern
        As one writes it, for messages.
    means
        What it keeps, for lists.
    read
        From an output, what is written after it, and the output's unit.
    """

    pattern: str
    means: str
    read: Callable[[str, tuple[str, ...], Unit], Reduction]


def no_arguments(kind: str, output: str, arguments: tuple[str, ...]) -> None:
    """Refuse what is written after the output of a kind that takes nothing there."""
    if arguments:
        msg = f"{kind}({output}, {', '.join(arguments)}): {kind} takes an output and nothing else"
        raise InvalidParameter(msg)


def share_interval(count: int, points: int) -> tuple[float, float]:
    """95 % interval of the share that a sample gives.

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
