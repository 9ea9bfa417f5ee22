"""pidstat: how busy each process kept a CPU."""

import re

from headway.errors import MeasurementError
from headway.models.measured.points import Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.tools.monitors.sysstat import (
    Row,
    cores_of,
    kept,
    said,
    span,
    tables,
    titled,
)

_TITLES = re.compile(
    r"^(?:# ?)?\S+(?: [AP]M)?\s+(?:UID\s+|USER\s+)?T?G?PID\s.*\bCommand\s*$", re.MULTILINE
)
_KIB = 1024
_MORE = {"kB_rd/s": "read_bytes_s", "kB_wr/s": "write_bytes_s"}


def _points(text: str, source: str) -> list[Point]:
    found = [table for table in tables(text, source) if "Command" in table.titles]
    rows = kept(row for table in found for row in table.rows)
    if not rows:
        msg = f"{source}: names no process; pidstat was stopped before its first interval"
        raise MeasurementError(msg)
    samples = max(len({row.time for row in rows}), 1)
    started = found[0].started
    duration = None if rows[0].average or rows[0].since_boot else span(rows, started)
    notes = (
        *said(rows),
        "Its CPU is a share of one CPU: 2 is two of them full; a sample in which a process"
        " does nothing counts as zero.",
    )
    return [
        Point(
            "pidstat",
            duration=duration,
            utilisation=_cpu(mine, samples),
            more={**_further(mine, samples), **cores_of(text)},
            name=name,
            notes=notes,
        )
        for name, mine in _processes(rows).items()
    ]


def _processes(rows: list[Row]) -> dict[str, list[Row]]:
    """Rows by process, as its command and number."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        numbers = (row.cells.get(title, "-") for title in ("TID", "PID", "TGID"))
        number = next((text for text in numbers if text != "-"), "")
        found.setdefault(f"{row.cells['Command']} {number}".strip(), []).append(row)
    return found


def _cpu(rows: list[Row], samples: int) -> dict[str, float]:
    values = [value for row in rows if (value := row.value("%CPU")) is not None]
    if any(value < 0 for value in values):
        msg = f"{rows[0].place}: %CPU is below zero"
        raise MeasurementError(msg)
    return {"cpu": sum(values) / samples / 100} if values else {}


def _further(rows: list[Row], samples: int) -> dict[str, float]:
    """Bytes read and written; what may not be seen of a process is -1 there."""
    found = {}
    for title, name in _MORE.items():
        values = [value for row in rows if (value := row.value(title)) is not None and value >= 0]
        if values:
            found[name] = _KIB * sum(values) / samples
    return found


PIDSTAT = tool_reader(
    "pidstat",
    titled(_TITLES),
    _points,
    "CPU time of each process, and what it read and wrote",
)
