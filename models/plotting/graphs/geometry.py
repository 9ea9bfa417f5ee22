"""Boxes, arrows that bend around them, and places for labels on arrows; in inches."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from headway.kinds import FloatArray
from headway.records import dataclass

_BENDS = (0.0, 0.2, -0.2, 0.35, -0.35, 0.5, -0.5, 0.7, -0.7, 0.95, -0.95, 1.3, -1.3)
"""Heights of arcs to try, in half lengths; the first that avoids everything is taken."""

_SAMPLES = 120
_CLEAR = 0.07  # inches between an arrow and a box that it avoids
_NEAR = 0.1  # inches below which two arrows look like one
_FRACTIONS = (0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8)


@dataclass(frozen=True)
class Rectangle:
    """A rectangle by its centre and size [inches]."""

    x: float
    y: float
    width: float
    height: float

    @property
    def corners(self) -> FloatArray:
        """Its lower left and upper right corner; shape (2, 2)."""
        half = np.array([self.width, self.height]) / 2
        middle = np.array([self.x, self.y])
        return np.stack([middle - half, middle + half])

    def holds(self, points: FloatArray, clear: float = 0.0) -> NDArray[np.bool_]:
        """Which points are inside, or within some distance; shape (points,)."""
        across = np.abs(points[:, 0] - self.x) <= self.width / 2 + clear
        inside: NDArray[np.bool_] = across & (
            np.abs(points[:, 1] - self.y) <= self.height / 2 + clear
        )
        return inside

    def meets(self, other: "Rectangle") -> bool:
        """Whether two boxes have a point in common.

        Examples
        --------
        >>> [Rectangle(0, 0, 1, 1).meets(Rectangle(x, 0, 1, 1)) for x in (0.9, 2.0)]
        [True, False]
        """
        is_beside = abs(self.x - other.x) >= (self.width + other.width) / 2
        return not (is_beside or abs(self.y - other.y) >= (self.height + other.height) / 2)


@dataclass(frozen=True)
class Arc:
    """A quadratic curve by its ends and its control point, each an array of x and y [inches]."""

    start: FloatArray
    control: FloatArray
    end: FloatArray

    def at(self, share: FloatArray) -> FloatArray:
        """Points at fractions of the way from 0 to 1; shape (points, 2)."""
        t = share[:, None]
        return (1 - t) ** 2 * self.start + 2 * t * (1 - t) * self.control + t**2 * self.end

    def points(self) -> FloatArray:
        """Points along the whole curve."""
        return self.at(np.linspace(0, 1, _SAMPLES))

    def between(self, first: float, last: float) -> "Arc":
        """The part between two fractions of the way."""
        start, end = self.at(np.array([first, last]))
        control = self.start * (1 - first) * (1 - last) + self.end * first * last
        control = control + self.control * (first * (1 - last) + last * (1 - first))
        return Arc(start, control, end)


def arc(source: Rectangle, target: Rectangle, bend: float) -> Arc:
    """The curve of an arrow between the edges of two boxes, with a height in half lengths."""
    start, end = np.array([source.x, source.y]), np.array([target.x, target.y])
    along = end - start
    whole = Arc(start, (start + end) / 2 + bend * np.array([along[1], -along[0]]), end)
    points = whole.points()
    free = np.flatnonzero(~(source.holds(points) | target.holds(points)))
    if not free.size:
        return whole
    share = np.linspace(0, 1, _SAMPLES)
    return whole.between(float(share[free[0]]), float(share[free[-1]]))


def bent_arc(
    ends: tuple[str, str],
    boxes: Mapping[str, Rectangle],
    drawn: Mapping[tuple[str, str], Arc],
    *,
    has_return: bool,
) -> Arc:
    """Bend an arrow as little as is needed to avoid other boxes, and other arrows' courses.

    Parameters
    ----------
    ends
        Names of the two boxes that it joins.
    boxes
        All boxes of the picture.
    drawn
        Arrows already drawn.
    has_return
        Whether another arrow leads back, which needs room.
    """
    source, target = (boxes[name] for name in ends)
    others = [box for name, box in boxes.items() if name not in ends]
    paths = [one.points() for one in drawn.values()]

    def cost(one: Arc) -> float:
        points = one.points()
        hits = sum(bool(box.holds(points, _CLEAR).any()) for box in others)
        return hits + sum(_shared(points, other) for other in paths)

    arcs = [arc(source, target, bend) for bend in _BENDS[1 if has_return else 0 :]]
    costs = [round(cost(one), 2) for one in arcs]
    return arcs[costs.index(min(costs))]


def _shared(points: FloatArray, other: FloatArray) -> float:
    """Share of an arrow that lies along another one; up to a quarter, they may meet."""
    apart = np.hypot(*(points[::4, None, :] - other[None, ::4, :]).transpose(2, 0, 1))
    return max(float(np.mean(apart.min(axis=1) < _NEAR)) - 0.25, 0.0)


def label_box(
    one: Arc, size: tuple[float, float], taken: Sequence[Rectangle], others: Sequence[Arc]
) -> Rectangle:
    """The place of a label on an arrow: as near to the middle as it hides nothing."""
    places = [Rectangle(float(x), float(y), *size) for x, y in one.at(np.array(_FRACTIONS))]

    def cost(place: Rectangle) -> float:
        crossed = sum(bool(place.holds(other.points()).any()) for other in others)
        return 3 * sum(place.meets(box) for box in taken) + crossed

    return min(places, key=cost)
