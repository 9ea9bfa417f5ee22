"""Times by message size, and the machines read off them, as tables, rows and CSV."""

from dataclasses import asdict
from typing import Any

from headway.loggp.machine.parameters import LogGP
from headway.loggp.measuring.sizefit import Line, LineParameter
from headway.models.language.units import Unit, unit
from headway.models.signatures.loggp import NUMBERS, MeasuredSizes
from headway.models.tables.table import Cell, Column, Table

NOT_DETERMINED = "not determined by this data"

_BYTE, _MICROSECOND, _PER_BYTE = unit("B"), unit("us"), unit("ns/B")


def sizes_tables(found: MeasuredSizes) -> list[Table]:
    """Breaks, lines of each series, and LogGP by range of sizes."""
    tables = [_lines_table(found)]
    if found.fit.breaks:
        tables.append(_breaks_table(found))
    return [*tables, _machine_table(found)] if len(found.series) > 1 else tables


def _lines_table(found: MeasuredSizes) -> Table:
    lines = [(name, line) for name, several in found.fit.lines.items() for line in several]
    columns = [
        Column("series", tuple(name for name, _ in lines)),
        Column("from", tuple(line.first_size for _, line in lines), _BYTE),
        Column("to", tuple(line.last_size for _, line in lines), _BYTE),
    ]
    for part, shown in (("intercept", _MICROSECOND), ("slope", _PER_BYTE)):
        texts = tuple(_text(getattr(line, part), shown) for _, line in lines)
        columns.append(Column(f"{part} [{shown}]", texts))
    return Table(f"{found.source}: time by message size", tuple(columns), _notes(found))


def _notes(found: MeasuredSizes) -> tuple[str, ...]:
    spread = ", ".join(f"{name} {100 * d:.2g} %" for name, d in found.fit.deviation.items())
    notes = [f"spread of one measurement: {spread}"]
    first = next(iter(found.fit.lines.values()))[0]
    if first.intercept.interval is None:
        notes.append("no intervals: repeat the measurements, as further rows")
    else:
        notes.append("in brackets: 95 % intervals, breaks held")
    return (*notes, *found.warnings)


def _breaks_table(found: MeasuredSizes) -> Table:
    breaks = found.fit.breaks
    sure = [f"{b.interval[0]:g} to {b.interval[1]:g}" if b.interval else "-" for b in breaks]
    columns = (
        Column("break above", tuple(b.below for b in breaks), _BYTE),
        Column("and up to", tuple(b.above for b in breaks), _BYTE),
        Column("95 % interval [B]", tuple(sure)),
        Column("", tuple("pinned" if b.pinned else b.advice for b in breaks)),
    )
    return Table("breaks", columns)


def _machine_table(found: MeasuredSizes) -> Table:
    lines = next(iter(found.fit.lines.values()))
    columns = [
        Column("from", tuple(line.first_size for line in lines), _BYTE),
        Column("to", tuple(line.last_size for line in lines), _BYTE),
    ]
    for name in NUMBERS:
        shown = _PER_BYTE if name == "gap_per_byte" else _MICROSECOND
        cells = tuple(_cell(machine, name) for machine in found.machines)
        columns.append(Column(name.replace("_", " "), cells, shown))
    why = tuple(machine for machine in found.machines if isinstance(machine, str))
    notes = ("latency in the papers' convention: overheads and bytes taken out", *why)
    return Table("LogGP near the first of these sizes", tuple(columns), notes)


def sizes_document(found: MeasuredSizes) -> dict[str, Any]:
    """The JSON contract's document."""
    return {
        "breaks": [asdict(one) for one in found.fit.breaks],
        "series": {
            name: {
                "relative_deviation": found.fit.deviation[name],
                "lack_of_fit": found.misfits[name].document(),
                "lines": [_line_document(line) for line in lines],
            }
            for name, lines in found.fit.lines.items()
        },
        "regimes": [
            {
                "first_size": line.first_size,
                "last_size": line.last_size,
                **{name: _cell(machine, name) for name in NUMBERS},
                "not_determined": machine if isinstance(machine, str) else None,
            }
            for line, machine in zip(
                next(iter(found.fit.lines.values())), found.machines, strict=True
            )
        ],
        "warnings": list(found.warnings),
    }


def sizes_rows(found: MeasuredSizes) -> list[dict[str, Any]]:
    """One dict a line: series, sizes, intercept and slope in SI."""
    return [
        {"series": name, **_line_document(line)}
        for name, lines in found.fit.lines.items()
        for line in lines
    ]


def sizes_csv(found: MeasuredSizes) -> str:
    """A row a line in SI; cells that the data do not determine are empty."""
    rows = sizes_rows(found)
    columns = [Column("series", tuple(row["series"] for row in rows))]
    columns += [
        Column(name, tuple(row[name] for row in rows), _BYTE)
        for name in ("first_size", "last_size")
    ]
    for part, shown in (("intercept", unit("s")), ("slope", unit("s/B"))):
        ends = [row[part]["ci95"] or (None, None) for row in rows]
        columns.append(Column(part, tuple(row[part]["value"] for row in rows), shown))
        columns += [
            Column(f"{part}_{side}", tuple(end[place] for end in ends), shown)
            for place, side in enumerate(("low", "high"))
        ]
    columns.append(Column("lack_of_fit", tuple(_missed(found, row["series"]) for row in rows)))
    return Table("", tuple(columns)).to_csv()


def _missed(found: MeasuredSizes, series: str) -> str:
    return "yes" if found.misfits[series].is_lack_of_fit else "no"


def _cell(machine: LogGP | str, name: str) -> Cell:
    return None if isinstance(machine, str) else float(getattr(machine, name))


def _text(parameter: LineParameter, shown: Unit) -> str:
    """A parameter with its interval in a unit, or that it is not determined."""
    ends = None if parameter.interval is None else [e / shown.scale for e in parameter.interval]
    if not parameter.determined:
        return NOT_DETERMINED + (f" (at most {ends[1]:.4g})" if ends else "")
    interval = f" ({ends[0]:.4g} to {ends[1]:.4g})" if ends else ""
    return f"{parameter.value / shown.scale:.4g}{interval}"


def _line_document(line: Line) -> dict[str, Any]:
    return {
        "first_size": line.first_size,
        "last_size": line.last_size,
        **{part: _parameter_document(getattr(line, part)) for part in ("intercept", "slope")},
    }


def _parameter_document(parameter: LineParameter) -> dict[str, Any]:
    return {
        "value": parameter.value if parameter.determined else None,
        "ci95": parameter.interval,
        "determined": parameter.determined,
    }
