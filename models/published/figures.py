"""Differences of recomputed cells relative to their tolerances, one row per table."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from headway.models.plotting.looks.page import LETTER, sheet
from headway.models.plotting.pieces import MODELLED, SECOND
from headway.models.published.cells import Cell, Outcome
from headway.models.published.reproduction import Reproduction

_WIDEST = 2.0


def reproduction_figure(reproduction: Reproduction) -> Figure:
    """Draw each cell that should agree at its difference relative to its tolerance."""
    parts = [part for part in reproduction.parts if any(map(_is_drawn, part.expected))]
    figure = sheet(1.2 + 0.28 * len(parts))
    axes = figure.subplots()
    for place, part in enumerate(parts):
        _draw(axes, place, [cell for cell in part.expected if _is_drawn(cell)])
    axes.axvspan(-1, 1, color="0.93", zorder=0)
    axes.set_yticks(range(len(parts)), [part.name for part in parts])
    axes.invert_yaxis()
    axes.set_title("recomputed cells against print; shaded: within tolerance", fontsize=LETTER)
    axes.set_xlim(-_WIDEST, _WIDEST)
    axes.set_xlabel("(recomputed - printed) / tolerance [1]")
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def _is_drawn(cell: Cell) -> bool:
    return cell.difference is not None and cell.tolerance > 0


def _draw(axes: Axes, place: int, cells: list[Cell]) -> None:
    for cell in cells:
        ratio = (cell.difference or 0.0) / cell.tolerance
        differs = cell.outcome is Outcome.DIFFERS
        colour, marker = (SECOND, "X") if differs else (MODELLED, "o")
        shown = max(-_WIDEST, min(_WIDEST, ratio))
        axes.plot(shown, place, marker, color=colour, alpha=0.5, markersize=4, clip_on=False)
