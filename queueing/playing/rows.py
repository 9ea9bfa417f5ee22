"""Rows of a score and of a state: each class is a row of an array, and a struct of ``rows.h``.

The fields are in the order of the struct; whole numbers are int64, others float64.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from enum import IntEnum
from operator import attrgetter
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

IntArray: TypeAlias = NDArray[np.int64]

NONE = -1
"""The number that stands for no job, queue, station, region or server."""

RowArray = NDArray[np.void]
"""An array with rows of one class, shape (rows,)."""


class Family(IntEnum):
    """Families of laws: by a mean; by shape and scale; by a probability and two means; by a table.

    A trace refers to its position in the tables and its number of gaps; a rate that changes with
    time to its position, its number of pieces, and its period.
    """

    CONSTANT = 0
    EXPONENTIAL = 1
    GAMMA = 2
    HYPEREXPONENTIAL = 3
    TRACE = 4
    RATES = 5


@dataclass(slots=True)
class Law:
    """A law of times: its family, up to three parameters, and a constant added to each time."""

    kind: int = Family.CONSTANT
    first: float = 0.0
    second: float = 0.0
    third: float = 0.0
    shift: float = 0.0


@dataclass(slots=True)
class Event:
    """An event in the calendar."""

    time: float = 0.0
    number: int = 0
    owner: int = 0


@dataclass(slots=True)
class Stream:
    """A stream of random numbers: its key, and the count of numbers drawn."""

    key: int = 0
    next: int = 0


def dtype_of(row: type[Any]) -> np.dtype[np.void]:
    """The NumPy type of an array with rows of a class.

    Examples
    --------
    >>> dtype_of(Stream).itemsize, dtype_of(Stream).names
    (16, ('key', 'next'))
    """
    kinds = {int: "<i8", float: "<f8", "int": "<i8", "float": "<f8"}
    return np.dtype([(field.name, kinds[field.type]) for field in fields(row)])


def rows(row: type[Any], values: Iterable[Any] = ()) -> RowArray:
    """Rows of a class as an array.

    Examples
    --------
    >>> rows(Stream, [Stream(2, 5)]).tolist()
    [(2, 5)]
    """
    dtype = dtype_of(row)
    return np.array([*map(attrgetter(*dtype.names or ()), values)], dtype)


def read_rows(row: type[Any], array: IntArray) -> list[Any]:
    """Rows as objects of their class, from an array given as flat int64.

    Examples
    --------
    >>> read_rows(Stream, np.array([2, 5]))
    [Stream(key=2, next=5)]
    """
    return [row(*values) for values in array.view(dtype_of(row)).tolist()]


def write_rows(row: type[Any], array: IntArray, values: Sequence[Any]) -> None:
    """Write objects of a class back to the array that they were read from."""
    if values:
        array.view(dtype_of(row))[:] = list(map(attrgetter(*dtype_of(row).names or ()), values))
