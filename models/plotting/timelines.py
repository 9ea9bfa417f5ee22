"""Timelines of pipelines: when each packet occupies each stage, drawn."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from headway.kinds import FloatArray, apply
from headway.loggp.machine.pipeline import Pipeline, Stage, Timeline
from headway.models.language.scales import units_of
from headway.models.language.units import unit
from headway.models.plotting.looks.page import sheet
from headway.models.plotting.pieces import MODELLED, PALETTE, literal
from headway.models.solving.solutions.solution import Solution

MOST_PACKETS = 24
"""Most packets in a picture; more would be too thin to see."""

_TURNS = (MODELLED, PALETTE[5])  # dark and light, distinguishable in grey
_LETTERS = ("white", "#00304d")  # on these; the second is for a dark page too
_LABELLED = 12  # most packets whose number still fits into the box


def timeline_figure(solution: Solution, name: str) -> Figure:
    """Draw the first packets of a transfer through a pipeline, and the bubbles between them.

    Parameters
    ----------
    solution
        A solution at one operating point.
    name
        The pipeline's name in the model.
    """
    stages = solution.model.graph.algorithms["pipelines"][name].labels
    timeline, packets = _timeline(solution, name, stages)
    shown = units_of(solution).unit(unit("s"))
    figure = sheet(1.2 + 0.55 * len(stages))
    axes = figure.subplots()
    for row in range(len(stages)):
        _draw_stage(axes, row, timeline.start[row], timeline.end[row], shown.scale)
    axes.set_yticks(range(len(stages)), stages)
    axes.invert_yaxis()
    axes.set_xlabel(f"time [{shown}]")
    axes.set_title(_title(solution, name, packets))
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlim(left=0)
    if bool(np.any(timeline.start[:, 1:] > timeline.end[:, :-1])):
        mark = Patch(facecolor="none", edgecolor="0.6", hatch="////", linewidth=0, label="bubble")
        axes.legend(handles=[mark], frameon=False, loc="upper right")
    return figure


def _timeline(solution: Solution, name: str, labels: tuple[str, ...]) -> tuple[Timeline, int]:
    """Follow the first packets of the transfer; also return how many there are in all."""
    values = solution.values
    numbers = (values[f"{name}.occupancy"], values[f"{name}.gap_per_byte"])
    stages = tuple(
        Stage(label, *(float(np.ravel(number)[0]) for number in pair))
        for label, *pair in zip(labels, *numbers, strict=True)
    )
    transfer, packet = (float(np.ravel(values[f"{name}.{k}"])[0]) for k in ("transfer", "packet"))
    size = min(packet, transfer)
    packets = int(apply("ceil", transfer / size))
    sizes = np.full(min(packets, MOST_PACKETS), size)
    if sizes.size == packets:
        sizes[-1] = transfer - (packets - 1) * size
    return Pipeline(stages).timeline(sizes), packets


def _draw_stage(axes: Axes, row: int, start: FloatArray, end: FloatArray, scale: float) -> None:
    """Draw a stage's packets as boxes, and its bubbles hatched."""
    begun, width = start / scale, (end - start) / scale
    colours = [_TURNS[packet % 2] for packet in range(start.size)]
    axes.barh(np.full(start.size, row), width, left=begun, color=colours, height=0.7)
    idle = np.maximum(start[1:] - end[:-1], 0.0) / scale
    axes.barh(
        np.full(idle.size, row), idle, left=end[:-1] / scale, height=0.7, color="none",
        edgecolor="0.6", hatch="////", linewidth=0,
    )  # fmt: skip
    if start.size <= _LABELLED:
        widest = end.max() / scale
        for packet in np.flatnonzero(width > 0.02 * widest):
            middle = begun[packet] + width[packet] / 2
            axes.text(
                middle,
                row,
                str(packet + 1),
                ha="center",
                va="center",
                color=_LETTERS[packet % 2],
            )


def _title(solution: Solution, name: str, packets: int) -> str:
    many = f"first {MOST_PACKETS} of {packets} packets"
    count = many if packets > MOST_PACKETS else f"{packets} packet{'s' if packets > 1 else ''}"
    return literal(f"{solution.model.title}: {name}, {count}")
