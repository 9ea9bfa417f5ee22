"""vLLM's ``vllm bench serve`` and sglang's ``bench_serving``: text, JSON, JSON lines."""

import json
import re
from collections.abc import Mapping
from typing import Any

from headway.models.measured.points import Loop, Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.tools.kit.documents import amount, document
from headway.models.measured.tools.kit.numbers import filled, number, percentiles_of
from headway.models.measured.tools.kit.refusals import broken, nothing
from headway.models.measured.tools.kit.text import ToolText, recognised_by, runs

_MS = 1e-3
_KINDS = {"ttft": "time_to_first_token", "tpot": "time_per_output_token",
          "itl": "inter_token_latency"}  # fmt: skip
_FOLLOWS = (
    "the mean of a request follows from its tokens: first one, and (tokens - 1) times per token"
)


def _result(cells: Mapping[str, Any], tool: str, source: str) -> Point:
    """The point of a result, whose keys are the same in all forms."""

    def cell(*names: str, scale: float = 1.0) -> float | None:
        known = (amount(cells, name, source=source, scale=scale) for name in names)
        return next((value for value in known if value is not None), None)

    done, rate = cell("completed"), cell("request_throughput")
    if not done or not rate:
        raise nothing(source, "no request")
    asked = cells.get("request_rate")
    clients = cell("max_concurrency")
    offered = None if asked in (None, "inf", float("inf")) else cell("request_rate")
    mean = cell("mean_e2el_ms", "mean_e2e_latency_ms", scale=_MS)
    notes: tuple[str, ...] = ()
    if mean is None:
        mean, notes = _from_tokens(cell, done), (_FOLLOWS,)
    tails = {
        percent: cell(f"{name}_e2el_ms", f"{name}_e2e_latency_ms", scale=_MS)
        for percent, name in ((50.0, "median"), (90.0, "p90"), (95.0, "p95"), (99.0, "p99"))
    }
    more = {
        f"{long}{_tail(name)}_s": cell(f"{name}_{short}_ms", scale=_MS)
        for short, long in _KINDS.items()
        for name in ("mean", "median", "p99")
    }
    more["output_tokens_per_s"] = cell("output_throughput")
    return Point(
        tool,
        Loop.OPEN if offered is not None else Loop.CLOSED if clients is not None else None,
        offered_rate=offered,
        population=None if offered is not None else clients,
        throughput=rate,
        response_time=mean,
        percentiles=percentiles_of(tails),
        errors=cell("failed"),
        samples=done,
        duration=cell("duration"),
        more=filled(more),
        notes=notes if mean is not None else (),
    )


def _tail(name: str) -> str:
    return {"mean": "", "median": "_p50"}.get(name, f"_{name}")


def _from_tokens(cell: Any, done: float) -> float | None:
    """R = TTFT + (n - 1) TPOT for n tokens per request."""
    first, each, tokens = cell("mean_ttft_ms", scale=_MS), cell("mean_tpot_ms", scale=_MS), None
    tokens = cell("total_output_tokens")
    if first is None or each is None or tokens is None:
        return None
    return float(first + max(tokens / done - 1, 0.0) * each)


def _of_json(text: str, source: str) -> list[Point]:
    return [_result(document(text, source), "vllm bench", source)]


_OF_A_LINE = ('"backend"', '"request_throughput"', '"mean_ttft_ms"')


def _is_lines(text: str) -> bool:
    line = text.lstrip().partition("\n")[0]
    return line.startswith("{") and all(key in line for key in _OF_A_LINE)


def _of_lines(text: str, source: str) -> list[Point]:
    """One point per line: sglang appends each run to its file."""
    points = []
    for place, line in ToolText(text, source):
        if line.strip():
            points.append(_result(_parsed(line, place), "sglang bench", place))
    return points


def _parsed(line: str, place: str) -> Mapping[str, Any]:
    try:
        parsed = json.loads(line)
    except ValueError:
        raise broken(place, "this line is no JSON") from None
    if not isinstance(parsed, dict):
        raise broken(place, "this line is no JSON object")
    return parsed


_TITLE = "= Serving Benchmark Result ="
_NAMES = {
    "Successful requests": "completed",
    "Failed requests": "failed",
    "Benchmark duration (s)": "duration",
    "Total generated tokens": "total_output_tokens",
    "Request throughput (req/s)": "request_throughput",
    "Output token throughput (tok/s)": "output_throughput",
}
_TIME = re.compile(
    r"(Mean|Median|P(\d+(?:\.\d+)?)) (TTFT|TPOT|ITL|E2EL|E2E Latency) \(ms\):\s+(\S+)"
)
_LINE = re.compile(r"([^:\n]+):\s+(\S+)\s*$")


def _of_text(text: str, source: str) -> list[Point]:
    """One point per result; how requests were sent comes before it."""
    points = []
    before = text.partition("=====")[0]
    for run in runs(text, source, rf"=*{_TITLE}"):
        cells: dict[str, Any] = dict(_sent(before))
        for place, line in run:
            timed = _TIME.search(line)
            plain = _LINE.match(line.strip())
            if timed:
                kind = timed[3].lower().replace("e2e latency", "e2el")
                cells[f"{timed[1].lower()}_{kind}_ms"] = number(timed[4], place)
            elif plain and plain[1] in _NAMES:
                cells[_NAMES[plain[1]]] = number(plain[2], place)
            elif plain and "request concurrency" in plain[1]:
                cells["max_concurrency"] = number(plain[2], place)
            elif plain and "request rate" in plain[1]:
                cells["request_rate"] = plain[2]
        points.append(_result(cells, "vllm bench", run.end))
        before = run.text
    return points


def _sent(text: str) -> Mapping[str, str]:
    rate = re.search(r"request rate(?: configured \(RPS\))?:\s*(\S+)", text, re.IGNORECASE)
    most = re.search(r"request concurrency:\s*(\S+)", text, re.IGNORECASE)
    found = {"request_rate": rate, "max_concurrency": most}
    return {name: match[1] for name, match in found.items() if match}


VLLM_JSON = tool_reader(
    "vllm bench (JSON)",
    recognised_by('"request_throughput"', '"completed"', '"mean_ttft_ms"'),
    _of_json,
    "clients or the rate asked for, requests per second, times of requests and tokens",
)
"""Reads what ``vllm bench serve --save-result`` writes."""

SGLANG = tool_reader(
    "sglang bench (JSON lines)",
    _is_lines,
    _of_lines,
    "a run a line: clients or the rate asked for, requests per second, times",
)
"""Reads what sglang's ``bench_serving --output-file`` appends."""

VLLM_TEXT = tool_reader(
    "vllm bench (text)",
    lambda text: _TITLE in text,
    _of_text,
    "clients or the rate asked for, requests per second, times of requests and tokens",
)
"""Reads what ``vllm bench serve`` and sglang's ``bench_serving`` print."""
