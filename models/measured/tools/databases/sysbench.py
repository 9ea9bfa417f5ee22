"""sysbench 1: transactions of a database, or events of its other tests."""

from headway.models.measured.arrivals import POISSON
from headway.models.measured.points import Loop, Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.tools.kit.numbers import cell, filled
from headway.models.measured.tools.kit.refusals import nothing
from headway.models.measured.tools.kit.text import ToolText

_QUEUED = "a rate was set: latency starts when an event was due and includes its wait in the queue"
_DIVIDED = "sysbench prints no rate for this test; it is events divided by total time"
_MS = 1e-3


def _is_sysbench(text: str) -> bool:
    return "General statistics:" in text and "total number of events:" in text


def _points(text: str, source: str) -> list[Point]:
    """The point of a run's summary, ignoring its progress reports."""
    output = ToolText(text, source)
    events = output.needed(r"^\s*total number of events:\s+CELL", "number of events")
    if events == 0:
        raise nothing(source, "no event")
    duration = output.needed(r"^\s*total time:\s+([\d.]+)s", "total time")
    offered = output.number(r"^Target transaction rate: ([^/\s]+)/sec")
    rate = _rate(output)
    return [
        Point(
            "sysbench",
            Loop.CLOSED if offered is None else Loop.OPEN,
            offered_rate=offered,
            arrival_scv=None if offered is None else POISSON,
            population=output.number(r"^Number of threads: CELL"),
            throughput=events / duration if rate is None and duration else rate,
            response_time=output.needed(r"^\s*avg:\s+CELL", "mean latency", _MS),
            percentiles=_percentiles(output),
            errors=output.number(r"^\s*ignored errors:\s+CELL"),
            samples=events,
            duration=duration,
            more=filled(
                {
                    "query_rate_ops_s": output.number(r"^\s*queries:\s+\S+\s+\(CELL per sec"),
                    "response_time_min_s": output.number(r"^\s*min:\s+CELL", _MS),
                    "response_time_max_s": output.number(r"^\s*max:\s+CELL", _MS),
                }
            ),
            notes=(_QUEUED,) * (offered is not None) + (_DIVIDED,) * (rate is None),
        )
    ]


def _rate(text: ToolText) -> float | None:
    """Transactions per second if there are any, else events; None if neither is printed."""
    transactions = text.number(r"^\s*transactions:\s+\S+\s+\(CELL per sec")
    if transactions is not None:
        return transactions
    return text.number(r"^\s*(?:events per second:|events/s \(eps\):)\s+CELL")


def _percentiles(text: ToolText) -> dict[float, float]:
    """The one percentile that sysbench prints: by default the 95th."""
    line = text.find(r"^\s*(\d+)(?:st|nd|rd|th) percentile:\s+CELL")
    if line is None or not 0 < float(line[1]) <= 100:
        return {}
    value = cell(line[2], text.place(line), _MS)
    return {} if value is None else {float(line[1]): value}


SYSBENCH = tool_reader(
    "sysbench",
    _is_sysbench,
    _points,
    "threads, transactions or events per second, mean and one percentile of latency, errors",
)
"""Reads the summary of sysbench."""
