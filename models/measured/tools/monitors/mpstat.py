"""mpstat: utilisation of each CPU, as text and as JSON."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from headway.errors import MeasurementError
from headway.models.measured.points import Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.tools.kit.documents import amount, document
from headway.models.measured.tools.monitors.sysstat import (
    BUSY,
    TitledRow,
    cores_of,
    cpu_utilisation,
    hosts,
    json_row,
    kept,
    sample_notes,
    span,
    tables,
    titled,
)

_TITLES = re.compile(
    r"^\S+(?: [AP]M)?\s+CPU\s+%us(?:e)?r\s+%nice\s+%sys\s+%iowait\s+%irq\s+%soft", re.MULTILINE
)
_JSON = re.compile(r'"cpu-load"\s*:\s*\[\s*\{\s*"cpu"\s*:\s*"[^"]*"\s*,\s*"usr".*?"irq"', re.DOTALL)
_HEAD = 4000


def _is_mpstat(text: str) -> bool:
    head = text[:_HEAD]
    if head.lstrip()[:1] == "{":
        return '"sysstat"' in head and _JSON.search(head) is not None
    return titled(_TITLES)(head)


def _points(text: str, source: str) -> list[Point]:
    if text.lstrip().startswith("{"):
        return list(_of_json(document(text, source), source))
    parsed = [table for table in tables(text, source) if {"CPU", "%idle"} <= set(table.titles)]
    rows = kept(row for table in parsed for row in table.rows)
    started = parsed[0].started if parsed else None
    return [_point(rows, cores_of(text, source), started, source)]


def _of_json(document: Mapping[str, Any], source: str) -> Iterator[Point]:
    for host, samples in hosts(document, source):
        rows = [row for n, sample in enumerate(samples) for row in _sample(sample, source, n)]
        cores = amount(host, "number-of-cpus", source=source)
        more = {} if cores is None else {"cores": cores}
        yield _point(rows, more, None, source)


def _sample(sample: object, source: str, number: int) -> list[TitledRow]:
    place = f"{source}: statistics[{number}]"
    entries = sample.get("cpu-load") if isinstance(sample, Mapping) else None
    if not isinstance(entries, list):
        msg = f"{place}: cpu-load is missing; run mpstat with -u or -P ALL"
        raise MeasurementError(msg)
    stamp = sample.get("timestamp") if isinstance(sample, Mapping) else None
    return [json_row(entry, place, stamp) for entry in entries]


def _point(
    rows: list[TitledRow], more: dict[str, float], started: float | None, source: str
) -> Point:
    utilisation = cpu_utilisation(rows)
    if not utilisation:
        msg = f"{source}: no samples; let the monitor run for at least one interval"
        raise MeasurementError(msg)
    notes = (*sample_notes(rows), BUSY)
    boot = rows[0].since_boot or rows[0].average
    duration = None if boot else span(rows, started)
    return Point("mpstat", duration=duration, utilisation=utilisation, more=more, notes=notes)


MPSTAT = tool_reader(
    "mpstat", _is_mpstat, _points, "CPU utilisation, total and per CPU, and the interval"
)
