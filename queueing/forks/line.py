"""Operating points on a line: every number that varies over them varies in step with one."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from headway.kinds import Amount, FloatArray
from headway.queueing.stations.base import Station
from headway.queueing.stations.rows import arrays_in, in_a_row

_ROUNDING = 1e-14  # relative


class Line(NamedTuple):
    """A station and what arrives there, as its numbers move from one end to the other.

    Parameters
    ----------
    station, arrival_rate
        At all operating points.
    places, shape
        Square roots of a number that varies, in its largest, which keep what is found smooth down
        to no arrivals; shape (points,), and the shape the points had.
    """

    station: Station
    arrival_rate: Amount
    places: FloatArray
    shape: tuple[int, ...]

    def at(self, places: FloatArray) -> tuple[Station, Amount]:
        """The station and what arrives there at places from the least to 1, shape (points,)."""
        first, last = np.argmin(self.places), np.argmax(self.places)
        least = self.places[first] ** 2
        parts = (places**2 - least) / (1 - least)

        def between(value: Amount) -> FloatArray:
            laid = _laid(value, self.shape)
            return np.asarray(laid[first] * (1 - parts) + laid[last] * parts)

        rate = between(self.arrival_rate) if np.ndim(self.arrival_rate) else self.arrival_rate
        return in_a_row(self.station, between), rate


def line_of(station: Station, arrival_rate: Amount, fewest: int) -> Line | None:
    """The line on which operating points are; none where there are few, or they are on none.

    Parameters
    ----------
    station
        Whose numbers may be arrays; no count varies on a line.
    arrival_rate
        Of it [1/s].
    fewest
        Operating points for which there is no line.

    Examples
    --------
    >>> from headway.queueing import MM1
    >>> line = line_of(MM1(0.5), np.array([0.1, 0.4, 1.1]), fewest=2)
    >>> line.places.round(6).tolist(), line.at(np.array([0.5]))[1].round(9).tolist()
    ([0.301511, 0.603023, 1.0], [0.275])
    >>> line_of(MM1(np.array([0.5, 1.0, 0.5])), np.array([0.1, 0.4, 1.1]), fewest=2)
    """
    arrays = [np.asarray(a) for a in (arrival_rate, *arrays_in(station)) if np.ndim(a)]
    shape = np.broadcast_shapes(*(a.shape for a in arrays))
    if int(np.prod(shape)) <= fewest or not arrays or _counts(station):
        return None
    rows = [_laid(a, shape) for a in arrays]
    widths = [float(np.ptp(row)) for row in rows]
    widest = next((k for k, width in enumerate(widths) if width > 0), None)
    if widest is None:
        return None
    varies = rows[widest]
    parts = (varies - varies.min()) / widths[widest]
    line = Line(station, arrival_rate, np.sqrt(varies / varies.max()), shape)
    return line if _all_on(rows, parts) else None


def _all_on(rows: Sequence[FloatArray], places: FloatArray) -> bool:
    """Whether each row moves in step with the places."""
    first, last = np.argmin(places), np.argmax(places)
    off = [np.abs(row - row[first] * (1 - places) - row[last] * places) for row in rows]
    return all(
        bool((miss <= _ROUNDING * np.abs(row).max()).all())
        for row, miss in zip(rows, off, strict=True)
    )


def _counts(station: Station) -> bool:
    """Whether some whole number of a station, or of one in it, is an array."""
    inside = [value for value in vars(station).values() if isinstance(value, tuple)]
    if any(np.ndim(getattr(station, name)) for name in station.can.counts):
        return True
    return any(_counts(part) for parts in inside for part in parts if isinstance(part, Station))


def _laid(value: Amount, shape: tuple[int, ...]) -> FloatArray:
    return np.broadcast_to(np.asarray(value, float), shape).ravel()
