"""Layered services drawn: tasks in their processors, callers above those they call."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from math import inf, nan
from typing import Any

import networkx as nx
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Patch
from matplotlib.path import Path

from headway.errors import GraphError
from headway.kinds import Amount
from headway.models.language.scales import Scale, units_of
from headway.models.language.units import unit
from headway.models.plotting.graphs.geometry import Arc, Rectangle, bent_arc, label_box
from headway.models.plotting.looks.page import LETTER, WIDTH, size_of
from headway.models.plotting.pieces import MEASURED, MODELLED, QUIET, SECOND, literal
from headway.models.structure.model import Model
from headway.models.structure.parts.layers import Layers
from headway.models.tracing.traced import TracedModel
from headway.numerals import significant
from headway.queueing.layers.flow import steps_of
from headway.queueing.layers.parts import Entry, Task
from headway.records import dataclass

_MOST = 60  # most tasks, and most calls between them, in a legible picture. Chosen
_PAD, _BESIDE, _BETWEEN = 0.1, 0.3, 0.55  # inches: around words, between boxes, between layers
_MARGIN, _TITLE, _LEGEND, _TITLE_SIZE = 0.1, 0.4, 0.6, 12.0
_STRONGEST = 0.6  # opacity of a task or processor that is always busy
_THIN = 0.9  # opacity of the paper behind words that arrows may cross
_NARROWEST = 4.0  # inches: the width of the legend
_SECONDS = unit("s")
_THINNEST, _WIDEST = 0.75, 3.0  # points: width of arrows
_WORDS = {"call": "calls per request", "message": "messages", "forward": "passed on"}
_LINES: dict[str, Any] = {"call": "-", "message": (0, (5, 3)), "forward": (0, (1, 1.5))}


@dataclass(frozen=True)
class _Box:
    """A box with words, and the share of it that is in use; None if it has no limit."""

    words: str
    taken: float | None
    place: Rectangle


@dataclass(frozen=True)
class _Call:
    """Requests from one task to another: their kind, number per request of the caller, and rate."""

    source: str
    target: str
    kind: str
    label: str
    rate: float


def layered_figure(model: Model, scale: Scale | None = None) -> Figure:
    """Draw tasks in their processors, with calls between them, coloured by utilisation.

    Parameters
    ----------
    model
        A model of layered services; it is solved if every parameter has a single value.
    scale
        The units of the picture; by default those of the model's description.

    Raises
    ------
    GraphError
        For more calls than are legible.
    """
    assert model.graph.layers is not None  # noqa: S101 - its kind says so
    values = {n: p.value for n, p in model.parameters.items() if p.value is not None}
    count = len(list(_calls(model.graph.layers.numbered({}), {})))
    if max(count, len(model.graph.layers.tasks)) > _MOST:
        msg = (
            f"{model.name} has {len(model.graph.layers.tasks)} tasks with {count} calls between "
            f"them, and a drawing is legible up to {_MOST} of each"
        )
        raise GraphError(msg)
    ready = len(values) == len(model.parameters) and not any(map(np.ndim, values.values()))
    numbers: Mapping[str, Any] = model.solve().values if ready else values
    layers = model.graph.layers.numbered(numbers)
    frameless = model.graph.layers.lone | set(_own_delays(layers))
    drawing = _Drawing(layers, frameless, numbers, scale or units_of(model))
    calls = list(_calls(layers, numbers))
    tasks, frames = _placed(drawing, calls)
    return _drawn(tasks, frames, calls, literal(model.title))


def _own_delays(layers: Layers) -> Iterator[str]:
    """Processors without limit that have a single task: a frame would show nothing."""
    for name, processor in layers.processors.items():
        tasks = [task for task in layers.tasks.values() if task.processor == name]
        if len(tasks) == 1 and float(processor.servers) == inf:
            yield name


def traced_model_figure(traced: TracedModel) -> Figure:
    """Draw the services of traces at their highest load."""
    return layered_figure(traced.model)


def _calls(layers: Layers, numbers: Mapping[str, Any]) -> Iterator[_Call]:
    """Requests between each two tasks, with their mean per request of the caller."""
    found: dict[tuple[str, str, str], float] = {}
    often: dict[str, float] = {}
    for name, entry in layers.entries.items():
        others = [n for n, one in layers.entries.items() if one.task == entry.task]
        rates = [float(numbers.get(f"{layers.key('entries', n)}.throughput", nan)) for n in others]
        often[entry.task] = sum(rates)
        share = 1.0 if len(others) == 1 else rates[others.index(name)] / (sum(rates) or 1.0)
        for target, kind, mean in _requests(entry):
            key = entry.task, layers.entries[target].task, kind
            fan = layers.tasks[entry.task].fan_out.get(key[1], 1.0) if kind != "forward" else 1.0
            found[key] = found.get(key, 0.0) + share * float(fan) * mean
    for (source, target, kind), mean in found.items():
        words = "" if np.isnan(mean) else significant(mean, 3)
        yield _Call(source, target, kind, words, mean * often[source])


def _requests(entry: Entry) -> Iterator[tuple[str, str, float]]:
    """The requests that an entry makes: to which entry, of what kind, and their mean number."""
    for step, times in steps_of(entry.flow):
        for kind, calls in (("call", step.calls), ("message", step.sends)):
            yield from ((target, kind, float(times * mean)) for target, mean in calls.items())
    yield from ((target, "forward", float(chance)) for target, chance in entry.forwards.items())


@dataclass(frozen=True)
class _Drawing:
    """The contents of the picture, with numbers and units."""

    layers: Layers
    frameless: frozenset[str]
    numbers: Mapping[str, Any]
    scale: Scale

    def task(self, name: str) -> tuple[str, float | None]:
        """The words for a task, and the share of its threads in use."""
        task = self.layers.tasks[name]
        count, named = float(task.threads), _copied(name, task.replicas)
        if task.clients:
            thinks = float(task.think_time)
            time = f", think {self.scale.text(thinks, _SECONDS)}" if thinks > 0 else ""
            return f"{named}\n{_many(count, 'client')}{time}", None
        taken = None if count == inf else self._share(name)
        share = "" if taken is None else f", {_percent(taken)} taken"
        threads = "threads without limit" if count == inf else _many(count, "thread")
        return f"{named}\n{threads}{share}", taken

    def processor(self, name: str) -> tuple[str, float | None]:
        """The words for a processor, and the share of its servers that is busy."""
        count = float(self.layers.processors[name].servers)
        named = _copied(name, self.layers.processors[name].replicas)
        if count == inf:
            return f"{named}: a delay", None
        busy = self._share(self.layers.key("processors", name))
        share = "" if busy is None else f", {_percent(busy)} busy"
        servers = "" if count == 1 else f", {_many(count, 'server')}"
        return f"{named}{servers}{share}", busy

    def _share(self, key: str) -> float | None:
        value = self.numbers.get(f"{key}.utilisation")
        return None if value is None else float(np.ravel(value)[0])


def _copied(name: str, copies: Amount) -> str:
    """A name, with the number of its copies."""
    count = float(np.ravel(copies)[0])
    return literal(name) if count == 1 else f"{literal(name)} × {significant(count, 6)}"


def _many(count: float, what: str) -> str:
    if np.isnan(count):
        return f"{what}s"
    return f"{significant(count, 6)} {what}{'s' * (count != 1)}"


def _percent(share: float) -> str:
    return f"{significant(100 * share, 2)}%"


def _placed(drawing: _Drawing, calls: Sequence[_Call]) -> tuple[dict[str, _Box], dict[str, _Box]]:
    """Tasks by name, and the frames of processors around them; callers are above the called."""
    layers = drawing.layers
    depth = _depths(layers.tasks, calls)
    groups = {
        name: sorted(
            (n for n, t in layers.tasks.items() if t.processor == name), key=depth.__getitem__
        )
        for name in layers.processors
    }
    level = {name: depth[within[0]] for name, within in groups.items() if within}
    tasks: dict[str, _Box] = {}
    frames: dict[str, _Box] = {}
    top = 0.0
    for depth_here in sorted(set(level.values())):
        row = [name for name in level if level[name] == depth_here]
        row.sort(key=lambda name: _aim(groups[name], calls, tasks))
        top = _row(drawing, row, groups, depth, top, tasks, frames)
    return tasks, frames


def _depths(tasks: Mapping[str, Task], calls: Sequence[_Call]) -> dict[str, int]:
    """How many tasks are above each, on the longest path of requests to it."""
    flow = nx.DiGraph((c.source, c.target) for c in calls if c.source != c.target)
    flow.add_nodes_from(tasks)
    if not nx.is_directed_acyclic_graph(flow):
        flow = nx.DiGraph(nx.bfs_edges(flow, next(iter(tasks))))
        flow.add_nodes_from(tasks)
    return {name: k for k, row in enumerate(nx.topological_generations(flow)) for name in row}


def _aim(within: Sequence[str], calls: Sequence[_Call], tasks: Mapping[str, _Box]) -> float:
    """Mean horizontal position of a group's callers."""
    above = [tasks[c.source].place.x for c in calls if c.target in within and c.source in tasks]
    return float(np.mean(above)) if above else 0.0


def _row(
    drawing: _Drawing,
    row: Sequence[str],
    groups: Mapping[str, Sequence[str]],
    depth: Mapping[str, int],
    top: float,
    tasks: dict[str, _Box],
    frames: dict[str, _Box],
) -> float:
    """Place processors beside each other, as many as fit; return the lower end of all."""
    boxes = {name: _group(drawing, name, groups[name], depth) for name in row}
    widths = {name: group.width for name, group in boxes.items()}
    for line in _broken(row, widths, WIDTH - 2 * _MARGIN):
        left = -_length(line, widths) / 2
        for name in line:
            group = boxes[name]
            for task, (words, taken, box) in group.tasks.items():
                place = Rectangle(left + box.x, top + box.y, box.width, box.height)
                tasks[task] = _Box(words, taken, place)
            if name not in drawing.frameless:
                middle = left + group.width / 2, top - group.height / 2
                frames[name] = _Box(
                    group.words, group.busy, Rectangle(*middle, group.width, group.height)
                )
            left += group.width + _BESIDE
        top -= max(boxes[name].height for name in line) + _BETWEEN
    return top


@dataclass(frozen=True)
class _Group:
    """A processor with its tasks, placed relative to its upper left corner."""

    words: str
    busy: float | None
    tasks: Mapping[str, tuple[str, float | None, Rectangle]]
    width: float
    height: float


def _group(drawing: _Drawing, name: str, within: Sequence[str], depth: Mapping[str, int]) -> _Group:
    """Place the tasks of a processor; those of one layer are beside each other if they fit."""
    framed = name not in drawing.frameless
    words, busy = drawing.processor(name)
    head, pad = (size_of(words)[1] + _PAD, _PAD) if framed else (0.0, 0.0)
    sizes = {task: _size(drawing.task(task)[0]) for task in within}
    widths = {task: width for task, (width, _) in sizes.items()}
    room = WIDTH - 4 * _PAD - _BESIDE
    layers = (list(layer) for _, layer in groupby(within, depth.__getitem__))
    rows = [line for layer in layers for line in _broken(layer, widths, room)]
    longest = [_length(row, widths) for row in rows]
    inside = max([*longest, size_of(words)[0] if framed else 0.0])
    boxes, low = _stacked(rows, sizes, pad + inside / 2, -head - pad)
    tasks = {task: (*drawing.task(task), box) for task, box in boxes.items()}
    return _Group(words, busy, tasks, inside + 2 * pad, pad - low)


def _broken(names: Sequence[str], widths: Mapping[str, float], room: float) -> list[list[str]]:
    """Boxes of a row divided into as many lines as they need."""
    lines: list[list[str]] = [[]]
    for name in names:
        if lines[-1] and _length([*lines[-1], name], widths) > room:
            lines.append([])
        lines[-1].append(name)
    return lines


def _length(line: Sequence[str], widths: Mapping[str, float]) -> float:
    """Width of a line, including the space between its boxes."""
    return sum(widths[name] + _BESIDE for name in line) - _BESIDE


def _stacked(
    rows: Sequence[Sequence[str]],
    sizes: Mapping[str, tuple[float, float]],
    middle: float,
    top: float,
) -> tuple[dict[str, Rectangle], float]:
    """Rows below each other, each centred: the boxes, and the lower end of the last row."""
    widths = {name: width for name, (width, _) in sizes.items()}
    boxes: dict[str, Rectangle] = {}
    low = top
    for row in rows:
        left, high = middle - _length(row, widths) / 2, max(sizes[name][1] for name in row)
        for name in row:
            width = widths[name]
            boxes[name] = Rectangle(left + width / 2, top - high / 2, width, high)
            left += width + _BESIDE
        low = top - high
        top = low - _BETWEEN
    return boxes, low


def _size(words: str) -> tuple[float, float]:
    width, height = size_of(words)
    return width + 2 * _PAD, height + 2 * _PAD


def _drawn(
    tasks: Mapping[str, _Box], frames: Mapping[str, _Box], calls: Sequence[_Call], title: str
) -> Figure:
    """Draw a placed picture: an inch of the picture is an inch of the figure."""
    places = {name: box.place for name, box in tasks.items()}
    arcs: dict[tuple[str, str], Arc] = {}
    pairs = dict.fromkeys((c.source, c.target) for c in calls)
    heads = {f"{name} ": _head(box) for name, box in frames.items()}
    for ends in sorted(pairs, key=lambda ends: -places[ends[0]].y):
        boxes = {**places, **heads}
        arcs[ends] = bent_arc(ends, boxes, arcs, has_return=ends[::-1] in pairs)
    labels = _labels(calls, arcs, [*places.values(), *heads.values()])
    figure, axes = _paper([*places.values(), *(b.place for b in frames.values())], arcs, title)
    for box in (*frames.values(), *tasks.values()):
        _draw_box(axes, box, is_frame=box not in tasks.values())
    kinds = {(c.source, c.target): c.kind for c in calls}
    widths = _widths(calls)
    for ends, arc in arcs.items():
        _draw_arrow(axes, arc, kinds[ends], widths[ends])
    for words, place in labels:
        paper = {"boxstyle": "square,pad=0.1", "facecolor": "white", "linewidth": 0}
        axes.text(
            place.x, place.y, words, ha="center", va="center", fontsize=LETTER, color=MODELLED,
            bbox=paper, zorder=6,
        )  # fmt: skip
    _explain(figure, axes, {c.kind for c in calls})
    return figure


def _head(frame: _Box) -> Rectangle:
    """The place of a frame's words."""
    width, height = size_of(frame.words)
    left, top = frame.place.x - frame.place.width / 2, frame.place.y + frame.place.height / 2
    return Rectangle(left + _PAD + width / 2, top - _PAD - height / 2, width, height)


def _labels(
    calls: Sequence[_Call], arcs: Mapping[tuple[str, str], Arc], taken: list[Rectangle]
) -> list[tuple[str, Rectangle]]:
    words: dict[tuple[str, str], list[str]] = {}
    for call in calls:
        if call.label:
            words.setdefault((call.source, call.target), []).append(call.label)
    labels: list[tuple[str, Rectangle]] = []
    for ends, each in words.items():
        text = " + ".join(each)
        others = [arc for other, arc in arcs.items() if other != ends]
        place = label_box(arcs[ends], size_of(text), taken, others)
        taken.append(place)
        labels.append((text, place))
    return labels


def _paper(
    boxes: Sequence[Rectangle], arcs: Mapping[tuple[str, str], Arc], title: str
) -> tuple[Figure, Axes]:
    """An empty figure that holds all boxes and arrows."""
    corners = [(b.x + k * b.width / 2, b.y + k * b.height / 2) for b in boxes for k in (-1, 1)]
    points = np.concatenate([corners, *(one.points() for one in arcs.values())])
    (left, low), (right, high) = points.min(axis=0) - _MARGIN, points.max(axis=0) + _MARGIN
    spare = max(size_of(title, _TITLE_SIZE)[0] + 0.2, _NARROWEST) - (right - left)
    left, right = left - max(spare, 0.0) / 2, right + max(spare, 0.0) / 2
    low, high = low - _LEGEND, high + _TITLE
    figure = Figure(figsize=(right - left, high - low))
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0), xlim=(left, right), ylim=(low, high))
    axes.axis("off")
    axes.set_title(title, fontsize=_TITLE_SIZE, y=1 - 0.3 / (high - low), pad=0)
    return figure, axes


def _draw_box(axes: Axes, box: _Box, *, is_frame: bool) -> None:
    """Draw a task, or the frame of a processor, tinted by its utilisation."""
    place = box.place
    corner = place.x - place.width / 2, place.y - place.height / 2
    style = "round,pad=0,rounding_size=0.08"
    layer = 1 if is_frame else 2
    for face, edge in (("white", "none"), (_tint(box.taken), QUIET if is_frame else MEASURED)):
        axes.add_patch(
            FancyBboxPatch(
                corner, place.width, place.height, boxstyle=style, facecolor=face,
                edgecolor=edge, linewidth=1, zorder=layer,
            )
        )  # fmt: skip
    at = _head(box) if is_frame else place
    paper = {"boxstyle": "square,pad=0.1", "facecolor": "white", "alpha": _THIN, "linewidth": 0}
    axes.text(
        at.x, at.y, box.words, ha="center", va="center_baseline", fontsize=LETTER, zorder=5,
        bbox=paper if is_frame else None,
    )  # fmt: skip


def _tint(share: float | None) -> Any:
    """A colour that is stronger for a larger utilisation."""
    return to_rgba(SECOND, _STRONGEST * min(max(share or 0.0, 0.0), 1.0))


def _widths(calls: Sequence[_Call]) -> dict[tuple[str, str], float]:
    """Widths of arrows by requests per second [points]; all equal if these are not known."""
    rates: dict[tuple[str, str], float] = {}
    for call in calls:
        ends = call.source, call.target
        rates[ends] = rates.get(ends, 0.0) + call.rate
    most = max(rates.values(), default=nan)
    known = 0 < most < inf and not any(map(np.isnan, rates.values()))
    return {
        ends: max(_WIDEST * rate / most, _THINNEST) if known else 1.0
        for ends, rate in rates.items()
    }


def _draw_arrow(axes: Axes, arc: Arc, kind: str, width: float) -> None:
    path = Path(
        np.array([arc.start, arc.control, arc.end]), [Path.MOVETO, Path.CURVE3, Path.CURVE3]
    )
    axes.add_patch(
        FancyArrowPatch(
            path=path, arrowstyle="-|>", mutation_scale=12, linestyle=_LINES[kind], color=MODELLED,
            linewidth=width, zorder=4,
        )
    )  # fmt: skip


def _explain(figure: Figure, axes: Axes, kinds: set[str]) -> None:
    """Explain the kinds of arrows, and below them the colours."""
    lines: list[Any] = [
        Line2D([], [], color=MODELLED, linestyle=_LINES[kind], label=words)
        for kind, words in _WORDS.items()
        if kind in kinds
    ]
    shades: list[Any] = [
        Patch(facecolor=_tint(share), edgecolor=QUIET, label=words)
        for share, words in ((0.25, "25%"), (0.5, "50%"), (1.0, "100% taken or busy"))
    ]
    for marks, up in ((lines, 0.3), (shades, 0.0)):
        if marks:
            at = (0.5, up / figure.get_size_inches()[1])
            legend = axes.legend(
                handles=marks, loc="lower center", bbox_to_anchor=at, ncols=3, frameon=False,
                borderaxespad=0.2, columnspacing=1.2,
            )  # fmt: skip
            if marks is lines:  # axes keep their last legend by themselves
                axes.add_artist(legend)
