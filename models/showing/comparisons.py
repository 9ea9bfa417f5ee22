"""Comparisons as tables, rows and JSON."""

from dataclasses import replace
from typing import Any

import numpy as np

from headway.models.analysis.comparison import Comparison
from headway.models.language.scales import Scale
from headway.models.language.units import unit
from headway.models.measured.columns import is_rate
from headway.models.showing.audits import finding_lines, finding_rows
from headway.models.showing.sfs import signature_table, span
from headway.models.showing.solutions import solution_rows
from headway.models.tables.table import Column, Table
from headway.numerals import first_largest


def point_table(comparison: Comparison, scale: Scale | None = None) -> Table:
    """Every point: load, measured, predicted, relative error."""
    model, scale = comparison.model, scale or comparison_scale(comparison)
    shown = model.meaning(comparison.output).unit
    kind = comparison.output.replace("_", " ")
    columns = [
        Column(comparison.load.name, tuple(comparison.load.values.tolist()), comparison.load.unit),
        Column.of("measured", comparison.measured.values, shown, scale),
        Column.of("predicted", comparison.predicted, shown, scale),
        Column("error", tuple(comparison.relative_error.tolist()), unit("%")),
    ]
    if not comparison.in_range.all():
        columns.append(Column("in range", tuple("yes" if k else "" for k in comparison.in_range)))
    return Table(f"{model.title}: {kind}, predicted against measured", tuple(columns))


def comparison_csv(comparison: Comparison) -> str:
    """Every point in SI units, and in each row the columns it comes from."""
    rows, each = len(comparison.load.values), comparison.each
    columns = list(point_table(each[0]).columns)
    if len(each) > 1:
        columns = [columns[0], *(one for part in each for one in _named_columns(part))]
    return Table("", (*columns, *comparison.axes.columns(rows))).to_csv()


def _named_columns(comparison: Comparison) -> list[Column]:
    """Columns of one output of several, which each bear its name."""
    columns = point_table(comparison).columns[1:]
    return [replace(each, name=f"{comparison.output} {each.name}") for each in columns]


def comparison_tables(comparison: Comparison, scale: Scale | None = None) -> list[Table]:
    """Points, summary, and the two signatures."""
    scale = scale or comparison_scale(comparison)
    points = [point_table(one, scale) for one in comparison.each]
    tables = [*points, *output_tables(comparison), _summary_table(comparison, scale)]
    if comparison.signatures:
        tables.append(signature_table("signature", dict(comparison.signatures), scale))
    return tables


def comparison_scale(comparison: Comparison) -> Scale:
    """The units of a comparison: by what was measured and predicted."""
    model = comparison.model
    shown = [(comparison.load.values, comparison.load.unit)]
    for one in comparison.each:
        unit = model.meaning(one.output).unit
        shown += [(one.measured.values, unit), (one.predicted, unit)]
    stated = [one.measured.unit for one in comparison.each]
    return Scale.of(shown, [*stated, *model.stated])


def output_tables(comparison: Comparison) -> list[Table]:
    """The errors of each output by itself, where there are several."""
    if not comparison.beside:
        return []
    summaries = [one.summary for one in comparison.each]
    titles = {
        "RMS error": "rms_relative_error",
        "largest": "max_relative_error",
        "median": "median_relative_error",
    }
    columns = [Column("output", tuple(one.measured.header for one in comparison.each))]
    for title, name in titles.items():
        columns.append(Column(title, tuple(f"{summary[name]:.2%}" for summary in summaries)))
    columns.append(Column("r squared", tuple(f"{s['r_squared']:.4f}" for s in summaries)))
    return [Table("", tuple(columns))]


def output_documents(comparison: Comparison) -> list[dict[str, Any]]:
    """Each output that was measured, its column and its errors."""
    return [
        {"output": one.output, "y": one.measured.header, "summary": one.summary}
        for one in comparison.each
    ]


def _summary_table(comparison: Comparison, scale: Scale) -> Table:
    summary = comparison.summary
    worst = _worst(comparison, scale)
    rows = {
        "RMS relative error": f"{summary['rms_relative_error']:.1%}",
        "largest relative error": f"{summary['max_relative_error']:.1%}{worst}",
        "median relative error": f"{summary['median_relative_error']:.1%}",
        "r squared": f"{summary['r_squared']:.3f}",
    }
    columns = (Column("summary", tuple(rows)), Column("value", tuple(rows.values())))
    return Table("", columns, tuple(_notes(comparison, scale)))


def _worst(comparison: Comparison, scale: Scale) -> str:
    if not any(one.counted.any() for one in comparison.each):
        return ""
    each = [np.where(one.counted, np.abs(one.relative_error), -1) for one in comparison.each]
    sizes = np.max(each, axis=0)
    load = float(comparison.load.values[first_largest(sizes)])
    return f" at {scale.stated(load, comparison.load.unit)}"


def _notes(comparison: Comparison, scale: Scale) -> list[str]:
    notes = [str(comparison.axes), *closed_notes(comparison, scale)]
    if comparison.output == "response_time" and is_rate(comparison.load):
        notes.append(span(comparison.within, comparison.load.values))
    left_out = int(comparison.in_range.sum() - comparison.counted.sum())
    if left_out:
        why = comparison.solution.saturation_message
        notes.append(f"{left_out} points not counted, beyond saturation: {why}")
    return [*notes, *finding_lines(comparison.findings, scale)]


def closed_notes(comparison: Comparison, scale: Scale) -> list[str]:
    """Say of a load of jobs that circulate how long they think."""
    if comparison.load_parameter != "population":
        return []
    think = comparison.model.parameters["think_time"]
    thought = np.unique(np.asarray(think.value, float))
    shown = (
        scale.stated(float(thought[0]), think.unit)
        if thought.size == 1
        else "as measured, row by row"
    )
    return [f"closed: solved at the measured {comparison.load.header}; think time {shown}"]


def comparison_rows(comparison: Comparison) -> list[dict[str, Any]]:
    """One dict a point; of several outputs, all points of the first, then of the next."""
    if not comparison.beside:
        return _rows(comparison)
    each = [(one.output, _rows(one)) for one in comparison.each]
    return [{"output": output, **row} for output, rows in each for row in rows]


def _rows(comparison: Comparison) -> list[dict[str, Any]]:
    numbers = zip(
        solution_rows(comparison.solution),
        comparison.load.values.tolist(),
        comparison.measured.values.tolist(),
        comparison.predicted.tolist(),
        comparison.relative_error.tolist(),
        comparison.in_range.tolist(),
        strict=True,
    )
    return [
        {
            "inputs": row["inputs"],
            "load": load,
            "measured": measured,
            "predicted": predicted,
            "relative_error": error,
            "in_range": inside,
        }
        for row, load, measured, predicted, error, inside in numbers
    ]


def comparison_document(comparison: Comparison) -> dict[str, Any]:
    """The JSON contract's document for `compare`."""
    return {
        "model": comparison.model.name,
        "preset": comparison.model.preset,
        "output": comparison.output,
        **comparison.axes.document(),
        "points": comparison_rows(comparison),
        "summary": comparison.summary,
        "outputs": output_documents(comparison),
        "findings": finding_rows(comparison.findings),
        "signatures": {name: s.document() for name, s in comparison.signatures.items()},
    }
