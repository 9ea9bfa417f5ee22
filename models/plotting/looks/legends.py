"""Legends that hide nothing: inside a panel if there is space, otherwise below it."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox, ScaledTranslation

from headway.models.plotting.looks.page import WIDTH, size_of

_HANDLE = 0.6  # inches of a line or mark, and the space around it
_BESIDE = 1.2  # inches of a figure that are beside its panels
_BELOW = 0.1, 0.55  # inches between a panel and its legend, without and with a labelled axis
_MARGIN = 0.04  # share of a panel's height between a legend and what is drawn
_MOST_RAISED = 0.25  # share of a panel's height: more space for a legend would flatten the curves


def legend(axes: Any) -> None:
    """Draw the legend inside a panel, without a frame."""
    axes.legend(frameon=False)


def outside_legend(axes: Any) -> None:
    """Draw the legend below a panel, where many series would hide something."""
    labels = axes.get_legend_handles_labels()[1]
    widest = max(size_of(label)[0] for label in labels) + _HANDLE
    below = _BELOW[axes.get_subplotspec().is_last_row()]
    shift = ScaledTranslation(0, -below, axes.figure.dpi_scale_trans)
    axes.legend(
        frameon=False, loc="upper center", bbox_to_anchor=(0.5, 0), borderaxespad=0,
        bbox_transform=axes.transAxes + shift, ncols=max(int((WIDTH - _BESIDE) / widest), 1),
    )  # fmt: skip


def make_room(figure: Figure) -> None:
    """Raise the upper end of panels until their legends hide nothing; put tall ones below."""
    inside = [axes for axes in figure.axes if axes.get_legend() and axes.axison]
    if not inside:
        return
    figure.draw_without_rendering()
    for axes in inside:
        shown: Any = axes.get_legend()
        box = shown.get_window_extent()
        share = box.height / axes.bbox.height + _MARGIN
        if not (axes.bbox.fully_overlaps(box) and _hides(axes, box)):
            continue
        if share > _MOST_RAISED:
            outside_legend(axes)
        else:
            _raise(axes, share)


def _raise(axes: Axes, share: float) -> None:
    """Leave a share of a panel's height free at the top."""
    scale = axes.yaxis.get_transform()
    low, high = scale.transform(np.array(axes.get_ylim()))
    higher = low + (high - low) / max(1 - share, 0.3)
    axes.set_ylim(top=float(scale.inverted().transform(np.array([higher]))[0]))


def _hides(axes: Axes, box: Bbox) -> bool:
    """Whether a legend's box covers lines, bands, bars or words of its panel.

    Lines from the lower end to the upper one do not count: no wide legend can avoid them.
    """
    upright = axes.get_xaxis_transform(which="grid")
    lines = (line for line in axes.lines if line.get_transform() != upright)
    if any(_crosses(line, box) for line in lines):
        return True
    if any(_covers(band, box) for band in axes.collections):
        return True
    parts = [*axes.patches, *(text for text in axes.texts if text.get_text())]
    return any(part.get_window_extent().overlaps(box) for part in parts)


def _crosses(line: Any, box: Bbox) -> bool:
    path = line.get_path().transformed(line.get_transform())
    if line.get_marker() not in ("", "None", None):
        points = path.vertices
        inside = (points > box.min) & (points < box.max)
        if inside.all(axis=1).any():
            return True
    drawn = line.get_linestyle() not in ("None", "", " ")
    return drawn and bool(path.intersects_bbox(box, filled=False))


def _covers(band: Any, box: Bbox) -> bool:
    paths = (path.transformed(band.get_transform()) for path in band.get_paths())
    return any(path.intersects_bbox(box, filled=True) for path in paths)
