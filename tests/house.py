"""The house drawn from the code: every import there is, and whether they go one way.

    python -m tests.house            check: no circle, no import up; exit code 1 says where
    python -m tests.house --svg FILE draw the rooms and what they import

All imports count, wherever they stand: at the top, inside functions, for types alone, and as
text such as ``"headway.models.plotting.fits:fit_figure"``, by which the one door up finds who
does what. Only the types of what a verb gives back may come from above: `VERBS` has such verbs.
"""

import argparse
import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import networkx as nx

ROOT = Path(__file__).parent.parent
FOLDERS = {
    "headway": ROOT / "src/headway",
    "headway.loggp": ROOT / "loggp",
    "headway.queueing": ROOT / "queueing",
    "headway.models": ROOT / "models",
    "headway.cli": ROOT / "cli",
}
VERBS = frozenset({"headway.models.structure.graph", "headway.models.structure.model"})
"""Modules whose values have verbs that rooms above do: `model.fit` gives back a `Fit`."""

_PLACE = re.compile(r"headway(\.\w+)+(:\w+)?")


def modules(folders: dict[str, Path]) -> dict[str, Path]:
    """Find every module, by its full name."""
    found = {}
    for package, folder in folders.items():
        for path in folder.rglob("*.py"):
            parts = path.relative_to(folder).with_suffix("").parts
            name = ".".join((package, *parts)).removesuffix(".__init__")
            found[name] = path
    return found


def import_graph(folders: dict[str, Path]) -> nx.DiGraph:
    """Every import as an edge from who imports to who is imported."""
    known = modules(folders)
    graph = nx.DiGraph()
    graph.add_nodes_from(known)
    for name, path in known.items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        graph.add_edges_from((name, other) for other in _imported(tree, name, known))
    return graph


def _imported(tree: ast.Module, name: str, known: dict[str, Path]) -> Iterator[str]:
    typed = _type_imports(tree) if name in VERBS else set()
    for node in ast.walk(tree):
        if node in typed:
            continue
        for target in _targets(node, known):
            if target != name and not name.startswith(f"{target}."):
                yield target


def _type_imports(tree: ast.Module) -> set[ast.AST]:
    """Imports that only type checkers see."""
    blocks = (
        node
        for node in ast.walk(tree)
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
    elif isinstance(node, ast.Constant) and _PLACE.fullmatch(str(node.value)):
        yield from {str(node.value).partition(":")[0]} & known.keys()


def circles(graph: nx.DiGraph) -> list[list[str]]:
    """Modules that need each other, the largest circle first."""
    found = [sorted(c) for c in nx.strongly_connected_components(graph) if len(c) > 1]
    return sorted(found, key=len, reverse=True)


def late_imports(folders: dict[str, Path]) -> int:
    """How many imports of headway stand inside functions."""
    count = 0
    for path in modules(folders).values():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                inside = (n for n in ast.walk(node) if isinstance(n, ast.ImportFrom))
                count += sum((n.module or "").startswith("headway") for n in inside)
    return count


def rooms(graph: nx.DiGraph) -> nx.DiGraph:
    """Rooms, and how many imports lead from one to another."""
    known = modules(FOLDERS)
    found = nx.DiGraph()
    for source, target in graph.edges:
        ends = room_of(source, known), room_of(target, known)
        if ends[0] != ends[1]:
            weight = found.get_edge_data(*ends, {"weight": 0})["weight"]
            found.add_edge(*ends, weight=weight + 1)
    return found


def room_of(name: str, known: dict[str, Path]) -> str:
    """The folder that a module stands in."""
    return name if known[name].stem == "__init__" else name.rpartition(".")[0]


def draw(graph: nx.DiGraph, path: Path) -> None:
    """Draw the rooms, those that others stand on below, as a picture."""
    from matplotlib.figure import Figure

    found = rooms(graph)
    sizes = Counter(room_of(name, modules(FOLDERS)) for name in graph)
    height = dict.fromkeys(found, 0)
    order = nx.condensation(found)
    for part in reversed(list(nx.topological_sort(order))):
        below = [height[r] for p in order.successors(part) for r in order.nodes[p]["members"]]
        for room in order.nodes[part]["members"]:
            height[room] = 1 + max(below, default=-1)
    rows: dict[int, list[str]] = {}
    for room, level in sorted(height.items()):
        rows.setdefault(level, []).append(room)
    figure = Figure(figsize=(11, 0.75 * len(rows) + 1), layout="constrained")
    axes = figure.subplots()
    axes.set_axis_off()
    at = {
        room: ((place + 0.5) / len(row), level)
        for level, row in rows.items()
        for place, room in enumerate(row)
    }
    for source, target, weight in found.edges(data="weight"):
        axes.annotate(
            "",
            at[target],
            at[source],
            arrowprops={
                "arrowstyle": "-|>",
                "color": "0.55",
                "alpha": 0.45,
                "linewidth": 0.4 + 0.12 * weight**0.5,
                "connectionstyle": "arc3,rad=0.08",
                "shrinkA": 12,
                "shrinkB": 12,
            },
        )
    for room, (x, y) in at.items():
        text = f"{room.removeprefix('headway.')}\n{sizes[room]} files"
        box = {"boxstyle": "round,pad=0.35", "facecolor": "white", "edgecolor": "0.2"}
        axes.text(x, y, text, ha="center", va="center", fontsize=8, bbox=box)
    axes.set_xlim(0, 1)
    axes.set_ylim(-0.6, len(rows) - 0.4)
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def main(arguments: list[str]) -> int:
    """Check, or draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--svg", type=Path)
    chosen = parser.parse_args(arguments)
    graph = import_graph(FOLDERS)
    if chosen.svg:
        draw(graph, chosen.svg)
        return 0
    for circle in circles(graph):
        print(f"{len(circle)} modules import each other: {', '.join(circle)}", file=sys.stderr)
    print(
        f"{len(graph)} modules, {graph.number_of_edges()} imports, "
        f"{late_imports(FOLDERS)} of them inside functions, {len(circles(graph))} circles"
    )
    return 1 if circles(graph) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
