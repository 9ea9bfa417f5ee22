"""Values under the pointer: what was drawn in a figure, and where, for the script of a page."""

from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

_POINT = 72.0  # of an inch: what an SVG of matplotlib counts in
_DIGITS = 5


def readings(
    figure: Figure, panel: int = 0, named: Callable[[float], str] | None = None
) -> dict[str, Any]:
    """Series of a panel of a figure, in the coordinates of its SVG, with their values.

    Parameters
    ----------
    figure
        Drawn already, so that its panel has its place.
    panel
        Which one.
    named
        Writes a place along the axis, such as a time; None where its number says enough.

    Returns
    -------
    ``box``: left, right, top and bottom of the panel; ``x`` and ``y``: what the axes say;
    ``series``: each with its label, whether it is a line between its points, its places along
    the axis, and its values there: two of a band.

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
    """Lines and points that have a name; limits across the panel have none of a value."""
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
    """Bands between two curves: the polygon goes along one and back along the other."""
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
    """A series that goes on between its points, from where it can be seen."""
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
