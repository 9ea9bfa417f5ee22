"""ghz's summary of gRPC calls: its text, and its JSON, which has its options too."""

import re
from collections.abc import Mapping
from typing import Any

from headway.models.measured.points import LONGEST, SHORTEST, Loop, Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.tools.http.answers import answered, refuse_empty
from headway.models.measured.tools.kit.documents import amount, counts_of, document, needed
from headway.models.measured.tools.kit.numbers import filled, percentiles_of
from headway.models.measured.tools.kit.refusals import broken
from headway.models.measured.tools.kit.text import ToolText, recognised_by, runs
from headway.numerals import digits

_COUNT = re.compile(r"^[ \t]+Count:[ \t]", re.MULTILINE)
_GOOD = "OK"

_UNSAID = "ghz prints neither its workers (-c) nor the rate set by --rps"
_MIXED = (
    "{} of {} calls failed: the mean includes them, the throughput, the percentiles and the "
    "shortest and longest time do not"
)


def _is_ghz(text: str) -> bool:
    return bool(_COUNT.search(text)) and all(each in text for each in ("Summary:", "Fastest:"))


def _points(text: str, source: str) -> list[Point]:
    return [_point(run) for run in runs(text, source, r"[ \t]*Summary:")]


def _point(run: ToolText) -> Point:
    count = run.needs(r"[ \t]+Count:[ \t]+(\S+)", "Count: 900")
    rate = run.needs(r"[ \t]+Requests/sec:[ \t]+(\S+)", "Requests/sec: 900.00")
    total, good = count.number(), _good(run, count.number())
    refuse_empty(total, 0.0, count.place)
    bad = total - good
    tails = run.all(r"[ \t]+(\S+) % in (\S.*\S)[ \t]*$") if good else []
    ends = {SHORTEST: "Fastest", LONGEST: "Slowest"}
    return Point(
        "ghz",
        Loop.CLOSED,
        throughput=answered(rate.number(), bad, total),
        response_time=_time(run, "Average") if good else None,
        percentiles=percentiles_of({line.number(): line.seconds(group=1) for line in tails}),
        errors=bad,
        samples=total,
        duration=_time(run, "Total"),
        with_failures=bad > 0,
        more={} if bad else filled({name: _time(run, title) for name, title in ends.items()}),
        notes=(_UNSAID, *_failed(bad, total)),
        name=_name(run),
    )


def _failed(bad: float, total: float) -> tuple[str, ...]:
    """A note on calls that failed; empty if none did."""
    return (_MIXED.format(digits(bad), digits(total)),) if bad else ()


def _name(run: ToolText) -> str:
    """The name that ``--name`` gave the run."""
    lines = run.all(r"[ \t]+Name:[ \t]+(\S.*\S|\S)[ \t]*$")
    return lines[0].groups[0] if lines else ""


def _time(run: ToolText, title: str) -> float:
    line = run.needs(rf"[ \t]+{title}:[ \t]+(\S.*\S)[ \t]*$", f"{title}: 9.00 ms")
    return line.seconds()


def _good(run: ToolText, total: float) -> float:
    """Calls that succeeded, by their statuses.

    Raises
    ------
    MeasurementError
        If the statuses do not account for all calls.
    """
    run.needs(r"[ \t]*Status code distribution:", "Status code distribution:")
    lines = run.all(r"[ \t]+\[([^\]]*)\][ \t]+(\S+) responses[ \t]*$")
    counts = {line.groups[0]: line.number(1) for line in lines}
    return _ok(counts, total, run.end)


def _ok(counts: Mapping[str, float], total: float, place: str) -> float:
    """Calls that succeeded; refused unless the statuses account for all calls."""
    if sum(counts.values()) != total:
        what = f"its statuses are of {digits(sum(counts.values()))} calls, not {digits(total)}"
        raise broken(place, what)
    return counts.get(_GOOD, 0.0)


GHZ_TEXT = tool_reader(
    "ghz (text)",
    _is_ghz,
    _points,
    "calls/s, calls by status, mean time, seven percentiles",
)
"""Reads what ghz prints."""


_NS = 1e-9
_PACED = "its workers keep a rate together, each waiting for its own answer"
_ASYNC = "open: calls are sent at the rate without waiting for answers"


def _of_json(text: str, source: str) -> list[Point]:
    report = document(text, source)
    total = needed(report, "count", source=source)
    refuse_empty(total, 0.0, source)
    name = "statusCodeDistribution"
    good = _ok(counts_of(report.get(name), name, source), total, source)
    bad = total - good
    rate = amount(report, "options", "rps", source=source) or None
    is_open = rate is not None and bool(_option(report, "async"))
    clients = amount(report, "options", "concurrency", source=source)
    ends = {SHORTEST: "fastest", LONGEST: "slowest"}
    pace = (_ASYNC if is_open else _PACED,) if rate is not None else ()
    return [
        Point(
            "ghz",
            Loop.OPEN if is_open else Loop.CLOSED,
            offered_rate=rate,
            population=None if is_open else clients,
            throughput=answered(needed(report, "rps", source=source), bad, total),
            response_time=amount(report, "average", source=source, scale=_NS) if good else None,
            percentiles=_percentiles(report, source) if good else {},
            errors=bad,
            samples=total,
            duration=needed(report, "total", source=source, scale=_NS),
            with_failures=bad > 0,
            more={}
            if bad
            else filled(
                {name: amount(report, key, source=source, scale=_NS) for name, key in ends.items()}
            ),
            notes=(*pace, *_failed(bad, total)),
            name=str(report.get("name") or ""),
        )
    ]


def _option(report: Mapping[str, Any], name: str) -> Any:
    options = report.get("options")
    return options.get(name) if isinstance(options, Mapping) else None


def _percentiles(report: Mapping[str, Any], source: str) -> Mapping[float, float]:
    """Times of the calls that succeeded, by percentage."""
    rows = report.get("latencyDistribution")
    where = f"{source}: latencyDistribution"
    return percentiles_of(
        {
            needed(row, "percentage", source=where): needed(row, "latency", source=where, scale=_NS)
            for row in (rows if isinstance(rows, list) else ())
        }
    )


GHZ = tool_reader(
    "ghz",
    recognised_by('"endReason"', '"options"', '"call"'),
    _of_json,
    "workers, the rate asked for, calls/s, calls by status, mean time, percentiles",
)
"""Reads the JSON of ``ghz -O json``."""
