"""YCSB's output: lines such as ``[READ], AverageLatency(us), 2148.28``, of any version."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping

from headway.errors import MeasurementError
from headway.models.measured.points import LONGEST, SHORTEST, Loop, Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.tools.kit.numbers import (
    SECONDS,
    cell,
    filled,
    number,
    percentile_cells,
)
from headway.models.measured.tools.kit.refusals import broken, nothing
from headway.models.measured.tools.kit.text import ToolText
from headway.numerals import digits
from headway.records import dataclass

_LINE = re.compile(r"\[([\w-]+)\], ([A-Za-z0-9.]+(?:=[\w-]+)?)(?:\((\w+(?:/sec)?)\))?, (\S+)\s*")
_OPTION = re.compile(r"\s-(threads|target)\s+(\S+)")
_PERCENTILE = re.compile(r"(\d{1,2}(?:\.\d+)?)(?:th)?PercentileLatency")
_BOTH = "READ-MODIFY-WRITE"  # also counted as a read and an update
_OPERATIONS = ("READ", "UPDATE", "INSERT", "SCAN", "DELETE", _BOTH)
_MEAN = "the mean is that of all operations, weighted by their numbers"
_FAILURES = "YCSB's rate includes failed operations; the throughput here excludes them"
_THROTTLED = "a target was set: threads wait for their turn, and latency starts when they send"
_CODES = "return codes other than OK depend on the binding, so errors are unknown"
_DUE = "Intended-"  # prefix of the names of times that start when an operation was due
_INTENDED = "from when they were due (Intended), operations took {time} s on average"
_WHOLE = "percentiles are in whole milliseconds"


@dataclass(frozen=True)
class _Run:
    """What one run printed: cells in SI by section and label, and its options."""

    place: str
    cells: Mapping[str, Mapping[str, float]]
    options: Mapping[str, float]
    whole: bool

    def of(self, section: str, label: str) -> float | None:
        return self.cells.get(section, {}).get(label)

    @property
    def kinds(self) -> list[str]:
        """Operations that succeeded."""
        return [name for name in _OPERATIONS if self.of(name, "Operations")]

    @property
    def done(self) -> float:
        """Number of operations that succeeded; one that modifies is also counted as its parts."""
        counts = {name: self.of(name, "Operations") or 0.0 for name in self.kinds}
        both = counts.pop(_BOTH, 0.0)
        return sum(counts.values()) - both if counts else both

    def mean(self, start: str = "") -> float | None:
        """Mean time of an operation of any kind [s], from when it was sent or was due."""
        parts = [name for name in self.kinds if name != _BOTH] or self.kinds
        spent = [(self.of(p, "Operations"), self.of(start + p, "AverageLatency")) for p in parts]
        known = [count * mean for count, mean in spent if count is not None and mean is not None]
        return sum(known) / self.done if known and self.done > 0 else None

    def edge(self, label: str, which: Callable[[list[float]], float]) -> float | None:
        """The least or the greatest of the operations' own times [s]."""
        known = [time for kind in self.kinds if (time := self.of(kind, label)) is not None]
        return which(known) if known else None

    @property
    def errors(self) -> float | None:
        """Operations that failed; None if only codes of unknown meaning show it."""
        failed = [name for name in self.cells if name in {f"{kind}-FAILED" for kind in _OPERATIONS}]
        if failed:
            return sum(self.of(name, "Operations") or 0.0 for name in failed)
        returned = [label for name in self.kinds for label in self.cells[name] if "=" in label]
        return None if set(returned) - {"Return=OK", "Return=0"} else 0.0

    def percentiles(self, kind: str) -> dict[float, float]:
        match = {_PERCENTILE.fullmatch(label): v for label, v in self.cells.get(kind, {}).items()}
        return {float(label[1]): value for label, value in match.items() if label}


def _is_ycsb(text: str) -> object:
    return re.search(r"^\[OVERALL\], |^YCSB Client \d", text, re.MULTILINE)


def _points(text: str, source: str) -> list[Point]:
    output = ToolText(text, source)
    points = [_point(run) for run in _runs(output)]
    if not points:
        raise output.missing("[OVERALL] runtime")
    return points


def _runs(text: ToolText) -> Iterator[_Run]:
    """Runs in the order of the file, each from its [OVERALL] on, with the options before it."""
    options: dict[str, float] = {}
    cells: dict[str, dict[str, float]] = {}
    start, whole = "", False
    for place, line in text:
        match = _LINE.fullmatch(line)
        if match is None:
            options |= {name: number(value, place) for name, value in _OPTION.findall(line)}
            continue
        if match[1] == "OVERALL" and match[2] == "RunTime":
            if start:
                yield _Run(start, cells, options, whole)
            cells, start, whole = defaultdict(dict), place, False
        if start and not match[2].isdigit():
            whole |= match[3] == "ms" and "Percentile" in match[2]
            _put(cells[match[1]], match, place)
    if start:
        yield _Run(start, cells, options, whole)


def _put(section: dict[str, float], match: re.Match[str], place: str) -> None:
    """Add one cell in SI to its section."""
    value = cell(match[4], place, SECONDS.get(match[3] or "", 1.0))
    if value is not None and value < 0:
        msg = f"{place}: {match[2]} is {match[4]}; it cannot be negative"
        raise MeasurementError(msg)
    if value is not None:
        section[match[2]] = value


def _point(run: _Run) -> Point:
    if run.done <= 0:
        raise nothing(run.place, "no operation")
    printed, duration = run.of("OVERALL", "Throughput"), run.of("OVERALL", "RunTime")
    mean, due = run.mean(), run.mean(_DUE)
    if printed is None or not duration or mean is None:
        raise broken(run.place, "this run lacks RunTime, Throughput or AverageLatency")
    errors, kinds = run.errors, run.kinds
    late = None if due is None else max(due - mean, 0.0)
    notes = {
        _MEAN: len(kinds) > 1,
        _FAILURES: errors,
        _THROTTLED: run.options.get("target"),
        _CODES: errors is None,
        _WHOLE: run.whole,
        _INTENDED.format(time=digits(due or 0.0)): due,
    }
    return Point(
        "YCSB",
        Loop.CLOSED,
        offered_rate=run.options.get("target"),
        population=run.options.get("threads"),
        throughput=run.done / duration if errors else printed,
        response_time=mean,
        percentiles=run.percentiles(kinds[0]) if len(kinds) == 1 else {},
        errors=errors,
        samples=run.done,
        duration=duration,
        lateness=late,
        more=filled({"intended_response_time_s": due, **_ends(run)})
        | _by_kind(run, printed if errors else None),
        notes=tuple(note for note, holds in notes.items() if holds),
    )


def _ends(run: _Run) -> dict[str, float | None]:
    return {SHORTEST: run.edge("MinLatency", min), LONGEST: run.edge("MaxLatency", max)}


def _by_kind(run: _Run, printed: float | None) -> dict[str, float]:
    """Further numbers of each kind of operation, and the rate including failures."""
    cells: dict[str, float | None] = {"throughput_with_errors_ops_s": printed}
    for kind in run.kinds:
        name = kind.lower().replace("-", "_")
        cells[f"{name}_samples"] = run.of(kind, "Operations")
        cells[f"{name}_response_time_s"] = run.of(kind, "AverageLatency")
        cells |= percentile_cells(name, run.percentiles(kind))
        cells[f"{name}_intended_response_time_s"] = run.of(_DUE + kind, "AverageLatency")
        cells |= percentile_cells(f"{name}_intended", run.percentiles(_DUE + kind))
    return filled(cells)


YCSB = tool_reader(
    "YCSB",
    _is_ycsb,
    _points,
    "threads, target, operations per second, mean and percentiles of each kind of operation",
)
"""Reads the summary of YCSB."""
