"""Figures inside a page: SVG elements whose names do not collide, with text alternatives."""

import colorsys
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from headway.errors import GraphError, InvalidParameter
from headway.models.language.scales import units_of
from headway.models.language.titles import spoken
from headway.models.plotting.charts import errors_figure, measured_chart, predicted_chart
from headway.models.plotting.figures import picture
from headway.models.plotting.graphs.figure import model_figure
from headway.models.plotting.graphs.programs import program_figure
from headway.models.reports.alone import ModelReport
from headway.models.reports.pointer import readings
from headway.models.reports.report import Report
from headway.models.structure.parts.routes import MOST_SHOWN
from headway.records import dataclass

_SVG = "{http://www.w3.org/2000/svg}"
_LINK = "{http://www.w3.org/1999/xlink}href"
_REFERENCE = re.compile(r"url\(#([^)]+)\)")
_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)
_SIZE = re.compile(r'viewBox="0 0 ([\d.]+) ([\d.]+)"')
_WIDE = 2.0  # ratio of width to height from which a figure is wide
_TALL = 1.5  # ratio of height to width from which a figure is tall
_HALF = 560.0  # half of a page's width, in points
_PIXELS = 4 / 3  # pixels of a style sheet per point
_COLOUR = re.compile(r"#([0-9a-fA-F]{6})\b")
_NAMED = re.compile(r"--c-([0-9a-f]{6})\b")
# on a dark page: lightness of what is white on a light one, and how much lighter black becomes
_DARKEST, _SPAN = 0.09, 0.83
_DRAWN_BY_PEN = "stroke-linejoin: round; stroke-linecap: butt"


@dataclass(frozen=True)
class PageFigure:
    """A figure on a page.

    Parameters
    ----------
    svg
        The element, ready to be put into HTML.
    words
        What it shows, for the caption and for readers who cannot see it.
    readings
        What a script needs in order to show the values under the pointer; None if it shows none.
    """

    svg: str
    words: str
    readings: dict[str, Any] | None = None

    @property
    def is_wide(self) -> bool:
        """Whether it is so wide and low that it takes the full width of the page.

        Examples
        --------
        >>> PageFigure('<svg viewBox="0 0 700 300">', "a line").is_wide
        True
        """
        width, height = self._size
        return width > _WIDE * height and width > _HALF

    @property
    def is_tall(self) -> bool:
        """Whether it is so tall that it needs most of a printed page to be legible.

        Examples
        --------
        >>> PageFigure('<svg viewBox="0 0 432 792">', "four panels").is_tall
        True
        """
        width, height = self._size
        return height > _TALL * width

    @property
    def _size(self) -> tuple[float, float]:
        """Width and height in points."""
        width, height = map(float, _SIZE.search(self.svg).groups())  # type: ignore[union-attr]
        return width, height


def inline_svg(figure: Any, name: str, words: str) -> str:
    """Turn a matplotlib Figure into an ``svg`` element for HTML.

    Names inside get a prefix, so that a page can hold several figures. The figure's style sheet,
    which would apply to the whole page, becomes a style of the element.

    Parameters
    ----------
    figure
        The figure.
    name
        Prefix of the names inside; it must differ for each figure.
    words
        The text alternative.
    """
    drawn = _COMMENT.sub(b"", picture(figure, "svg"))  # comments hold texts unescaped, of any bytes
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
        "style": f"{_DRAWN_BY_PEN}; fill: var(--c-000000)",  # for texts, whose style sets no stroke
    }
    return ET.tostring(root, encoding="unicode")


def _renamed(key: str, value: str, name: str) -> str:
    if key == "id":
        return f"{name}-{value}"
    if key in (_LINK, "href"):
        return value.replace("#", f"#{name}-", 1)
    if key in ("fill", "stroke", "style", "stop-color"):
        value = _COLOUR.sub(_variable, value)
    return _REFERENCE.sub(rf"url(#{name}-\1)", value)


def _variable(colour: re.Match[str]) -> str:
    """A colour as a variable of the page's style, if dark pages replace it."""
    return f"var(--c-{colour[1].lower()})"


def palette(drawn: str) -> tuple[str, str]:
    """Colours of figures as declarations of a style sheet: for light pages, and for dark ones.

    Parameters
    ----------
    drawn
        SVG elements of the figures.

    Examples
    --------
    >>> palette('<path style="fill: var(--c-ffffff)"/><path style="fill: var(--c-000000)"/>')
    ('--c-000000: #000000; --c-ffffff: #ffffff;', '--c-000000: #ebebeb; --c-ffffff: #171717;')
    """
    colours = sorted(set(_NAMED.findall(drawn)))
    light, dark = (
        [f"--c-{c}: {shown};" for c, shown in zip(colours, all_, strict=True)]
        for all_ in ([f"#{c}" for c in colours], [*map(_on_dark, colours)])
    )
    return " ".join(light), " ".join(dark)


def _on_dark(colour: str) -> str:
    """The same hue, as light on a dark page as it is dark on a light one."""
    parts = (int(colour[k : k + 2], 16) / 255 for k in (0, 2, 4))
    hue, lightness, saturation = colorsys.rgb_to_hls(*parts)
    turned = colorsys.hls_to_rgb(hue, _DARKEST + _SPAN * (1 - lightness), saturation)
    return "#" + "".join(f"{round(255 * part):02x}" for part in turned)


@dataclass(frozen=True)
class Drawings:
    """The figures of a report; None where there is nothing to draw."""

    graph: PageFigure | None
    chart: PageFigure | None
    errors: PageFigure | None
    tornado: PageFigure | None


def drawings(report: Report | ModelReport) -> Drawings:
    """Draw everything; a dollar sign in a user's name does not start mathematics."""
    with matplotlib.rc_context({"text.parse_math": False}):
        graph, tornado = graph_drawing(report), tornado_drawing(report)
        if isinstance(report, Report):
            return Drawings(graph, chart_drawing(report), errors_drawing(report), tornado)
        return Drawings(graph, predicted_drawing(report), None, tornado)


def predicted_drawing(report: ModelReport) -> PageFigure | None:
    """A model's prediction over its load; None if no single parameter is the load."""
    if report.curve is None or report.load is None:
        return None
    scale = units_of(report)
    figure = predicted_chart(report.curve, report.output, report.load, scale, report.kept)
    loads = np.asarray(report.curve.model.inputs[report.load])
    unit = report.model.parameters[report.load].unit
    ends = scale.ends(float(loads.min()), float(loads.max()), unit)
    over = "" if unit.is_count else f" over {spoken(report.load)}"
    words = f"Predictions{over} from {ends}, with every other parameter at its value in the table."
    return PageFigure(inline_svg(figure, "curve", words), words, readings(figure))


def graph_caption(report: Report | ModelReport) -> str:
    """The caption of the graph, which explains only what is drawn."""
    graph = report.model.graph
    if not (graph.stations or graph.layers):
        return "What each number is calculated from, with the values at the operating point."
    drawn_parts = "Tasks in their processors" if graph.layers else "Stations"
    parts = [
        f"{drawn_parts} with their utilisation at the operating point"
        if report.sensitivity
        else drawn_parts,
        "solid arrows are routes" if graph.routes or graph.class_ways.routes else "",
        "dashed boxes are derived quantities" if graph.bindings else "",
    ]
    return "; ".join(filter(None, parts)) + "."


def graph_drawing(report: Report | ModelReport) -> PageFigure | None:
    """The model's graph at the operating point; None if there is nothing to draw."""
    graph = report.model.graph
    if graph.layers:
        return _layers_drawing(report)
    if not graph.stations:
        return _program_drawing(report)
    if len(graph.routes) + len(graph.class_ways.routes) > MOST_SHOWN:
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
    return PageFigure(inline_svg(model_figure(model, units_of(report)), "graph", words), words)


def _layers_drawing(report: Report | ModelReport) -> PageFigure | None:
    """Tasks in their processors; None if there are too many to be legible."""
    model = report.sensitivity.model if report.sensitivity else report.model
    layers = model.graph.layers
    assert layers is not None  # noqa: S101 - only then it is called
    calls = [
        f"{entry.task} to {layers.entries[other].task}"
        for entry in layers.numbered({}).entries.values()
        for other in entry.uses
    ]
    tasks = [f"{name} on {task.processor}" for name, task in layers.tasks.items()]
    words = f"Layers of {report.title}. Tasks: {', '.join(tasks)}. Calls: {'; '.join(calls)}."
    return _told_apart(lambda: model_figure(model, units_of(report)), words)


def _program_drawing(report: Report | ModelReport) -> PageFigure | None:
    """What a program's numbers are calculated from; None if there are too many to be legible."""
    if report.sensitivity is None:
        return None
    solution = report.sensitivity.solution
    words = f"What {', '.join(map(spoken, solution.outputs))} are calculated from."
    return _told_apart(lambda: program_figure(solution, units_of(report)), words)


def _told_apart(draw: Callable[[], Figure], words: str) -> PageFigure | None:
    """A graph with its text alternative; None if it has too many parts to be legible."""
    try:
        figure = draw()
    except GraphError:
        return None
    return PageFigure(inline_svg(figure, "graph", words), words)


def _station_words(report: Report | ModelReport, name: str) -> str:
    kind = report.model.graph.stations[name].kind.__name__
    sensitivity = report.sensitivity
    busy = float(np.ravel(sensitivity.solution[f"{name}.utilisation"])[0]) if sensitivity else 0.0
    return f"{name} ({kind}, {busy:.0%} busy)" if busy else f"{name} ({kind})"


def chart_drawing(report: Report) -> PageFigure:
    """Measured points and the model's curve, with the band of a fit."""
    comparison, scale = report.comparison, units_of(report)
    figure = measured_chart(report.forms or report.fit or comparison, scale, report.kept)
    loads, heights = (
        scale.ends(float(column.values.min()), float(column.values.max()), column.unit)
        for column in (comparison.load, comparison.measured)
    )
    drawn = figure.axes[0].get_children()
    has_band = any("95%" in str(artist.get_label()) for artist in drawn)
    output, load = (name.replace("_", " ") for name in (comparison.output, comparison.load.name))
    words = (
        f"{output.capitalize()} over {load}: {len(comparison.load.values)} measured points from "
        f"{loads}, with values from {heights}, and the model"
        f"{', with its 95% band' if has_band else ''}."
    )
    _mark_saturation(figure.axes[0], report)
    return PageFigure(inline_svg(figure, "curve", words), words, readings(figure))


def errors_drawing(report: Report) -> PageFigure:
    """Relative errors at the measured points; if there are several outputs, each with its curve."""
    comparison = report.comparison
    words = (
        "Relative errors of the model at the measured points; their root mean square is "
        f"{comparison.summary['rms_relative_error']:.1%}."
    )
    several = len(comparison.each) > 1
    figure = (
        (report.fit or comparison).plot()
        if several
        else errors_figure(comparison, units_of(report))
    )
    return PageFigure(inline_svg(figure, "errors", words), words)


def _mark_saturation(axes: Any, report: Report) -> None:
    """Draw the saturation throughput if it is within the axes and not drawn yet."""
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


def tornado_drawing(report: Report | ModelReport) -> PageFigure | None:
    """Elasticities as bars; None where there are none to draw."""
    if report.sensitivity is None or not any(
        len(effects) > 1 for effects in report.sensitivity.effects.values()
    ):
        return None  # one bar says no more than the table
    try:
        figure = report.sensitivity.plot()
    except InvalidParameter:
        return None
    figure.suptitle("")  # the page itself names the model
    words = (
        "Bars of the change of each output in percent when a parameter grows by one percent, "
        "the largest on top; the table below has the numbers."
    )
    return PageFigure(inline_svg(figure, "tornado", words), words)
