"""A model graph drawn: stations with their routes, and the numbers bound to them."""

from collections.abc import Mapping
from typing import Any

import networkx as nx
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch
from matplotlib.text import Text

from headway.errors import GraphError
from headway.models.components import Component
from headway.models.graph import ModelGraph
from headway.models.model import Model
from headway.models.networks import to_networkx
from headway.models.plot_pieces import MEASURED, MODELLED, SECOND

Places = dict[str, tuple[float, float]]

_SATURATED = 0.995


def model_figure(model: Model) -> Figure:
    """Draw a model's graph, with utilisations if it can be solved at one point."""
    if not model.graph.stations:
        msg = f"{model.name} has no stations to draw; it is a program, see its formulas"
        raise GraphError(msg)
    title = model.name + (f" ({model.preset})" if model.preset else "")
    ready = all(p.value is not None and np.ndim(p.value) == 0 for p in model.parameters.values())
    if not ready:
        return graph_figure(model.graph, title=title)
    solution = model.solve()
    busy = {name: float(np.asarray(solution[f"{name}.utilisation"])) for name in solution.stations}
    return graph_figure(model.graph, busy, title)


def graph_figure(
    graph: ModelGraph, utilisations: Mapping[str, float] | None = None, title: str = ""
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
    """
    drawn = to_networkx(graph)
    places = _places(graph, drawn)
    wide = max(x for x, _ in places.values()) + 1
    figure = Figure(figsize=(2.6 * wide, 4), layout="constrained")
    axes = figure.subplots()
    words = {name: _words(graph, name, utilisations or {}) for name in places}
    boxes = {name: _node(axes, name, place, words[name]) for name, place in places.items()}
    for source, target, sort in drawn.edges(data="sort"):
        if source in places and target in places:
            probability = drawn.edges[source, target].get("probability", "")
            _arrow(axes, boxes[source], boxes[target], sort, probability)
    _arrivals(axes, graph, boxes)
    axes.set_title(title or graph.name)
    axes.set_xlim(-0.9, wide - 0.4)
    axes.set_ylim(-1.2 if graph.links else -0.7, 1.5 if graph.bindings else 0.7)
    axes.axis("off")
    return figure


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
    for x, names in enumerate(_spread(generations)):
        for k, name in enumerate(names):
            places[name] = (float(x), 0.5 * (len(names) - 1) / 2 - 0.5 * k)
    rows = ((1.1, [f"{name} (binding)" for name in graph.bindings]), (-0.9, list(graph.links)))
    for height, names in rows:
        for k, name in enumerate(names):
            places[name] = (
                (k + 0.5) * max(1, len(_spread(generations))) / len(names) - 0.5,
                height,
            )
    return places


def _spread(generations: list[list[str]]) -> list[list[str]]:
    """Put stations of one loop beside each other, so that its arrows can be seen."""
    return (
        [[name] for names in generations for name in names] if len(generations) < 2 else generations
    )


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
    return "\n".join(lines)


def _wrapped(text: str) -> str:
    import textwrap

    return textwrap.fill(text, 30)


def _node(axes: Any, name: str, place: tuple[float, float], words: str) -> Text:
    is_station = "(binding)" not in name
    edge = SECOND if "saturated" in words else MEASURED
    style = {"boxstyle": "round,pad=0.4", "facecolor": "white", "edgecolor": edge}
    if not is_station:
        style |= {"edgecolor": "0.5", "linestyle": "dashed"}
    box: Text = axes.text(*place, words, ha="center", va="center", fontsize=7.5, bbox=style)
    return box


def _arrow(axes: Any, source: Text, target: Text, sort: str, label: str) -> None:
    is_route = sort == "route"
    start, end = source.get_position(), target.get_position()
    if start == end:
        back = f"returns: {label}"
        axes.text(start[0], start[1] - 0.35, back, ha="center", fontsize=7.5, color=MODELLED)
        return
    loops = start[0] >= end[0] and is_route
    arrow = FancyArrowPatch(
        start,
        end,
        patchA=source.get_bbox_patch(),
        patchB=target.get_bbox_patch(),
        arrowstyle="-|>",
        mutation_scale=12,
        linestyle="-" if is_route else (0, (3, 3)),
        color=MODELLED if is_route else "0.5",
        connectionstyle=f"arc3,rad={-0.6 if loops else 0}",
        zorder=5,  # after the boxes, whose edges it must find
    )
    axes.add_patch(arrow)
    if is_route and label != "1":
        height = (start[1] + end[1]) / 2 + (0.07 if not loops else -0.5)
        axes.text((start[0] + end[0]) / 2, height, label, ha="center", fontsize=7.5, color=MODELLED)


def _arrivals(axes: Any, graph: ModelGraph, boxes: Mapping[str, Text]) -> None:
    entries = {name: rate.text for name, rate in graph.arrivals.items()}
    if graph.classes:
        return
    for name, rate in (entries or {next(iter(graph.stations)): "arrivals"}).items():
        x, y = boxes[name].get_position()
        arrow = {"arrowstyle": "-|>", "color": MODELLED, "patchB": boxes[name].get_bbox_patch()}
        axes.annotate(rate, (x, y), (x - 0.9, y), fontsize=7.5, va="center", arrowprops=arrow)
