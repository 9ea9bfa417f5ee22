"""The sentences and tables of a report."""

import math
import os.path
import re
from dataclasses import replace
from pathlib import Path

import numpy as np

from headway import __version__
from headway.models.analysis.sensitivity import Sensitivity
from headway.models.files.shipped import data_path, data_rows
from headway.models.inference.fit import Fit
from headway.models.language.digits import ends, with_unit
from headway.models.language.parameters import Parameter
from headway.models.language.scales import Scale, units_of
from headway.models.language.titles import split_header, spoken
from headway.models.language.units import ONE, Unit
from headway.models.measured.cells import Observed
from headway.models.measured.measurements import Measurements
from headway.models.plotting.charts import tail_of
from headway.models.reports.alone import ModelReport
from headway.models.reports.report import Report
from headway.models.reports.tails import tail_missed
from headway.models.showing.fitted.fits import WILD, estimate
from headway.models.structure.model import Model
from headway.models.structure.parts.counts import counts
from headway.models.tables.forms import tables
from headway.models.tables.table import Column, Table
from headway.numerals import (
    counted,
    digits,
    four_digits,
    grouped,
    power_of_ten,
    settled,
    significant,
)

_NOTHING = 1e-6  # relative to a parameter's unit
_MOST_DIGITS = 4  # digits of a number that a tool computed rather than printed
_LARGE = 0.1  # RMS relative error above which the page has a warning


def data_table(report: Report) -> Table:
    """The origin of the measurements: file, kind, rows, hash, source, and what they disclose."""
    data = report.measurements
    rows = {
        "file": Path(data.source).name,
        "kind": data.kind,
        "rows": _rows_used(report),
        "columns": ", ".join([*data.columns, *data.labels]),
        "sha256": data.sha256,
        "source": source_note(data),
    }
    rows |= listed(data)
    rows |= {fact.name.replace("_", " "): fact.printed for fact in data.facts.values()}
    rows = {name: text for name, text in rows.items() if text}
    return Table("Data", (Column("what", tuple(rows)), Column("value", tuple(rows.values()))))


def _rows_used(report: Report) -> str:
    rows, used = len(report.measurements), int(report.comparison.in_range.sum())
    return f"{rows}, all used" if used == rows else f"{rows}, of which {used} used"


def source_note(data: Measurements) -> str:
    """The origin of a published table that ships with headway; empty for other files."""
    path, shipped = _place(data), data_path("").resolve()
    if shipped not in path.parents:
        return ""
    readme = shipped / path.relative_to(shipped).parts[0] / "README.md"
    if not os.path.isfile(readme):  # noqa: PTH113
        return ""
    source = re.search(r"(?ms)^Source: (.*?)(?:\n\n|\Z)", readme.read_text("utf-8"))
    return " ".join(re.sub("[*`]", "", source[1]).split()) if source else ""


def _place(data: Measurements) -> Path:
    """The origin of a table; a file that does not exist is named as if it shipped."""
    own = os.path.exists(data.source)  # noqa: PTH110 - takes any name at all
    return (Path(data.source) if own else data_path(data.source)).resolve()


def listed(data: Measurements) -> dict[str, str]:
    """What the index of a published collection says about a curve that ships with headway."""
    path, shipped = _place(data), data_path("").resolve()
    index = path.parent.parent / "index.csv"
    if shipped not in path.parents or not index.is_file():
        return {}
    entries = data_rows(str(index.relative_to(shipped).with_suffix("")))
    rows = {row.pop("id"): row for row in entries}
    cells = rows.get(path.stem, {})
    named = {split_header(title): text for title, text in cells.items()}
    return {_heading(name, unit or ONE): text for (name, unit), text in named.items()}


def form_tables(report: Report) -> list[Table]:
    """The forms that were tried, and the quantities of the chosen one; none for a given model."""
    if report.forms is None:
        return []
    *_, derived, tried = tables(report.forms, units_of(report))
    titles = ("Forms that were tried", "Derived quantities")
    pairs = zip(titles, (tried, derived), strict=True)
    return [Table(title, table.columns, table.notes) for title, table in pairs]


def parameter_table(report: Report | ModelReport) -> Table:
    """All parameters: value with its uncertainty, interval, origin, meaning."""
    scale = units_of(report)
    rows = [_parameter_row(report, p, scale) for p in report.model.parameters.values()]
    titles = ("parameter", "value", "95% interval", "from", "meaning")
    cells = zip(*rows, strict=True) if rows else [()] * len(titles)
    columns = [Column(t, tuple(c)) for t, c in zip(titles, cells, strict=True)]
    shown = [c for c in columns if c.name != titles[2] or any(c.cells)]
    return Table(f"Parameters of {report.title}", tuple(shown))


def _parameter_row(
    report: Report | ModelReport, parameter: Parameter, scale: Scale
) -> tuple[str, ...]:
    name, fit = parameter.name, report.fit
    if fit is not None and name in fit.free:
        return name, *_fitted_cells(fit, parameter, scale), parameter.doc
    numbers = np.asarray(math.nan if parameter.value is None else parameter.value, float)
    if numbers.ndim:
        low, high = float(numbers.min()), float(numbers.max())
        from_low = digits(low / scale.suited(parameter.unit, abs(high)).scale)
        shown = parameter.shown(high, scale)
        return (
            name,
            f"{from_low} to {shown}" if low < high else shown,
            "",
            "the data",
            parameter.doc,
        )
    value = "" if parameter.value is None else parameter.shown(float(numbers), scale)
    stated = "" if parameter.interval is None else _interval(parameter.interval, parameter, scale)
    return name, value, stated, _origin(report, parameter), parameter.doc


def _interval(both: tuple[float, float], parameter: Parameter, scale: Scale) -> str:
    """The ends of a parameter's 95% interval, in the unit of its value."""
    unit = scale.suited(parameter.unit, float(np.max(np.asarray(parameter.value))))
    return with_unit(ends(*both, unit), unit)


def _fitted_cells(fit: Fit, parameter: Parameter, scale: Scale) -> tuple[str, str, str]:
    """Value, interval and origin; a bound that stands for zero is written as zero."""
    name, value = parameter.name, fit.values[parameter.name]
    if fit.optimum.at_bound[fit.free.index(name)]:
        bound = value if abs(value) > _NOTHING * parameter.unit.scale else 0.0
        return parameter.shown(bound, scale), "", "fitted, at its bound"
    unit = scale.suited(parameter.unit, value)
    interval = _interval(fit.ci95[name], parameter.at(value), scale)
    return estimate(fit, name, unit), interval, "fitted to the data"


def _origin(report: Report | ModelReport, parameter: Parameter) -> str:
    """The origin of a value that is not fitted: the user, its preset, or its own source."""
    if parameter.name in report.fixed:
        return "set by hand"
    preset = report.model.presets.get(report.model.preset or "")
    if preset is not None and preset.values.get(parameter.name) == parameter.value:
        return f"preset {preset.name}" + (f": {preset.source}" if preset.source else "")
    return parameter.source or "the model"


_SUMMARIES = {
    "summary": "Errors in sum",
    "quality": "Quality of the fit",
    "answer": "Other solutions that fit about as well",
    "output": "Errors by output",
    "correlation": "Correlations of the estimates",
}
"""Titles of the tables beside the curve, by the title of their first column."""


def summary_tables(report: Report) -> list[Table]:
    """Summaries of the errors, and the quality of the fit."""
    scale = units_of(report)
    fit, comparison = report.fit, report.comparison
    each = tables(fit or comparison, scale)
    titles = [_SUMMARIES.get(table.columns[0].name) for table in each]
    pairs = zip(titles, each, strict=True)
    return [Table(title, table.columns, table.notes) for title, table in pairs if title]


def point_table(report: Report) -> Table:
    """Measured, predicted and error by point."""
    comparison = report.comparison
    load, measured = comparison.load, comparison.measured
    across, unit = (units_of(report).unit(column.unit) for column in (load, measured))
    places = _decimals(measured, unit)
    predicted = [_fixed(v, unit, places + 1) for v in comparison.predicted]
    errors = [_signed(error) for error in comparison.relative_error]
    columns = [
        Column(_load_heading(load, across), _as_printed(load, across)),
        Column(_heading("measured", unit), _as_printed(measured, unit)),
        Column(_heading("predicted", unit), tuple(predicted)),
        Column("error", tuple(errors)),
    ]
    if not comparison.in_range.all():
        columns.append(Column("used", tuple("yes" if k else "no" for k in comparison.in_range)))
    return Table("Measured and predicted, point by point", tuple(columns))


def load_table(report: ModelReport) -> Table | None:
    """A model's predictions at a few loads; None if no single parameter is the load."""
    if report.curve is None:
        return None
    table, rows = tables(report.curve, units_of(report))[0], report.rows.tolist()
    columns = tuple(
        replace(column, cells=tuple(column.cells[row] for row in rows))
        for column in table.columns
        if column.name != "bottleneck"
    )
    return Table("Predictions", columns, (), table.keys)


def _signed(error: float) -> str:
    """A relative error to a tenth of a percent; zero has no minus sign."""
    return f"{round(float(error), 3) + 0.0:+.1%}" if math.isfinite(error) else "-"


def _load_heading(load: Observed, unit: Unit) -> str:
    """The heading of the load: what it counts, if it counts something."""
    return load.unit.text if load.unit.is_count else _heading(load.name, unit)


def _heading(name: str, unit: Unit) -> str:
    words = name.replace("_", " ")
    return f"{words} [{unit}]" if unit.text else words


def _decimals(column: Observed, unit: Unit) -> int:
    """Decimals as printed, in the unit shown; of at most four digits, those that are there."""
    step = 2 * float(np.nanmin(column.resolution)) / unit.scale
    largest = settled(float(np.nanmax(np.abs(column.values))) / unit.scale)
    enough = _MOST_DIGITS - 1 - power_of_ten(largest) if largest > 0 else 0
    return max(0, min(round(-math.log10(step)), enough))


def _as_printed(column: Observed, unit: Unit) -> tuple[str, ...]:
    places = _decimals(column, unit)
    return tuple(_fixed(value, unit, places) for value in column.values)


def _fixed(value: float, unit: Unit, places: int) -> str:
    number = settled(value / unit.scale)
    return grouped(f"{number:.{places}f}") if math.isfinite(value) else "∞"


def sensitivity_table(sensitivity: Sensitivity, scale: Scale) -> Table:
    """Elasticities by output."""
    table = tables(sensitivity, scale)[0]
    title = "Change of each output [%] per 1% of each parameter"
    said = ("bottleneck: ", "approximate: ")  # sentences of the page
    notes = tuple(note for note in table.notes if not note.startswith(said))
    return Table(title, table.columns, notes)


def swept_by_data(report: Report | ModelReport) -> list[str]:
    """Parameters that the data set, row by row."""
    return [name for name, value in report.model.inputs.items() if np.ndim(value)]


def derivative_table(sensitivity: Sensitivity, scale: Scale) -> Table:
    """Derivatives in readable units."""
    table = tables(sensitivity, scale)[1]
    return Table("Derivatives", table.columns, table.notes)


def operating_point_words(report: Report | ModelReport) -> str:
    """Say at which point the sensitivities were taken."""
    if isinstance(report, ModelReport):
        if report.load is None:
            return "Taken at the values in the table of parameters."
        return f"Taken at {input_words(report.model, report.load, units_of(report))}."
    if report.sensitivity is None:
        return "The model sustains none of the measured loads, so it has no operating point."
    model, comparison = report.sensitivity.model, report.comparison
    swept, scale = swept_by_data(report), units_of(report)
    shown = ", ".join(input_words(model, name, scale) for name in swept)
    name = comparison.load_parameter
    is_measured = name is None or model.inputs[name] in comparison.load.values
    what = "the median of the measured loads that the model sustains" if is_measured else "as set"
    return f"Taken at {shown} ({what})."


def input_words(model: Model, name: str, scale: Scale) -> str:
    """A parameter that was set, in words: 80 users, 390 op/s, or its name with its value."""
    parameter = model.parameters[name]
    value = float(np.ravel(model.inputs[name])[0])
    if name in counts(model.graph):
        return f"{four_digits(value)} {spoken(name)}"
    shown = parameter.shown(value, scale)
    return (
        scale.text(value, parameter.unit) if name == "arrival_rate" else f"{spoken(name)} {shown}"
    )


def bottleneck_words(report: Report | ModelReport) -> list[str]:
    """A sentence on the bottleneck, and another on the next one."""
    effects = report.sensitivity
    if effects is None:
        solution = report.comparison.solution  # type: ignore[union-attr]
        return [f"Every measured load saturates the model: {solution.saturation_message}."]
    if effects.bottleneck is None:
        return [_strongest(effects)]
    busy = float(np.ravel(effects.solution[f"{effects.bottleneck}.utilisation"])[0])
    load = _rate(report, float(np.ravel(effects.solution.throughput)[0]))
    limits = {b.station: _rate(report, b.saturation_throughput) for b in effects.bottlenecks}
    own = limits.pop(effects.bottleneck, None)
    ends = f" and saturates at {own}" if own else ", and nothing saturates"
    sentences = [f"{effects.bottleneck} is the bottleneck: it is {busy:.0%} busy at {load}{ends}."]
    for name, limit in list(limits.items())[:1]:
        sentences.append(f"If it were faster, {name} would be the next bottleneck, at {limit}.")
    return sentences


def _rate(report: Report | ModelReport, value: float) -> str:
    return units_of(report).text(value, report.model.meaning("throughput").unit)


def _strongest(sensitivity: Sensitivity) -> str:
    """For a program, without stations: the parameter that matters most to its first output."""
    output, effects = next(iter(sensitivity.effects.items()))
    sizes = {n: e.elasticity for n, e in effects.items() if math.isfinite(e.elasticity)}
    if sensitivity.model.graph.layers:
        from headway.models.showing.parts.layers import layer_notes

        notes = layer_notes(sensitivity.solution, sensitivity.model.graph.layers)
        return f"With the values of this report, {'; '.join(notes)}."
    if not sizes:
        return "The model has no stations, so nothing saturates."
    name = max(sizes, key=lambda n: round(abs(sizes[n]), 6))
    words = output.replace("_", " ")
    most = one_percent(name, sizes[name], words)
    return f"The model has no stations, so nothing saturates. What matters most is {most}."


def one_percent(parameter: str, elasticity: float, output: str) -> str:
    """A parameter, and the effect of 1% more of it on an output.

    Examples
    --------
    >>> one_percent("long_startup", -0.98, "bandwidth")
    'the long startup: 1% more of it lowers the bandwidth by 0.98%'
    """
    turn = "raises" if elasticity > 0 else "lowers"
    size = significant(abs(elasticity), 2)
    return f"the {spoken(parameter)}: 1% more of it {turn} the {output} by {size}%"


def warnings(report: Report | ModelReport) -> list[str]:
    """What readers must know before they trust the page."""
    if isinstance(report, ModelReport):
        approximation = report.sensitivity.solution.approximation
        return [f"approximate: {approximation}"] if approximation else []
    comparison, solution = report.comparison, report.comparison.solution
    texts = list(report.fit.warnings_in(units_of(report))) if report.fit else []
    if solution.approximation:
        texts.append(f"approximate: {solution.approximation}")
    lost = int(comparison.in_range.sum() - comparison.counted.sum())
    if lost:
        texts.append(
            f"{counted(lost, 'point')} beyond saturation and not counted: "
            f"{solution.saturation_message}"
        )
    error = comparison.summary["rms_relative_error"]
    if report.fit and report.fit.leave_one_out_rms > max(3 * error, _LARGE):
        left = percent(report.fit.leave_one_out_rms)
        texts.append(f"the fit depends on every point: a point left out is missed by {left} (RMS)")
    tail = tail_of(report.kept)
    missed = tail_missed(comparison, tail)
    if missed is not None and missed > _LARGE:
        short = tail.rpartition("_")[2]
        texts.append(
            f"the model's {short} misses the measured {short} by {percent(missed)} (RMS): a fit to "
            f"the mean does not hold it; read {short} from the points"
        )
    if report.fit is None and error > _LARGE:
        texts.append(f"the model misses the measured curve by {error:.1%} (RMS); it was not fitted")
    if report.fit is None and report.measurements.invalid:
        texts.append(f"the benchmark marks {report.measurements.invalid} points as invalid")
    return texts


def percent(share: float) -> str:
    """A share as text, as far as its size means anything."""
    if share > WILD:
        return f"above {WILD:.0%}"
    return f"{share:.1%}" if math.isfinite(share) else "-"


def compared_words(report: Report) -> str:
    """What was compared, from which columns, and whether the model was fitted."""
    comparison = report.comparison
    output, load = comparison.output.replace("_", " "), comparison.load.name.replace("_", " ")
    given = "" if report.fit else " The values of the model are as given."
    return f"{output.capitalize()} over {load}; {comparison.axes.note}.{given}"


def fitted_by(report: Report) -> str:
    """The data and the parameters of this fit; empty if nothing was fitted."""
    if report.fit is None:
        return ""
    data = report.measurements
    digest = f" (sha256 {data.sha256[:12]})" if data.sha256 else ""
    how = f" by: {report.command}" if report.command else ""
    return f"This fit: {', '.join(report.fit.free)} fitted to {Path(data.source).name}{digest}{how}"


def maker() -> str:
    """The program that made the page."""
    return f"headway {__version__}"
