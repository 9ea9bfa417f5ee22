"""Values of a parameter in a space: steps, choices, or a continuous range."""

import math
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from headway.errors import InvalidParameter
from headway.kinds import FloatArray, plain
from headway.models.language.frozen import Kept
from headway.numerals import digits
from headway.records import dataclass

MOST_STEPS = 2**53
"""Most steps that a float counts exactly."""

_FEW = 50
"""Most values that a description lists; longer lists get a digest."""


class Spread(Protocol):
    """Values that can be sampled; frozen, picklable, equal by value."""

    def at(self, shares: FloatArray) -> FloatArray:
        """Values at shares in [0, 1) of the range, all equally likely."""

    def ends(self) -> FloatArray:
        """The least and the largest value, in any order."""

    def counting(self) -> "Spread":
        """The same for a count."""

    def describe(self) -> Any:
        """What JSON shows of it."""


class Axis(Spread, Protocol):
    """Ordered values; frozen, picklable, equal by value."""

    @property
    def count(self) -> int:
        """How many there are."""

    def values(self, first: int, stop: int) -> FloatArray:
        """Values with indices from `first` to before `stop`."""

    def around(self, first: int, count: int) -> "Axis":
        """The part with `count` values from `first` on, cyclically."""


@dataclass(frozen=True)
class Steps:
    """Equally spaced values, computed on demand.

    Parameters
    ----------
    start, step
        The first value and the step to the next [SI].
    count
        Number of values, from 1 to 2^53.

    Raises
    ------
    InvalidParameter
        For a count out of bounds, or ends that are not finite.

    Examples
    --------
    >>> Steps(100.0, 50.0, 10**9).values(0, 3).tolist()
    [100.0, 150.0, 200.0]
    """

    start: float
    step: float
    count: int

    def __post_init__(self) -> None:
        if not 1 <= self.count <= MOST_STEPS or not math.isfinite(self._end):
            msg = (
                f"{digits(self.count)} values from {digits(self.start)} in steps of "
                f"{digits(self.step)}: a range needs finite ends and 1 to 2^53 values"
            )
            raise InvalidParameter(msg)

    @property
    def _end(self) -> float:
        return self.start + self.step * (self.count - 1)

    def values(self, first: int, stop: int) -> FloatArray:
        """Values with indices from `first` to before `stop`."""
        values = np.arange(first, stop, dtype=float)
        values *= self.step
        values += self.start
        return values

    def at(self, shares: FloatArray) -> FloatArray:
        """Values at shares in [0, 1) of all."""
        values = np.floor(shares * self.count)
        np.minimum(values, self.count - 1, out=values)
        values *= self.step
        values += self.start
        return values

    def around(self, first: int, count: int) -> "Steps":  # noqa: ARG002
        """All of it, because it is small."""
        return self

    def counting(self) -> "Steps":
        """The same: its values are given."""
        return self

    def ends(self) -> FloatArray:
        """The first and the last value."""
        return np.array([self.start, self._end])

    def describe(self) -> dict[str, float]:
        """What JSON shows of it."""
        return {"start": self.start, "step": self.step, "count": self.count}


@dataclass(frozen=True, eq=False)
class Choices(Kept):
    """Values of a list, in its order.

    Parameters
    ----------
    listed
        The values [SI], shape (count,); at least one, all of them finite.

    Raises
    ------
    InvalidParameter
        For an empty list, values that are not finite, or more than one dimension.

    Examples
    --------
    >>> Choices(np.array([2.0, 4.0, 8.0])).values(1, 3).tolist()
    [4.0, 8.0]
    """

    listed: FloatArray

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.listed.ndim != 1 or not self.listed.size:
            msg = (
                f"values of shape {self.listed.shape}; give a one-dimensional list of at least one"
            )
            raise InvalidParameter(msg)
        if not np.isfinite(self.listed).all():
            worst = self.listed[~np.isfinite(self.listed)][0]
            msg = f"the values contain {digits(worst)}; they must be finite"
            raise InvalidParameter(msg)

    @property
    def count(self) -> int:
        """How many there are."""
        return self.listed.size

    def values(self, first: int, stop: int) -> FloatArray:
        """Values with indices from `first` to before `stop`."""
        return self.listed[first:stop]

    def at(self, shares: FloatArray) -> FloatArray:
        """Values at shares in [0, 1) of all."""
        places = (shares * self.count).astype(np.int64)
        return self.listed[np.minimum(places, self.count - 1)]

    def around(self, first: int, count: int) -> "Choices":
        """Values from `first` on, `count` of them, cyclically."""
        return Choices(cycled(self, first, count))

    def counting(self) -> "Choices":
        """The same: its values are given."""
        return self

    def ends(self) -> FloatArray:
        """The least and the largest value."""
        return np.array([self.listed.min(), self.listed.max()])

    def describe(self) -> Any:
        """Its JSON description: the values, or a digest of many."""
        return described(self.listed)


@dataclass(frozen=True)
class Between:
    """A continuous range, uniform or logarithmic.

    Parameters
    ----------
    low, high
        The ends [SI], the first below the second.
    logarithmic
        Whether the logarithm is uniform; `low` must then be above 0.
    whole
        Whether values are whole numbers, ends included: all equally likely, or with a weight of
        log(1 + 1/n) if logarithmic.

    Raises
    ------
    InvalidParameter
        For ends that are not finite, in the wrong order, or without a whole number between them.

    Examples
    --------
    >>> Between(2.0, 10.0).at(np.array([0.0, 0.5])).tolist()
    [2.0, 6.0]
    >>> Between(1.0, 100.0, logarithmic=True).at(np.array([0.0, 0.5])).round(9).tolist()
    [1.0, 10.0]
    >>> Between(1.0, 3.0, whole=True).at(np.array([0.3, 0.4, 0.7])).tolist()
    [1.0, 2.0, 3.0]
    """

    low: float
    high: float
    logarithmic: bool = False
    whole: bool = False

    def __post_init__(self) -> None:
        wrong = self._wrong
        if wrong:
            msg = f"a range from {self.low:.10g} to {self.high:.10g}: {wrong}"
            raise InvalidParameter(msg)

    @property
    def _wrong(self) -> str:
        """The error in the range; empty if it is valid."""
        if not math.isfinite(self.high - self.low):
            return "it must have finite ends"
        if not self.low < self.high:
            return "its low end must be below its high end"
        if self.logarithmic and self.low <= 0:
            return "a logarithmic range must start above 0"
        if self.whole and math.ceil(self.low) > math.floor(self.high):
            return "it contains no integer"
        return ""

    def at(self, shares: FloatArray) -> FloatArray:
        """Values at shares in [0, 1) of the range."""
        if not self.whole:
            return self._between(self.low, self.high, shares)
        low, high = math.ceil(self.low), math.floor(self.high)
        values = np.floor(self._between(low, high + 1, shares))
        return np.clip(values, low, high, out=values)

    def _between(self, low: float, high: float, shares: FloatArray) -> FloatArray:
        if self.logarithmic:
            values = shares * math.log(high / low)
            np.exp(values, out=values)
            values *= low
            return np.clip(values, low, high, out=values)
        values = shares * (high - low)
        values += low
        return values

    def counting(self) -> "Between":
        """Whole numbers between the same ends.

        Examples
        --------
        >>> Between(1.0, 3.0).counting().at(np.array([0.3, 0.4])).tolist()
        [1.0, 2.0]
        """
        return replace(self, whole=True)

    def ends(self) -> FloatArray:
        """The least and the largest value.

        Examples
        --------
        >>> Between(1.0, 3.0).ends().tolist()
        [1.0, 3.0]
        """
        return np.array([self.low, self.high])

    def describe(self) -> dict[str, Any]:
        """What JSON shows of it.

        Examples
        --------
        >>> Between(1.0, 3.0).describe()["law"]
        'uniform'
        """
        law = "logarithmic" if self.logarithmic else "uniform"
        return {"low": self.low, "high": self.high, "law": law, "whole": self.whole}


def cycled(axis: Axis, first: int, count: int) -> FloatArray:
    """Take values from `first` on, cyclically.

    Examples
    --------
    >>> cycled(Choices(np.array([2.0, 4.0, 8.0])), 1, 7).tolist()
    [4.0, 8.0, 2.0, 4.0, 8.0, 2.0, 4.0]
    """
    head = axis.values(first, min(first + count, axis.count))
    rest = count - head.size
    if not rest:
        return head
    if rest <= first:
        return np.concatenate([head, axis.values(0, rest)])
    turn = np.concatenate([head, axis.values(0, first)])
    return np.tile(turn, -(-count // turn.size))[:count]


def described(values: FloatArray) -> Any:
    """JSON description of a column: its values, or a digest of many.

    Examples
    --------
    >>> described(np.array([1.0, 2.0])), sorted(described(np.arange(100.0)))
    ([1.0, 2.0], ['count', 'first', 'last', 'sha256'])
    """
    if values.size <= _FEW:
        return values.tolist()
    import hashlib  # which takes as long to load as all the rest of this file

    digest = hashlib.sha256(np.ascontiguousarray(values).tobytes()).hexdigest()
    first, last = plain(values[0]), plain(values[-1])
    return {"count": values.size, "first": first, "last": last, "sha256": digest}
