"""Stations with their arrays reshaped, for instance as rows of operating points."""

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any, TypeVar

import numpy as np

from headway.kinds import Amount, FloatArray
from headway.queueing.stations.base import Station

StationType = TypeVar("StationType", bound=Station)


def in_a_row(station: StationType, row: Callable[[Amount], Amount]) -> StationType:
    """A station, and the stations in it, with each array replaced by a row of points."""
    own = {f.name: getattr(station, f.name) for f in fields(station)}  # type: ignore[arg-type]
    return replace(station, **{name: _row(value, row) for name, value in own.items()})  # type: ignore[type-var]


def arrays_in(station: Station) -> list[FloatArray]:
    """The arrays among the numbers of a station, and of stations in it.

    Examples
    --------
    >>> from headway.queueing import MG1
    >>> [array.tolist() for array in arrays_in(MG1(0.5, np.array([0.5, 1.0])))]
    [[0.5, 1.0]]
    """
    arrays: list[FloatArray] = []

    def kept(value: Amount) -> FloatArray:
        arrays.append(np.asarray(value))
        return arrays[-1]

    in_a_row(station, kept)
    return arrays


def _row(value: Any, row: Callable[[Amount], Amount]) -> Any:
    """A number unchanged, an array as a row of points, or the same for several of them."""
    if isinstance(value, tuple):
        return tuple(_row(one, row) for one in value)
    if isinstance(value, Station):
        return in_a_row(value, row)
    return row(value) if np.ndim(value) else value
