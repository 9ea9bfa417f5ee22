"""A model graph drawn: stations with their routes, and the numbers bound to them."""

import math
import textwrap
from collections.abc import Mapping
from typing import Any

import networkx as nx
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch, Patch
from matplotlib.text import Text

from headway.errors import GraphError
from headway.models.plotting.pieces import MEASURED, MODELLED, QUIET, SECOND, literal
from headway.models.structure.graph import ModelGraph
from headway.models.structure.model import Model
from headway.models.structure.parts.components import Component
from headway.models.structure.parts.networks import to_networkx
from headway.models.structure.parts.routes import MOST_SHOWN

Places = dict[str, tuple[float, float]]

_SATURATED = 0.995
_SIZE = 9.0  # of letters, in points
_WIDE, _LABEL = 30, 18  # letters in a line of a box, and beside an arrow
_STEP, _ROW, _BINDING, _LINK, _LEFT = 3.0, 1.3, 1.6, 1.4, 1.9  # inches between and beside boxes
_FULL = "0.88"  # a saturated station is filled


def model_figure(model: Model) -> Figure:
    """Draw a model's graph, with utilisations if it can be solved at one point."""
    if not model.graph.stations:
        msg = f"{model.name} has no stations to draw; it is a program, see its formulas"
        raise GraphError(msg)
    ready = all(p.value is not None and np.ndim(p.value) == 0 for p in model.parameters.values())
    if not ready:
        return graph_figure(model.graph, title=model.title, closed=model.is_closed)
    solution = model.solve()
    busy = {name: float(np.asarray(solution[f"{name}.utilisation"])) for name in solution.stations}
    return graph_figure(model.graph, busy, model.title, closed=model.is_closed)


def graph_figure(
    graph: ModelGraph,
    utilisations: Mapping[str, float] | None = None,
    title: str = "",
    *,
    closed: bool = False,
) -> Figure:
    """Draw stations from left to right, routes as arrows, bindings as dashed arrows.

    Parameters
    ----------
    graph
        A graph with stations.
    utilisations
        Share of each station that is busy, to write beside it; a saturated one is marked.
    title
        Title of the picture; the graph's name if empty.
    closed
        Whether a population circulates: jobs that leave then come back in.

    Raises
    ------
    GraphError
        For more routes than can be told apart.
    """
    many = len(graph.routes) + len(graph.class_ways.routes)
    if many > MOST_SHOWN:
        msg = (
            f"{graph.name} has {many} routes; a drawing shows {MOST_SHOWN} at most, "
            "more cannot be told apart: draw a graph of some of the stations"
        )
        raise GraphError(msg)
    drawn = to_networkx(graph)
    places = _places(graph, drawn)
    low, high = _ends(graph, drawn, places)
    right = max(x for x, _ in places.values()) + 1.3
    figure = Figure(figsize=(right + _LEFT, high - low + 0.6), layout="constrained")
    axes = figure.subplots()
    words = {name: _words(graph, name, utilisations or {}) for name in places}
    boxes = {name: _node(axes, name, place, words[name]) for name, place in places.items()}
    for source, target, sort in drawn.edges(data="sort"):
        if source in places and target in places:
            probability = drawn.edges[source, target].get("probability", "")
            _arrow(axes, boxes[source], boxes[target], sort, probability)
    _entries(axes, graph, boxes, "population" if closed else "arrivals")
    axes.set_title(literal(title or graph.name))
    axes.set_xlim(-_LEFT, right)
    axes.set_ylim(low, high)
    axes.axis("off")
    _legend(axes, graph, words)
    return figure


def _ends(graph: ModelGraph, drawn: Any, places: Places) -> tuple[float, float]:
    """Lowest and highest point of what is drawn, with room for arrows that pass by."""
    arcs = [
        _arc(places[u], places[v], sort)
        for u, v, sort in drawn.edges(data="sort")
        if u in places and v in places
    ]
    stations = [places[name][1] for name in graph.stations]
    low = -_LINK - 0.4 if graph.links else min(stations) - max([0.75, *(0.3 - h for h in arcs)])
    top = max(stations) + max([0.65, *(h + 0.3 for h in arcs)])
    return low, max(
        top, _BINDING + 0.5 + 0.4 * (len(graph.bindings) > 2)
    ) if graph.bindings else top


def _legend(axes: Axes, graph: ModelGraph, words: Mapping[str, str]) -> None:
    """Say which lines are routes and which bindings, and what a thick box means."""
    marks: list[Any] = [Line2D([], [], color=MODELLED, label="route")]
    if graph.bindings or graph.links:
        marks.append(Line2D([], [], color=QUIET, linestyle=(0, (3, 3)), label="binding"))
    if any("saturated" in text for text in words.values()):
        marks.append(Patch(facecolor=_FULL, edgecolor=SECOND, linewidth=2.5, label="saturated"))
    axes.legend(
        handles=marks, loc="lower right", ncols=3, frameon=False, fontsize=_SIZE,
        bbox_to_anchor=(1, 0), borderaxespad=0,
    )  # fmt: skip


def _places(graph: ModelGraph, drawn: Any) -> Places:
    """Stations in the order of flow at the middle, derived numbers above, links below."""
    routes = nx.DiGraph((u, v) for u, v, sort in drawn.edges(data="sort") if sort == "route")
    routes.add_nodes_from(graph.stations)
    loops = nx.condensation(routes)
    generations = [
        [name for loop in layer for name in sorted(loops.nodes[loop]["members"])]
        for layer in nx.topological_generations(loops)
    ]
    places: Places = {}
    columns = generations if _is_visited(graph) else _spread(generations)
    for x, names in enumerate(columns):
        for k, name in enumerate(names):
            places[name] = (_STEP * x, _ROW * ((len(names) - 1) / 2 - k))
    bindings = [f"{name} (binding)" for name in graph.bindings]
    wide = max(len(columns), 0.8 * len(bindings))
    for height, names in ((_BINDING, bindings), (-_LINK, list(graph.links))):
        for k, name in enumerate(names):
            places[name] = (_STEP * ((k + 0.5) * wide / len(names) - 0.5), height)
    return places


def _spread(generations: list[list[str]]) -> list[list[str]]:
    """Put stations of one loop beside each other, so that its arrows can be seen."""
    return (
        [[name] for names in generations for name in names] if len(generations) < 2 else generations
    )


def _is_visited(graph: ModelGraph) -> bool:
    """Whether visits are given instead of routes: jobs come to each station and go back."""
    return not (graph.routes or graph.class_ways.routes)


def _words(graph: ModelGraph, name: str, utilisations: Mapping[str, float]) -> str:
    component = graph.stations.get(name) or graph.links.get(name)
    if component is None:
        plain = name.removesuffix(" (binding)")
        return f"{plain} =\n{_wrapped(graph.bindings[plain].text)}"
    kind = component.kind.__name__
    busy = f"\nbusy {utilisations[name]:.0%}" if utilisations.get(name) else ""
    full = " saturated" if utilisations.get(name, 0) > _SATURATED else ""
    return f"{name}\n{kind}{busy}{full}\n{_numbers(component)}".rstrip()


def _numbers(component: Component) -> str:
    if len(component.fields) > 3:
        return ""
    lines = []
    for key, read in component.fields.items():
        text = ", ".join(r.text for r in read) if isinstance(read, tuple) else read.text
        lines.append(_wrapped(f"{key.replace('_', ' ')}: {text}"))
    for what, each in (("visits", component.visits), ("service time", component.service_times)):
        lines += [_wrapped(f"{what}{f' {c}' if c else ''}: {x.text}") for c, x in each.items()]
    return "\n".join(lines)


def _wrapped(text: str) -> str:
    return textwrap.fill(text, _WIDE)


def _node(axes: Axes, name: str, place: tuple[float, float], words: str) -> Text:
    full = "saturated" in words
    style: dict[str, Any] = {
        "boxstyle": "round,pad=0.4",
        "facecolor": _FULL if full else "white",
        "edgecolor": SECOND if full else MEASURED,
        "linewidth": 2.5 if full else 1,
    }
    if "(binding)" in name:
        style |= {"edgecolor": QUIET, "linestyle": "dashed"}
    box: Text = axes.text(*place, words, ha="center", va="center", fontsize=_SIZE, bbox=style)
    return box


def _arc(start: tuple[float, float], end: tuple[float, float], sort: str) -> float:
    """How far an arrow rises above the straight line, so that it passes by what lies between.

    Arrows that go back pass below, those that leave something out above.
    """
    steps = round((end[0] - start[0]) / _STEP)
    if start[1] != end[1] or start == end or steps == 1:
        return 0.0
    if sort != "route":
        return 0.45 + 0.1 * abs(steps)
    return 0.5 + 0.2 * steps if steps > 0 else -(0.55 + 0.2 * abs(steps))


def _arrow(axes: Axes, source: Text, target: Text, sort: str, label: str) -> None:
    is_route = sort == "route"
    start, end = source.get_position(), target.get_position()
    if start == end:
        back = f"\N{ANTICLOCKWISE OPEN CIRCLE ARROW} returns: {label}"
        axes.text(start[0], start[1] + 0.5, back, ha="center", fontsize=_SIZE, color=MODELLED)
        return
    height, length = _arc(start, end, sort), math.dist(start, end)
    arrow = FancyArrowPatch(
        start,
        end,
        patchA=source.get_bbox_patch(),
        patchB=target.get_bbox_patch(),
        arrowstyle="-|>",
        mutation_scale=12,
        linestyle="-" if is_route else (0, (3, 3)),
        color=MODELLED if is_route else QUIET,
        connectionstyle=f"arc3,rad={-2 * abs(height) / length}",
        zorder=5,  # after the boxes, whose edges it must find
    )
    axes.add_patch(arrow)
    if is_route and label != "1":
        _label(axes, source, target, height, label)


def _label(axes: Axes, source: Text, target: Text, height: float, label: str) -> None:
    """Write a route's probability beside its arrow, between the boxes."""
    (left, low), (right, high) = source.get_position(), target.get_position()
    if not height:
        left, right = left + _half_width(source), right - _half_width(target)
    words = textwrap.fill(label, _LABEL)
    axes.text(
        (left + right) / 2, (low + high) / 2 + height + 0.05, words, ha="center", va="bottom",
        fontsize=_SIZE, color=MODELLED, zorder=6,
    )  # fmt: skip


def _half_width(box: Text) -> float:
    """Half the width of a box, by its letters [inches]."""
    return 0.1 + 0.034 * max(map(len, box.get_text().splitlines()))


def _entries(axes: Axes, graph: ModelGraph, boxes: Mapping[str, Text], who: str) -> None:
    """Draw where jobs come from, and of a closed network the way back to its terminals."""
    spread = {name: f"\nscv {scv.text}" for name, scv in graph.arrival_scvs.items()}
    entries = {name: rate.text + spread.get(name, "") for name, rate in graph.arrivals.items()}
    if graph.classes and not _is_visited(graph):
        return
    if graph.classes:
        who = "\n".join(_class_words(name, loads) for name, loads in graph.classes.items())
    if who == "population":
        who = "terminals\n(population,\nthink time)"
    names = list(graph.stations) if _is_visited(graph) else list(graph.stations)[:1]
    middle = sum(boxes[name].get_position()[1] for name in names) / len(names)
    leaving = {route.source for route in graph.routes}
    ends = [name for name in graph.stations if name not in leaving]
    is_back = who.startswith("terminals") and (_is_visited(graph) or not ends)
    for name, rate in (entries or dict.fromkeys(names, "") | {names[0]: who}).items():
        x, y = boxes[name].get_position()
        arrow = {
            "arrowstyle": "<|-|>" if is_back else "-|>", "color": MODELLED,
            "patchB": boxes[name].get_bbox_patch(), "shrinkB": 0,
        }  # fmt: skip
        start = (x - _LEFT + 0.05, y if entries else middle)
        if not rate:
            start = (start[0] + 0.9, middle)
        axes.annotate(rate, (x, y), start, fontsize=_SIZE, va="center", arrowprops=arrow)
    if who.startswith("terminals") and not is_back and not entries:
        for name in ends:
            _way_back(axes, boxes[name], (0.5 - _LEFT, middle - 0.3))


def _way_back(axes: Axes, box: Text, to: tuple[float, float]) -> None:
    """Draw the way of jobs from the last station back to the terminals, below the others."""
    x, y = box.get_position()
    arrow = {
        "arrowstyle": "-|>", "color": MODELLED, "patchA": box.get_bbox_patch(),
        "connectionstyle": f"arc3,rad={-1.3 / max(x - to[0], 1.3)}",
    }  # fmt: skip
    axes.annotate("", to, (x, y), arrowprops=arrow)


def _class_words(name: str, loads: Mapping[str, Any]) -> str:
    """A class with its numbers, such as ``web: arrival rate 12``."""
    return textwrap.fill(
        f"{name}: " + ", ".join(f"{k.replace('_', ' ')} {v.text}" for k, v in loads.items()), 16
    )
