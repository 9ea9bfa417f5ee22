"""Load tests described: their points, the tools that wrote them, and what was left out."""

import math
from collections import Counter

from headway.models.auditing.contradictions import contradictions
from headway.models.auditing.finding import time_units
from headway.models.language.scales import Scale
from headway.models.language.units import ONE, Unit, unit
from headway.models.measured.points import Point
from headway.models.measured.roles import ROLES
from headway.models.reading.loadtest import LoadTest, Passed
from headway.models.tables.description import Description, Records
from headway.models.tables.table import Column, Table
from headway.numerals import digits, some_of

_SHOWN: dict[str, Unit] = {
    role.part: ONE if role.unit.text == "job" else role.unit for role in ROLES if role.part
}
_TIME = unit("s")
_LENGTH = "duration"  # of a run: it has its own unit, not that of response times
_MOST_LEFT = 8
"""Most columns without a role, and files without measurements, that are named."""


def describe(test: LoadTest) -> Description:
    """One row per point; CSV is headway's own, which `fit` and `compare` read."""
    return Description(
        records=lambda: Records.of(point.document() for point in test.points),
        scale=lambda: time_units(test.points),
        tables=lambda scale: [_table(test, scale)],
        document=lambda rows: {
            "points": rows,
            "left_out": [{"file": each.file, "reason": each.reason} for each in test.left_out],
            "columns": columns_document(test),
            "notes": list(test.notes),
        },
        csv=lambda: _csv(test),
    )


def _table(test: LoadTest, scale: Scale) -> Table:
    """The points by load, the tools that wrote them, and what was left out."""
    points = test.points
    places = [_short(point) for point in points]
    columns = [Column("file", tuple(places))] if len(set(places)) > 1 else []
    if any(point.loop for point in points):
        columns.append(Column("loop", tuple(p.loop.value if p.loop else None for p in points)))
    for name, shown in _SHOWN.items():
        values = [getattr(point, name) for point in points]
        own = Scale() if name == _LENGTH else scale
        columns += _column(name.replace("_", " "), values, shown, own)
    for percent in _percents(test):
        values = [point.percentiles.get(percent) for point in points]
        columns += _column(f"p{digits(percent)}", values, _TIME, scale)
    further, left = _further(test, _MOST_COLUMNS - len(columns), scale)
    columns += further
    remarks = dict.fromkeys([*(note for point in points for note in point.notes), *left])
    wrong = [f"{each.severity.value} of the test: {each.text}" for each in contradictions(points)]
    notes = (*test.notes, *remarks, *wrong, *columns_taken(test), *left_out(test))
    return Table(test.title, tuple(columns), notes)


_MOST_COLUMNS = 8  # columns that a terminal of ordinary width shows without breaking numbers


def _further(test: LoadTest, room: int, scale: Scale) -> tuple[list[Column], list[str]]:
    """Further numbers that tools report, as many as there is room for, and names of the rest."""
    table = test.by_points
    own = {name for point in test.points for name in point.more}
    others = [table.columns[name] for name in table.columns if name in own]
    shown = others if test.wide else others[: max(room, 0)]
    hidden = ", ".join(each.header for each in others[len(shown) :])
    columns = [
        column
        for each in shown
        for column in _column(each.name, [_known(v) for v in each.values], each.unit, scale)
    ]
    return columns, [f"--wide shows further columns: {hidden}"] if hidden else []


def _known(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def _column(name: str, values: list[float | None], shown: Unit, scale: Scale) -> list[Column]:
    """A column in the test's unit, or in one that suits it; none if no point has a value."""
    known = [value for value in values if value is not None]
    if not known:
        return []
    return [Column(name, tuple(values), Column.of(name, known, shown, scale).unit)]


def _percents(test: LoadTest) -> list[float]:
    return sorted({percent for point in test.points for percent in point.percentiles})


def _short(point: Point) -> str:
    name = point.file.rpartition("/")[2]
    return f"{name}: {point.name}" if point.name else name


def columns_taken(test: LoadTest) -> list[str]:
    """State the roles that columns of tables were given, and which columns were not used."""
    used = [str(each) for each in test.columns if each.role]
    left = [str(each) for each in test.columns if not each.role]
    sentences = [", ".join(used)] if used else []
    return [*sentences, *([f"not used: {some_of(left, _MOST_LEFT)}"] if left else [])]


def columns_document(test: LoadTest) -> list[dict[str, str | None]]:
    """The roles of columns for the JSON contract; null for no role, or without a reason."""
    return [
        {"column": u.column, "unit": u.unit, "role": u.role or None, "why": u.why or None}
        for u in test.columns
    ]


def left_out(test: LoadTest) -> list[str]:
    """Count the files that are not measurements in one line, and say why others were left out."""
    passed = [each for each in test.left_out if each.passed is not None]
    counts = Counter(each.passed for each in passed)
    kinds = ", ".join(f"{counts[kind]} {kind}" for kind in Passed if counts[kind])
    names = [each.file.rpartition("/")[2] for each in passed]
    counted = [f"left out: {kinds}: {some_of(names, _MOST_LEFT)}"] if passed else []
    return [*counted, *(f"left out: {each.reason}" for each in test.left_out if not each.passed)]


def _csv(test: LoadTest) -> str:
    table = test.by_points
    rows = range(len(table))
    lines = [",".join(table.columns)]
    lines += [
        ",".join(_cell(column.values[row] / column.unit.scale) for column in table.columns.values())
        for row in rows
    ]
    return "\n".join(lines) + "\n"


def _cell(value: float) -> str:
    return "" if value != value else repr(float(value))
