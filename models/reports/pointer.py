"""Values under the pointer: what a figure shows at each place, for the script of a page."""

from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

_POINT = 72.0  # points per inch: the unit of matplotlib's SVG
_DIGITS = 5


def readings(
    figure: Figure, panel: int = 0, named: Callable[[float], str] | None = None
) -> dict[str, Any]:
    """Series in a panel of a figure, in the coordinates of its SVG, with their values.

    Parameters
    ----------
    figure
        A figure that has been drawn, so that its panels have their places.
    panel
        The panel.
    named
        Writes a place along the axis, such as a time, as text; None if its number is enough.

    Returns
    -------
    ``box``: left, right, top and bottom of the panel; ``x`` and ``y``: labels of the axes;
    ``series``: for each its label, whether its points are joined by a line, its places along the
    axis, and its values there (two for a band).

    Examples
    --------
    >>> from headway.models.plotting.looks.page import sheet
    >>> figure = sheet(3)
    >>> _ = figure.subplots().plot([1, 2], [3, 4], "o", label="measured")
    >>> readings(figure)["series"][0]["values"]
    [[3.0], [4.0]]
    """
    figure.draw_without_rendering()
    axes = figure.axes[panel]
    height, scale = figure.get_figheight() * _POINT, _POINT / figure.dpi
    low, high = (np.asarray(end) * scale for end in (axes.bbox.min, axes.bbox.max))
    series = [*_lines(axes, scale), *_bands(axes, scale)]
    for one in series if named else ():
        one["names"] = [named(at) for at in one["at"]] if named else []
    return {
        "box": [_short(n) for n in (low[0], high[0], height - high[1], height - low[1])],
        "x": axes.get_xlabel().partition("\n")[0],
        "y": axes.get_ylabel().partition("\n")[0],
        "series": series,
    }


def _lines(axes: Axes, scale: float) -> list[dict[str, Any]]:
    """Named lines and points of a panel; limits drawn across the panel have no values."""
    own = (line for line in axes.lines if line.get_transform() == axes.transData)
    return [_series(axes, line, scale) for line in own if not str(line.get_label()).startswith("_")]


def _series(axes: Axes, line: Line2D, scale: float) -> dict[str, Any]:
    x, y = (np.asarray(each, float) for each in (line.get_xdata(), line.get_ydata()))
    order = np.argsort(x, kind="stable")
    is_line = line.get_linestyle() not in ("None", "", " ")
    is_step = line.get_drawstyle() == "steps-post"
    told = _told(axes, line, x[order], [y[order]], scale)
    return told | {"line": is_line, "step": is_step}


def _bands(axes: Axes, scale: float) -> list[dict[str, Any]]:
    """Bands between two curves: their polygon goes along one curve and back along the other."""
    found = []
    for band in axes.collections:
        if not isinstance(band, PolyCollection) or not band.get_paths():
            continue
        corners = np.asarray(band.get_paths()[0].vertices)
        x = np.unique(corners[:, 0])
        ends = [[corners[corners[:, 0] == at, 1].min() for at in x],
                [corners[corners[:, 0] == at, 1].max() for at in x]]  # fmt: skip
        found.append(_told(axes, band, x, [np.array(each) for each in ends], scale))
    return found


def _told(axes: Axes, drawn: Artist, x: Any, heights: list[Any], scale: float) -> dict[str, Any]:
    """A series as the script reads it; a line starts where it becomes visible."""
    seen = np.isfinite(x) & np.all(np.isfinite(heights), axis=0)
    x, y = x[seen], np.array(heights)[:, seen]
    places = axes.transData.transform(np.column_stack([x, y[0]]))[:, 0] * scale
    return {
        "label": str(drawn.get_label()),
        "line": True,
        "step": False,
        "places": [_short(place) for place in places],
        "at": [_short(number) for number in x],
        "values": [[_short(number) for number in row] for row in y.T],
    }


def _short(number: float) -> float:
    return float(f"{number:.{_DIGITS}g}")
