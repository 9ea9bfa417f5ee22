"""Figures inside a page: SVG elements whose names do not collide, with words for who cannot see."""

import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from typing import Any

import matplotlib
import numpy as np

from headway.errors import InvalidParameter
from headway.models.plotting.figures import picture
from headway.models.reports.report import Report
from headway.models.structure.parts.routes import MOST_SHOWN

_SVG = "{http://www.w3.org/2000/svg}"
_LINK = "{http://www.w3.org/1999/xlink}href"
_REFERENCE = re.compile(r"url\(#([^)]+)\)")
_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)
_PIXELS = 4 / 3  # of a style sheet, to a point
_DRAWN_BY_PEN = "stroke-linejoin: round; stroke-linecap: butt"


@dataclass(frozen=True)
class PageFigure:
    """A figure of a page.

    Parameters
    ----------
    svg
        The element, to be put into HTML as it is.
    words
        What it shows, for the caption.
    """

    svg: str
    words: str


def inline_svg(figure: Any, name: str, words: str) -> str:
    """Turn a matplotlib Figure into an ``svg`` element for HTML.

    Names inside get a prefix, so that several figures can stand in one page; its style sheet,
    which would hold for the whole page, becomes a style of the element.

    Parameters
    ----------
    figure
        What to draw.
    name
        Prefix of the names inside; another one for each figure.
    words
        The text alternative.
    """
    drawn = _COMMENT.sub(b"", picture(figure, "svg"))  # holds texts as they are, of any bytes
    root = ET.fromstring(drawn)  # noqa: S314 - matplotlib's own output
    for parent in root.iter():
        for child in list(parent):
            if child.tag in (f"{_SVG}metadata", f"{_SVG}style"):
                parent.remove(child)
    for element in root.iter():
        element.tag = element.tag.removeprefix(_SVG)
        element.attrib = {
            key.replace(_LINK, "href"): _renamed(key, value, name)
            for key, value in element.attrib.items()
        }
    title = ET.Element("title", id=f"{name}-title")
    title.text = words
    root.insert(0, title)
    width, height = (float(size) for size in root.attrib["viewBox"].split()[2:])
    root.attrib = {
        "viewBox": root.attrib["viewBox"],
        "width": f"{width * _PIXELS:.0f}",
        "height": f"{height * _PIXELS:.0f}",
        "role": "img",
        "aria-labelledby": f"{name}-title",
        "style": _DRAWN_BY_PEN,
    }
    return ET.tostring(root, encoding="unicode")


def _renamed(key: str, value: str, name: str) -> str:
    if key == "id":
        return f"{name}-{value}"
    if key in (_LINK, "href"):
        return value.replace("#", f"#{name}-", 1)
    return _REFERENCE.sub(rf"url(#{name}-\1)", value)


@dataclass(frozen=True)
class Drawings:
    """The figures of a report; None where there is nothing to draw."""

    graph: PageFigure | None
    curve: PageFigure
    tornado: PageFigure | None


def drawings(report: Report) -> Drawings:
    """Draw everything; a dollar sign in somebody's name is no mathematics."""
    with matplotlib.rc_context({"text.parse_math": False}):
        return Drawings(graph_drawing(report), curve_drawing(report), tornado_drawing(report))


def graph_drawing(report: Report) -> PageFigure | None:
    """The model's graph at the operating point; None where there is nothing to tell apart."""
    graph = report.model.graph
    if not graph.stations or len(graph.routes) + len(graph.class_ways.routes) > MOST_SHOWN:
        return None
    model = report.sensitivity.model if report.sensitivity else report.model
    routes = [
        f"{r.source} to {r.target} with probability {r.probability.text}"
        + (f" of class {r.job_class}" if r.job_class else "")
        + (f", which becomes {r.becomes}" if r.becomes else "")
        for r in (*graph.routes, *graph.class_ways.routes)
    ]
    parts = [
        f"Stations: {', '.join(_station_words(report, name) for name in graph.stations)}.",
        f"Routes: {'; '.join(routes)}." if routes else "",
        f"Derived numbers: {', '.join(graph.bindings)}." if graph.bindings else "",
    ]
    words = f"Model graph of {report.title}. " + " ".join(filter(None, parts))
    return PageFigure(inline_svg(model.plot(), "graph", words), words)


def _station_words(report: Report, name: str) -> str:
    kind = report.model.graph.stations[name].kind.__name__
    found = report.sensitivity
    busy = float(np.ravel(found.solution[f"{name}.utilisation"])[0]) if found else 0.0
    return f"{name} ({kind}, {busy:.0%} busy)" if busy else f"{name} ({kind})"


def curve_drawing(report: Report) -> PageFigure:
    """Points, model and relative errors, with the band of a fit."""
    figure = (report.fit or report.comparison).plot()
    comparison = report.comparison
    loads, measured = comparison.load, comparison.measured
    ends = np.array([loads.values.min(), loads.values.max()]) / loads.unit.scale
    height = np.array([measured.values.min(), measured.values.max()]) / measured.unit.scale
    output, load = (name.replace("_", " ") for name in (comparison.output, loads.name))
    words = (
        f"{output.capitalize()} over {load}: {len(loads.values)} measured points between "
        f"{ends[0]:g} and {ends[1]:g} {loads.unit}, from {height[0]:g} to {height[1]:g} "
        f"{measured.unit}, with the model"
        f"{', its 95 % band' if report.fit else ''} and, below, its relative errors; "
        f"their root mean square is {comparison.summary['rms_relative_error']:.1%}."
    )
    figure.axes[0].set_title("")  # the page says what it is
    _mark_saturation(figure.axes[0], report)
    return PageFigure(inline_svg(figure, "curve", words), words)


def _mark_saturation(axes: Any, report: Report) -> None:
    """Draw the saturation throughput where a plot lacks it and it is in sight."""
    labels = [line.get_label() for line in axes.lines]
    if report.sensitivity is None or any("saturates" in str(label) for label in labels):
        return
    solution = report.sensitivity.solution
    if not solution.stations or solution.classes or not solution.is_open:
        return
    limit = float(solution.saturation_throughput)
    if limit < 1.3 * report.comparison.load.values.max():
        shown = limit / report.comparison.load.unit.scale
        axes.axvline(shown, color="0.5", linestyle=":", label="model saturates")
        axes.legend(frameon=False)


def tornado_drawing(report: Report) -> PageFigure | None:
    """Elasticities as bars; None where there are none to draw."""
    if report.sensitivity is None:
        return None
    try:
        figure = report.sensitivity.plot()
    except InvalidParameter:
        return None
    words = (
        "Bars of the change of each output in percent when a parameter grows by one percent, "
        "the largest on top; the table below has the numbers."
    )
    return PageFigure(inline_svg(figure, "tornado", words), words)
