"""iostat: rates, times and utilisation of each disk, as text and as JSON."""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any

from headway.errors import MeasurementError
from headway.models.measured.points import QUEUE, Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.tools.kit.documents import amount, document
from headway.models.measured.tools.kit.numbers import filled
from headway.models.measured.tools.monitors.sysstat import (
    BUSY,
    TitledRow,
    clock,
    cores_of,
    cpu_utilisation,
    hosts,
    json_row,
    mean,
    span,
    tables,
)
from headway.records import dataclass

_TITLES = re.compile(r"^(?:avg-cpu:\s+%user\s|Device:?\s+(?:tps|r/s|rrqm/s)\s)", re.MULTILINE)
_JSON = re.compile(r'"avg-cpu"\s*:|"disk_device"\s*:')
_HEAD = 4000

_KINDS = {"r/s": "r_await", "w/s": "w_await", "d/s": "d_await", "f/s": "f_await"}
"""Rates of reads, writes, discards and flushes, and the title of their mean time [ms]."""

_BYTES = {
    "rkB/s": ("read_bytes_s", 1024.0), "wkB/s": ("write_bytes_s", 1024.0),
    "rMB/s": ("read_bytes_s", 1024.0**2), "wMB/s": ("write_bytes_s", 1024.0**2),
    "rsec/s": ("read_bytes_s", 512.0), "wsec/s": ("write_bytes_s", 512.0),
    "kB_read/s": ("read_bytes_s", 1024.0), "kB_wrtn/s": ("write_bytes_s", 1024.0),
    "MB_read/s": ("read_bytes_s", 1024.0**2), "MB_wrtn/s": ("write_bytes_s", 1024.0**2),
}  # fmt: skip
_QUEUE = ("aqu-sz", "avgqu-sz")


@dataclass(frozen=True)
class _Run:
    """Samples of one host: rows of its CPUs and of each disk, the first since boot."""

    cpus: list[TitledRow]
    disks: dict[str, list[TitledRow]]
    times: list[TitledRow]
    more: dict[str, float] = field(default_factory=dict)


def _is_iostat(text: str) -> bool:
    head = text[:_HEAD]
    if head.lstrip()[:1] == "{":
        return '"sysstat"' in head and _JSON.search(head) is not None
    return head.lstrip().startswith(("Linux ", "avg-cpu:", "Device")) and bool(_TITLES.search(head))


def _points(text: str, source: str) -> list[Point]:
    if text.lstrip().startswith("{"):
        runs = list(_of_json(document(text, source), source))
    else:
        runs = [_of_text(text, source)]
    points = [point for run in runs for point in _of_run(run)]
    if not points:
        msg = f"{source}: no samples; let the monitor run for at least one interval"
        raise MeasurementError(msg)
    return points


def _of_text(text: str, source: str) -> _Run:
    parsed = tables(text, source)
    disks: dict[str, list[TitledRow]] = {}
    for table in parsed:
        if table.titles[0].startswith("Device"):
            for row in table.rows:
                disks.setdefault(row.cells[table.titles[0]], []).append(row)
    cpus = [row for table in parsed if table.titles[0] == "avg-cpu:" for row in table.rows]
    return _Run(cpus, disks, _stamps(text), cores_of(text, source))


def _stamps(text: str) -> list[TitledRow]:
    """Lines with only a time, as ``-t`` prints them."""
    times = [clock(_american(line.strip())) for line in text.splitlines()]
    return [TitledRow("", {}, time) for time in times if time is not None]


def _american(line: str) -> str:
    """A line without the date before its time."""
    return re.sub(r"^[0-9]{2}/[0-9]{2}/[0-9]{2,4}\s+", "", line)


def _of_json(document: Mapping[str, Any], source: str) -> Iterator[_Run]:
    for host, samples in hosts(document, source):
        run = _Run([], {}, [])
        for index, sample in enumerate(samples):
            _take(run, sample, f"{source}: statistics[{index}]")
        cores = amount(host, "number-of-cpus", source=source)
        if cores is not None:
            run.more["cores"] = cores
        yield run


def _take(run: _Run, sample: object, place: str) -> None:
    """Add one sample of the JSON to a run."""
    if not isinstance(sample, Mapping):
        msg = f"{place} is not an object"
        raise MeasurementError(msg)
    if "avg-cpu" in sample:
        run.cpus.append(json_row(sample["avg-cpu"], place))
    entries = sample.get("disk", [])
    for entry in entries if isinstance(entries, list) else [entries]:
        row = json_row(entry, place)
        run.disks.setdefault(row.cells.get("disk_device", "disk"), []).append(row)
    stamp = sample.get("timestamp")
    if isinstance(stamp, str) and (time := clock(_american(stamp))) is not None:
        run.times.append(TitledRow(place, {}, time))


def _of_run(run: _Run) -> Iterator[Point]:
    """One point per disk, or one of the CPUs if there is no disk."""
    cpus = cpu_utilisation(run.cpus[1:] or run.cpus)
    count = max(map(len, (run.cpus, *run.disks.values())))
    duration = span(run.times[1:], run.times[0].time) if count > 1 and run.times else None
    notes = _notes(count)
    if run.cpus:
        notes = (*notes, BUSY)
    for name, rows in run.disks.items():
        yield _disk(name, rows[1:] or rows, cpus, duration, run.more, notes)
    if cpus and not run.disks:
        yield Point("iostat", duration=duration, utilisation=cpus, more=run.more, notes=notes)


def _notes(count: int) -> tuple[str, ...]:
    if count == 1:
        return ("The only sample covers the time since boot, unless iostat ran with -y.",)
    return (
        f"The mean of {count - 1} sample{'s' if count > 2 else ''}.",
        "The first sample, which covers the time since boot, is excluded.",
    )


def _disk(
    name: str,
    rows: list[TitledRow],
    cpus: Mapping[str, float],
    duration: float | None,
    more: Mapping[str, float],
    notes: tuple[str, ...],
) -> Point:
    rate, time = _rate_and_time(rows)
    utilisation = dict(cpus)
    if (used := _mean(rows, "%util", "util")) is not None:
        utilisation[name] = used / 100
        notes = (*notes, "A disk that serves several requests at once may do more even at 100%.")
    if rate and time == 0:
        time, notes = None, (*notes, "Its mean time is below 0.005 ms, printed as 0: omitted.")
    further = filled(_further(rows))
    return Point(
        "iostat",
        throughput=rate,
        response_time=time,
        duration=duration,
        utilisation=utilisation,
        more={**further, **more},
        name=name,
        notes=notes,
    )


def _rate_and_time(rows: list[TitledRow]) -> tuple[float | None, float | None]:
    """All requests per second, and their mean time in queue and service [s]."""
    if (transfers := _mean(rows, "tps")) is not None:
        return transfers, None
    kinds = [(row, rate, wait) for row in rows for rate, wait in _KINDS.items()]
    rates = [(row.value(rate) or 0.0, row.value(wait, "await")) for row, rate, wait in kinds]
    total = math.fsum(rate for rate, _ in rates)
    if any(rate < 0 for rate, _ in rates):
        msg = f"{rows[0].place}: a rate is negative; check the file"
        raise MeasurementError(msg)
    timed = [(rate, wait) for rate, wait in rates if wait is not None and rate > 0]
    weight = math.fsum(rate for rate, _ in timed)
    spent = math.fsum(rate * wait for rate, wait in timed)
    return total / len(rows), spent / weight / 1e3 if weight else None


def _further(rows: list[TitledRow]) -> dict[str, float | None]:
    further: dict[str, float | None] = {QUEUE: _mean(rows, *_QUEUE)}
    for title, (name, scale) in _BYTES.items():
        if (value := _mean(rows, title)) is not None:
            further[name] = value * scale
    return further


def _mean(rows: list[TitledRow], *titles: str) -> float | None:
    values = [value for row in rows if (value := row.value(*titles)) is not None]
    return mean(values) if values else None


IOSTAT = tool_reader(
    "iostat",
    _is_iostat,
    _points,
    "one point per disk: rate, mean time, utilisation and bytes; CPU utilisation",
)
