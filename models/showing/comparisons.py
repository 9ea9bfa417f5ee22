"""Comparisons described: each point as measured and as predicted."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from headway.models.analysis.comparison import Comparison
from headway.models.language.scales import Scale
from headway.models.language.units import unit
from headway.models.measured.columns import is_rate
from headway.models.showing.audits import finding_lines, finding_rows
from headway.models.showing.sfs import signature_table, span
from headway.models.showing.solutions import input_fields
from headway.models.tables.description import Description, Field, Records, field, only_json, scaled
from headway.models.tables.table import Column, Table
from headway.numerals import counted, first_largest


def describe(comparison: Comparison) -> Description:
    """One row per point; for several outputs, all points of the first come before the next."""
    return Description(
        records=lambda: _records(comparison),
        scale=lambda: _scale(comparison),
        tables=lambda scale: _tables(comparison, scale),
        document=lambda rows: {
            "model": comparison.model.name,
            "preset": comparison.model.preset,
            "output": comparison.output,
            **comparison.axes.document(),
            "points": rows,
            "summary": comparison.summary,
            "outputs": output_documents(comparison),
            "findings": finding_rows(comparison.findings),
            "signatures": {name: s.document() for name, s in comparison.signatures.items()},
        },
        csv=lambda: _csv(comparison),
    )


def _records(comparison: Comparison) -> Records:
    each, points = comparison.each, len(comparison.load.values)
    named = (only_json("output", (one.output for one in each for _ in range(points))),)
    rows = [*range(points)] * len(each)
    return Records(
        (
            *(named if comparison.beside else ()),
            *input_fields(comparison.solution, rows),
            *point_fields(each),
            field("in_range", (bool(k) for one in each for k in one.in_range)),
        ),
        sections=("inputs",),
    )


def point_fields(each: Sequence[Comparison]) -> Iterator[Field]:
    """Load, measured and predicted value, and relative error of every point, output by output."""
    parts = {
        "load": [one.load.values for one in each],
        "measured": [one.measured.values for one in each],
        "predicted": [one.predicted for one in each],
        "relative_error": [one.relative_error for one in each],
    }
    for name, arrays in parts.items():
        yield field(name, np.concatenate(arrays).tolist())


def _table_fields(comparison: Comparison, of: str = "") -> Iterator[Field]:
    """The fields of a point in tables and CSV; with several outputs, columns name theirs."""
    load, own_unit = comparison.load, comparison.model.meaning(comparison.output).unit
    measured, error = comparison.measured.values.tolist(), comparison.relative_error.tolist()
    heading = load.unit.text if load.unit.is_count else load.name
    yield Field((), load.values.tolist(), load.unit, (load.name,), heading)
    yield Field((), measured, own_unit, (f"{of}measured",), "measured", scaled)
    predicted = comparison.predicted.tolist()
    yield Field((), predicted, own_unit, (f"{of}predicted",), "predicted", scaled)
    yield Field((), error, unit("%"), (f"{of}error",), "error")
    if not comparison.in_range.all():
        inside = comparison.in_range.tolist()
        yield Field((), inside, csv=(f"{of}in range",), title="in range", flags=("yes", ""))


def _csv(comparison: Comparison) -> str:
    """Points in SI units, with outputs side by side, and the columns that they come from."""
    first, *others = comparison.each
    of = f"{first.output} " if others else ""
    fields = [*_table_fields(first, of)]
    for one in others:
        _, *more = _table_fields(one, f"{one.output} ")
        fields += more
    return Records((*fields, *comparison.axes.fields(len(comparison.load.values)))).csv()


def _tables(comparison: Comparison, scale: Scale) -> list[Table]:
    """Tables of the points, the summary, and both signatures."""
    points = [
        Records((*_table_fields(one),)).table(
            f"{one.model.title}: {one.output.replace('_', ' ')}, predicted against measured", scale
        )
        for one in comparison.each
    ]
    tables = [*points, *output_tables(comparison), _summary_table(comparison, scale)]
    if comparison.signatures:
        tables.append(signature_table("signature", dict(comparison.signatures), scale))
    return tables


def _scale(comparison: Comparison) -> Scale:
    """Units chosen by the measured and predicted values."""
    model = comparison.model
    shown = [(comparison.load.values, comparison.load.unit)]
    for one in comparison.each:
        unit = model.meaning(one.output).unit
        shown += [(one.measured.values, unit), (one.predicted, unit)]
    stated = [one.measured.unit for one in comparison.each]
    return _counting(comparison, Scale.of(shown, [*stated, *model.stated]))


def _counting(comparison: Comparison, scale: Scale) -> Scale:
    """The units with throughput counted as measured, if the model does not say what it counts."""
    own, measured = comparison.model.meaning("throughput").unit, comparison.rate_unit
    if own.dimension != unit("1/s").dimension or own.dimension == measured.dimension:
        return scale
    rates = [one.measured.values for one in comparison.each if is_rate(one.measured)]
    shown = Scale.of([(values, measured) for values in rates], [measured]).unit(measured)
    return Scale({**scale.units, own.dimension: shown})


def output_tables(comparison: Comparison) -> list[Table]:
    """The errors of each output separately, if there are several."""
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
    """Each measured output with its column and its errors."""
    return [
        {"output": one.output, "y": one.measured.header, "summary": one.summary}
        for one in comparison.each
    ]


def _summary_table(comparison: Comparison, scale: Scale) -> Table:
    summary = comparison.summary
    worst = _worst(comparison, scale)
    rows = {
        "typical error (RMS)": f"{summary['rms_relative_error']:.1%}",
        "largest error": f"{summary['max_relative_error']:.1%}{worst}",
        "median error": f"{summary['median_relative_error']:.1%}",
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
    notes = [comparison.axes.note, *closed_notes(comparison, scale)]
    if comparison.output == "response_time" and is_rate(comparison.load):
        notes.append(span(comparison.within, comparison.load.values))
    left_out = int(comparison.in_range.sum() - comparison.counted.sum())
    if left_out:
        why = comparison.solution.saturation_message
        notes.append(f"{counted(left_out, 'point')} not counted, beyond saturation: {why}")
    return [*notes, *finding_lines(comparison.findings, scale)]


def closed_notes(comparison: Comparison, scale: Scale) -> list[str]:
    """Notes on how the test was driven and, for circulating jobs, on their think time."""
    notes = list(comparison.table.notes)
    if comparison.load_parameter != "population":
        return notes
    think = comparison.model.parameters["think_time"]
    thought = np.unique(np.asarray(think.value, float))
    shown = (
        scale.text(float(thought[0]), think.unit)
        if thought.size == 1
        else "as measured, row by row"
    )
    return [*notes, f"closed: solved at the measured {comparison.load.header}; think time {shown}"]
