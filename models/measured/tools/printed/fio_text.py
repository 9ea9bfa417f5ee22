"""fio's normal output, as text: version 2 and 3."""

import re
from collections.abc import Mapping

from headway.models.measured.points import LONGEST, SHORTEST, Loop, Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.tools.fio import COMPLETION
from headway.models.measured.tools.kit.numbers import SECONDS, count, filled, number, percentiles_of
from headway.models.measured.tools.kit.refusals import broken
from headway.models.measured.tools.kit.text import ToolText, runs

_GROUP = r"\S.*: \(groupid=\S+, jobs=\S+\): err=\s*\S+"
_IS_FIO = re.compile(rf"^{_GROUP}", re.MULTILINE)
_DIRECTION = re.compile(
    r"^\s+(read|write|trim)\s*:.*?IOPS=\s*([^,\s]+)|"
    r"^\s+(read|write|trim)\s*:.*?iops=\s*([^,\s]+)"
)
_TIME = re.compile(
    r"^\s+(s|c)?lat \((nsec|usec|msec|sec)\)\s*: min=\s*([^,]+), max=\s*([^,]+), avg=\s*([^,]+)"
)
_UNIT = re.compile(r"^\s+c?lat percentiles \((nsec|usec|msec|sec)\)")
_PERCENTILE = re.compile(r"(\S+?)th=\[\s*([^\]]*)\]")


def _is_text(text: str) -> bool:
    return bool(_IS_FIO.search(text))


def _points(text: str, source: str) -> list[Point]:
    """A point for each direction of each group of jobs."""
    depth = re.search(r"iodepth=(\S+)", text)
    each = runs(text, source, _GROUP)
    points = [p for run in each for p in _of_group(run, depth[1] if depth else "")]
    if not points:
        raise broken(source, "no job of this fio run finished an I/O")
    return points


def _of_group(run: ToolText, depth: str) -> list[Point]:
    head = run.needs(
        r"(.*): \(groupid=\S+, jobs=(\S+)\): err=\s*([^:]+)", "job: (groupid=0, jobs=1)"
    )
    jobs, failed = number(head.groups[1], head.place), number(head.groups[2], head.place)
    points = []
    for direction, lines, place in _sections(run):
        rate = count(lines[0], place)
        means, ends = _times(lines, place)
        mean = means.get("") or means.get("c")
        points.append(
            Point(
                "fio",
                Loop.CLOSED,
                population=number(depth, head.place) * jobs if depth else None,
                throughput=rate,
                response_time=mean,
                percentiles=_percentiles(lines, place),
                errors=0.0 if not failed else None,
                more=filled(ends),
                name=f"{head.groups[0]} {direction}",
                notes=(COMPLETION,) * ("" in means)
                + (f"it ended with error {head.groups[2]}",) * bool(failed),
            )
        )
    return points


def _sections(run: ToolText) -> list[tuple[str, list[str], str]]:
    """For each part its direction, its rate, its lines, and its place."""
    sections: list[tuple[str, list[str], str]] = []
    for place, line in run:
        match = _DIRECTION.match(line)
        if match:
            sections.append((match[1] or match[3], [match[2] or match[4]], place))
        elif sections:
            sections[-1][1].append(line)
    return sections


def _times(lines: list[str], place: str) -> tuple[dict[str, float], dict[str, float | None]]:
    """Means by kind of latency, and the extremes of the total."""
    means: dict[str, float] = {}
    ends: dict[str, float | None] = {}
    for match in filter(None, map(_TIME.match, lines)):
        scale = SECONDS[_SECONDS.get(match[2], match[2])]
        means[match[1] or ""] = number(match[5], place) * scale
        if not match[1]:
            low, high = (count(cell, place) * scale for cell in (match[3], match[4]))
            ends = {SHORTEST: low, LONGEST: high}
    return means, ends


_SECONDS = {"nsec": "ns"}


def _percentiles(lines: list[str], place: str) -> Mapping[float, float]:
    scale, cells = 0.0, dict[float, float | None]()
    for line in lines:
        unit = _UNIT.match(line)
        if unit:
            scale = SECONDS[_SECONDS.get(unit[1], unit[1])]
        elif scale and line.lstrip().startswith("|"):
            pairs = _PERCENTILE.findall(line)
            cells |= {number(p, place): number(v, place) * scale for p, v in pairs}
        elif scale:
            break
    return percentiles_of(cells)


FIO_TEXT = tool_reader(
    "fio (text)",
    _is_text,
    _points,
    "reads, writes and trims per group of jobs; iodepth times jobs; mean (lat), percentiles (clat)",
)
"""Reads what fio prints without ``--output-format``."""
