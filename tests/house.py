"""The house drawn from the code: every import there is, and whether they go one way.

    python -m tests.house            check: no circle, no import up; exit code 1 says where
    python -m tests.house --svg FILE draw the rooms and what they import

All imports count, wherever they stand: at the top, inside functions, for types alone, and as
text such as ``"headway.models.plotting.fits:fit_figure"``, by which the one door up finds who
does what. Only the types of what a verb gives back may come from above: `VERBS` has such verbs.
"""

import argparse
import ast
import gc
import re
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from itertools import accumulate
from pathlib import Path
from statistics import fmean

import networkx as nx

ROOT = Path(__file__).parent.parent
FOLDERS = {
    "headway": ROOT / "src/headway",
    "headway.loggp": ROOT / "loggp",
    "headway.queueing": ROOT / "queueing",
    "headway.models": ROOT / "models",
    "headway.cli": ROOT / "cli",
}
VERBS = frozenset(
    f"headway.models.structure.{name}" for name in ("display", "graph", "model", "verbs")
)
"""Modules whose values have verbs that rooms above do: `model.fit` gives back a `Fit`."""

_ROW, _PAD = 0.48, 0.2  # inches from row to row, and around a room's name
_PLACE = re.compile(r"headway(\.\w+)+(:\w+)?")


def modules(folders: dict[str, Path]) -> dict[str, Path]:
    """Find every module, by its full name."""
    by_name = {}
    for package, folder in folders.items():
        for path in folder.rglob("*.py"):
            parts = path.relative_to(folder).with_suffix("").parts
            name = ".".join((package, *parts)).removesuffix(".__init__")
            by_name[name] = path
    return by_name


def import_graph(folders: dict[str, Path]) -> nx.DiGraph:
    """Every import as an edge from who imports to who is imported."""
    known = modules(folders)
    graph = nx.DiGraph()
    graph.add_nodes_from(known)
    for name, path in known.items():
        graph.add_edges_from((name, other) for other in _imported(nodes_of(path), name, known))
    return graph


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    """Everything in a file: it is parsed and walked once for all who look."""
    with _no_garbage():
        return tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def parsed(path: Path) -> ast.Module:
    """Parse a file whose expressions nobody looks into, or only once."""
    with _no_garbage():
        return ast.parse(path.read_text(encoding="utf-8"))


@contextmanager
def _no_garbage() -> Iterator[None]:
    """Parse without looking for garbage, of which there is none: half the time goes there."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


def functions_in(part: ast.AST) -> Iterator[ast.FunctionDef]:
    """Every function among the statements of a part, methods and those inside others too."""
    if isinstance(part, ast.FunctionDef):
        yield part
    for inside in ("body", "orelse", "finalbody", "handlers", "cases"):
        statements = getattr(part, inside, ())
        for statement in statements if isinstance(statements, list) else ():
            yield from functions_in(statement)


def _imported(nodes: tuple[ast.AST, ...], name: str, known: dict[str, Path]) -> Iterator[str]:
    typed = _type_imports(nodes) if name in VERBS else set()
    for node in nodes:
        if node in typed:
            continue
        for target in _targets(node, known):
            if target != name and not name.startswith(f"{target}."):
                yield target


def _type_imports(nodes: tuple[ast.AST, ...]) -> set[ast.AST]:
    """Imports that only type checkers see."""
    blocks = (
        node
        for node in nodes
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    )
    return {inner for block in blocks for inner in ast.walk(block)}


def _targets(node: ast.AST, known: dict[str, Path]) -> Iterator[str]:
    if isinstance(node, ast.ImportFrom) and node.module:
        for alias in node.names:
            full = f"{node.module}.{alias.name}"
            yield from {full if full in known else node.module} & known.keys()
    elif isinstance(node, ast.Import):
        yield from {alias.name for alias in node.names} & known.keys()
    elif (
        isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and _PLACE.fullmatch(node.value)
    ):
        yield from {node.value.partition(":")[0]} & known.keys()


def circles(graph: nx.DiGraph) -> list[list[str]]:
    """Modules that need each other, the largest circle first."""
    values = [sorted(c) for c in nx.strongly_connected_components(graph) if len(c) > 1]
    return sorted(values, key=len, reverse=True)


def late_imports(folders: dict[str, Path]) -> int:
    """How many imports of headway stand inside functions."""
    count = 0
    for path in modules(folders).values():
        for node in nodes_of(path):
            if isinstance(node, ast.FunctionDef):
                inside = (n for n in ast.walk(node) if isinstance(n, ast.ImportFrom))
                count += sum((n.module or "").startswith("headway") for n in inside)
    return count


def rooms(graph: nx.DiGraph) -> nx.DiGraph:
    """Rooms, and how many imports lead from one to another."""
    known = modules(FOLDERS)
    result = nx.DiGraph()
    for source, target in graph.edges:
        ends = room_of(source, known), room_of(target, known)
        if ends[0] != ends[1]:
            weight = result.get_edge_data(*ends, {"weight": 0})["weight"]
            result.add_edge(*ends, weight=weight + 1)
    return result


def room_of(name: str, known: dict[str, Path]) -> str:
    """The folder that a module stands in."""
    return name if known[name].stem == "__init__" else name.rpartition(".")[0]


def levels(imports: nx.DiGraph) -> dict[str, int]:
    """How many rooms stand below each at most; those that import each other stand side by side."""
    order = nx.condensation(imports)
    height: dict[str, int] = {}
    for part in reversed(list(nx.topological_sort(order))):
        below = [height[r] for p in order.successors(part) for r in order.nodes[p]["members"]]
        height |= dict.fromkeys(order.nodes[part]["members"], 1 + max(below, default=-1))
    return height


def places(
    imports: nx.DiGraph, widths: dict[str, float], wide: float
) -> dict[str, tuple[float, float]]:
    """Where each room is drawn: on its level, near those that import it; wide levels in rows."""
    height = levels(imports)
    at: dict[str, tuple[float, float]] = {}
    down = 0
    for level in range(max(height.values()), -1, -1):
        rest = sorted(room for room in height if height[room] == level)
        rest.sort(key=lambda room: _mean(at[r][0] for r in imports.predecessors(room) if r in at))
        while rest:
            ends = [end for end in accumulate(widths[room] for room in rest) if end <= wide]
            row, rest = rest[: len(ends)], rest[len(ends) :]
            spare = (wide - ends[-1]) / len(row)
            for place, (room, end) in enumerate(zip(row, ends, strict=True)):
                at[room] = (end - widths[room] / 2 + (place + 0.5) * spare, -_ROW * down)
            down += 1
    return at


def _mean(numbers: Iterator[float]) -> float:
    return fmean(list(numbers) or [0.5])


def draw(graph: nx.DiGraph, path: Path, *, dark: bool = False) -> None:
    """Draw the rooms above those they import; what follows from other arrows has none."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    from headway.models.plotting.looks.colours import darken
    from headway.models.plotting.looks.page import LETTER, WIDTH, size_of

    result, known = rooms(graph), modules(FOLDERS)
    sizes = Counter(room_of(name, known) for name in graph)
    words = {room: label(room, sizes[room]) for room in result}
    at = places(result, {room: size_of(text)[0] + _PAD for room, text in words.items()}, WIDTH)
    low = min(y for _, y in at.values()) - 0.3
    figure = Figure(figsize=(WIDTH, 0.3 - low))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    box = {"boxstyle": "round,pad=0.3", "facecolor": "white", "edgecolor": "0.2"}
    boxes = {
        room: axes.text(
            x, y, words[room], ha="center", va="center", bbox=box, zorder=3, fontsize=LETTER
        )
        for room, (x, y) in at.items()
    }
    figure.draw_without_rendering()  # boxes have a size only then, and arrows end at them
    look = {"arrowstyle": "-|>", "color": "0.45", "linewidth": 0.8, "shrinkA": 0, "shrinkB": 1}
    for source, target in sorted(nx.transitive_reduction(result).edges):
        ends = {"patchA": boxes[source].get_bbox_patch(), "patchB": boxes[target].get_bbox_patch()}
        axes.annotate("", at[target], at[source], arrowprops={**look, **ends}, zorder=1)
    axes.set_xlim(0, WIDTH)
    axes.set_ylim(low, 0.3)
    if dark:
        darken(figure)
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "house"}):
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def label(room: str, files: int) -> str:
    """What a room is called in the picture, and how many modules it holds."""
    return f"{room.removeprefix('headway.')} ({files})"


def main(arguments: list[str]) -> int:
    """Check, or draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--svg", type=Path)
    parser.add_argument("--dark", action="store_true", help="for a dark page")
    chosen = parser.parse_args(arguments)
    graph = import_graph(FOLDERS)
    if chosen.svg:
        draw(graph, chosen.svg, dark=chosen.dark)
        return 0
    found = [("modules", each) for each in circles(graph)]
    found += [("rooms", each) for each in circles(rooms(graph))]
    for what, circle in found:
        print(f"{len(circle)} {what} import each other: {', '.join(circle)}", file=sys.stderr)
    print(
        f"{len(graph)} modules, {graph.number_of_edges()} imports, "
        f"{late_imports(FOLDERS)} of them inside functions, {len(found)} circles"
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
