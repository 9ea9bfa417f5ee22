"""Fits described: parameters with their uncertainty, and how an answer is derived."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from headway.models.inference.fit import Fit
from headway.models.inference.quantities import ServerQuantity
from headway.models.language.digits import ends, in_unit, with_error, with_unit
from headway.models.language.parameters import Parameter
from headway.models.language.scales import Scale
from headway.models.language.units import Unit, si_text
from headway.models.language.verbs import perform
from headway.models.measured.columns import is_rate
from headway.models.showing.audits import finding_lines, finding_rows
from headway.models.showing.comparisons import (
    closed_notes,
    output_documents,
    output_tables,
    point_fields,
)
from headway.models.showing.solutions import arrival_note
from headway.models.solving.solutions.solution import Solution
from headway.models.structure.parts.keys import station_at
from headway.models.tables.description import (
    Description,
    Records,
    Row,
    field,
    interval,
    only_csv,
    only_json,
    without,
)
from headway.models.tables.table import Column, Table
from headway.numerals import digits, significant

_IDLE = 0.1  # utilisation at the highest load below which the limit is not visible
_NEARLY = 0.005  # relative scatter of a throughput: more than this exceeds a limit
_HOLDS = (
    "intervals assume that the model is right and relative errors are equally large at all loads"
)
_NOT_YET = "intervals, other answers and left-out errors: examined()"
_NOTHING = 1e-6  # share of an interval's upper end below which only that end is shown

WILD = 10.0
"""Relative error above which its size means nothing."""


def describe(fit: Fit) -> Description:
    """One row per parameter, free ones first; CSV has only the free ones."""
    return Description(
        records=lambda: _records(fit, [*fit.free, *_fixed(fit)]),
        scale=lambda: _scale(fit),
        tables=lambda scale: [*main_tables(fit, scale), *_correlation_tables(fit)],
        document=lambda rows: _document(fit, rows),
        csv=lambda: _records(fit, fit.free).csv(),
    )


def _fixed(fit: Fit) -> list[str]:
    """Parameters that were neither fitted nor set by the data row by row."""
    swept = {n for n, value in fit.problem.model.inputs.items() if np.ndim(value)}
    return [name for name in fit.model.parameters if name not in swept.union(fit.free)]


def _records(fit: Fit, names: Sequence[str]) -> Records:
    """All parameters with their values and uncertainty, and where the search began."""
    known, free = fit.model.parameters, set(fit.free)
    values = {name: fit.values[name] if name in free else known[name].value for name in names}
    starts = {n: _single(fit.initial.parameters[n]) if n in free else values[n] for n in names}
    ends = (fit.ci95[name] if name in free else None for name in names)
    lost = fit.identified.undetermined
    return Records(
        (
            field("parameter", names),
            field("value", values.values()),
            field("standard_error", (fit.standard_errors.get(name) for name in names)),
            interval("ci95", ends, ("low", "high")),
            field("initial", starts.values()),
            only_json("free", (name in free for name in names)),
            field("identifiable", (name not in lost if name in free else None for name in names)),
            only_csv("unit", (si_text(known[name].unit.dimension) for name in names)),
            *fit.comparison.axes.fields(len(names)),
        )
    )


def _scale(fit: Fit) -> Scale:
    """Units chosen by the values found, where they started, and the measurements."""
    parameters = fit.model.parameters
    fitted = [
        (x, parameters[n].unit)
        for n in fit.free
        for x in (fit.values[n], _single(fit.initial.parameters[n]))
    ]
    measured = [
        (one.measured.values, fit.model.meaning(one.output).unit) for one in fit.comparison.each
    ]
    stated = [one.measured.unit for one in fit.comparison.each]
    stated += [parameter.unit for parameter in parameters.values()]
    return Scale.of([*fitted, *measured], stated)


def main_tables(fit: Fit, scale: Scale) -> list[Table]:
    """Parameters, other answers if there are any, and quality.

    Results of further fits are included if they have been computed.
    """
    tables = (_parameter_table(fit, scale), _answers_table(fit, scale), _quality_table(fit))
    return [*(table for table in tables if table is not None), *output_tables(fit.comparison)]


def _parameter_table(fit: Fit, scale: Scale) -> Table:
    interval = ("95% interval",) if fit.is_examined else ()
    titles = ("parameter", "value", *interval, "started from", "meaning")
    rows = [(name, *_parameter_cells(fit, name, scale)) for name in fit.free]
    columns = [
        Column(t, tuple(cells)) for t, cells in zip(titles, zip(*rows, strict=True), strict=True)
    ]
    first_notes = (
        fit.comparison.axes.note,
        *closed_notes(fit.comparison, scale),
        *_weights(fit),
    )
    first_notes = (*first_notes, *arrival_note(fit.model), *derivation(fit, scale))
    warnings = fit.warnings_in(scale, are_quick=not fit.is_examined)
    findings = finding_lines(fit.comparison.findings, scale)
    notes = (*first_notes, *(f"warning: {text}" for text in warnings), *findings)
    notes = (*notes, _HOLDS if fit.is_examined else _NOT_YET, fit.uncertainty.shift.words)
    title = f"{fit.model.title}: fitted to {fit.measurements.source}"
    if not fit.describes:
        error = _percent(fit.comparison.summary["rms_relative_error"])
        title = f"{fit.model.title} does not describe {fit.measurements.source}: {error} off (RMS)"
    return Table(title, tuple(columns), notes)


def _weights(fit: Fit) -> list[str]:
    """The weights of the outputs, if they differ."""
    problem, headers = fit.problem, [one.measured.header for one in fit.comparison.each]
    notes = []
    if np.min(problem.share) < 1:
        notes.append("Little's law relates throughput and response time: each point counts once")
    if problem.estimated > 1:
        least = min(problem.scatter)
        errs = [
            f"{h} {significant(s / least, 3)}"
            for h, s in zip(headers, problem.scatter, strict=True)
        ]
        notes.append(f"each output is weighted by its own scatter (relative: {', '.join(errs)})")
    return notes


def _parameter_cells(fit: Fit, name: str, scale: Scale) -> tuple[str, ...]:
    parameter, value = fit.model.parameters[name], fit.values[name]
    low, high = fit.ci95[name] if fit.is_examined else (value, value)
    nothing = math.isfinite(high) and value < _NOTHING * high  # then show its upper end
    unit = scale.suited(parameter.unit, high if nothing else value)
    start = with_unit(_start(fit, name, unit), unit)
    between = (with_unit(ends(low, high, unit), unit),) if fit.is_examined else ()
    return estimate(fit, name, unit), *between, start, parameter.doc


def _start(fit: Fit, name: str, unit: Unit) -> str:
    """Where the search began, with at most four digits; counts in full."""
    start = _single(fit.initial.parameters[name])
    return digits(start / unit.scale) if name in fit.problem.whole else in_unit(start, unit)


def _answers_table(fit: Fit, scale: Scale) -> Table | None:
    """Answers that fit about as well, side by side, each with its own intervals."""
    if not fit.is_examined or len(fit.answers) < 2:
        return None
    columns = [Column("answer", fit.free)]
    for number, answer in enumerate(fit.answers, 1):
        cells = []
        for name, value, both in zip(fit.free, answer.free.tolist(), answer.ends, strict=True):
            unit = scale.suited(fit.model.parameters[name].unit, value or both[1])
            cells.append(f"{in_unit(value, unit)} ({with_unit(ends(*both, unit), unit)})")
        columns.append(Column(f"{number}", tuple(cells)))
    return Table("", tuple(columns), ("none fits significantly worse than the first",))


def _single(parameter: Parameter) -> float:
    return float(parameter.value)  # type: ignore[arg-type]


def estimate(fit: Fit, name: str, unit: Unit) -> str:
    """A fitted value with its standard error; a count alone, as its error is not linear."""
    if name in fit.problem.whole:
        return with_unit(f"{fit.values[name]:.0f}", unit)
    return with_error(fit.values[name], fit.standard_errors[name], unit)


def derivation(fit: Fit, scale: Scale) -> list[str]:
    """Formula, numbers, answer at the highest load, and a sentence on the bottleneck."""
    comparison = fit.comparison
    if comparison.output != "response_time" or not comparison.solution.stations:
        return []
    peak = int(np.argmax(comparison.load.values))
    solution = comparison.solution
    parts = {n: _at(solution[f"{n}.residence_time"], solution, peak) for n in solution.stations}
    load = scale.text(float(comparison.load.values[peak]), comparison.load.unit)
    time = comparison.model.meaning(comparison.output).unit
    total = float(comparison.predicted[peak])
    lines = []
    if math.isclose(sum(parts.values()), total, rel_tol=1e-6):
        numbers = " + ".join(scale.bare(value, time) for value in parts.values())
        measured = f"(measured {scale.text(float(comparison.measured.values[peak]), time)})"
        if len(parts) == 1:
            return [f"response time = {scale.text(total, time)} at {load} {measured}",
                    _bottleneck(fit, peak)]  # fmt: skip
        lines.append(f"response time = {' + '.join(parts)}")
        lines.append(f"             = {numbers} {scale.unit(time)} at {load}")
        lines.append(f"             = {scale.text(total, time)} {measured}")
    return [*lines, _bottleneck(fit, peak)]


def _at(value: Any, solution: Solution, position: int) -> float:
    return float(np.ravel(np.broadcast_to(value, solution.shape))[position])


def _bottleneck(fit: Fit, peak: int) -> str:
    solution = fit.comparison.solution
    name = str(np.ravel(solution.bottleneck)[peak])
    busy = _at(solution[f"{name}.utilisation"], solution, peak)
    unit = fit.comparison.rate_unit
    saturation = _at(solution.saturation_throughput, solution, peak)
    if not math.isfinite(saturation):
        return "no station saturates in this model"
    at_most = f"bottleneck: {name}, {busy:.0%} busy at the highest load"
    if busy < _IDLE:
        return f"{at_most}; these loads do not show its limit"
    limit = with_unit(in_unit(saturation, unit), unit)
    return f"{at_most}; it saturates at {limit}{_done_more(fit, name, saturation)}"


def _done_more(fit: Fit, name: str, saturation: float) -> str:
    """Say why a test completed more than the throughput at which a station saturates, if it did."""
    top, unit = _most_done(fit), fit.comparison.rate_unit
    if not top > saturation * (1 + _NEARLY):
        return ""
    measured = with_unit(in_unit(top, unit), unit)
    if station_at(name).of(fit.comparison.solution.values).hastens:
        return f", although {measured} was measured, which this model does not explain"
    return f" with many jobs present, which slow it down; {measured} was measured"


def _most_done(fit: Fit) -> float:
    """The largest throughput that was measured, or follows from Little's law [1/s]."""
    comparison = fit.comparison
    rates = [one.measured.values for one in comparison.each if one.output == "throughput"]
    loads = comparison.load.values
    if is_rate(comparison.load):
        rates.append(loads)
    elif comparison.output == "response_time" and fit.model.is_closed:
        think = np.asarray(fit.model.inputs["think_time"], float)
        rates.append(loads / (comparison.measured.values + think))
    return max((float(np.max(rate)) for rate in rates if np.size(rate)), default=0.0)


def _quality_table(fit: Fit) -> Table:
    summary = fit.comparison.summary
    left_out = (
        {
            "leave-one-out RMS error": _percent(fit.leave_one_out_rms),
            "error at the highest load, left out": _percent(fit.leave_last_load_out),
        }
        if fit.is_examined
        else {}
    )
    rows = {
        "typical error (RMS)": f"{summary['rms_relative_error']:.2%}",
        "largest error": f"{summary['max_relative_error']:.2%}",
        **left_out,
        "r squared": f"{summary['r_squared']:.4f}",
        "AICc": f"{fit.aicc:.2f}" if math.isfinite(fit.aicc) else "-",
        "points, free parameters": f"{fit.points}, {len(fit.free)}",
    }
    notes = () if fit.pure_error is None else (fit.pure_error.words,)
    return Table("", (Column("quality", tuple(rows)), Column("value", tuple(rows.values()))), notes)


def _percent(share: float) -> str:
    if WILD < share < math.inf:
        return f"above {WILD:.0%}"
    return f"{share:.2%}" if math.isfinite(share) else "-"


def _correlation_tables(fit: Fit) -> list[Table]:
    if len(fit.free) < 2:
        return []
    columns = [Column("correlation", fit.free)]
    for k, name in enumerate(fit.free):
        cells = [
            f"{c:+.2f}" if math.isfinite(c) else "-" for c in fit.uncertainty.correlations[:, k]
        ]
        columns.append(Column(name, tuple(cells)))
    return [Table("", tuple(columns))]


def _document(fit: Fit, rows: list[Row]) -> Row:
    return {
        "model": fit.model.name,
        "preset": fit.model.preset,
        "data": fit.measurements.source,
        **fit.comparison.axes.document(),
        "parameters": {row["parameter"]: without(row, "parameter") for row in rows},
        "correlations": {
            name: dict(zip(fit.free, map(float, row), strict=True))
            for name, row in zip(fit.free, fit.uncertainty.correlations, strict=True)
        },
        "robust_ci95": {name: list(ends) for name, ends in fit.robust_ci95.items()},
        "answers": [
            {
                "parameters": {
                    name: {"value": value, "ci95": list(both)}
                    for name, value, both in zip(
                        fit.free, answer.free.tolist(), answer.ends, strict=True
                    )
                },
                "relative_cost": answer.cost / fit.optimum.cost if fit.optimum.cost else 1.0,
            }
            for answer in fit.answers
        ],
        "saturation_throughput": quantity_document(perform(fit, "saturation")),
        "summary": fit.errors,
        "describes": fit.describes,
        "lack_of_fit": None if fit.pure_error is None else fit.pure_error.document(),
        "common_shift": fit.uncertainty.shift.document(),
        "outputs": _output_documents(fit),
        "points": _points(fit),
        "warnings": list(fit.warnings),
        "findings": finding_rows(fit.comparison.findings),
    }


def quantity_document(quantity: ServerQuantity | None) -> Row | None:
    """A quantity with its interval; null if the model has none, such as a limit of stations."""
    if quantity is None:
        return None
    value = quantity.value if quantity.determined else None
    ends = [quantity.low, quantity.high]
    return {"value": value, "ci95": ends, "determined": quantity.determined}


def _output_documents(fit: Fit) -> list[dict[str, Any]]:
    """The errors of each output, the weight of its points, and its relative scatter."""
    share = np.broadcast_to(fit.problem.share, fit.problem.used.shape)[:: fit.problem.loads]
    each = zip(output_documents(fit.comparison), share.tolist(), fit.problem.scatter, strict=True)
    return [{**document, "share": part, "scatter": s} for document, part, s in each]


def _points(fit: Fit) -> list[Row]:
    """A dict for each point of each output, with the output's name if there are several."""
    each = fit.comparison.each
    named = only_json("output", (one.output for one in each for _ in one.load.values))
    points = point_fields(each)
    return Records((named, *points) if fit.comparison.beside else (*points,)).rows()
