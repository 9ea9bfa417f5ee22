"""The results of scylla-bench, as text, with the configuration that it prints before them."""

from collections.abc import Mapping

from headway.models.measured.points import LONGEST, Loop, Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.tools.kit.numbers import filled, go_seconds, percentiles_of
from headway.models.measured.tools.kit.refusals import nothing
from headway.models.measured.tools.kit.text import ToolText, runs

_START = r"[ \t]*Time \(avg\):"
_MARKS = ("Time (avg):", "Total ops:")
_PERCENTS = {"99.9th": 99.9, "99th": 99.0, "95th": 95.0, "90th": 90.0, "median": 50.0}
_FROM_DUE, _RAW, _OLD = "c-o fixed latency", "raw latency", "Latency"

_DUE = "its times start when an operation was due at the maximum rate"
_TRIED = "its times start when an operation is sent, and include its retries"


def _points(text: str, source: str) -> list[Point]:
    """One point per result; its configuration comes before it."""
    points, before = [], ToolText(text.partition(_MARKS[0])[0], source)
    for run in runs(text, source, _START):
        points.append(_point(run, before))
        before = run
    return points


def _point(run: ToolText, before: ToolText) -> Point:
    time = run.needs(rf"{_START}[ \t]*(\S+)", "Time (avg): 10.5s")
    ops = run.needs(r"[ \t]*Total ops:[ \t]*(\S+)", "Total ops: 900")
    done, length = ops.number(), go_seconds(time.groups[0], time.place)
    if not done or not length:
        raise nothing(ops.place, "no operation")
    errors = run.all(r"[ \t]*Total errors:[ \t]*(\S+)")
    most, threads = _most(before), _threads(before)
    times, from_due = _times(run, paced=most is not None)
    tails = {percent: times.get(name) for name, percent in _PERCENTS.items()}
    return Point(
        "scylla-bench",
        Loop.OPEN if from_due else Loop.CLOSED,
        offered_rate=most,
        population=threads,
        throughput=_rate(run, done / length),
        response_time=times.get("mean"),
        percentiles=percentiles_of(tails),
        errors=errors[0].number() if errors else 0.0,
        samples=done,
        duration=length,
        more=filled({LONGEST: times.get("max")}),
        notes=(_DUE if from_due else _TRIED,) if times else (),
    )


def _rate(run: ToolText, made: float) -> float:
    """Operations per second, calculated where a version prints infinity after errors."""
    line = run.needs(r"[ \t]*Operations/s:[ \t]*(\S+)", "Operations/s: 900.5")
    return made if line.groups[0] == "+Inf" else line.number()


def _most(before: ToolText) -> float | None:
    """The rate of ``-max-rate`` for all threads [1/s]; None if it is unlimited or not given."""
    lines = before.all(r"[ \t]*Maximum rate:[ \t]*(\S+)")
    if not lines or lines[-1].groups[0] == "unlimited":
        return None
    return lines[-1].number()


def _threads(before: ToolText) -> float | None:
    lines = before.all(r"[ \t]*Concurrency:[ \t]*(\S+)")
    return lines[-1].number() if lines else None


def _times(run: ToolText, *, paced: bool) -> tuple[Mapping[str, float], bool]:
    """Times by name, and whether they start when an operation was due.

    In a test with a rate, they are corrected for coordinated omission; otherwise they are raw.
    """
    tables: dict[str, dict[str, float]] = {}
    table = ""
    for place, line in run:
        words = line.split()
        if line.rstrip(" \t:") in (_FROM_DUE, _RAW, _OLD):
            table = line.rstrip(" \t:")
        elif table and len(words) == 2 and words[0][:-1] in (*_PERCENTS, "max", "mean"):
            tables.setdefault(table, {})[words[0][:-1]] = go_seconds(words[1], place)
    if paced and _FROM_DUE in tables:
        return tables[_FROM_DUE], True
    found = next((tables[name] for name in (_RAW, _OLD, _FROM_DUE) if name in tables), {})
    return found, False


SCYLLA = tool_reader(
    "scylla-bench",
    lambda text: all(mark in text for mark in _MARKS),
    _points,
    "threads, the maximum rate, operations/s, failures, mean, percentiles",
)
"""Reads the results of scylla-bench."""
