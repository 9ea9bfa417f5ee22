"""Models of other tools described: each value in their file beside headway's."""

from collections.abc import Sequence

from headway.models.analysis.imported import ExpectedRow, Import, LayeredImport
from headway.models.language.scales import Scale
from headway.models.language.units import Unit
from headway.models.tables.description import (
    BARE,
    Description,
    Field,
    Records,
    each,
    field,
    only_json,
    words,
)
from headway.models.tables.table import Table


def describe(imported: Import) -> Description:
    """One row per value, in SI: the file's, and headway's for stations without any in the file."""
    lines = imported.lines
    records = Records(
        (
            field("station", (line.station or None for line in lines)),
            words("station", (line.station or "all" for line in lines)),
            field("class", (line.job_class or None for line in lines)),
            words("class", (line.job_class or "all" for line in lines)),
            *values_of(lines),
        )
    )
    by_class = ["class"] if any(line.job_class for line in lines) else []
    names = {**imported.imported.stations, **imported.imported.classes}
    called = ", ".join(f"{old} is {new}" for old, new in names.items() if old != new)
    also = f"in headway {called}" if called else ""
    return Description(
        records=lambda: records,
        scale=lambda: records.scale(imported.model.stated),
        tables=lambda scale: [table_of(imported, records, scale, ["station", *by_class], also)],
        document=lambda rows: {
            "model": imported.model.name,
            "kind": imported.imported.network.kind,
            "stations": dict(imported.imported.stations),
            "classes": dict(imported.imported.classes),
            "approximation": imported.solution.approximation or None,
            "notes": list(imported.imported.network.notes),
            "values": rows,
        },
    )


def values_of(lines: Sequence[ExpectedRow]) -> tuple[Field, ...]:
    """The file's values, headway's, and how they differ."""
    units = tuple(line.unit for line in lines)
    values = {name: [getattr(line, name) for line in lines] for name in ("in_file", "solved")}
    names = tuple(line.measure.replace("_", " ") for line in lines)
    # avoids -0.00
    percent = each(lambda _scale, share, _unit: f"{round(100 * share, 2) or 0.0:+.2f}")
    differences = tuple(line.difference for line in lines)
    return (
        field("measure", (line.measure for line in lines)),
        Field((), names, units, (), "measure", each(_with_unit)),
        field("in_file", values["in_file"], units, "in file", BARE),
        only_json("interval", map(_interval, lines)),
        field("solved", values["solved"], units, "solved", BARE),
        Field(
            ("difference",),
            differences,
            csv=("difference",),
            title="difference [%]",
            writer=percent,
        ),
        only_json("inside", (line.inside for line in lines)),
    )


def _with_unit(scale: Scale, name: str, unit: Unit) -> str:
    return f"{name} [{scale.unit(unit)}]" if unit.text else name


def _interval(line: ExpectedRow) -> list[float] | None:
    given = line.expected
    if given is None or given.low is None or given.high is None:
        return None
    return [given.low, given.high]


def table_of(
    imported: Import | LayeredImport,
    records: Records,
    scale: Scale,
    heads: list[str],
    also: str = "",
) -> Table:
    """The table of an import, whose rows begin with given columns."""
    titles = (*heads, "measure", "in file", "solved", "difference [%]")
    notes = [_agreement(imported), *imported.notes, also]
    return records.table(imported.model.name, scale, filter(None, notes), titles=titles)


def _agreement(imported: Import | LayeredImport) -> str:
    """How many of the file's intervals contain headway's values."""
    inside = [line.inside for line in imported.lines if line.inside is not None]
    if not inside:
        return ""
    return (
        f"{sum(inside)} of {len(inside)} simulated intervals of the file contain the solved value"
    )
