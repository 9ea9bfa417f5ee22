"""A page on a model of services beside traces: whether it predicts their response times."""

import matplotlib

from headway.errors import GraphError
from headway.models.analysis.traces import Beside, TracesBeside
from headway.models.language.scales import Scale, units_of
from headway.models.language.units import unit
from headway.models.plotting.graphs.layers import layered_figure
from headway.models.plotting.loadtests import beside_chart
from headway.models.reports.contents import (
    DATA,
    SYSTEM,
    TRUST,
    Block,
    Contents,
    Drawn,
    Grid,
    Headline,
    Light,
    Sign,
    Warned,
    Words,
    judged,
)
from headway.models.reports.figures import PageFigure, inline_svg
from headway.models.reports.paged import Paged
from headway.models.structure.inputs import ARRIVAL_RATE
from headway.models.structure.model import Model
from headway.models.tables.forms import tables
from headway.numerals import four_digits
from headway.records import dataclass

_TIME = unit("s")
_SURE = 1.96  # standard errors of a 95% interval
_CLOSE, _FAR = 0.1, 0.3  # relative errors; above the second a model is called wrong. Chosen


@dataclass(frozen=True)
class TracesReport(Paged):
    """What a page shows of a model beside traces.

    Parameters
    ----------
    beside
        The response times of services, traced and predicted.
    command
        The command that made the page.
    """

    beside: TracesBeside
    command: str = ""


def traces_units(report: TracesReport) -> Scale:
    """The units of the response times."""
    return units_of(report.beside)


def traces_contents(report: TracesReport) -> Contents:
    """The contents of a page on a model beside traces."""
    beside, scale = report.beside, units_of(report.beside)
    *others, load = beside.rates
    rows = tuple(row for row in beside.parts if row.load == load and row.part != "entry")
    last = f" at {four_digits(beside.rates[load])}/s, the last of the loads" if others else ""
    words = f"Mean response time of all requests and of each service{last}: traced and predicted."
    with matplotlib.rc_context({"text.parse_math": False}):
        chart = PageFigure(inline_svg(beside_chart(rows, scale), "traces", words), words)
        system = _system(beside.model.at({ARRIVAL_RATE: beside.rates[load]}))
    sections: dict[str, list[Block]] = {
        TRUST.name: [Warned([(Light.LOOK, "note", note) for note in beside.notes])],
        SYSTEM.name: system,
        DATA.name: [*map(Grid, tables(beside, scale))],
    }
    subject = f"{beside.model.title}, beside {', '.join(beside.rates)}"
    return Contents(
        subject, _headline(rows, beside, scale), _signs(rows), chart, words, sections,
        report.command,
    )  # fmt: skip


def _headline(rows: tuple[Beside, ...], beside: TracesBeside, scale: Scale) -> Headline:
    """How far the model is from the mean of all requests, in the last load."""
    whole = rows[0]
    traced = scale.with_error(whole.measured, _SURE * whole.error, _TIME)
    question = f"Does {beside.model.title} predict these response times?"
    rate = f"at {four_digits(beside.rates[whole.load])}/s"
    if whole.predicted is None or whole.relative_error is None:
        return Headline(question, f"No: it has no answer {rate}; traced were {traced}.")
    error = whole.relative_error
    verdict = {Light.GOOD: "Yes", Light.LOOK: "Roughly", Light.BAD: "No"}[_light(whole)]
    said = f"{scale.text(whole.predicted, _TIME)} {rate}, where {traced} were traced"
    return Headline(question, f"{verdict}: it says {said} ({error:+.1%}).")


def _signs(rows: tuple[Beside, ...]) -> list[Sign]:
    """The error of each service, with its light."""
    return [
        Sign(row.name or "all requests", "no answer", Light.BAD)
        if row.relative_error is None
        else Sign(row.name or "all requests", f"{row.relative_error:+.1%}", _light(row))
        for row in rows
    ]


def _light(row: Beside) -> Light:
    """How bad the error of a row is; one within the traced interval is good."""
    error = abs(row.relative_error or 0.0)
    is_inside = error * row.measured <= _SURE * row.error
    return Light.GOOD if is_inside else judged(error, _CLOSE, _FAR)


def _system(model: Model) -> list[Block]:
    """The services and their calls; a sentence if they are too many to draw."""
    try:
        figure = layered_figure(model)
    except GraphError as refusal:
        return [Words(f"{refusal}.")]
    rate = float(model.inputs[ARRIVAL_RATE])
    words = f"Services at {four_digits(rate)}/s; beside each arrow, calls for each request."
    return [Drawn(PageFigure(inline_svg(figure, "graph", words), words), words)]
