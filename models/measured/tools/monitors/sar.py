"""sar: how busy CPUs, disks and networks were, as text."""

import re
from collections.abc import Iterator

from headway.errors import MeasurementError
from headway.models.measured.points import Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.tools.monitors.sysstat import (
    BUSY,
    Row,
    Table,
    cores_of,
    cpu_utilisation,
    kept,
    mean,
    said,
    share,
    span,
    tables,
    titled,
)

_TITLES = re.compile(
    r"^\S+(?: [AP]M)?\s+(?:CPU\s+%us(?:e)?r\s+%nice\s+%sys(?:tem)?\s+%iowait\s+%steal\s"
    r"|DEV\s+tps\s|IFACE\s+rxpck/s\s)",
    re.MULTILINE,
)
_NAMES = {"DEV": "%util", "IFACE": "%ifutil"}


def _points(text: str, source: str) -> list[Point]:
    found = tables(text, source)
    cpus = kept(row for table in found if "%idle" in table.titles for row in table.rows)
    others = dict(_others(found))
    utilisation = {**cpu_utilisation(cpus), **others}
    if not utilisation:
        msg = f"{source}: no table tells how busy something is; run sar with -u, -d or -n DEV"
        raise MeasurementError(msg)
    rows = cpus or kept(row for table in found for row in table.rows)
    duration = None if rows[0].average else span(rows, _started(found, rows))
    return [
        Point(
            "sar",
            duration=duration,
            utilisation=utilisation,
            more=cores_of(text),
            notes=(*said(rows), *((BUSY,) if cpus else ())),
        )
    ]


def _started(found: list[Table], rows: list[Row]) -> float | None:
    """When the table of these rows began."""
    return next((table.started for table in found if rows[0] in table.rows), None)


def _others(found: list[Table]) -> Iterator[tuple[str, float]]:
    """Disks and networks, by their names."""
    for title, busy in _NAMES.items():
        rows = [row for table in found if {title, busy} <= set(table.titles) for row in table.rows]
        for name in dict.fromkeys(row.cells[title] for row in rows):
            mine = kept(row for row in rows if row.cells[title] == name)
            yield name, mean([share(row, busy) or 0.0 for row in mine])


SAR = tool_reader(
    "sar", titled(_TITLES), _points, "how busy CPUs, disks and networks were, and for how long"
)
