"""What a page shows of a model: on its own, or compared with measurements."""

from collections.abc import Iterator

from headway.models.analysis.retries import Retries
from headway.models.language.scales import units_of
from headway.models.plotting.charts import tail_of
from headway.models.reports.alone import ModelReport
from headway.models.reports.contents import (
    CHANGE,
    DATA,
    LIGHTS,
    METHOD,
    SYSTEM,
    TRUST,
    Beside,
    Block,
    Contents,
    Drawn,
    Folded,
    Formulas,
    Grid,
    Heading,
    Headline,
    Light,
    Sign,
    Sliders,
    Warned,
    Words,
    judged,
)
from headway.models.reports.figures import Drawings, drawings, graph_caption
from headway.models.reports.formulas import Equation, equations, uses_erlang
from headway.models.reports.kinds.headlines import fills_first, headline, limit_words, subject
from headway.models.reports.kinds.tipping import states_drawing, tipping_of, tipping_signs
from headway.models.reports.panel import NoPanel, Panel, panel
from headway.models.reports.report import Report
from headway.models.reports.tails import tail_missed
from headway.models.reports.words import (
    bottleneck_words,
    compared_words,
    data_table,
    derivative_table,
    fitted_by,
    form_tables,
    load_table,
    operating_point_words,
    parameter_table,
    percent,
    point_table,
    sensitivity_table,
    summary_tables,
    warnings,
)
from headway.models.showing.sensitivities import of_all_models
from headway.models.structure.network_kind import NetworkKind

_CLOSE, _FAR = 0.05, 0.1  # RMS relative errors; above the second a fit is called bad
_FULL = 0.95  # share in use of a pool or processor from which on it needs a look
# errors of points left out; a model describes its data up to 30%
_LEFT_CLOSE, _LEFT_FAR = 0.1, 0.3


def measured_contents(report: Report) -> Contents:
    """The contents of a page on a model compared with measurements."""
    drawn = drawings(report)
    has_band = drawn.chart is not None and "95% band" in drawn.chart.words
    band = ", with its 95% band" if has_band else ""
    data: tuple[Block, ...] = (
        Words(compared_words(report)),
        Grid(data_table(report)),
        *([Words(fitted_by(report), is_note=True)] if report.fit else []),
    )
    told, points = [*map(Grid, summary_tables(report))], Grid(point_table(report))
    errors = [Drawn(drawn.errors, drawn.errors.words)] if drawn.errors else []
    trust: tuple[Block, ...] = (*_warned(report), Beside([*errors, points], told))
    return _contents(
        report, drawn, f"Points are measured, the line is the model{band}.", trust, data
    )


def predicted_contents(report: ModelReport) -> Contents:
    """The contents of a page on a model on its own."""
    drawn = drawings(report)
    trust = (
        Words("Nothing was measured: this page is only as good as the values below."),
        *_warned(report),
    )
    table = load_table(report)
    data = (Grid(table),) if table else ()
    return _contents(report, drawn, drawn.chart.words if drawn.chart else "", trust, data)


def _contents(
    report: Report | ModelReport,
    drawn: Drawings,
    caption: str,
    trust: tuple[Block, ...],
    data: tuple[Block, ...],
) -> Contents:
    made, found = panel(report), tipping_of(report)
    chart, system = drawn.chart, list(_system(report, drawn))
    if found and report.kept is None:  # the states of the server say more than its response time
        system = [*system[:-1], *([Drawn(chart, caption)] if chart else []), system[-1]]
        chart = states_drawing(found)
        caption = chart.words
    sections = {
        CHANGE: (_sliders(report, made), *_effects(report, drawn)),
        TRUST: trust,
        SYSTEM: tuple(system),
        METHOD: tuple(_method(report)),
        DATA: data,
    }
    return Contents(
        subject(report),
        _doubted(headline(report, found), report),
        tuple(_signs(report, found)),
        chart,
        caption,
        {section.name: blocks for section, blocks in sections.items()},
        report.command,
        made if isinstance(made, Panel) else None,
    )


def _doubted(said: Headline, report: Report | ModelReport) -> Headline:
    """The answer, with a remark if the model is far from the measured points."""
    if isinstance(report, ModelReport):
        return said
    error = report.comparison.summary["rms_relative_error"]
    if judged(error, _CLOSE, _FAR) is not Light.BAD:
        return said
    doubt = f"But the model misses the measured points by {percent(error)}."
    return Headline(said.question, f"{said.answer} {doubt}")


def _signs(report: Report | ModelReport, found: Retries | None) -> Iterator[Sign]:
    """What fills first, where, and the model's errors; the sentence above has the highest load."""
    if report.kept is not None and report.kept.is_none:
        limit = report.kept.limit(report.model, units_of(report))
        yield Sign(f"highest load with {report.kept.what} under {limit}", "none", Light.BAD)
    yield from tipping_signs(report, found) if found else []
    first = fills_first(report)
    if first:
        is_full = first.share is not None and first.share >= _FULL
        shown = f"{first.share:.0%} in use" if is_full else str(first)
        yield Sign(first.name if is_full else "fills first", shown, Light.LOOK if is_full else None)
    if limit_words(report):
        yield Sign("saturates at", limit_words(report))
    if isinstance(report, Report):
        yield from _errors(report)
    else:
        yield Sign("measured", "nothing", Light.LOOK)
    lights = [light for light, *_ in _findings(report) if light]
    worst = Light.BAD if Light.BAD in lights else Light.LOOK if lights else Light.GOOD
    yield Sign("warnings", str(len(lights) or "none"), worst)


def _errors(report: Report) -> Iterator[Sign]:
    """The model's errors, each with its light."""
    summary = report.comparison.summary
    error = summary["rms_relative_error"]
    yield Sign("typical error (RMS)", percent(error), judged(error, _CLOSE, _FAR))
    if report.fit:
        left = report.fit.leave_one_out_rms
        yield Sign("error of a point left out", percent(left), judged(left, _LEFT_CLOSE, _LEFT_FAR))
    tail = tail_of(report.kept)
    missed = tail_missed(report.comparison, tail)
    if missed is not None:
        light = judged(missed, _LEFT_CLOSE, _LEFT_FAR)
        yield Sign(f"error of the model's {tail.rpartition('_')[2]}", percent(missed), light)


def _warned(report: Report | ModelReport) -> list[Block]:
    """What was found, if anything."""
    found = _findings(report)
    return [Warned(tuple(found))] if found else []


def _findings(report: Report | ModelReport) -> list[tuple[Light | None, str, str]]:
    """Warnings, and findings of the load test, with their lights."""
    found: list[tuple[Light | None, str, str]]
    found = [_warning(text) for text in warnings(report)]
    if isinstance(report, Report):
        scale = units_of(report)
        found += [
            (LIGHTS[f.severity], f.severity.value, f.text_in(scale))
            for f in report.comparison.findings
        ]
    return found


def _warning(text: str) -> tuple[Light, str, str]:
    """A warning with its light and word, which is `approximate` for notes on approximation."""
    word, _, rest = text.partition(": ")
    return (Light.LOOK, word, rest) if word == "approximate" else (Light.LOOK, "warning", text)


def _sliders(report: Report | ModelReport, made: Panel | NoPanel) -> Sliders:
    output = report.comparison.output if isinstance(report, Report) else report.output
    missing = made.reason if isinstance(made, NoPanel) else ""
    return Sliders(
        made,
        missing,
        output.replace("_", " "),
        bool(report.model.graph.stations),
        isinstance(report, Report),
    )


def _effects(report: Report | ModelReport, drawn: Drawings) -> Iterator[Block]:
    """The bottleneck and the next one, then the effect of 1% of each parameter."""
    yield from map(Words, bottleneck_words(report))
    yield Heading("Sensitivities")
    yield Words(operating_point_words(report))
    effects, scale = report.sensitivity, units_of(report)
    if effects is None:
        return
    of_all = of_all_models(effects)
    words = "The change of each output, in percent, when a parameter grows by 1%."
    figure = [Drawn(drawn.tornado, words)] if drawn.tornado else []
    tables = [
        Grid(sensitivity_table(effects, scale)),
        *([Grid(of_all)] if of_all else []),
        Folded("Derivatives", (Grid(derivative_table(effects, scale)),)),
    ]
    yield Beside(figure, tables)


def _system(report: Report | ModelReport, drawn: Drawings) -> Iterator[Block]:
    """A picture of the model, what it assumes, and its parameters."""
    model = report.model
    told: list[Block] = [Words(model.doc)] if model.doc else []
    if model.assumptions:
        told += [Heading("Assumptions"), Words(model.assumptions.replace("`", ""))]
    if model.source:
        told.append(Words(f"Source of the model: {model.source}", is_note=True))
    graph = [Drawn(drawn.graph, graph_caption(report))] if drawn.graph else []
    yield Beside(graph, told)
    yield Grid(parameter_table(report))


def _method(report: Report | ModelReport) -> Iterator[Block]:
    """How the numbers were found: forms that were tried, equations, solvers."""
    if isinstance(report, Report):
        yield from map(Grid, form_tables(report))
    output = report.comparison.output if isinstance(report, Report) else report.output
    formulas = equations(report.model, output)
    how = _solver(report, formulas)
    yield from [Words(how)] if how else []
    yield Formulas(formulas, uses_erlang(formulas))


def _solver(report: Report | ModelReport, formulas: list[Equation]) -> str:
    """How a network without a closed form is solved."""
    kind = _UNSOLVED.get(report.model.network_kind)
    if kind is None:
        return "" if formulas else "The model has no formula short enough to read."
    ground = report.ground
    if ground is None:
        return f"{kind} solved numerically."
    near = ", approximate" if ground.solution.approximation else ""
    return f"{kind} solved numerically (method: {ground.solution.method}{near})."


_UNSOLVED = {
    NetworkKind.CLOSED: "A closed network has no single formula; it is",
    NetworkKind.CLASSES: "A network of several classes has no single formula; it is",
    NetworkKind.LAYERED: "Layered services have no single formula; they are",
    NetworkKind.BLOCKING: "A network whose jobs wait for room has no single formula; it is",
    NetworkKind.CLIENTS: "A server whose clients give up has no single formula; it is",
}
"""The kind of network, solved by a method without a formula."""
