"""Pictures of models where a notebook shows them."""

import base64
from typing import Any

from headway.errors import HeadwayError
from headway.models.structure.graph import ModelGraph
from headway.models.structure.model import Model

_IMAGE = '<img alt="Graph of {}" style="max-width: 100%" src="data:image/svg+xml;base64,{}">'


def graph_svg(graph: ModelGraph) -> str | None:
    """Draw a graph as SVG; None where it has no stations, or more routes than can be drawn.

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
    """A model's graph with its utilisations, where it can be drawn, and its tables.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> model_html(catalogue_model("nfs-server")).startswith('<img alt="Graph of nfs-server"')
    True
    """
    tables = "".join(table.to_html() for table in model.tables())
    if not model.graph.stations:
        return tables
    try:
        drawn = _svg(model.plot())
    except HeadwayError:  # what cannot be solved as it is set is drawn without utilisations
        drawn = graph_svg(model.graph) or ""
    return (_image(model.title, drawn) if drawn else "") + tables


def _svg(figure: Any) -> str:
    from headway.models.plotting.figures import picture

    return picture(figure, "svg").decode()


def _image(title: str, svg: str) -> str:
    """A picture inside HTML; as an image, its names do not collide with those of others."""
    from html import escape

    return _IMAGE.format(escape(title), base64.b64encode(svg.encode()).decode())
