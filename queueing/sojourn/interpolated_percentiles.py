"""Percentiles along a sweep by Chebyshev interpolation, from some hundred inversions.

If all parameters of a network are linear in one number x, the percentile over the mean is a smooth
function of x. It is computed at the Chebyshev points of intervals of x and interpolated. An
interval is bisected until its last coefficients, and the errors at `_BETWEEN`, are within the
rounding errors of the inversion. Points in intervals that cannot be bisected further are computed
one by one.

Source: Trefethen, *Approximation Theory and Approximation Practice*, 2013, chapters 3 and 4.
"""

from dataclasses import replace
from typing import TypeAlias

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

from headway.kinds import Amount, FloatArray
from headway.queueing.sojourn.feed_forward import FeedForwardNetwork
from headway.queueing.sojourn.feed_forward_percentiles import RESOLVED, feed_forward_percentiles
from headway.queueing.stations.base import Station
from headway.records import dataclass

_DEGREE = 24  # of the polynomials: for speed, as intervals are bisected until it is enough
_BETWEEN = np.array([-0.97, -0.71, -0.31, 0.23, 0.59, 0.94])
"""Places in (-1, 1) at which the interpolation is checked."""

_LAST = 3  # last coefficients, from which the truncation error is estimated
_FEWEST = 4 * _DEGREE  # least number of points for interpolation: for speed
_STRAIGHT = 1e-14  # relative deviation of a parameter from a line in x: rounding
_ALLOWED = 3.0  # allowed error, over that of a point computed directly
_LOST = 1e-3  # share of the allowed error below which coefficients are dropped
_DIGITS = 1e-11  # least relative error allowed: rounding
_TINY = 1e-300  # [x], against division by 0
# length of the first interval over the whole: curves bend where stations are busy; for speed
_HEAD = 0.75
_BLOCK = 8192  # points whose values fit into the cache: for speed

_Piece: TypeAlias = tuple[float, float, NDArray[np.intp]]

_POINTS = chebyshev.chebpts2(_DEGREE + 1)
_TRIED = np.concatenate([_POINTS, _BETWEEN])
_FITTED = np.linalg.inv(chebyshev.chebvander(_POINTS, _DEGREE))
_THERE = chebyshev.chebvander(_BETWEEN, _DEGREE)


def interpolated_percentiles(network: FeedForwardNetwork, share: float) -> FloatArray:
    """Least times t with P(T <= t) >= share [s], as `feed_forward_percentiles`.

    Parameters
    ----------
    network
        The network at its operating points, of any number.
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
    """The network with delays of 0 s, as delays only shift its times."""
    stations = tuple(one if one.can.limits else _of_service(one, 0.0) for one in network.stations)
    return replace(network, stations=stations)


def _of_service(station: Station, time: Amount) -> Station:
    return replace(station, service_time=time)  # type: ignore[type-var]


def _in_services(network: FeedForwardNetwork) -> FeedForwardNetwork:
    """The network scaled by its first varying service time; a fork has none of its own."""
    if any(one.can.joins for one in network.stations):
        return network
    times = [np.asarray(one.service_time, float) for one in network.stations]
    unit = next((time for time in times if time.ndim), np.ones(1))
    if not (unit > 0).all():
        return network
    stations = map(_of_service, network.stations, (time / unit for time in times))
    return replace(network, stations=tuple(stations), rates=network.rates * unit)


def _by_groups(network: FeedForwardNetwork, share: float) -> FloatArray:
    """Percentiles with the points grouped by a parameter with few values."""
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
    """The rows of parameters that differ between points."""
    rows: list[FloatArray] = []

    def noted(row: FloatArray) -> FloatArray:
        rows.append(row)
        return row

    network.mapped(noted)
    return [row for row in rows if np.ptp(row) > _STRAIGHT * np.abs(row).max()]


def _sweep_of(network: FeedForwardNetwork) -> "_Sweep | None":
    """The sweep of a network whose parameters are linear in one number; otherwise None."""
    whole = (getattr(one, name) for one in network.stations for name in one.can.counts)
    if any(np.ndim(count) and np.ptp(np.asarray(count, float)) for count in whole):
        return None
    rows = _varying(network)
    along = rows[0] if rows else np.zeros(network.rates.shape[1])
    sweep = _Sweep(network, along, int(along.argmin()), int(along.argmax()))
    return sweep if all(sweep.is_straight(row) for row in rows[1:]) else None


@dataclass(frozen=True)
class _Sweep:
    """A network whose parameters are linear in a number x, given at each point."""

    network: FeedForwardNetwork
    along: FloatArray
    first: int
    last: int

    def _line(self, row: FloatArray) -> tuple[float, float]:
        """Value of a row at its first point and its slope in x; 0 if it does not vary."""
        run = float(self.along[self.last] - self.along[self.first])
        rise = float(row[self.last] - row[self.first])
        return float(row[self.first]), rise / run if run else 0.0

    def is_straight(self, row: FloatArray) -> bool:
        """Whether a row is linear in x, up to rounding."""
        off = np.abs(self._on_line(row, self.along) - row).max()
        return bool(off <= _STRAIGHT * np.abs(row).max())

    def _on_line(self, row: FloatArray, places: FloatArray) -> FloatArray:
        height, slope = self._line(row)
        return np.asarray(height + slope * (places - self.along[self.first]))

    def percentiles(self, share: float) -> FloatArray:
        """Percentiles over the mean, shape (points,)."""
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
        """Fill in the interpolated points; return the intervals of all others."""
        allowed = max(_ALLOWED * RESOLVED / (1 - share), _DIGITS)
        ends = np.array([piece[:2] for piece in pieces])
        middle, half = ends.mean(axis=1), np.maximum(np.ptp(ends, axis=1) / 2, _TINY)
        tried = self._at((middle[:, None] + half[:, None] * _TRIED).ravel(), share)
        failed = []
        for piece, centre, width, values in zip(
            pieces, middle, half, tried.reshape(len(pieces), -1), strict=True
        ):
            fitted = _FITTED @ values[: _POINTS.size]
            if _is_resolved(fitted, values, allowed):
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
        """Percentiles over the mean at any x of the sweep."""
        network = self.network.mapped(lambda row: self._on_line(row, places))
        beyond = network.law().beyond
        with np.errstate(invalid="ignore"):
            parts = feed_forward_percentiles(network, share) / beyond
        return np.where(beyond > 0, parts, 0.0)


def _is_resolved(fitted: FloatArray, values: FloatArray, allowed: float) -> bool:
    """Whether the last coefficients vanish, and the values at `_BETWEEN` are interpolated."""
    allowed = allowed * float(np.abs(values).min())
    between = np.abs(_THERE @ fitted - values[_POINTS.size :]).max()
    return bool(between <= allowed and np.abs(fitted[-_LAST:]).max() <= allowed)


def _value(fitted: FloatArray, places: FloatArray) -> FloatArray:
    """Value of a Chebyshev series at places in (-1, 1)."""
    starts = range(0, places.size, _BLOCK)
    return np.concatenate([chebyshev.chebval(places[k : k + _BLOCK], fitted) for k in starts])


def _ended(fitted: FloatArray, lost: float) -> FloatArray:
    return np.asarray(chebyshev.chebtrim(fitted, lost), float)
