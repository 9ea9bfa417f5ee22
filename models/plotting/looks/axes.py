"""Axes of figures: logarithmic if asked, or if values span decades; ticks written in full."""

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import (
    AutoLocator,
    FixedFormatter,
    FuncFormatter,
    LogLocator,
    MaxNLocator,
    NullFormatter,
    ScalarFormatter,
)

from headway.errors import InvalidParameter
from headway.kinds import FloatArray

Way = Literal["x", "y"]

LOGS = ("x", "y", "xy", "none")
"""Choices of logarithmic axes."""

DECADES = 100.0
"""Ratio of the largest value to the least above which an axis may become logarithmic by default."""

_LOW = 0.1
_SEPARATED = 10_000.0  # ticks from this have commas
_LONG, _FEW_TICKS = 100_000.0, 6  # ticks from this are so long that only this many fit
_LONGEST = 1e12  # the largest tick that is written in full
_ROOM = 1.25  # space beyond the least and largest value of a logarithmic axis, as a factor
# most ticks of a binary axis, and powers of two between them
_MOST_TICKS, _STEPS = 9, (1, 2, 5, 10)
_FEW = 300.0  # ratio of its ends below which a decade also has ticks at 2 and 5


def spans_decades(values: FloatArray) -> bool:
    """Whether values need a logarithmic axis: over two decades, and most of them at the low end.

    They do if the largest is over 100 times the least, all are positive, and half of them are below
    a tenth of the largest; evenly spaced values, such as 1 to 1,000 by 1, stay on a linear axis.

    Examples
    --------
    >>> spans_decades(np.geomspace(1, 1000, 4)), spans_decades(np.arange(1.0, 1000.0))
    (True, False)
    """
    finite = values[np.isfinite(values)]
    if finite.size < 3 or finite.min() <= 0:
        return False
    top = float(finite.max())
    return top > DECADES * float(finite.min()) and float(np.median(finite)) < _LOW * top


def set_scales(figure: Figure, log: str | None) -> None:
    """Make axes logarithmic: those asked for, or by default those that span decades.

    Parameters
    ----------
    figure
        A figure of lines or points; bars and names have no logarithm.
    log
        One of `LOGS`; None lets the values decide.

    Raises
    ------
    InvalidParameter
        For another word, and if no such axis of the figure has only positive values.
    """
    if log not in (None, *LOGS):
        msg = f"log={log!r}: name the logarithmic axes as x, y or xy, or none"
        raise InvalidParameter(msg)
    ways: tuple[Way, ...] = ("x", "y")
    for way in ways:
        able = [group for group in _groups(figure, way) if _is_able(group, way)]
        if log is None:
            able = [group for group in able if spans_decades(_values(group, way))]
        elif way not in log.replace("none", ""):
            continue
        elif not able and not _has_log(figure, way):
            msg = f"no {way} axis of this figure can be logarithmic: its values must be positive"
            raise InvalidParameter(msg)
        for group in able:
            _make_log(group, way)


def _groups(figure: Figure, way: Way) -> list[list[Axes]]:
    """Panels that share a linear axis, each group once."""
    groups: list[list[Axes]] = []
    for axes in figure.axes:
        shared = getattr(axes, f"get_shared_{way}_axes")().get_siblings(axes)
        own = [one for one in figure.axes if one in shared]
        if own not in groups and getattr(axes, f"get_{way}scale")() == "linear":
            groups.append(own)
    return groups


def _has_log(figure: Figure, way: Way) -> bool:
    return any(getattr(axes, f"get_{way}scale")() == "log" for axes in figure.axes)


def _axis(axes: Axes, way: Way) -> Axis:
    return axes.xaxis if way == "x" else axes.yaxis


def _lines(group: Iterable[Axes]) -> list[Line2D]:
    """Lines and points of data, excluding lines across a panel."""
    return [line for axes in group for line in axes.lines if line.get_transform() == axes.transData]


def _data(line: Line2D, way: Way) -> FloatArray:
    """Numbers drawn: the marked ones, or all of a line without marks."""
    numbers = np.asarray(line.get_xdata() if way == "x" else line.get_ydata(), float)
    every: Any = line.get_markevery()
    return numbers if every is None else numbers[every]


def _values(group: list[Axes], way: Way) -> FloatArray:
    """Marked numbers; without marks, those of all lines, any of which may cross zero."""
    lines = _lines(group)
    marked = [line for line in lines if line.get_marker() not in ("", "None", None)]
    drawn = [_data(line, way) for line in marked or lines]
    return np.concatenate(drawn) if drawn else np.zeros(0)


def _is_able(group: list[Axes], way: Way) -> bool:
    """Whether everything along an axis is a positive number."""
    values = _values(group, way)
    finite = values[np.isfinite(values)]
    named = any(isinstance(_axis(a, way).get_major_formatter(), FixedFormatter) for a in group)
    bars = any(isinstance(one, BarContainer) for axes in group for one in axes.containers)
    return bool(
        finite.size > 1 and finite.min() > 0 and not named and not bars and _is_shown(group)
    )


def _is_shown(group: list[Axes]) -> bool:
    return all(axes.axison for axes in group)


def _make_log(group: list[Axes], way: Way) -> None:
    """Make panels that share an axis logarithmic; its upper end stays, or leaves points space."""
    values = _values(group, way)
    finite = values[np.isfinite(values)]
    low = float(finite.min()) / _ROOM
    high = max(getattr(axes, f"get_{way}lim")()[1] for axes in group)
    if any(line.get_marker() not in ("", "None", None) for line in _lines(group)):
        high = max(high, float(finite.max()) * _ROOM)
    for axes in group:
        getattr(axes, f"set_{way}scale")("log")
        write_log_ticks(_axis(axes, way), high / low)
        getattr(axes, f"set_{way}lim")(low, high)


def write_log_ticks(axis: Axis, ratio: float) -> None:
    """Write 10, 20, 50, 100 rather than powers of ten; over many decades 10, 100, 1,000."""
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if ratio < _FEW else (1,)))
    axis.set_major_formatter(FuncFormatter(_in_full))
    axis.set_minor_formatter(NullFormatter())


def write_binary_ticks(axes: Axes, *, sizes: bool = False) -> None:
    """Make the x axis logarithmic to base 2, with ticks such as 1, 4, 16, or 4 Ki, 1 Mi."""
    axes.set_xscale("log", base=2)
    low, high = axes.get_xlim()
    least = np.log2(high / low) / _MOST_TICKS
    step = next((step for step in _STEPS if step >= least), _STEPS[-1])
    axes.xaxis.set_major_locator(LogLocator(base=2.0**step, numticks=2 * _MOST_TICKS))
    axes.xaxis.set_major_formatter(FuncFormatter(_binary if sizes else _in_full))


def _binary(value: float, _place: int | None = None) -> str:
    for power, prefix in ((30, "Gi"), (20, "Mi"), (10, "Ki")):
        if value >= 2**power:
            return f"{value / 2**power:.10g} {prefix}"
    return _in_full(value)


def _in_full(value: float, _place: int | None = None) -> str:
    return f"{value:,.10g}" if value >= _SEPARATED else f"{value:.10g}"


class InFull(ScalarFormatter):
    """Ticks of a linear axis in full: no offset, no power of ten, commas from 10,000 on."""

    def __init__(self) -> None:
        super().__init__(useOffset=False)
        self._top = 0.0

    def set_locs(self, locs: Any) -> None:
        """Set the ticks; only a number too long to read keeps its power of ten."""
        self._top = float(np.max(np.abs(locs), initial=0.0))
        self.set_scientific(not (1 / _LONGEST < self._top < _LONGEST))
        super().set_locs(locs)

    def __call__(self, x: float, pos: int | None = None) -> str:
        """Write a tick."""
        text = str(super().__call__(x, pos))
        if not _SEPARATED <= self._top < _LONGEST:
            return text
        sign, digits = ("\N{MINUS SIGN}", text[1:]) if x < 0 else ("", text)
        whole, point, part = digits.partition(".")
        return f"{sign}{int(whole):,}{point}{part}" if whole.isdigit() else text


def write_ticks(figure: Figure) -> None:
    """Write the ticks of linear axes in full."""
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            if type(axis.get_major_formatter()) is ScalarFormatter:
                axis.set_major_formatter(InFull())
        if type(axes.xaxis.get_major_locator()) is AutoLocator and max(axes.get_xlim()) >= _LONG:
            axes.xaxis.set_major_locator(MaxNLocator(_FEW_TICKS, steps=[1, 2, 2.5, 5, 10]))
