"""Sweeps described: one row per statistic."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from headway.models.language.scales import Scale
from headway.models.language.units import Unit
from headway.models.showing.indices import index_columns
from headway.models.showing.parts.alternatives import (
    ALL,
    OF_ALL,
    OF_ALL_ENDS,
    alone_note,
    mixed_note,
    models_document,
)
from headway.models.showing.solutions import labels
from headway.models.sweeping.reductions.reduction import Row
from headway.models.sweeping.sweep import Sweep
from headway.models.tables.description import (
    ABSENT,
    Description,
    Field,
    Records,
    only_csv,
    only_json,
)
from headway.models.tables.table import Column, Table
from headway.numerals import four_digits, significant


def describe(swept: Sweep) -> Description:
    """One row per statistic, with values in SI and the unit in a column."""
    effort = swept.effort
    return Description(
        records=lambda: _records(swept),
        scale=lambda: _scale(swept),
        tables=lambda scale: [_table(swept, scale)],
        document=lambda rows: {
            "model": swept.model.name,
            "preset": swept.model.preset,
            "space": swept.space.describe(),
            "points": effort.points,
            "interrupted": effort.interrupted,
            "approximation": swept.approximation or None,
            "effort": {
                "seconds": effort.seconds,
                "workers": effort.workers,
                "chunks": effort.chunks,
                "points_per_second_and_core": effort.rate,
                "share_busy": effort.busy_share,
                "share_solving": effort.kernel_share,
            },
            "results": rows,
            **models_document(swept.model),
        },
    )


def _records(swept: Sweep) -> Records:
    """The rows of reductions, some of which have more fields, and the point of rows about one."""
    rows, inputs = swept.results, list(_inputs(swept))
    known = {n: swept.model.parameters[n] for n in swept.space.names} if any(inputs) else {}
    names = tuple(dict.fromkeys(name for row in rows for name in row))
    more = [name for name in names if name not in _COLUMNS]
    columns = {name: _COLUMNS.get(name, ()) for name in (*_COLUMNS, *more) if name in names}
    return Records(
        (
            *(
                Field((name,), [row.get(name, ABSENT) for row in rows], csv=csv)
                for name, csv in columns.items()
            ),
            only_json("inputs", inputs),
            *_of_all_models(swept),
            *(
                only_csv(name, (None if at is None else at[name] for at in inputs), one.unit)
                for name, one in known.items()
            ),
            only_csv("approximation", (swept.approximation for _ in rows)),
        ),
        (*names, "inputs", OF_ALL),
    )


def _of_all_models(swept: Sweep) -> Iterator[Field]:
    """The range of each result, if there are alternatives."""
    if swept.alternatives:
        yield Field((OF_ALL,), swept.values_of_all(), csv=OF_ALL_ENDS)


_PLAIN = ("reduction", "output", "statistic", "value", "unit", "error", "points", "absent")
_COLUMNS = {
    **{name: (name,) for name in _PLAIN},
    "interval": ("ci95_low", "ci95_high"),
    **{name: (name,) for name in ("parameter", "index", "from", "to")},
}
"""Fields that are also in CSV; the last four are for some reductions only."""


def _table(swept: Sweep, scale: Scale) -> Table:
    """The output, its value, and its error."""
    title = f"{swept.model.title}: {swept.effort.points:,} points of {_space_text(swept)}"
    if swept.has_indices:
        return _index_table(swept)
    rows, units = swept.results, _units(swept)
    columns = (
        Column("output", tuple(row["output"].replace("_", " ") for row in rows)),
        Column("statistic", tuple(row["statistic"] for row in rows)),
        Column("value", tuple(_value(row, units[row["output"]], scale) for row in rows)),
        Column("95% interval", tuple(_interval(row, units[row["output"]], scale) for row in rows)),
        *_column_of_all(swept, scale),
        Column("at", tuple(_places(swept, scale))),
    )
    kept = tuple(column for column in columns if any(cell is not None for cell in column.cells))
    return Table(title, kept, tuple(_notes(swept)), 2)


def _column_of_all(swept: Sweep, scale: Scale) -> Iterator[Column]:
    """The range as a column, in words."""
    if swept.alternatives:
        units = _units(swept)
        each = zip(swept.results, swept.values_of_all(), strict=True)
        yield Column(
            ALL,
            tuple(
                _ends(row, between, units[row["output"]], scale)
                if row["measures"] != "count" and math.isfinite(between[1])
                else None
                for row, between in each
            ),
        )


def _ends(row: Row, between: tuple[float, float], own_unit: Unit, scale: Scale) -> str:
    """Two values of a result in words."""
    low, high = between
    if row["measures"] == "share":
        return f"{four_digits(100 * low)} to {_percent(high)}"
    return scale.ends(low, high, own_unit)


def _index_table(swept: Sweep) -> Table:
    outputs = ", ".join(dict.fromkeys(row["output"] for row in swept.results))
    title = (
        f"{swept.model.title}: what {outputs.replace('_', ' ')} varies with "
        f"({swept.effort.points:,} points)"
    )
    columns = index_columns(swept.results)
    return Table(title, columns, tuple(_notes(swept)), len(columns) - 4)


def _scale(swept: Sweep) -> Scale:
    """Units chosen by the statistics, and the points at which they occur."""
    known, units = swept.model.parameters, _units(swept)
    shown: list[tuple[Any, Unit]] = [
        (row["value"], units[row["output"]]) for row in swept.results if row["measures"] == "output"
    ]
    for inputs in _inputs(swept):
        shown += [(value, known[name].unit) for name, value in (inputs or {}).items()]
    return Scale.of(shown, swept.model.stated)


def _units(swept: Sweep) -> dict[str, Unit]:
    return {reduction.output: reduction.unit for reduction in swept.reductions}


def _value(row: Row, own_unit: Unit, scale: Scale) -> str | None:
    if math.isnan(row["value"]):
        return None
    if row["measures"] == "count":
        return f"{row['value']:,.0f}"
    if row["measures"] == "share":
        return _percent(row["value"])
    return scale.text(row["value"], own_unit)


def _percent(share: float) -> str:
    return f"{four_digits(100 * share)}%"


def _interval(row: Row, own_unit: Unit, scale: Scale) -> str | None:
    return None if row["interval"] is None else _ends(row, row["interval"], own_unit, scale)


def _places(swept: Sweep, scale: Scale) -> Iterator[str | None]:
    """The point of each row about a single point, in words."""
    known = swept.model.parameters
    for inputs in _inputs(swept):
        each = (
            f"{name} {known[name].shown(value, scale)}" for name, value in (inputs or {}).items()
        )
        yield ", ".join(each) or None


def _inputs(swept: Sweep) -> Iterator[dict[str, float] | None]:
    """Values of the parameters at the point of each row about a single point."""
    columns = swept.points(_numbers(swept))
    points = zip(*(values.tolist() for values in columns.values()), strict=True)
    for row in swept.results:
        is_of_one = row["point"] is not None
        yield dict(zip(columns, next(points), strict=True)) if is_of_one else None


def _numbers(swept: Sweep) -> list[int]:
    return [row["point"] for row in swept.results if row["point"] is not None]


def _space_text(swept: Sweep) -> str:
    count = swept.space.size
    return f"{count:,}" if swept.effort.points < count else ", ".join(swept.space.names)


def _notes(swept: Sweep) -> Iterator[str]:
    effort = swept.effort
    if effort.interrupted:
        yield (
            f"interrupted: of the first {effort.points:,} of {swept.space.size:,} points, in the "
            "order of the space"
        )
    yield from _saturated(swept)
    worst = {r["reduction"]: r["error_relative"] for r in sorted(swept.results, key=_error)}
    for name, error in worst.items():
        if error:
            yield f"{name}: within {significant(100 * error, 2)}% of the points' own"
    lost = {
        row["output"]: row["absent"]
        for row in swept.results
        if row["absent"] and "index" not in row
    }
    for name, count in lost.items():
        yield f"{count:,} points have no {name}"
    indices = (row for row in swept.results if row.get("index") and not effort.interrupted)
    yield from dict.fromkeys(_index_note(row) for row in indices)
    yield from (mixed_note if swept.alternatives else alone_note)(swept.model)
    yield from labels(swept.first)


def _saturated(swept: Sweep) -> Iterator[str]:
    """Say how many points have no finite answer, if a distribution was kept."""
    for output, known in swept.distributions.items():
        share = float(known.counts[np.isinf(known.high)].sum()) / max(known.size, 1)
        if share:
            yield f"{_percent(share)} of the points saturate: {output} counts as ∞ there"


def _index_note(row: Row) -> str:
    """What Sobol indices are, or why there are none."""
    if row["absent"]:
        return (
            f"no indices of {row['output']}: {row['absent']:,} samples have no finite one, and an "
            "infinite variance has no shares"
        )
    if math.isnan(row["value"]):
        return f"no indices of {row['output']}, which does not vary"
    return {
        "first": "first index: share of the variance that would go if this parameter alone were "
        "known",
        "total": "total index: share that would stay if all the others were known",
    }[str(row["index"])]


def _error(row: Row) -> float:
    return float(row["error_relative"])
