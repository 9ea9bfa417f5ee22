"""Pieces that all figures share: colours, styles, axes, points, curves, bands and residuals.

Measurements are dots, models are lines. Consecutive series differ in colour, line and marker, so
that they can be told apart in grey too.
"""

from typing import Any, Literal

import numpy as np

from headway import errors
from headway.kinds import FloatArray
from headway.models.language.titles import axis_title
from headway.models.language.units import Unit
from headway.models.measured.cells import Observed
from headway.models.measured.roles import part_of
from headway.models.plotting.looks.axes import write_log_ticks
from headway.models.plotting.looks.colours import LIGHT
from headway.models.structure.outputs import percent_of
from headway.records import dataclass

PALETTE = LIGHT.series
"""Okabe and Ito's colours in the order of use: distinct for the colour-blind."""

MEASURED, MODELLED, SECOND = LIGHT.ink, PALETTE[0], PALETTE[1]
"""Colours of measurements, of the model, and of a second series."""

HATCHES = ("", "////", "....", "\\\\\\\\", "xxxx", "----", "oooo", "++++")
"""Hatching of bars, which distinguishes them in grey."""

QUIET = "0.5"
"""Grey of limits and zero lines."""

_LINES = ("-", "--", "-.", ":", (0, (8, 2)), (0, (3, 1, 1, 1, 1, 1)), (0, (1, 1)))
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")


@dataclass(frozen=True)
class Style:
    """How a series is drawn: colour, line and marker."""

    colour: str
    line: Any
    marker: str


def style(place: int) -> Style:
    """The style of a series by its index, from 0.

    After seven, the lines shift against the colours, and the markers against the lines, so that 49
    series differ in grey too.

    Examples
    --------
    >>> style(0).colour == style(7).colour, style(0).line == style(7).line
    (True, False)
    """
    count = len(PALETTE)
    turn = place // count
    line, marker = _LINES[(place + turn) % count], _MARKERS[(place + 2 * turn) % count]
    return Style(PALETTE[place % count], line, marker)


def literal(text: str) -> str:
    r"""A user's text as it is: matplotlib takes text between two $ as mathematics.

    Examples
    --------
    >>> print(literal("$x$"), literal("a\x1b"))
    \$x\$ a\x1b
    """
    return errors.visible(text).replace("$", r"\$")


def axis_label(name: str, shown: Unit) -> str:
    """Words and unit for an axis, as from `headway.models.language.titles.axis_title`."""
    return literal(axis_title(name, shown))


def column_label(name: str, shown: Unit, column: Observed) -> str:
    """Words and unit for an axis; below them the column drawn, if the words leave it open."""
    part = part_of(column)
    tail = name.rpartition("_")[2] if percent_of(name) else name
    # for instance, response_time_p99 is p99
    is_same = name == column.name or tail in column.name.split("_")
    is_told = is_same or (part is not None and part.role.output == name)
    return axis_label(name, shown) + ("" if is_told else f"\n(column {column.header})")


def light_grid(axes: Any) -> None:
    """A light grid and an open frame."""
    axes.set_axisbelow(True)
    axes.grid(visible=True, color="0.9")
    axes.spines[["top", "right"]].set_visible(False)


def plain_log_axis(axes: Any, way: Literal["x", "y"] = "y") -> None:
    """A logarithmic axis with ticks such as 10, 20, 50, 100 rather than powers of ten."""
    getattr(axes, f"set_{way}scale")("log")
    low, high = getattr(axes, f"get_{way}lim")()
    write_log_ticks(axes.xaxis if way == "x" else axes.yaxis, high / low)


def visible(values: Any) -> FloatArray:
    """Values without those that cannot be drawn."""
    numbers = np.asarray(values, float)
    return np.where(np.isfinite(numbers), numbers, np.nan)


def draw_points(axes: Any, x: FloatArray, y: FloatArray, label: str = "measured") -> None:
    """Draw measured points."""
    axes.plot(x, y, "o", color=MEASURED, markersize=5, label=label, zorder=3)


def draw_curve(axes: Any, x: FloatArray, y: FloatArray, label: str = "model") -> None:
    """Draw a model's curve."""
    axes.plot(x, visible(y), color=MODELLED, label=label)


def draw_band(axes: Any, x: FloatArray, low: FloatArray, high: FloatArray) -> None:
    """Draw a model's 95% band."""
    axes.fill_between(
        x, visible(low), visible(high), color=MODELLED, alpha=0.2, linewidth=0, label="95% band"
    )


def draw_saturation(axes: Any, place: float, label: str = "model saturates") -> None:
    """Draw a dotted line at a load that saturates the model."""
    axes.axvline(place, color=QUIET, linestyle=":", label=label)


def draw_residuals(axes: Any, x: FloatArray, errors: FloatArray) -> None:
    """Draw relative errors (predicted - measured) / measured as stems, in percent."""
    axes.axhline(0, color=QUIET, linewidth=0.8)
    axes.vlines(x, 0, 100 * visible(errors), color=MODELLED)
    axes.plot(x, 100 * visible(errors), "o", color=MODELLED, markersize=5)
    axes.set_ylabel("error [%]")
