"""Percentiles along sweeps: as many points as wanted for the price of some hundred.

Where all that varies is one number, and what goes with it in proportion, a percentile in parts of
the mean time is a smooth curve over that number. It is found at Chebyshev's points of pieces of
the sweep and interpolated; a piece is halved until its last coefficients, and what is found at
points between, agree to within the rounding of the inversion. What cannot be split any further
is found point by point.

Source: Trefethen, *Approximation Theory and Approximation Practice*, 2013, chapters 3 and 4.
"""

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

from headway.kinds import Amount, FloatArray
from headway.queueing.sojourn.feed_forward import FeedForwardNetwork
from headway.queueing.sojourn.feed_forward_percentiles import RESOLVED, feed_forward_percentiles
from headway.queueing.stations.base import Station

_DEGREE = 24
_BETWEEN = np.array([-0.97, -0.71, -0.31, 0.23, 0.59, 0.94])
"""Where a piece is tried, beside its points."""

_LAST = 3  # coefficients that tell of those that follow
_FEWEST = 4 * _DEGREE  # points that are worth a curve
_STRAIGHT = 1e-14  # relative: what goes with a number in proportion, but for rounding
_ALLOWED = 3.0  # times what points found one by one may be off
_LOST = 1e-3  # of it: coefficients that nobody misses
_DIGITS = 1e-11
_TINY = 1e-300
_HEAD = 0.75  # of a sweep is its first piece: where stations are busy, curves bend
_BLOCK = 8192  # points whose values stay in the cache

_Piece: TypeAlias = tuple[float, float, NDArray[np.intp]]

_POINTS = chebyshev.chebpts2(_DEGREE + 1)
_TRIED = np.concatenate([_POINTS, _BETWEEN])
_FITTED = np.linalg.inv(chebyshev.chebvander(_POINTS, _DEGREE))
_THERE = chebyshev.chebvander(_BETWEEN, _DEGREE)


def interpolated_percentiles(network: FeedForwardNetwork, share: float) -> FloatArray:
    """Least times that a share of all times does not exceed [s], as `feed_forward_percentiles`.

    Parameters
    ----------
    network
        At its operating points, many of them or few.
    share
        Between 0 and 1.

    Returns
    -------
    Array of shape (points,).

    Examples
    --------
    >>> from headway.queueing import MM1
    >>> rates = np.linspace(0, 1.9, 1000)[None]
    >>> alone = FeedForwardNetwork((MM1(0.5),), rates, np.ones_like(rates), {})
    >>> times = interpolated_percentiles(alone, 0.95)
    >>> bool(np.allclose(times * (2 - rates), -np.log(0.05), rtol=1e-10))
    True
    """
    if network.rates.shape[1] < _FEWEST:
        return feed_forward_percentiles(network, share)
    moving = _without_constants(network)
    sweep = _sweep_of(moving) or _sweep_of(_in_services(moving))
    if sweep is None:
        return _by_groups(network, share)
    law = network.law()
    return law.constant + law.beyond * sweep.percentiles(share)


def _without_constants(network: FeedForwardNetwork) -> FeedForwardNetwork:
    """The same with delays of no length: they only shift its times."""
    stations = tuple(one if one.can.limits else _of_service(one, 0.0) for one in network.stations)
    return replace(network, stations=stations)


def _of_service(station: Station, time: Amount) -> Station:
    return replace(station, service_time=time)  # type: ignore[type-var]


def _in_services(network: FeedForwardNetwork) -> FeedForwardNetwork:
    """The same in units of the first service time that varies; a fork has none of its own."""
    if any(one.can.joins for one in network.stations):
        return network
    times = [np.asarray(one.service_time, float) for one in network.stations]
    unit = next((time for time in times if time.ndim), np.ones(1))
    if not (unit > 0).all():
        return network
    stations = map(_of_service, network.stations, (time / unit for time in times))
    return replace(network, stations=tuple(stations), rates=network.rates * unit)


def _by_groups(network: FeedForwardNetwork, share: float) -> FloatArray:
    """Points that have some number in common together, if it takes few values."""
    alike = [np.unique(row, return_inverse=True)[1] for row in _varying(network)]
    fewest = min(alike, key=lambda group: int(group.max()))
    if (fewest.max() + 1) * _FEWEST > fewest.size:
        return feed_forward_percentiles(network, share)
    times = np.empty(fewest.size)
    for k in range(int(fewest.max()) + 1):
        points = np.flatnonzero(fewest == k)
        times[points] = interpolated_percentiles(network.at(points), share)
    return times


def _varying(network: FeedForwardNetwork) -> list[FloatArray]:
    """Its rows of numbers that are not the same at all points."""
    rows: list[FloatArray] = []

    def noted(row: FloatArray) -> FloatArray:
        rows.append(row)
        return row

    network.mapped(noted)
    return [row for row in rows if np.ptp(row) > _STRAIGHT * np.abs(row).max()]


def _sweep_of(network: FeedForwardNetwork) -> "_Sweep | None":
    """The sweep that the network's points are of, if one number tells them all."""
    whole = (getattr(one, name) for one in network.stations for name in one.can.counts)
    if any(np.ndim(count) and np.ptp(np.asarray(count, float)) for count in whole):
        return None
    rows = _varying(network)
    along = rows[0] if rows else np.zeros(network.rates.shape[1])
    sweep = _Sweep(network, along, int(along.argmin()), int(along.argmax()))
    return sweep if all(sweep.is_straight(row) for row in rows[1:]) else None


@dataclass(frozen=True)
class _Sweep:
    """A network whose points one number tells: where it is along the sweep."""

    network: FeedForwardNetwork
    along: FloatArray
    first: int
    last: int

    def _line(self, row: FloatArray) -> tuple[float, float]:
        """A row's height at its first point and its slope; that is 0 where nothing varies."""
        run = float(self.along[self.last] - self.along[self.first])
        rise = float(row[self.last] - row[self.first])
        return float(row[self.first]), rise / run if run else 0.0

    def is_straight(self, row: FloatArray) -> bool:
        """Whether a row goes with the sweep in proportion."""
        off = np.abs(self._on_line(row, self.along) - row).max()
        return bool(off <= _STRAIGHT * np.abs(row).max())

    def _on_line(self, row: FloatArray, places: FloatArray) -> FloatArray:
        height, slope = self._line(row)
        return np.asarray(height + slope * (places - self.along[self.first]))

    def percentiles(self, share: float) -> FloatArray:
        """In parts of the mean, shape (points,)."""
        times, alone = np.empty(self.along.size), []
        low, high = float(self.along[self.first]), float(self.along[self.last])
        pieces = self._parted((low, high, np.arange(self.along.size)), _HEAD)
        while pieces:
            failed = self._interpolate(pieces, share, times)
            halves = [half for piece in failed for half in self._parted(piece, 0.5)]
            pieces = [half for half in halves if half[2].size >= _FEWEST]
            alone += [half[2] for half in halves if half[2].size < _FEWEST]
        if alone:
            points = np.concatenate(alone)
            times[points] = self._at(self.along[points], share)
        return times

    def _interpolate(self, pieces: list[_Piece], share: float, out: FloatArray) -> list[_Piece]:
        """Fill in what curves tell; the pieces that none tells."""
        allowed = max(_ALLOWED * RESOLVED / (1 - share), _DIGITS)
        ends = np.array([piece[:2] for piece in pieces])
        middle, half = ends.mean(axis=1), np.maximum(np.ptp(ends, axis=1) / 2, _TINY)
        tried = self._at((middle[:, None] + half[:, None] * _TRIED).ravel(), share)
        failed = []
        for piece, centre, width, values in zip(
            pieces, middle, half, tried.reshape(len(pieces), -1), strict=True
        ):
            fitted = _FITTED @ values[: _POINTS.size]
            if _tells(fitted, values, allowed):
                there = (self.along[piece[2]] - centre) / width
                out[piece[2]] = _value(_ended(fitted, allowed * _LOST), there)
            else:
                failed.append(piece)
        return failed

    def _parted(self, piece: _Piece, share: float) -> list[_Piece]:
        low, high, points = piece
        middle = low + share * (high - low)
        below = self.along[points] < middle
        parts = [(low, middle, points[below]), (middle, high, points[~below])]
        return [part for part in parts if part[2].size]

    def _at(self, places: FloatArray, share: float) -> FloatArray:
        """Percentiles anywhere along the sweep, in parts of the mean."""
        network = self.network.mapped(lambda row: self._on_line(row, places))
        beyond = network.law().beyond
        with np.errstate(invalid="ignore"):
            parts = feed_forward_percentiles(network, share) / beyond
        return np.where(beyond > 0, parts, 0.0)


def _tells(fitted: FloatArray, values: FloatArray, allowed: float) -> bool:
    """Whether coefficients end, and tell what lies between the points that they are of."""
    allowed = allowed * float(np.abs(values).min())
    between = np.abs(_THERE @ fitted - values[_POINTS.size :]).max()
    return bool(between <= allowed and np.abs(fitted[-_LAST:]).max() <= allowed)


def _value(fitted: FloatArray, places: FloatArray) -> FloatArray:
    """A series at places between -1 and 1."""
    starts = range(0, places.size, _BLOCK)
    return np.concatenate([chebyshev.chebval(places[k : k + _BLOCK], fitted) for k in starts])


def _ended(fitted: FloatArray, lost: float) -> FloatArray:
    return np.asarray(chebyshev.chebtrim(fitted, lost), float)
