"""Times by message size described: breaks, lines of each series, and LogGP by range of sizes."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from headway.loggp.measuring.sizefit import Break, LineParameter
from headway.models.language.scales import Scale
from headway.models.language.units import Unit, unit
from headway.models.signatures.loggp import NUMBERS, MeasuredSizes
from headway.models.tables.description import (
    Description,
    Field,
    Records,
    Row,
    field,
    only_csv,
    without,
)
from headway.models.tables.table import Cell, Column, Table
from headway.numerals import four_digits, significant

NOT_DETERMINED = "not determined by this data"

_BYTE, _TIME, _PER_BYTE = unit("B"), unit("us"), unit("ns/B")
_PARTS = {"intercept": _TIME, "slope": _PER_BYTE}
"""The numbers of a line, in the units that people read."""


def describe(sizes: MeasuredSizes) -> Description:
    """One row per line in SI; cells that the data do not determine are empty."""
    each = [(name, line) for name, lines in sizes.fit.lines.items() for line in lines]
    misfits = [sizes.misfits[name] for name, _ in each]
    ends = {part: [getattr(line, part) for _, line in each] for part in _PARTS}
    records = Records(
        (
            field("series", (name for name, _ in each)),
            field("first_size", (line.first_size for _, line in each), _BYTE),
            field("last_size", (line.last_size for _, line in each), _BYTE),
            *(one for part, values in ends.items() for one in _parameter_fields(part, values)),
            only_csv("lack_of_fit_f", (one.f for one in misfits)),
            only_csv("lack_of_fit_p", (one.p for one in misfits)),
            only_csv("lack_of_fit", (one.is_lack_of_fit for one in misfits)),
        )
    )
    return Description(
        records=lambda: records,
        scale=lambda: Scale.of(_determined(sizes), [_TIME, _PER_BYTE]),
        tables=lambda scale: _tables(sizes, scale),
        document=lambda rows: _document(sizes, rows),
    )


def _parameter_fields(part: str, each: list[LineParameter]) -> Iterator[Field]:
    si = unit("s" if part == "intercept" else "s/B")
    values = [one.value if one.determined else None for one in each]
    yield Field((part, "value"), values, si, (part,))
    sides = (f"{part}_low", f"{part}_high")
    yield Field((part, "ci95"), [one.interval for one in each], si, sides)
    yield Field((part, "determined"), [one.determined for one in each])


def _determined(sizes: MeasuredSizes) -> Iterator[tuple[float, Unit]]:
    """What the data determine of the lines, and of what was derived from them."""
    lines = [line for several in sizes.fit.lines.values() for line in several]
    for part, own_unit in _PARTS.items():
        each = (getattr(line, part) for line in lines)
        yield from ((one.value, own_unit) for one in each if one.determined)
    for numbers in sizes.regimes:
        for name, value in numbers.items():
            if isinstance(value, float):
                yield value, _unit_of(name)


def _unit_of(name: str) -> Unit:
    return _PER_BYTE if name == "gap_per_byte" else _TIME


def _tables(sizes: MeasuredSizes, scale: Scale) -> list[Table]:
    tables = [_lines_table(sizes, scale)]
    if sizes.fit.breaks:
        tables.append(_breaks_table(sizes))
    has_machine = any(
        isinstance(value, float) for numbers in sizes.regimes for value in numbers.values()
    )
    return (
        [*tables, _machine_table(sizes, scale)] if has_machine or len(sizes.series) > 1 else tables
    )


def _lines_table(sizes: MeasuredSizes, scale: Scale) -> Table:
    lines = [(name, line) for name, several in sizes.fit.lines.items() for line in several]
    columns = [
        Column("series", tuple(name for name, _ in lines)),
        Column("from", tuple(_size(line.first_size) for _, line in lines)),
        Column("to", tuple(_size(line.last_size) for _, line in lines)),
    ]
    for part, own_unit in _PARTS.items():
        shown = scale.unit(own_unit)
        texts = tuple(_text(getattr(line, part), shown) for _, line in lines)
        columns.append(Column(f"{part} [{shown}]", texts))
    return Table(f"{sizes.source}: time by message size", tuple(columns), _notes(sizes))


def _notes(sizes: MeasuredSizes) -> tuple[str, ...]:
    spread = ", ".join(
        f"{name} {significant(100 * d, 2)}%" for name, d in sizes.fit.deviation.items()
    )
    notes = [note for one in sizes.series for note in one.notes]
    notes.append(f"spread of one measurement: {spread}")
    first = next(iter(sizes.fit.lines.values()))[0]
    if first.intercept.interval is None:
        notes.append("no intervals: repeat the measurements, as further rows")
    else:
        notes.append("in brackets: 95% intervals, with the breaks fixed")
    return (*notes, *_tests(sizes), *sizes.warnings)


def _tests(sizes: MeasuredSizes) -> list[str]:
    """F and its probability for each series whose measurements have a known scatter."""
    shown = [
        f"{name} F = {significant(one.f, 3)}, p = {significant(one.p, 2)}"
        for name, one in sizes.misfits.items()
        if one.f is not None and one.p is not None
    ]
    return [f"test of the lines against the scatter of repeats: {'; '.join(shown)}"] * bool(shown)


def _breaks_table(sizes: MeasuredSizes) -> Table:
    breaks = sizes.fit.breaks
    sure = [" to ".join(map(_size, b.interval)) if b.interval else "-" for b in breaks]
    columns = (
        Column("break above", tuple(_size(b.below) for b in breaks)),
        Column("and up to", tuple(_size(b.above) for b in breaks)),
        Column("95% interval", tuple(sure)),
        Column("", tuple("pinned" if b.pinned else _advice(b) for b in breaks)),
    )
    return Table("breaks", columns)


def _advice(brink: Break) -> str:
    """Which sizes to measure in order to locate a break more closely."""
    return f"measure sizes between {_size(brink.below)} and {_size(brink.above)}"


def _machine_table(sizes: MeasuredSizes, scale: Scale) -> Table:
    lines = next(iter(sizes.fit.lines.values()))
    columns = [
        Column("from", tuple(_size(line.first_size) for line in lines)),
        Column("to", tuple(_size(line.last_size) for line in lines)),
    ]
    for name in NUMBERS:
        cells = tuple(_cell(numbers[name]) for numbers in sizes.regimes)
        columns.append(Column(name.replace("_", " "), cells, scale.unit(_unit_of(name))))
    notes = ("latency in the papers' convention: overheads and bytes taken out", *_why(sizes))
    return Table("LogGP near the first of these sizes", tuple(columns), notes)


def _why(sizes: MeasuredSizes) -> list[str]:
    """Why numbers are missing: each reason once, with the numbers concerned."""
    reasons: dict[str, dict[str, None]] = {}
    for numbers in sizes.regimes:
        for name, value in numbers.items():
            if isinstance(value, str):
                reasons.setdefault(value, {})[name.replace("_", " ")] = None
    return [f"{', '.join(names)}: {reason}" for reason, names in reasons.items()]


def _document(sizes: MeasuredSizes, rows: list[Row]) -> dict[str, Any]:
    lines: dict[str, list[Row]] = {name: [] for name in sizes.fit.lines}
    for row in rows:
        lines[row["series"]].append(without(row, "series"))
    return {
        "breaks": [asdict(one) for one in sizes.fit.breaks],
        "series": {
            name: {
                "relative_deviation": sizes.fit.deviation[name],
                "lack_of_fit": sizes.misfits[name].document(),
                "notes": [note for one in sizes.series if one.name == name for note in one.notes],
                "lines": each,
            }
            for name, each in lines.items()
        },
        "regimes": [
            {
                "first_size": line.first_size,
                "last_size": line.last_size,
                **{name: _cell(numbers[name]) for name in NUMBERS},
                **_reasons(numbers),
            }
            for line, numbers in zip(
                next(iter(sizes.fit.lines.values())), sizes.regimes, strict=True
            )
        ],
        "warnings": list(sizes.warnings),
    }


def _cell(value: float | str) -> Cell:
    return None if isinstance(value, str) else value


def _reasons(numbers: Mapping[str, float | str]) -> dict[str, Any]:
    """Why numbers are null: the first reason, and the reason for each."""
    why = {name: value for name, value in numbers.items() if isinstance(value, str)}
    return {"not_determined": next(iter(why.values()), None), "reasons": why}


def _text(parameter: LineParameter, shown: Unit) -> str:
    """A parameter with its interval in a unit, or that it is not determined."""
    ends = None if parameter.interval is None else [e / shown.scale for e in parameter.interval]
    if not parameter.determined:
        return NOT_DETERMINED + (f" (at most {four_digits(ends[1])})" if ends else "")
    interval = f" ({four_digits(ends[0])} to {four_digits(ends[1])})" if ends else ""
    return f"{four_digits(parameter.value / shown.scale)}{interval}"


def _size(size: float) -> str:
    """A size as people write it: whole KiB as such, otherwise bytes."""
    return Scale().stated(size, _BYTE)
