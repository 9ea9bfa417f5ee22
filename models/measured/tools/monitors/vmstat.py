"""vmstat: CPU utilisation, and the number of threads that waited for CPUs."""

import re

from headway.errors import MeasurementError
from headway.models.measured.points import Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.tools.kit.numbers import filled
from headway.models.measured.tools.kit.text import placed
from headway.models.measured.tools.monitors.sysstat import TitledRow, busy, clock, mean, span

_HEADER = re.compile(r"\s*-*procs[ -]+-*memory", re.IGNORECASE)
_MORE = {
    "r": "runnable",
    "b": "blocked",
    "in": "interrupts_s",
    "cs": "context_switches_s",
}
_STAMP = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]{8}$")


def _is_vmstat(text: str) -> bool:
    return _HEADER.match(text) is not None


def _points(text: str, source: str) -> list[Point]:
    rows = _rows(text, source)
    if not rows:
        msg = f"{source}: no samples; let vmstat run for at least one interval"
        raise MeasurementError(msg)
    samples = rows[1:] or rows
    shares = [share for row in samples if (share := busy(row)) is not None]
    if not shares:
        msg = f"{source}: all its shares of CPU time are zero; check the file"
        raise MeasurementError(msg)
    left = "The first sample, which covers the time since boot, is excluded."
    only = "The only sample covers the time since boot."
    return [
        Point(
            "vmstat",
            duration=span(samples, rows[0].time) if rows[1:] else None,
            utilisation={"cpu": mean(shares)},
            more=filled(_further(samples)),
            notes=(
                f"The mean of {len(samples)} sample{'s' if len(samples) > 1 else ''}.",
                left if rows[1:] else only,
                "Shares of CPU time are in whole percent; waiting for a disk counts as idle.",
            ),
        )
    ]


def _further(rows: list[TitledRow]) -> dict[str, float | None]:
    further = {name: [row.value(title) for row in rows] for title, name in _MORE.items()}
    return {
        name: mean([value for value in values if value is not None])
        for name, values in further.items()
        if None not in values
    }


def _rows(text: str, source: str) -> list[TitledRow]:
    titles: list[str] = []
    rows: list[TitledRow] = []
    for place, written in placed(text, source):
        stamp = _STAMP.search(written)
        words = (written[: stamp.start()] if stamp else written).split()
        if words[:2] == ["r", "b"]:
            titles = words
        elif words and not _HEADER.match(written):
            rows.append(_row(place, titles, words, stamp))
    return rows


def _row(place: str, titles: list[str], words: list[str], stamp: re.Match[str] | None) -> TitledRow:
    known = titles[: len(words)] if stamp else titles
    if not titles or len(known) != len(words) or len(titles) - len(words) > 1:
        msg = f"{place}: {len(words)} cells under {len(titles)} titles; the file may be truncated"
        raise MeasurementError(msg)
    time = clock(stamp[0]) if stamp else None
    return TitledRow(place, dict(zip(known, words, strict=True)), time)


VMSTAT = tool_reader("vmstat", _is_vmstat, _points, "CPU utilisation and runnable threads")
