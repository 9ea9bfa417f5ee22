"""elbencho's ``--csvfile``: one line per phase, under one line of titles."""

import csv
from collections.abc import Mapping, Sequence
from typing import Any

from headway.errors import MeasurementError
from headway.models.measured.points import Loop, Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.tools.kit.numbers import filled, number
from headway.models.measured.tools.kit.text import begins, placed

_TITLES = "ISO date,label,path type,"
_MILLI, _MICRO, _PERCENT, _MIB = 1e-3, 1e-6, 1e-2, 2.0**20

_LAST = "the rate covers the time until the last thread ended; others may have ended earlier"
_WHOLE = "latencies are in whole us, run times in whole ms"
_MIXED = "reads and writes of the mix share the population: the sum of their X R"
_LIMITED = "a limit on bytes per second was set for each thread"
_RATES = ("IOPS", "entries/s")


class _Phase:
    """Cells of a line by their titles."""

    def __init__(self, cells: Mapping[str, str], place: str) -> None:
        self.cells, self.place = cells, place

    def at(self, title: str, scale: float = 1.0) -> float | None:
        text = self.cells.get(title, "").strip()
        return number(text, f"{self.place}, {title}") * scale if text else None

    def points(self) -> list[Point]:
        """The operation of this phase, with the reads of a mix separate; nothing for a sync."""
        mixed = any(self.at(f"rwmix read {rate} [last]") for rate in _RATES)
        kinds = ("", "rwmix read ") if mixed else ("",)
        return [point for kind in kinds if (point := self.point(kind, _MIXED if mixed else ""))]

    def point(self, kind: str, note: str) -> Point | None:
        """Blocks if the phase transfers any, else entries such as files and folders."""
        rate = self.at(f"{kind}IOPS [last]")
        if rate:
            depth = self.at("IO depth") or 1.0
            return self.done(kind, rate, f"{kind}IO lat us [avg]", depth, note)
        rate = self.at(f"{kind}entries/s [last]")
        return self.done(kind, rate, f"{kind}Ent lat us [avg]", 1.0, note) if rate else None

    def done(self, kind: str, rate: float, mean: str, depth: float, note: str) -> Point:
        hosts, threads = self.at("hosts") or 1.0, self.at("threads")
        busy = self.at("CPU% [last]", _PERCENT)
        limited = "--limit" in self.cells.get("command", "")
        entries = mean.startswith(f"{kind}Ent")
        return Point(
            "elbencho",
            Loop.CLOSED,
            population=hosts * threads * depth if threads else None,
            throughput=rate,
            response_time=self.at(mean, _MICRO),
            samples=self.at(f"{kind}entries [last]") if entries else None,
            duration=self.at("time ms [last]", _MILLI) or None,
            utilisation={} if busy is None else {"cpu": busy},
            more=self.further(kind, entries=entries),
            name=self.cells.get("operation", "") + (" read" if kind else " write" if note else ""),
            notes=(_LAST, _WHOLE, *filter(None, (note, _LIMITED if limited else ""))),
        )

    def further(self, kind: str, *, entries: bool) -> dict[str, float]:
        """Bandwidth, and the entries whose blocks are counted."""
        further = {"bandwidth_bytes_s": self.at(f"{kind}MiB/s [last]", _MIB)}
        if not entries:
            further["entry_rate_ops_s"] = self.at(f"{kind}entries/s [last]")
            further["entry_latency_s"] = self.at(f"{kind}Ent lat us [avg]", _MICRO)
        return filled(further)


def _points(text: str, source: str) -> Sequence[Point]:
    points = [point for phase in _phases(text, source) for point in phase.points()]
    if not points:
        msg = f"{source}: no elbencho phase transferred anything; run it again"
        raise MeasurementError(msg)
    return points


def _phases(text: str, source: str) -> list[_Phase]:
    """Lines under the titles; each ends with the command, which may contain commas."""
    titles: list[str] = []
    phases = []
    for place, content in placed(text, source):
        if content.startswith(_TITLES):
            titles = content.split(",")
        elif content.strip():
            cells = _cells(content, titles)
            if len(cells) < len(titles):
                msg = (
                    f"{place}: {len(cells)} cells under {len(titles)} titles; check that the file "
                    "is complete"
                )
                raise MeasurementError(msg)
            phases.append(_Phase(dict(zip(titles, cells, strict=False)), place))
    return phases


def _cells(content: str, titles: Sequence[str]) -> list[str]:
    """Cells of a line, the last of which may contain commas."""
    if titles[-1:] == ["command"]:
        return content.split(",", len(titles) - 1)
    try:
        cells: list[Any] = next(csv.reader([content]))
    except (csv.Error, StopIteration):
        cells = []
    return cells


ELBENCHO = tool_reader(
    "elbencho",
    begins(_TITLES),
    _points,
    "one point per phase: I/O or entries per second, mean latency, hosts times threads "
    "times depth, bandwidth, CPU utilisation",
)
