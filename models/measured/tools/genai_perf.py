"""genai-perf: ``profile_export_genai_perf.json``, and the CSV with the same numbers."""

from collections.abc import Mapping
from typing import Any

from headway.errors import MeasurementError
from headway.models.measured.points import Loop, Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.tools.kit.documents import amount, document, named_percentiles, under
from headway.models.measured.tools.kit.numbers import SECONDS, filled
from headway.models.measured.tools.kit.refusals import nothing
from headway.models.measured.tools.kit.text import begins, by_title, cells_of, placed

_TOOL = "genai-perf"
_HEAD = 2000
_TITLES = "Metric,avg,min,max,p99,"
_MORE = {
    "time_to_first_token_s": "time_to_first_token",
    "time_to_second_token_s": "time_to_second_token",
    "inter_token_latency_s": "inter_token_latency",
}
_UNSAID = "the CSV has neither the clients nor the requested rate; the JSON has both"


def _is_json(text: str) -> bool:
    head = text[:_HEAD]
    known = '"request_throughput"' in head and '"request_latency"' in head and '"unit"' in head
    return head.lstrip()[:1] == "{" and known


def _of_json(text: str, source: str) -> list[Point]:
    report = document(text, source)
    return [_point(report, under(report, "input_config", "perf_analyzer", "stimulus"), (), source)]


def _point(
    document: Mapping[str, Any], stimulus: Mapping[str, Any], notes: tuple[str, ...], source: str
) -> Point:
    """The point of all requests, from metrics with their units."""
    rate = amount(document, "request_throughput", "avg", source=source)
    latency = _time(document, "request_latency", source)
    if not rate or latency is None:
        raise nothing(source, "no request")
    offered = amount(stimulus, "request_rate", source=source)
    clients = amount(stimulus, "concurrency", source=source)
    tokens = amount(document, "output_token_throughput", "avg", source=source)
    count = amount(document, "request_count", "avg", source=source)
    more = {name: _time(document, key, source) for name, key in _MORE.items()}
    return Point(
        _TOOL,
        Loop.OPEN if offered else Loop.CLOSED if clients else None,
        offered_rate=offered,
        population=clients,
        throughput=rate,
        response_time=latency,
        percentiles=_percentiles(document, "request_latency", source),
        samples=count,
        duration=count / rate if count else None,
        more=filled({**more, "output_tokens_per_s": tokens}),
        notes=notes,
    )


def _time(document: Mapping[str, Any], name: str, source: str) -> float | None:
    """The mean of a metric of times [s]."""
    scale = _scale(document, name, source)
    return amount(document, name, "avg", source=source, scale=scale)


def _percentiles(document: Mapping[str, Any], name: str, source: str) -> dict[float, float]:
    return named_percentiles(under(document, name), source, _scale(document, name, source))


def _scale(document: Mapping[str, Any], name: str, source: str) -> float:
    unit = under(document, name).get("unit", "ms")
    if not isinstance(unit, str) or unit not in SECONDS:
        msg = f"{source}: {name} is in {unit!r}, which is not a unit of time"
        raise MeasurementError(msg)
    return SECONDS[unit]


def _of_csv(text: str, source: str) -> list[Point]:
    """The point from two tables: metrics with statistics, and metrics with one value."""
    metrics: dict[str, dict[str, str]] = {}
    titles: list[str] = []
    for place, line in placed(text, source):
        cells = cells_of(line, place)
        if cells[:1] == ["Metric"]:
            titles = ["avg" if title == "Value" else title for title in cells]
        elif cells:
            row = by_title(titles, [cell.replace(",", "") for cell in cells], place)
            name, _, unit = row.pop("Metric", "").removesuffix(")").partition(" (")
            metrics[name.lower().replace(" ", "_")] = {"unit": unit, **row}
    return [_point(metrics, {}, (_UNSAID,), source)]


GENAI_PERF = tool_reader(
    _TOOL,
    _is_json,
    _of_json,
    "requests per second, clients or requested rate, times of requests and tokens",
)
"""Reads ``profile_export_genai_perf.json``."""

GENAI_PERF_CSV = tool_reader(
    "genai-perf (CSV)",
    begins(_TITLES),
    _of_csv,
    "requests per second, times of requests and tokens",
)
"""Reads ``profile_export_genai_perf.csv``."""
