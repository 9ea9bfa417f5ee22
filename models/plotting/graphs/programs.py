"""A picture of a program: the numbers from which each of its formulas is calculated."""

import textwrap

import numpy as np
from matplotlib.figure import Figure

from headway.errors import GraphError
from headway.models.language.scales import Scale
from headway.models.language.titles import spoken
from headway.models.plotting.graphs.figure import scheme_figure
from headway.models.plotting.graphs.scheme import Edge, PictureBox, Scheme, Sort
from headway.models.solving.solutions.solution import Solution
from headway.models.structure.parts.networks import to_networkx
from headway.models.structure.parts.routes import MOST_SHOWN

_PARAMETER, _FORMULAS = "parameter", ("formula", "output")
_LETTERS = 28  # letters per line of a box


def program_figure(solution: Solution, scale: Scale) -> Figure:
    """Draw links and formulas of a program: values at one point, and the parameters they use.

    Parameters
    ----------
    solution
        A solution of a model without stations, at one operating point.
    scale
        The units of the picture.

    Raises
    ------
    GraphError
        For more arrows than are legible.
    """
    drawn = to_networkx(solution.model.graph)
    parts, edges = {}, []
    for node in drawn:
        name, sort = _named(node)
        if sort == _PARAMETER:
            continue
        own = [each for each, what in map(_named, drawn.predecessors(node)) if what == _PARAMETER]
        is_link = sort not in _FORMULAS
        kind = [drawn.nodes[node]["kind"]] if "kind" in drawn.nodes[node] else []  # the name alone
        lines = [node, *kind] if is_link else _value(solution, name, scale)
        words = "\n".join([*lines, *_given(own)])
        parts[node] = PictureBox(words, Sort.STATION)
        edges += [Edge(node, target) for target in drawn.successors(node)]
    if len(edges) > MOST_SHOWN:
        msg = f"{solution.model.name} has {len(edges)} arrows, more than can be told apart"
        raise GraphError(msg)
    return scheme_figure(Scheme(parts, tuple(edges)))


def _named(node: str) -> tuple[str, str]:
    """A node's name, and its kind, which follows it in brackets."""
    name, found, sort = node.removesuffix(")").rpartition(" (")
    return (name, sort) if found else (node, "")


def _given(names: list[str]) -> list[str]:
    """The parameters on which a number depends directly, line by line."""
    if not names:
        return []
    return textwrap.wrap(f"from {', '.join(map(spoken, names))}", _LETTERS)


def _value(solution: Solution, name: str, scale: Scale) -> list[str]:
    """The name of a calculated number, with its value if the solution has it."""
    if name not in solution.outputs:
        return [spoken(name)]
    value = float(np.ravel(solution[name])[0])
    return [spoken(name), scale.text(value, solution.model.meaning(name).unit)]
