"""pidstat: CPU utilisation by each process."""

import re

from headway.errors import MeasurementError
from headway.models.measured.points import Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.tools.monitors.sysstat import (
    TitledRow,
    cores_of,
    kept,
    sample_notes,
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
    parsed = [table for table in tables(text, source) if "Command" in table.titles]
    rows = kept(row for table in parsed for row in table.rows)
    if not rows:
        msg = f"{source}: no processes; let pidstat run for at least one interval"
        raise MeasurementError(msg)
    samples = max(len({row.time for row in rows}), 1)
    started = parsed[0].started
    duration = None if rows[0].average or rows[0].since_boot else span(rows, started)
    notes = (
        *sample_notes(rows),
        "Its CPU utilisation counts in CPUs (2 is two full CPUs); a sample in which a process"
        " is idle counts as zero.",
    )
    return [
        Point(
            "pidstat",
            duration=duration,
            utilisation=_cpu(mine, samples),
            more={**_further(mine, samples), **cores_of(text, source)},
            name=name,
            notes=notes,
        )
        for name, mine in _processes(rows).items()
    ]


def _processes(rows: list[TitledRow]) -> dict[str, list[TitledRow]]:
    """Rows by process, named by command and number."""
    processes: dict[str, list[TitledRow]] = {}
    for row in rows:
        numbers = (row.cells.get(title, "-") for title in ("TID", "PID", "TGID"))
        number = next((text for text in numbers if text != "-"), "")
        processes.setdefault(f"{row.cells['Command']} {number}".strip(), []).append(row)
    return processes


def _cpu(rows: list[TitledRow], samples: int) -> dict[str, float]:
    values = [value for row in rows if (value := row.value("%CPU")) is not None]
    if any(value < 0 for value in values):
        msg = f"{rows[0].place}: %CPU is negative; check the file"
        raise MeasurementError(msg)
    return {"cpu": sum(values) / samples / 100} if values else {}


def _further(rows: list[TitledRow], samples: int) -> dict[str, float]:
    """Bytes read and written; the file has -1 for what pidstat may not see."""
    totals = {}
    for title, name in _MORE.items():
        values = [value for row in rows if (value := row.value(title)) is not None and value >= 0]
        if values:
            totals[name] = _KIB * sum(values) / samples
    return totals


PIDSTAT = tool_reader(
    "pidstat",
    titled(_TITLES),
    _points,
    "CPU utilisation of each process, and the bytes it read and wrote",
)
