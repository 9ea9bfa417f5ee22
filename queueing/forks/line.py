"""Operating points on a line: all numbers that vary over them are affine in one variable."""

from typing import Generic, NamedTuple

import numpy as np

from headway.kinds import Amount, FloatArray
from headway.queueing.stations.base import Station
from headway.queueing.stations.rows import StationType, arrays_in, in_a_row

_ROUNDING = 1e-14  # relative, of numbers that are affine except for rounding


class CollinearPoints(NamedTuple, Generic[StationType]):
    """A station and its arrival rate along a line of operating points.

    Parameters
    ----------
    station, arrival_rate
        The station and its arrival rate at all operating points.
    places, shape
        Square root of a varying number over its largest value, shape (points,), in which response
        times are smooth down to no arrivals; and the original shape of the points.
    """

    station: StationType
    arrival_rate: Amount
    places: FloatArray
    shape: tuple[int, ...]

    def at(self, places: FloatArray) -> tuple[StationType, Amount]:
        """The station and its arrival rate at places from the least to 1, shape (points,)."""
        first, last = np.argmin(self.places), np.argmax(self.places)
        least = self.places[first] ** 2
        parts = (places**2 - least) / (1 - least)

        def between(value: Amount) -> FloatArray:
            laid = _laid(value, self.shape)
            return np.asarray(laid[first] * (1 - parts) + laid[last] * parts)

        rate = between(self.arrival_rate) if np.ndim(self.arrival_rate) else self.arrival_rate
        return in_a_row(self.station, between), rate


def collinear_points(
    station: StationType, arrival_rate: Amount, fewest: int
) -> CollinearPoints[StationType] | None:
    """The line on which operating points lie; None for few points, or points on no line.

    Parameters
    ----------
    station
        A station with numbers or arrays; on a line no count varies.
    arrival_rate
        Arrival rate at the station [1/s].
    fewest
        Number of operating points up to which the result is None.

    Examples
    --------
    >>> from headway.queueing import MM1
    >>> line = collinear_points(MM1(0.5), np.array([0.1, 0.4, 1.1]), fewest=2)
    >>> line.places.round(6).tolist(), line.at(np.array([0.5]))[1].round(9).tolist()
    ([0.301511, 0.603023, 1.0], [0.275])
    >>> collinear_points(MM1(np.array([0.5, 1.0, 0.5])), np.array([0.1, 0.4, 1.1]), fewest=2)
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
    first, last = np.argmin(parts), np.argmax(parts)
    for row in rows:
        off = np.abs(row - row[first] * (1 - parts) - row[last] * parts)
        if not (off <= _ROUNDING * np.abs(row).max()).all():
            return None
    return CollinearPoints(station, arrival_rate, np.sqrt(varies / varies.max()), shape)


def _counts(station: Station) -> bool:
    """Whether a count of a station, or of one of its branches, is an array."""
    inside = [value for value in vars(station).values() if isinstance(value, tuple)]
    if any(np.ndim(getattr(station, name)) for name in station.can.counts):
        return True
    return any(_counts(part) for parts in inside for part in parts if isinstance(part, Station))


def _laid(value: Amount, shape: tuple[int, ...]) -> FloatArray:
    return np.broadcast_to(np.asarray(value, float), shape).ravel()
