"""Storage that feeds accelerators, drawn: stalls of all systems by number of accelerators."""

from math import ceil

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from headway.errors import MeasurementError
from headway.models.language.units import unit
from headway.models.plotting.looks.page import sheet
from headway.models.plotting.pieces import (
    QUIET,
    Style,
    light_grid,
    literal,
    plain_log_axis,
    style,
)
from headway.models.signatures.storage import FedSystem, MeasuredStorage
from headway.numerals import four_digits

_ACROSS = 2  # panels in a row
# inches: a row of panels, a line of the legend, and space around it
_PANEL, _LINE, _MORE = 2.3, 0.21, 0.6
_TIME = unit("ms")


def measured_storage_figure(storage: MeasuredStorage) -> Figure:
    """Draw a panel per workload: stall over accelerators, a line per system, bars for runs.

    A dotted line is the stall at the required utilisation.

    Raises
    ------
    MeasurementError
        If no stall is known.
    """
    known = [one for one in storage.systems if one.compute]
    if not known:
        msg = f"{storage.source}: no stall is known to draw, as no time of computation is"
        raise MeasurementError(msg)
    works = sorted({one.work for one in known})
    names = sorted({one.system or one.name for one in known})
    looks = {name: style(place) for place, name in enumerate(names)}
    across = min(_ACROSS, len(works))
    rows = ceil(len(works) / across)
    figure = sheet(_PANEL * rows + _LINE * (len(names) + 1) + _MORE)
    panels = figure.subplots(rows, across, squeeze=False)
    for axes, work in zip(panels.flat, works, strict=False):
        _draw(axes, storage.asked, [one for one in known if one.work == work], looks)
    for axes in panels.flat[len(works) :]:
        axes.set_visible(False)
    for axes in panels[:, 0]:
        axes.set_ylabel(f"stall of a batch [{_TIME}]")
    for axes in panels[-1]:
        axes.set_xlabel("accelerators")
    _legend(figure, storage.asked, looks)
    return figure


def _draw(axes: Axes, asked: float, systems: list[FedSystem], looks: dict[str, Style]) -> None:
    for one in systems:
        look = looks[one.system or one.name]
        loads = [load for load in one.loads if load.stall is not None and load.stalls is not None]
        number = [load.accelerators for load in loads]
        stall = [(load.stall or 0.0) / _TIME.scale for load in loads]
        axes.plot(
            number, stall, color=look.colour, linestyle=look.line, marker=look.marker,
            markersize=5, linewidth=1,
        )  # fmt: skip
        for place, load in zip(number, loads, strict=True):
            ends = [each / _TIME.scale for each in load.stalls or ()]
            axes.plot([place, place], ends, color=look.colour, linewidth=2, alpha=0.5)
    compute = systems[0].compute or 0.0
    axes.axhline(compute * (1 / asked - 1) / _TIME.scale, color=QUIET, linestyle=":")
    axes.set_title(literal(systems[0].work))
    for way in ("x", "y"):
        plain_log_axis(axes, way)
    light_grid(axes)


def _legend(figure: Figure, asked: float, looks: dict[str, Style]) -> None:
    """Names of systems below all panels, and the meaning of the dotted line."""
    marks = [
        Line2D([], [], color=look.colour, linestyle=look.line, marker=look.marker, markersize=5)
        for look in looks.values()
    ]
    limit = Line2D([], [], color=QUIET, linestyle=":")
    figure.legend(
        [*marks, limit],
        [*map(literal, looks), f"busy for {four_digits(100 * asked)}%"],
        loc="outside lower center", frameon=False,
    )  # fmt: skip
