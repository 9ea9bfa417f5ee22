"""sar: utilisation of CPUs, disks and networks, as text and as JSON."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from headway.errors import MeasurementError
from headway.models.measured.points import Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.tools.kit.documents import amount, document, under
from headway.models.measured.tools.kit.numbers import filled
from headway.models.measured.tools.monitors.sysstat import (
    BUSY,
    TitledRow,
    TitledTable,
    cores_of,
    cpu_utilisation,
    hosts,
    json_row,
    kept,
    mean,
    sample_notes,
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
_HEAD = 4000
_NAMES = {"DEV": "%util", "IFACE": "%ifutil"}


def _points(text: str, source: str) -> list[Point]:
    parsed = tables(text, source)
    cpus = kept(row for table in parsed if "%idle" in table.titles for row in table.rows)
    others = dict(_others(parsed))
    utilisation = {**cpu_utilisation(cpus), **others}
    if not utilisation:
        msg = f"{source}: no table has utilisations; run sar with -u, -d or -n DEV"
        raise MeasurementError(msg)
    rows = cpus or kept(row for table in parsed for row in table.rows)
    duration = None if rows[0].average else span(rows, _started(parsed, rows))
    return [
        Point(
            "sar",
            duration=duration,
            utilisation=utilisation,
            more=cores_of(text, source),
            notes=(*sample_notes(rows), *((BUSY,) if cpus else ())),
        )
    ]


def _started(tables: list[TitledTable], rows: list[TitledRow]) -> float | None:
    """The start of the table of these rows."""
    return next((table.started for table in tables if rows[0] in table.rows), None)


def _others(tables: list[TitledTable]) -> Iterator[tuple[str, float]]:
    """Disks and networks, by their names."""
    for title, busy in _NAMES.items():
        rows = [row for table in tables if {title, busy} <= set(table.titles) for row in table.rows]
        for name in dict.fromkeys(row.cells[title] for row in rows):
            mine = kept(row for row in rows if row.cells[title] == name)
            yield name, mean([share(row, busy) or 0.0 for row in mine])


def _is_json(text: str) -> bool:
    head = text[:_HEAD]
    return head.lstrip()[:1] == "{" and '"sysstat"' in head and '"file-date"' in head


def _of_json(text: str, source: str) -> list[Point]:
    """One point per host, from all its samples."""
    report = hosts(document(text, source), source)
    return [_of_host(host, samples, source) for host, samples in report]


def _of_host(host: Mapping[str, Any], samples: list[Any], source: str) -> Point:
    cpus: list[TitledRow] = []
    others: dict[str, list[float]] = {}
    for number, sample in enumerate(samples):
        place = f"{source}: statistics[{number}]"
        cpus += [json_row(entry, place) for entry in _entries(sample, "cpu-load")]
        for entry in [*_entries(sample, "disk"), *_entries(under(sample, "network"), "net-dev")]:
            row = json_row(entry, place)
            busy = share(row, "util-percent", "ifutil-percent")
            name = row.cells.get("disk-device") or row.cells.get("iface")
            if name and busy is not None:
                others.setdefault(name, []).append(busy)
    utilisation = {**cpu_utilisation(cpus), **{name: mean(each) for name, each in others.items()}}
    if not utilisation:
        msg = f"{source}: no table has utilisations; run sadf -j FILE -- -u -d -n DEV"
        raise MeasurementError(msg)
    lengths = [amount(each, "timestamp", "interval", source=source) or 0.0 for each in samples]
    return Point(
        "sar",
        duration=sum(lengths) or None,
        utilisation=utilisation,
        more=filled({"cores": amount(host, "number-of-cpus", source=source)}),
        notes=(f"The mean of {len(samples)} samples.", *((BUSY,) if cpus else ())),
    )


def _entries(document: Any, key: str) -> list[Any]:
    entries = document.get(key) if isinstance(document, Mapping) else None
    return entries if isinstance(entries, list) else []


SAR_JSON = tool_reader(
    "sar (JSON)", _is_json, _of_json, "utilisation of CPUs, disks and networks, and the interval"
)
"""Reads the JSON of ``sadf -j``."""

SAR = tool_reader(
    "sar", titled(_TITLES), _points, "utilisation of CPUs, disks and networks, and the interval"
)
