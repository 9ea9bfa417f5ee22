"""Load generators of inference servers: inference-perf and guidellm, both JSON."""

from collections.abc import Mapping
from typing import Any

from headway.errors import MeasurementError
from headway.models.measured.points import Loop, Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.tools.kit.documents import amount, document, named_percentiles, under
from headway.models.measured.tools.kit.numbers import filled
from headway.numerals import digits, times

_TIMES = (
    "time_to_first_token",
    "time_per_output_token",
    "normalized_time_per_output_token",
    "inter_token_latency",
)


def _is_inference_perf(text: str) -> bool:
    head = text[:400]
    return text.lstrip()[:1] == "{" and '"load_summary"' in head and '"successes"' in text


def _inference_perf(text: str, source: str) -> list[Point]:
    """The stage of one file; its rate and times are those of successful requests."""
    report = document(text, source)
    wait = amount(report, "load_summary", "schedule_delay", "mean", source=source) or 0.0
    offered = amount(report, "load_summary", "requested_rate", source=source)
    point = Point(
        "inference-perf",
        Loop.OPEN,
        offered_rate=offered,
        throughput=amount(report, "successes", "throughput", "requests_per_sec", source=source),
        response_time=amount(report, *_LATENCY, "mean", source=source),
        percentiles=named_percentiles(under(report, *_LATENCY), source),
        errors=amount(report, "failures", "count", source=source),
        samples=amount(report, "successes", "count", source=source),
        duration=amount(report, "load_summary", "send_duration", source=source),
        lateness=wait or None,
        more=_more(report, source),
        notes=(f"on average, requests were sent {times(wait)[0]} after they were due",)
        * (wait > _LATE),
    )
    if not point.samples:
        msg = f"{source}: no request succeeded in this stage; omit it with --skip-bad"
        raise MeasurementError(msg)
    if point.throughput is None or point.response_time is None:
        msg = f"{source}: this stage lacks requests_per_sec or the mean of request_latency"
        raise MeasurementError(msg)
    return [point]


_LATE = 0.01  # s that requests may be sent late without a note
_LATENCY = ("successes", "latency", "request_latency")


def _more(document: Mapping[str, Any], source: str) -> dict[str, float]:
    """Further numbers of a stage: tokens, and how far the client fell behind."""
    latency = under(document, "successes", "latency")
    cells = {f"{name}_s": amount(latency, name, "mean", source=source) for name in _TIMES}
    for name in ("time_to_first_token", "inter_token_latency"):
        for percent in (50.0, 90.0, 99.0):
            inner = named_percentiles(under(latency, name), source)
            cells[f"{name}_p{digits(percent)}_s"] = inner.get(percent)
    rates = under(document, "successes", "throughput")
    load = under(document, "load_summary")
    cells |= {
        "output_tokens_per_s": amount(rates, "output_tokens_per_sec", source=source),
        "sent_rate_ops_s": amount(load, "achieved_rate", source=source),
        "schedule_delay_s": amount(load, "schedule_delay", "mean", source=source),
    }
    return filled(cells)


INFERENCE_PERF = tool_reader(
    "inference-perf",
    _is_inference_perf,
    _inference_perf,
    "one point per stage: rates offered and achieved, times of requests and tokens, failures",
)
"""Reads ``stage_*_lifecycle_metrics.json`` of inference-perf."""


def _is_guidellm(text: str) -> bool:
    head = text[:2000]
    return text.lstrip()[:1] == "{" and '"benchmarks"' in head and '"generative_benchmark"' in head


def _guidellm(text: str, source: str) -> list[Point]:
    """A point for each benchmark in a file."""
    report = document(text, source).get("benchmarks")
    if not isinstance(report, list) or not report:
        msg = f"{source}: the list of benchmarks is missing; use the complete file"
        raise MeasurementError(msg)
    return [_benchmark(each, f"{source}: benchmark {i}") for i, each in enumerate(report, 1)]


def _benchmark(document: Any, source: str) -> Point:
    def mean(name: str, scale: float = 1.0) -> float | None:
        return amount(document, "metrics", name, "successful", "mean", source=source, scale=scale)

    counts = under(document, "request_totals") or under(document, "run_stats", "requests_made")
    good = amount(counts, "successful", source=source)
    rate, latency = mean("requests_per_second"), mean("request_latency")
    if not good or rate is None or latency is None:
        msg = f"{source}: no request succeeded, or the rate or latency is missing"
        raise MeasurementError(msg)
    strategy = under(document, "args", "strategy") or under(document, "config", "strategy")
    offered = amount(strategy, "rate", source=source)
    streams = amount(strategy, "streams", source=source)
    more = {name: mean(key, scale) for name, key, scale in _GUIDELLM}
    inner = under(document, "metrics", "request_latency", "successful", "percentiles")
    return Point(
        "guidellm",
        Loop.OPEN if offered else Loop.CLOSED if streams else None,
        offered_rate=offered,
        population=streams,
        throughput=rate,
        response_time=latency,
        percentiles=_short_percentiles(inner, source),
        errors=amount(counts, "errored", source=source),
        samples=good,
        duration=amount(document, "duration", source=source),
        more=filled(more),
        notes=(_BURST,) * (strategy.get("initial_burst") is True),
    )


_BURST = "the test began with a burst of requests, which its rate and times include"
_GUIDELLM = (
    ("time_to_first_token_s", "time_to_first_token_ms", 1e-3),
    ("time_per_output_token_s", "time_per_output_token_ms", 1e-3),
    ("inter_token_latency_s", "inter_token_latency_ms", 1e-3),
    ("output_tokens_per_s", "output_tokens_per_second", 1.0),
)


def _short_percentiles(document: Mapping[str, Any], source: str) -> dict[float, float]:
    """Percentiles with keys such as ``p99`` and ``p999``, whose third digit is a decimal."""
    named = {
        key if len(key) < 4 else f"{key[:3]}.{key[3:]}": cell for key, cell in document.items()
    }
    return named_percentiles(named, source)


GUIDELLM = tool_reader(
    "guidellm",
    _is_guidellm,
    _guidellm,
    "one point per benchmark: rate or streams, times of requests and tokens, failures",
)
"""Reads the JSON of guidellm."""
