"""Models of other tools as tables, rows, JSON and CSV: in their file, and solved."""

from typing import Any

from headway.models.analysis.imported import ExpectedRow, Import
from headway.models.language.scales import Scale
from headway.models.tables.table import Column, Table


def import_scale(imported: Import) -> Scale:
    """The units of the file's values and headway's."""
    known = [(x, line.unit) for line in imported.lines for x in (line.in_file, line.solved)]
    stated = imported.model.stated
    return Scale.of([(x, own_unit) for x, own_unit in known if x is not None], stated)


def import_tables(imported: Import) -> list[Table]:
    """Each value of the file beside headway's, and those of stations it has none of."""
    lines, scale = imported.lines, import_scale(imported)
    columns = [
        Column("station", tuple(line.station or "all" for line in lines)),
        Column("class", tuple(line.job_class or "all" for line in lines)),
        Column("measure", tuple(_measure(line, scale) for line in lines)),
        Column("in file", tuple(_number(line.in_file, line, scale) for line in lines)),
        Column("solved", tuple(_number(line.solved, line, scale) for line in lines)),
        Column("difference [%]", tuple(_percent(line) for line in lines)),
    ]
    if not any(line.job_class for line in lines):
        del columns[1]
    names = {**imported.imported.stations, **imported.imported.classes}
    called = ", ".join(f"{old} is {new}" for old, new in names.items() if old != new)
    notes = [_agreement(imported), *imported.notes, f"in headway {called}" if called else ""]
    return [Table(imported.model.name, tuple(columns), tuple(note for note in notes if note))]


def _measure(line: ExpectedRow, scale: Scale) -> str:
    shown = f" [{scale.unit(line.unit)}]" if line.unit.text else ""
    return line.measure.replace("_", " ") + shown


def _number(value: float | None, line: ExpectedRow, scale: Scale) -> str | None:
    return None if value is None else scale.bare(value, line.unit)


def _percent(line: ExpectedRow) -> str | None:
    return None if line.difference is None else f"{100 * line.difference:+.2f}"


def _agreement(imported: Import) -> str:
    """How many of the file's intervals hold headway's values."""
    inside = [line.inside for line in imported.lines if line.inside is not None]
    if not inside:
        return ""
    return (
        f"{sum(inside)} of {len(inside)} simulated intervals of the file contain the solved value"
    )


def import_rows(imported: Import) -> list[dict[str, Any]]:
    """A dict a value, in SI."""
    return [
        {
            "station": line.station or None,
            "class": line.job_class or None,
            "measure": line.measure,
            "in_file": line.in_file,
            "interval": _interval(line),
            "solved": line.solved,
            "difference": line.difference,
            "inside": line.inside,
        }
        for line in imported.lines
    ]


def _interval(line: ExpectedRow) -> list[float] | None:
    given = line.expected
    if given is None or given.low is None or given.high is None:
        return None
    return [given.low, given.high]


def import_document(imported: Import) -> dict[str, Any]:
    """The JSON contract's document for `import`."""
    return {
        "model": imported.model.name,
        "kind": imported.imported.network.kind,
        "stations": dict(imported.imported.stations),
        "classes": dict(imported.imported.classes),
        "approximation": imported.solution.approximation or None,
        "notes": list(imported.imported.network.notes),
        "values": import_rows(imported),
    }


def import_csv(imported: Import) -> str:
    """A CSV row a value, in SI."""
    rows = import_rows(imported)
    keys = ("station", "class", "measure", "in_file", "solved", "difference")
    columns = tuple(Column(key, tuple(row[key] for row in rows)) for key in keys)
    return Table(imported.model.name, columns).to_csv()
