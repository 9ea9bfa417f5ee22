"""fio's ``--output-format=json`` or ``json+``: version 2 in us, version 3 in ns."""

import math
import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from headway.errors import MeasurementError, quoted
from headway.models.measured.points import Loop, Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.tools.kit.documents import amount, document
from headway.models.measured.tools.kit.numbers import count, seconds
from headway.numerals import digits
from headway.records import dataclass

DIRECTIONS = ("read", "write", "trim", "mixed")
"""Kinds of I/O that a job counts separately; the last with ``unified_rw_reporting``."""

_IS_FIO = re.compile(r'"fio version"\s*:')
_LOOKED_AT = 20_000  # characters: warnings may come before the JSON
_SCALES = {"_ns": 1e-9, "": 1e-6}  # of latencies, by the ending of their names
_ONE_AT_A_TIME = ("sync", "psync", "vsync", "pvsync", "pvsync2", "mmap")
_MILLI, _PERCENT, _KIB = 1e-3, 1e-2, 1024.0

COMPLETION = "percentiles are of completion (clat), the mean of submission and completion (lat)"
"""Which of fio's times are used if it measures both."""
_NO_TOTAL = "the mean is of completion (clat) alone: submission (slat) was not measured"
_RATED = "a rate was set: latency starts when an I/O is issued, not when it was due"
_SYNC = "its engine sends one I/O at a time, whatever the iodepth"
_MERGED = (
    "more jobs ran in this group than its name says, so the number of outstanding I/O is unknown"
)


@dataclass(frozen=True)
class _Jobs:
    """Entries of one job that ran at the same time, with its options."""

    name: str
    entries: Sequence[Mapping[str, Any]]
    options: Mapping[str, Any] | None
    place: str

    def option(self, name: str, default: float) -> float | None:
        """A number among the options; None if it is missing or fio computes it."""
        if self.options is None:
            return None
        text = str(self.options.get(name) or default)
        if text.startswith("-") or text.lower() == "nan":
            msg = f"{self.place}: option {name} is {quoted(text)}; it must be a number from 0 on"
            raise MeasurementError(msg)
        try:
            return seconds(text, self.place, "us") if name == "thinktime" else count(text, name)
        except MeasurementError:
            return None

    def parts(self, direction: str) -> list[Mapping[str, Any]]:
        """The results of each entry that did I/O in a direction."""
        results = [each.get(direction) for each in self.entries]
        return [each for each in results if isinstance(each, dict) and self.at(each, "iops")]

    def at(self, document: Mapping[str, Any], *path: str, scale: float = 1.0) -> float | None:
        return amount(document, *path, source=self.place, scale=scale)

    def total(self, parts: Sequence[Mapping[str, Any]], name: str) -> float | None:
        """The sum over the parts; None if some part lacks the number."""
        cells = [self.at(part, name) for part in parts]
        known = [cell for cell in cells if cell is not None]
        return sum(known) if known and len(known) == len(cells) else None


def _is_fio(text: str) -> object:
    return _IS_FIO.search(text, 0, _LOOKED_AT)


def _points(text: str, source: str) -> Sequence[Point]:
    report = document(_from_brace(text), source)
    together = _together(_entries(report, source), report.get("global options"), source)
    disks = _disks(report, source) if len({_group(each) for each in together}) == 1 else {}
    points = [
        _point(jobs, direction, disks)
        for jobs in together
        for direction in DIRECTIONS
        if jobs.parts(direction)
    ]
    if not points:
        msg = f"{source}: no job of this fio run finished an I/O; run it again"
        raise MeasurementError(msg)
    return points


def _from_brace(text: str) -> str:
    """The JSON in fio's output; warnings before it become empty lines."""
    match = re.search(r"^\{", text, re.MULTILINE)
    start = match.start() if match else 0
    return "\n" * text.count("\n", 0, start) + text[start:]


def _entries(document: Mapping[str, Any], source: str) -> list[Mapping[str, Any]]:
    """Jobs of one machine, or of several clients without their sum."""
    jobs = document.get("jobs", document.get("client_stats"))
    if not isinstance(jobs, list) or not all(isinstance(each, dict) for each in jobs):
        msg = f"{source}: this fio run has no list of jobs; write the file again"
        raise MeasurementError(msg)
    return [each for each in jobs if each.get("jobname") != "All clients"]


def _together(entries: list[Mapping[str, Any]], given: object, source: str) -> list[_Jobs]:
    """Entries by job: without ``group_reporting``, each process of a job has one."""

    def key(entry: Mapping[str, Any]) -> tuple[str, ...]:
        return tuple(str(entry.get(part, "")) for part in ("hostname", "groupid", "jobname"))

    return [
        _jobs(" ".join(filter(None, (who[0], who[2]))), list(same), given, source)
        for who, same in groupby(entries, key)
    ]


def _jobs(name: str, entries: list[Mapping[str, Any]], given: object, source: str) -> _Jobs:
    own = entries[0].get("job options")
    merged = {**given, **own} if isinstance(given, dict) and isinstance(own, dict) else own
    place = f"{source}: job {name}"
    return _Jobs(name, entries, merged if isinstance(merged, dict) else None, place)


def _group(jobs: _Jobs) -> str:
    return str(jobs.entries[0].get("groupid"))


def _disks(document: Mapping[str, Any], source: str) -> dict[str, float]:
    """Share of time that each disk was busy, over the whole run."""
    disks = document.get("disk_util")
    known = {}
    for disk in disks if isinstance(disks, list) else []:
        busy = amount(disk, "util", source=source, scale=_PERCENT)
        if busy is not None:
            known[re.sub(r"\W", "_", str(disk.get("name")))] = busy
    return known


def _point(jobs: _Jobs, direction: str, disks: Mapping[str, float]) -> Point:
    parts = jobs.parts(direction)
    mean, percentiles, caveats = _latencies(jobs, parts)
    population, allowed = _population(jobs)
    offered, loop, rated = _offered(jobs, direction)
    runtimes = [jobs.at(part, "runtime", scale=_MILLI) or 0.0 for part in parts]
    return Point(
        "fio",
        loop,
        offered_rate=offered,
        population=population,
        think_time=_think_time(jobs),
        throughput=jobs.total(parts, "iops"),
        response_time=mean,
        percentiles=percentiles,
        errors=_errors(jobs),
        samples=jobs.total(parts, "total_ios"),
        duration=max(runtimes) or None,
        utilisation=disks,
        more=_bandwidth(jobs, parts),
        name=f"{jobs.name} {direction}".strip(),
        notes=(*caveats, *allowed, *rated, *_shared(jobs, direction), *_failed(jobs)),
    )


def _latencies(
    jobs: _Jobs, parts: Sequence[Mapping[str, Any]]
) -> tuple[float | None, dict[float, float], list[str]]:
    """Mean and percentiles, and their caveats."""
    ending = "_ns" if "clat_ns" in parts[0] or "lat_ns" in parts[0] else ""
    total = _mean(jobs, parts, f"lat{ending}", _SCALES[ending])
    mean = total or _mean(jobs, parts, f"clat{ending}", _SCALES[ending])
    notes = [] if total or mean is None else [_NO_TOTAL]
    if len(parts) > 1:
        return mean, {}, [*notes, f"the sum of {len(parts)} jobs; percentiles need group_reporting"]
    for name in (f"lat{ending}", f"clat{ending}"):
        percentiles = _percentiles(jobs, parts[0], name, _SCALES[ending])
        if percentiles:
            return mean, percentiles, [*notes, *([COMPLETION] if total and name[0] == "c" else [])]
    return mean, {}, notes


def _mean(jobs: _Jobs, parts: Sequence[Mapping[str, Any]], name: str, scale: float) -> float | None:
    """Mean over the I/O of all parts; None if it was not measured, which fio prints as 0."""
    means = [jobs.at(part, name, "mean", scale=scale) for part in parts]
    weights = [jobs.at(part, "total_ios") or jobs.at(part, "iops") or 0.0 for part in parts]
    if not all(means) or not sum(weights):
        return None
    return sum(m * w for m, w in zip(means, weights, strict=True) if m) / sum(weights)


def _percentiles(
    jobs: _Jobs, part: Mapping[str, Any], name: str, scale: float
) -> dict[float, float]:
    """Times by percentage; version 2 fills its list up with zeros."""
    table = part.get(name)
    printed = table.get("percentile") if isinstance(table, dict) else None
    percentiles = {}
    for key in printed if isinstance(printed, dict) else ():
        percent = amount({"key": key}, "key", source=jobs.place)
        value = jobs.at(part, name, "percentile", key, scale=scale)
        if percent and value:
            percentiles[percent] = value
    return percentiles


def _population(jobs: _Jobs) -> tuple[float | None, list[str]]:
    """Outstanding I/O: iodepth times numjobs."""
    depth, copies = jobs.option("iodepth", 1), jobs.option("numjobs", 1)
    if depth is None or copies is None:
        return None, []
    if _ran(jobs) > copies:
        return None, [_MERGED]
    engine = (jobs.options or {}).get("ioengine", "psync")
    if depth > 1 and engine in _ONE_AT_A_TIME:
        return copies, [_SYNC]
    return depth * copies, []


def _ran(jobs: _Jobs) -> int:
    """Processes that ran at the same time, as far as their run times show; 0 if they do not."""
    spent = jobs.total(jobs.entries, "job_runtime") or 0.0
    parts = [part for direction in DIRECTIONS for part in jobs.parts(direction)]
    longest = max([jobs.at(part, "runtime") or 0.0 for part in parts], default=0.0)
    together = spent / longest if longest else 0.0
    return round(together) if math.isfinite(together) else 0


def _offered(jobs: _Jobs, direction: str) -> tuple[float | None, Loop, list[str]]:
    """The rate that was set; without one, each I/O waits for an earlier one."""
    options = jobs.options or {}
    rates = options.get("rate_iops")
    if not rates:
        return None, Loop.OPEN if options.get("rate") else Loop.CLOSED, []
    cells = str(rates).split(",")
    place = DIRECTIONS.index(direction) if len(cells) > 1 else 0
    copies = jobs.option("numjobs", 1)
    if str(rates).startswith("-") or str(rates).lower() == "nan":
        msg = f"{jobs.place}: option rate_iops is {quoted(str(rates))}; it must be 0 or more"
        raise MeasurementError(msg)
    try:
        rate = count(cells[place], jobs.place) if copies else None
    except (MeasurementError, IndexError):
        rate = None
    return rate and rate * (copies or 1), Loop.OPEN, [_RATED]


def _think_time(jobs: _Jobs) -> float | None:
    think, blocks = jobs.option("thinktime", 0), jobs.option("thinktime_blocks", 1)
    return think / blocks if think and blocks else None


def _errors(jobs: _Jobs) -> float | None:
    """Failed I/O; a job stops at the first, unless it is set to continue and count them."""
    counted = jobs.total(jobs.entries, "total_err")
    return 0.0 if counted is None and not _failed(jobs) else counted


def _failed(jobs: _Jobs) -> list[str]:
    codes = [jobs.at(each, "error") for each in jobs.entries]
    return [f"it ended with error {digits(code)}" for code in codes if code][:1]


def _shared(jobs: _Jobs, direction: str) -> list[str]:
    """A note on the depth of a job with reads and writes."""
    others = [each for each in DIRECTIONS if each != direction and jobs.parts(each)]
    if not others:
        return []
    return [f"{direction} and {' and '.join(others)} share the population: the sum of their X R"]


def _bandwidth(jobs: _Jobs, parts: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Bytes per second; older versions print KiB/s only."""
    exact, kib = jobs.total(parts, "bw_bytes"), jobs.total(parts, "bw")
    rate = exact if exact is not None else kib and kib * _KIB
    return {"bandwidth_bytes_s": rate} if rate else {}


FIO = tool_reader(
    "fio",
    _is_fio,
    _points,
    "reads, writes and trims per job; iodepth times numjobs; mean (lat), percentiles "
    "(clat), bandwidth, disk utilisation",
)
