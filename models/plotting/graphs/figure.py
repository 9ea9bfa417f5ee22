"""A model graph drawn: stations with their routes, and the numbers bound to them."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Patch
from matplotlib.path import Path

from headway.errors import GraphError
from headway.models.language.scales import Scale, units_of
from headway.models.plotting.graphs.geometry import Arc, Rectangle
from headway.models.plotting.graphs.layout import Picture, Way, best
from headway.models.plotting.graphs.scheme import Edge, PictureBox, Scheme, Sort, scheme_of
from headway.models.plotting.looks.page import LETTER, WIDTH, size_of
from headway.models.plotting.pieces import MEASURED, MODELLED, QUIET, SECOND, literal
from headway.models.showing.parts.numbers import known_values
from headway.models.structure.graph import ModelGraph
from headway.models.structure.model import Model
from headway.models.structure.parts.routes import MOST_SHOWN
from headway.numerals import rounded

_WIDE, _NARROWER = 30, (30, 24, 18)  # letters per line of a box
_TITLE, _LEGEND = 0.4, 0.35  # inches above and below
_TITLE_SIZE = 12.0  # points
_FULL = "0.88"  # grey of a saturated station
_DASHES = (0, (3, 3))


def model_figure(model: Model, scale: Scale | None = None) -> Figure:
    """Draw a model's graph, with utilisations if it can be solved at one point.

    Parameters
    ----------
    model
        A model with stations, or layered services.
    scale
        The units of the page that shows it; by default those of the model's description.
    """
    if model.graph.layers:
        from headway.models.plotting.graphs.layers import layered_figure

        return layered_figure(model, scale)
    if not model.graph.stations:
        msg = f"{model.name} has no stations to draw; it is a program, see its formulas"
        raise GraphError(msg)
    scale = scale or units_of(model)
    terminals = _terminals(model, scale) if model.is_closed else None
    values = known_values(model, scale, rounded)
    if len(values) < len(model.parameters):
        return graph_figure(model.graph, {}, model.title, terminals, scale, values)
    solution = model.solve()
    busy = {name: float(np.asarray(solution[f"{name}.utilisation"])) for name in solution.stations}
    return graph_figure(model.graph, busy, model.title, terminals, scale, values)


def _terminals(model: Model, scale: Scale) -> str:
    """Population and think time, with their values if they have one."""
    lines = ["terminals"]
    for name in ("population", "think_time"):
        parameter, words = model.parameters[name], name.replace("_", " ")
        is_one = parameter.value is not None and np.ndim(parameter.value) == 0
        value = rounded(float(np.asarray(parameter.value))) if is_one else math.nan
        lines.append(f"{words} {parameter.shown(value, scale)}" if is_one else words)
    return "\n".join(lines)


def graph_figure(
    graph: ModelGraph,
    utilisations: Mapping[str, float] | None = None,
    title: str = "",
    terminals: str | None = None,
    scale: Scale | None = None,
    values: Mapping[str, str] | None = None,
) -> Figure:
    """Draw stations along the flow of jobs, routes as arrows, formulas as dashed arrows.

    Jobs flow from left to right if that is no wider than other figures, otherwise from top to
    bottom, so that words are legible on a narrow page.

    Parameters
    ----------
    graph
        A graph with stations.
    utilisations
        Utilisation of each station, to write beside it; saturated stations are marked.
    title
        Title of the picture; by default the graph's name.
    terminals
        What is known of a closed population; None if jobs arrive from outside.
    scale
        The units of the picture; by default those that suit each number.
    values
        Values, as text, of the parameters that have a single one.

    Raises
    ------
    GraphError
        For more routes than are legible.
    """
    many = len(graph.routes) + len(graph.class_ways.routes)
    if many > MOST_SHOWN:
        msg = (
            f"{graph.name} has {many} routes, and a drawing is legible up to {MOST_SHOWN}; "
            "draw a graph of some of the stations"
        )
        raise GraphError(msg)
    busy, units = utilisations or {}, scale or Scale()
    tried = [(_WIDE, Way.RIGHT), *((wide, Way.DOWN) for wide in _NARROWER)]
    schemes = ((scheme_of(graph, busy, terminals, wide, units, values), way) for wide, way in tried)
    return _drawn(best(schemes, WIDTH), literal(title or graph.name))


def scheme_figure(scheme: Scheme, title: str = "") -> Figure:
    """Draw boxes and arrows from left to right, or from top to bottom if that is too wide.

    Parameters
    ----------
    scheme
        The contents of the picture.
    title
        The title.
    """
    return _drawn(best([(scheme, Way.RIGHT), (scheme, Way.DOWN)], WIDTH), literal(title))


def _drawn(picture: Picture, title: str) -> Figure:
    """Draw a placed scheme: an inch of the picture is an inch of the figure."""
    marks = _marks(picture)
    left, right, low, high = picture.ends
    low, high = low - (_LEGEND if marks else 0.0), high + _TITLE
    spare = max(size_of(title, _TITLE_SIZE)[0] + 0.2, _marks_width(marks)) - (right - left)
    left, right = left - max(spare, 0.0) / 2, right + max(spare, 0.0) / 2
    figure = Figure(figsize=(right - left, high - low))
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0), xlim=(left, right), ylim=(low, high))
    axes.axis("off")
    for frame in picture.frames:
        axes.add_patch(_rounded(frame, facecolor="none", edgecolor=QUIET, linestyle=_DASHES))
    for name, part in picture.scheme.parts.items():
        _draw_part(axes, part, picture.boxes[name])
    for edge in picture.scheme.edges:
        _draw_arrow(axes, edge, picture.arcs[edge.source, edge.target])
    for edge in picture.scheme.edges:
        if (edge.source, edge.target) in picture.labels:
            _draw_label(axes, edge.label, picture.labels[edge.source, edge.target])
    axes.set_title(title, fontsize=_TITLE_SIZE, y=1 - 0.3 / (high - low), pad=0)
    if marks:
        axes.legend(handles=marks, loc="lower center", ncols=3, frameon=False, borderaxespad=0.2)
    return figure


def _marks(picture: Picture) -> list[Any]:
    """Explain the lines (routes, and numbers in formulas) and the thick boxes."""
    marks: list[Any] = []
    if not all(edge.is_route for edge in picture.scheme.edges):
        marks.append(Line2D([], [], color=QUIET, linestyle=_DASHES, label="formula"))
    if any(part.is_full for part in picture.scheme.parts.values()):
        marks.append(Patch(facecolor=_FULL, edgecolor=SECOND, linewidth=2.5, label="always busy"))
    return [Line2D([], [], color=MODELLED, label="route"), *marks] if marks else []


def _marks_width(marks: list[Any]) -> float:
    return sum(size_of(str(mark.get_label()))[0] + 0.75 for mark in marks)


def _draw_part(axes: Axes, part: PictureBox, box: Rectangle) -> None:
    """Draw a box, and its words."""
    if part.sort is not Sort.SOURCE:
        is_formula = part.sort is Sort.FORMULA
        axes.add_patch(
            _rounded(
                box,
                facecolor=_FULL if part.is_full else "white",
                edgecolor=SECOND if part.is_full else QUIET if is_formula else MEASURED,
                linewidth=2.5 if part.is_full else 1,
                linestyle="dashed" if is_formula else "-",
            )
        )
    axes.text(
        box.x, box.y, part.words, ha="center", va="center_baseline", fontsize=LETTER, zorder=4
    )


def _rounded(
    box: Rectangle, facecolor: str, edgecolor: str, linestyle: Any, linewidth: float = 1.0
) -> FancyBboxPatch:
    """A box with rounded corners."""
    corner = box.x - box.width / 2, box.y - box.height / 2
    return FancyBboxPatch(
        corner, box.width, box.height, boxstyle="round,pad=0,rounding_size=0.08",
        facecolor=facecolor, edgecolor=edgecolor, linestyle=linestyle, linewidth=linewidth,
    )  # fmt: skip


def _draw_arrow(axes: Axes, edge: Edge, arc: Arc) -> None:
    path = Path(
        np.array([arc.start, arc.control, arc.end]), [Path.MOVETO, Path.CURVE3, Path.CURVE3]
    )
    arrow = FancyArrowPatch(
        path=path,
        arrowstyle="<|-|>" if edge.is_both else "-|>",
        mutation_scale=12,
        linestyle="-" if edge.is_route else _DASHES,
        color=MODELLED if edge.is_route else QUIET,
        zorder=3,
    )
    axes.add_patch(arrow)


def _draw_label(axes: Axes, words: str, box: Rectangle) -> None:
    """Write a label on an arrow, with paper behind it."""
    paper = {"boxstyle": "square,pad=0.1", "facecolor": "white", "linewidth": 0}
    axes.text(
        box.x, box.y, words, ha="center", va="center", fontsize=LETTER, color=MODELLED,
        bbox=paper, zorder=6,
    )  # fmt: skip
