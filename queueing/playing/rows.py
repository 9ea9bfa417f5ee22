"""Rows of a score and of a state: each class is a row of an array, and a struct of ``rows.h``.

The fields have the order of the struct; whole numbers are int64, others float64.
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
"""No job, queue, station, region or server."""

RowArray = NDArray[np.void]
"""An array of rows of one class, shape (rows,)."""


class Family(IntEnum):
    """Families of laws: with one mean; of shape and scale; of a chance and two means; by tables.

    A trace has its place in the tables and its number of gaps; rates that change with time have
    their place, the number of pieces, and the period.
    """

    CONSTANT = 0
    EXPONENTIAL = 1
    GAMMA = 2
    HYPEREXPONENTIAL = 3
    TRACE = 4
    RATES = 5


@dataclass(slots=True)
class Law:
    """A distribution of times, in a family with up to three parameters; and a constant more."""

    kind: int = Family.CONSTANT
    first: float = 0.0
    second: float = 0.0
    third: float = 0.0
    shift: float = 0.0


@dataclass(slots=True)
class Event:
    """An event of the calendar."""

    time: float = 0.0
    number: int = 0
    owner: int = 0


@dataclass(slots=True)
class Stream:
    """A stream of random numbers: its key, and how many were drawn."""

    key: int = 0
    next: int = 0


def dtype_of(row: type[Any]) -> np.dtype[np.void]:
    """The type of an array of rows of a class.

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
    """Rows as objects of their class, of an array as int64 in one line.

    Examples
    --------
    >>> read_rows(Stream, np.array([2, 5]))
    [Stream(key=2, next=5)]
    """
    return [row(*values) for values in array.view(dtype_of(row)).tolist()]


def write_rows(row: type[Any], array: IntArray, values: Sequence[Any]) -> None:
    """Write objects of a class back to where they were read from."""
    if values:
        array.view(dtype_of(row))[:] = list(map(attrgetter(*dtype_of(row).names or ()), values))
