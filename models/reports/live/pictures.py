"""Pictures of models, as a notebook shows them."""

import base64
from typing import Any

from headway.errors import HeadwayError
from headway.models.structure.graph import ModelGraph
from headway.models.structure.model import Model

_IMAGE = '<img alt="Graph of {}" style="max-width: 100%" src="data:image/svg+xml;base64,{}">'

_FORMULA = '<div style="overflow-x: auto"><math display="block">{}</math></div>'


def graph_svg(graph: ModelGraph) -> str | None:
    """Draw a graph as SVG; None if it has no stations, or too many routes to draw.

    Examples
    --------
    >>> from headway.queueing import MM1
    >>> "<svg" in graph_svg(ModelGraph("one").station("cpu", MM1(0.1)))
    True
    >>> graph_svg(ModelGraph("none")) is None
    True
    """
    if not graph.stations:
        return None
    from headway.models.plotting.graphs.figure import graph_figure

    try:
        terminals = "terminals" if "population" in graph.parameters else None
        return _svg(graph_figure(graph, terminals=terminals))
    except HeadwayError:
        return None


def model_html(model: Model) -> str:
    """A model's graph with utilisations (if it can be drawn), its formulas and its tables.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> model_html(catalogue_model("nfs-server")).startswith('<img alt="Graph of nfs-server"')
    True
    """
    from headway.models.reports.formulas import equations

    formulas = (_FORMULA.format(each.mathml) for each in equations(model))
    tables = (table.to_html() for table in model.tables())
    return "".join([_drawn(model), *formulas, *tables])


def model_latex(model: Model) -> str | None:
    r"""A model's formulas, one below the other; None if none has a closed form.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> print(model_latex(catalogue_model("server-single")).splitlines()[1])
    \mathrm{response\_time} &= \mathrm{delay} + \mathrm{node.response\_time} \\
    """
    from headway.models.plotting.typesetting import tex, word
    from headway.models.reports.formulas import equations

    lines = [rf"{word(each.name)} &= {tex(each.form)} \\" for each in equations(model)]
    if not lines:
        return None
    return "\n".join([r"$$\begin{aligned}", *lines, r"\end{aligned}$$"])


def _drawn(model: Model) -> str:
    """A model's graph as an image; empty without stations."""
    if not model.graph.stations:
        return ""
    try:
        drawn = _svg(model.plot())
    # a model that cannot be solved at its values is drawn without utilisations
    except HeadwayError:
        drawn = graph_svg(model.graph) or ""
    return _image(model.title, drawn) if drawn else ""


def _svg(figure: Any) -> str:
    from headway.models.plotting.figures import picture

    return picture(figure, "svg").decode()


def _image(title: str, svg: str) -> str:
    """A picture in HTML; being an image, its names cannot collide with those of other pictures."""
    from html import escape

    return _IMAGE.format(escape(title), base64.b64encode(svg.encode()).decode())
