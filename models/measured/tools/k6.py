"""k6: the summary export, the data of ``handleSummary``, and the log of points as NDJSON."""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from datetime import datetime
from typing import Any

from headway.errors import MeasurementError, quoted
from headway.models.measured.arrivals import CONSTANT
from headway.models.measured.points import LONGEST, SHORTEST, Loop, Point
from headway.models.measured.reader import log_reader, tool_reader
from headway.models.measured.tools.kit.documents import amount, at, document
from headway.models.measured.tools.kit.numbers import filled
from headway.models.measured.tools.kit.requests import Requests
from headway.models.measured.tools.kit.text import placed
from headway.models.measured.window import WHOLE, RunWindow
from headway.numerals import digits
from headway.records import dataclass

_TOOL = "k6"
_RESOLUTION = 1e-3  # ms: k6 stamps points to the microsecond, or finer
_GOOD = "http_req_duration{expected_response:true}"


@dataclass(frozen=True)
class SentBy:
    """How k6 sent its requests.

    Parameters
    ----------
    population, fewest, pool
        Most virtual users, fewest, and those that were started.
    iterations, iteration_time
        Iterations [1/s], and their mean time [s].
    dropped
        Rate of iterations that were due and never began [1/s].
    requests, request_time
        Requests [1/s], and their mean time [s].
    """

    population: float | None
    fewest: float | None
    pool: float | None
    iterations: float | None
    iteration_time: float | None
    dropped: float | None
    requests: float
    request_time: float | None

    def roles(self) -> dict[str, Any]:
        """Loop, offered rate, population and think time of a point, and notes on them."""
        if self.dropped and self.iterations:
            offered = self.requests * (1 + self.dropped / self.iterations)
            note = f"k6 ran out of virtual users ({digits(self.pool or 0)}) and dropped"
            share = self.dropped / (self.dropped + self.iterations)
            notes = (f"{note} {share:.1%} of the due iterations",)
            open_test = {"loop": Loop.OPEN, "arrival_scv": CONSTANT, "notes": notes}
            return {**open_test, "offered_rate": offered, "dropped": share}
        if self.population is None or self.pool is None:
            return {}
        if self.population < self.pool:
            notes = ("open, because some virtual users were always free; none was dropped, so the",)
            notes = (f"{notes[0]} offered rate is that of the requests sent",)
            open_test = {"loop": Loop.OPEN, "arrival_scv": CONSTANT, "notes": notes}
            return {**open_test, "offered_rate": self.requests}
        return self._closed(self.population)

    def _closed(self, users: float) -> dict[str, Any]:
        notes = ["closed, because all virtual users were busy; "]
        fields: dict[str, Any] = {"loop": Loop.CLOSED, "population": users}
        if self.fewest is not None and self.fewest < users:
            notes[0] += f"their number rose from {digits(self.fewest)} to {digits(users)}; "
        think = self._think_time()
        if think is not None:
            fields["think_time"] = think
            notes[0] += "think time is the time of an iteration outside its requests; "
        return fields | {"notes": (notes[0].removesuffix("; "),)}

    def _think_time(self) -> float | None:
        """Time of an iteration per request, minus that of the request [s]."""
        if not self.iterations or self.iteration_time is None or self.request_time is None:
            return None
        rate = self.requests / self.iterations
        return max(self.iteration_time / rate - self.request_time, 0.0) if rate else None


def _is_summary(text: str) -> bool:
    return text.lstrip()[:1] == "{" and '"http_req_duration"' in text and '"metrics"' in text


def _summary(text: str, source: str) -> list[Point]:
    """The point of a summary; ``handleSummary`` has its numbers under "values"."""
    metrics = at(document(text, source), "metrics", source=source)
    if not isinstance(metrics, Mapping):
        msg = f"{source}: its metrics are not an object"
        raise MeasurementError(msg)
    flat = {name: _values(metric) for name, metric in metrics.items()}

    def cell(*path: str, scale: float = 1.0) -> float | None:
        return amount(flat, *path, source=source, scale=scale)

    requests, count = cell("http_reqs", "rate"), cell("http_reqs", "count")
    if not requests or not count or requests < 0:
        msg = f"{source}: this test sent no request (http_reqs); omit it with --skip-bad"
        raise MeasurementError(msg)
    times = _GOOD if _GOOD in flat else "http_req_duration"
    errors = cell("http_req_failed", "passes")
    good = 1 - (errors or 0.0) / count
    if good <= 0:
        msg = f"{source}: none of {digits(count)} requests succeeded; omit it with --skip-bad"
        raise MeasurementError(msg)
    return [
        with_roles(
            Point(
                _TOOL,
                throughput=requests * good,
                response_time=cell(times, "avg", scale=1e-3),
                percentiles=_percentiles(flat[times], source),
                errors=errors,
                samples=count - (errors or 0.0) * (times == _GOOD),
                duration=count / requests,
                more=filled(
                    {
                        SHORTEST: cell(times, "min", scale=1e-3),
                        LONGEST: cell(times, "max", scale=1e-3),
                    }
                ),
                with_failures=bool(errors) and times != _GOOD,
                notes=() if times == _GOOD or not errors else (MIXED,),
            ),
            SentBy(
                cell("vus", "max"),
                cell("vus", "min"),
                cell("vus_max", "max"),
                cell("iterations", "rate"),
                cell("iteration_duration", "avg", scale=1e-3),
                cell("dropped_iterations", "rate"),
                requests,
                cell("http_req_duration", "avg", scale=1e-3),
            ),
        )
    ]


MIXED = "times include failed requests"
"""Note if k6 has no times of the successful requests alone."""

CONNECTING = "times are http_req_duration, which excludes connecting"
"""Note on k6's times."""


def with_roles(point: Point, test: SentBy) -> Point:
    """A point with what follows from how k6 sent: loop, offered rate, population, think time."""
    roles = test.roles()
    notes = (*point.notes, CONNECTING, *roles.get("notes", ()))
    return replace(point, **roles | {"notes": notes})


def _values(metric: Any) -> Any:
    inner = metric.get("values") if isinstance(metric, Mapping) else None
    return inner if isinstance(inner, Mapping) else metric


def _percentiles(document: Any, source: str) -> dict[float, float]:
    """Percentiles of a trend, ``med`` and those such as ``p(99)``."""
    cells = {}
    for key in document if isinstance(document, Mapping) else ():
        percent = 50.0 if key == "med" else _percent(key)
        value = amount(document, key, source=source, scale=1e-3)
        if percent is not None and value is not None:
            cells[percent] = value
    return dict(sorted(cells.items()))


def _percent(key: str) -> float | None:
    inner = key[2:-1] if key.startswith("p(") and key.endswith(")") else ""
    return float(inner) if inner.replace(".", "", 1).isdecimal() and inner.isascii() else None


def _is_log(text: str) -> bool:
    head = text[:2000].lstrip()
    return head[:1] == "{" and '"metric":"' in head and '"type":"' in head.partition("\n")[0]


@dataclass
class _Log:
    """Totals of a log: single requests, and sums of other metrics."""

    requests: Requests
    begin: float = math.nan
    sums: dict[str, float] = field(default_factory=dict)
    lows: dict[str, float] = field(default_factory=dict)
    highs: dict[str, float] = field(default_factory=dict)

    def add(self, entry: Mapping[str, Any], place: str) -> None:
        """Add a line."""
        if entry.get("type") != "Point":
            return
        metric = str(at(entry, "metric", source=place))
        value = amount(entry, "data", "value", source=place)
        if value is None or value < 0:
            msg = f"{place}: this point has no value"
            raise MeasurementError(msg)
        if metric == "http_req_duration":
            good = entry["data"].get("tags", {})
            self.requests.add(_stamp(entry, place) - value, value, _good(good))
        if self._counts(entry, place):
            self._sum(metric, value)

    def _counts(self, entry: Mapping[str, Any], place: str) -> bool:
        """Whether a line is of the part of the run that counts."""
        if self.requests.window.is_whole:
            return True
        time = _stamp(entry, place)
        self.begin = time if math.isnan(self.begin) else self.begin
        return self.requests.window.holds((time - self.begin) * 1e-3)

    def _sum(self, metric: str, value: float) -> None:
        self.sums[metric] = self.sums.get(metric, 0.0) + value
        self.lows[metric] = min(self.lows.get(metric, math.inf), value)
        self.highs[metric] = max(self.highs.get(metric, 0.0), value)

    def point(self, source: str) -> Point:
        """The point of all lines."""
        point = self.requests.point(_TOOL, source)
        duration = point.duration or math.nan
        count = len(self.requests.times) + self.requests.failed
        iterations = self.sums.get("iterations", 0.0)
        inside = self.sums.get("iteration_duration", 0.0) * 1e-3
        return with_roles(
            point,
            SentBy(
                self.highs.get("vus"),
                self.lows.get("vus"),
                self.highs.get("vus_max"),
                iterations / duration,
                inside / iterations if iterations else None,
                self.sums.get("dropped_iterations", 0.0) / duration,
                count / duration,
                self.requests.spent * 1e-3 / count,
            ),
        )


def _stamp(entry: Mapping[str, Any], place: str) -> float:
    return _milliseconds(at(entry, "data", "time", source=place), place)


def _good(tags: Any) -> bool:
    return not isinstance(tags, Mapping) or tags.get("expected_response") != "false"


def _milliseconds(stamp: Any, place: str) -> float:
    try:
        return datetime.fromisoformat(str(stamp)).timestamp() * 1e3
    except (ValueError, OverflowError):
        msg = f"{place}: {quoted(str(stamp))} is not a time such as 2026-01-31T12:00:00Z"
        raise MeasurementError(msg) from None


def _points(lines: Iterable[str], source: str, window: RunWindow) -> list[Point]:
    return [k6_log_point(lines, source, window)]


def k6_log_point(lines: Iterable[str], source: str, window: RunWindow = WHOLE) -> Point:
    """Make the point of a k6 log of any length, line by line.

    Parameters
    ----------
    lines
        An open file, or its lines.
    source
        Its name, for messages.
    window
        The part of the run that counts.

    Raises
    ------
    MeasurementError
        For a log that is truncated or corrupt, or in which no request succeeded.
    """
    log = _Log(Requests(1e-3, window, resolution=_RESOLUTION))
    for place, line in placed(lines, source):
        if line.strip():
            log.add(_entry(line, place), place)
    return log.point(source)


def _entry(line: str, place: str) -> Mapping[str, Any]:
    try:
        report = json.loads(line)
    except (ValueError, RecursionError):
        report = None
    if not isinstance(report, dict):
        msg = f"{place}: this line is invalid or truncated; delete it"
        raise MeasurementError(msg)
    return report


K6 = tool_reader(
    _TOOL,
    _is_summary,
    _summary,
    "a summary: rate, times and failures of requests, virtual users, dropped iterations",
)
"""Reads k6's summary export and the data of ``handleSummary``."""

K6_LOG = log_reader(
    "k6 (NDJSON)", _is_log, _points, "single requests, from which headway computes rate and times"
)
"""Reads the file of ``k6 run --out json=FILE``."""
