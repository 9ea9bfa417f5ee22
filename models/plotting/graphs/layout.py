"""The places of boxes: along the flow of jobs, from left to right or from top to bottom."""

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from itertools import pairwise

import networkx as nx
import numpy as np

from headway.models.plotting.graphs.geometry import Arc, Rectangle, bent_arc, label_box
from headway.models.plotting.graphs.scheme import Scheme, Sort
from headway.models.plotting.looks.page import size_of
from headway.records import dataclass

_PAD = 0.09  # inches between a box's edge and its words
# inches between boxes: in a row, along the flow, to those beside it
_BESIDE, _GAP, _SIDE = 0.25, 0.45, 0.35
_MARGIN, _FRAME = 0.1, 0.12


class Way(Enum):
    """The direction in which jobs flow in a picture."""

    RIGHT = "right"
    DOWN = "down"


@dataclass(frozen=True)
class Picture:
    """Places of everything [inches], with y upwards.

    Parameters
    ----------
    scheme
        The contents of the picture.
    boxes
        Place of each box, by name.
    arcs
        Curve of each arrow, by the boxes it joins.
    labels
        Place of the label of each arrow that has one.
    """

    scheme: Scheme
    boxes: Mapping[str, Rectangle]
    arcs: Mapping[tuple[str, str], Arc]
    labels: Mapping[tuple[str, str], Rectangle]

    @property
    def frames(self) -> list[Rectangle]:
        """Frames around boxes that belong together, if no other box is between them."""
        around = []
        for names in self.scheme.frames:
            inside = np.concatenate([self.boxes[name].corners for name in names])
            low, high = inside.min(axis=0) - _FRAME, inside.max(axis=0) + _FRAME
            frame = Rectangle(*((low + high) / 2).tolist(), *(high - low).tolist())
            others = (box for name, box in self.boxes.items() if name not in names)
            around += [] if any(map(frame.meets, others)) else [frame]
        return around

    @property
    def ends(self) -> tuple[float, float, float, float]:
        """Left, right, lower and upper end of everything drawn, with a margin."""
        boxes = [*self.boxes.values(), *self.labels.values(), *self.frames]
        corners = [box.corners for box in boxes]
        points = np.concatenate([*corners, *(one.points() for one in self.arcs.values())])
        low, high = points.min(axis=0) - _MARGIN, points.max(axis=0) + _MARGIN
        return float(low[0]), float(high[0]), float(low[1]), float(high[1])

    @property
    def width(self) -> float:
        """Its width [inches]."""
        left, right, _, _ = self.ends
        return right - left


def placed(scheme: Scheme, way: Way, widest: float) -> Picture:
    """Place boxes, arrows and their words.

    Parameters
    ----------
    scheme
        The contents of the picture.
    way
        The direction of the flow.
    widest
        Width above which the boxes of a row are divided into several rows [inches]; for `Way.DOWN`.
    """
    sizes = {name: _size(part.words) for name, part in scheme.parts.items()}
    rows = _layers(scheme)
    if way is Way.DOWN:
        rows = [part for row in rows for part in _cut(row, sizes, widest)]
    boxes = _along(scheme, rows, sizes, way)
    boxes |= _beside(scheme, boxes, sizes, way)
    arcs: dict[tuple[str, str], Arc] = {}
    pairs = {(edge.source, edge.target) for edge in scheme.edges}
    for edge in sorted(scheme.edges, key=lambda edge: not edge.is_route):
        ends = edge.source, edge.target
        arcs[ends] = bent_arc(ends, boxes, arcs, has_return=ends[::-1] in pairs)
    return Picture(scheme, boxes, arcs, _labels(scheme, boxes, arcs))


def _size(words: str) -> tuple[float, float]:
    width, height = size_of(words)
    return width + 2 * _PAD, height + 2 * _PAD


def _layers(scheme: Scheme) -> list[list[str]]:
    """Names by how far jobs have come, ignoring routes that lead back."""
    flow = nx.DiGraph()
    flow.add_nodes_from(scheme.named(Sort.SOURCE, Sort.STATION))
    sources = scheme.named(Sort.SOURCE)
    routes = (edge for edge in scheme.edges if edge.is_route and edge.target not in sources)
    flow.add_edges_from((edge.source, edge.target) for edge in routes)
    flow.remove_edges_from(_returns(flow))
    rows = [list(row) for row in nx.topological_generations(flow)]
    depths = {name: depth for depth, row in enumerate(rows) for name in row}
    for source in sources:  # just before the first station that its jobs reach
        first = min((depths[name] for name in flow[source]), default=1)
        depths[source] = max(first - 1, 0)
    names = [name for row in rows for name in row]
    return [[name for name in names if depths[name] == depth] for depth in range(len(rows))]


def _returns(flow: "nx.DiGraph[str]") -> list[tuple[str, str]]:
    """Routes that lead back to stations where jobs have been, followed from the first box."""
    returns, done, here = [], set[str](), list[str]()
    for start in flow:
        steps = [(start, iter(flow[start]))] if start not in done else []
        here = [start]
        while steps:
            name, targets = steps[-1]
            target = next(targets, None)
            if target is None:
                done.add(name)
                steps.pop()
                here.pop()
            elif target in here:
                returns.append((name, target))
            elif target not in done:
                here.append(target)
                steps.append((target, iter(flow[target])))
    return returns


def _cut(
    row: list[str], sizes: Mapping[str, tuple[float, float]], widest: float
) -> list[list[str]]:
    """Divide the boxes of a row into several rows if they are too wide."""
    rows: list[list[str]] = [[]]
    for name in row:
        width = sum(sizes[one][0] + _BESIDE for one in (*rows[-1], name))
        if rows[-1] and width > widest:
            rows.append([])
        rows[-1].append(name)
    return rows


def _along(
    scheme: Scheme,
    rows: Sequence[Sequence[str]],
    sizes: Mapping[str, tuple[float, float]],
    way: Way,
) -> dict[str, Rectangle]:
    """Place sources and stations row by row along the flow."""
    boxes: dict[str, Rectangle] = {}
    is_right = way is Way.RIGHT
    gaps = [0.0, *(_gap(scheme, pair, way) for pair in pairwise(rows))]
    at = 0.0
    for row, gap in zip(rows, gaps, strict=True):
        thick = max(sizes[name][0 if is_right else 1] for name in row)
        at += gap + thick / 2
        across = [sizes[name][1 if is_right else 0] for name in row]
        begin = -(sum(across) + _BESIDE * (len(row) - 1)) / 2
        for name, size in zip(row, across, strict=True):
            middle = begin + size / 2
            boxes[name] = Rectangle(*((at, -middle) if is_right else (middle, -at)), *sizes[name])
            begin += size + _BESIDE
        at += thick / 2
    return boxes


def _gap(scheme: Scheme, rows: tuple[Sequence[str], Sequence[str]], way: Way) -> float:
    """Space between two rows, for the longest label between them."""
    words = [
        size_of(edge.label)[0 if way is Way.RIGHT else 1]
        for edge in scheme.edges
        if edge.label and any({edge.source, edge.target} & {*row} for row in rows)
    ]
    return _GAP + max(words, default=0.0)


def _beside(
    scheme: Scheme,
    boxes: Mapping[str, Rectangle],
    sizes: Mapping[str, tuple[float, float]],
    way: Way,
) -> dict[str, Rectangle]:
    """Place formulas above a flow to the right and links below it; for other flows to the sides."""
    placed: dict[str, Rectangle] = {}
    is_right = way is Way.RIGHT
    for sort in (Sort.FORMULA, Sort.LINK):
        names = scheme.named(sort)
        if not names:
            continue
        order = _chained(
            scheme, sorted(names, key=lambda name: _aim(scheme, name, boxes, is_right=is_right))
        )
        aims = [_aim(scheme, name, boxes, is_right=is_right) for name in order]
        long = [sizes[name][0 if is_right else 1] for name in order]
        thick = max(sizes[name][1 if is_right else 0] for name in order)
        level = _level(boxes, thick, sort, way)
        for name, at in zip(order, _apart(aims, long), strict=True):
            placed[name] = Rectangle(*((at, level) if is_right else (level, -at)), *sizes[name])
    return placed


def _chained(scheme: Scheme, names: Sequence[str]) -> list[str]:
    """Boxes in order, but what a box uses comes just before it, so that arrows are short."""
    uses: dict[str, list[str]] = {name: [] for name in names}
    for edge in scheme.edges:
        if edge.source in uses and edge.target in uses:
            uses[edge.target].append(edge.source)
    used = {source for sources in uses.values() for source in sources}
    order: dict[str, None] = {}

    def put(name: str) -> None:
        for source in uses[name]:
            if source not in order:
                put(source)
        order.setdefault(name)

    for name in [*(name for name in names if name not in used), *names]:
        put(name)
    return list(order)


def _aim(scheme: Scheme, name: str, boxes: Mapping[str, Rectangle], *, is_right: bool) -> float:
    """The ideal place of a box: beside those that it is bound to."""
    ends = [{edge.source, edge.target} for edge in scheme.edges]
    bound = {other for pair in ends if name in pair for other in pair if other in boxes}
    around = [boxes[other] for other in bound] or list(boxes.values())
    return float(np.mean([box.x if is_right else -box.y for box in around]))


def _level(boxes: Mapping[str, Rectangle], thick: float, sort: Sort, way: Way) -> float:
    """How far to the side boxes outside the flow are; links are on the other side."""
    away = 1 if sort is Sort.FORMULA else -1
    ends = (
        away * box.y + box.height / 2 if way is Way.RIGHT else away * box.x + box.width / 2
        for box in boxes.values()
    )  # fmt: skip
    return away * (max(ends) + _SIDE + thick / 2)


def _apart(aims: Sequence[float], long: Sequence[float]) -> list[float]:
    """Places in order, near to the ideal ones, with space between boxes."""
    places: list[float] = []
    for aim, size, before in zip(aims, long, (0.0, *long[:-1]), strict=True):
        least = places[-1] + (before + size) / 2 + _BESIDE if places else aim
        places.append(max(aim, least))
    shift = float(np.mean(np.subtract(places, aims)))
    return [place - shift for place in places]


def _labels(
    scheme: Scheme, boxes: Mapping[str, Rectangle], arcs: Mapping[tuple[str, str], Arc]
) -> dict[tuple[str, str], Rectangle]:
    """Places of labels, each where it hides no box and no other label."""
    labels: dict[tuple[str, str], Rectangle] = {}
    for edge in scheme.edges:
        if not (edge.is_route and edge.label):
            continue
        ends = edge.source, edge.target
        others = [one for key, one in arcs.items() if key != ends]
        taken = [*boxes.values(), *labels.values()]
        labels[ends] = label_box(arcs[ends], size_of(edge.label), taken, others)
    return labels


def best(schemes: Iterable[tuple[Scheme, Way]], widest: float) -> Picture:
    """Place schemes until one fits the width; otherwise the narrowest."""
    tried = []
    for scheme, way in schemes:
        picture = placed(scheme, way, widest)
        if picture.width <= widest:
            return picture
        tried.append(picture)
    return min(tried, key=lambda picture: picture.width)
