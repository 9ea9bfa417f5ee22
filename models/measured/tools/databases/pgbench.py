"""pgbench's output: versions 9 (``latency average: 4.5 ms``) to 17 (``= 4.5 ms``)."""

from headway.models.measured.arrivals import POISSON
from headway.models.measured.points import LAG, Loop, Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.tools.kit.numbers import filled
from headway.models.measured.tools.kit.refusals import nothing
from headway.models.measured.tools.kit.text import ToolText
from headway.numerals import digits

_COMPUTED = "the mean is computed from run time and clients, so Little's law checks nothing"
_SCHEDULED = (
    "a rate was set, which pgbench does not print: latency starts when a transaction was due"
)
_RECONNECTING = "each transaction opens its own connection, and its time includes that"
_MS = 1e-3


def _is_pgbench(text: str) -> bool:
    return "number of transactions actually processed:" in text and "transaction type:" in text


def _points(text: str, source: str) -> list[Point]:
    """The point of a run's summary, ignoring its progress reports."""
    output = ToolText(text, source)
    done = output.needed(r"^number of transactions actually processed: ([^\s/]+)", "count")
    if done == 0:
        raise nothing(source, "no transaction")
    deviation = output.number(r"^latency stddev\s*[:=] CELL ms", _MS)
    scheduled = output.find(r"^rate limit schedule lag") is not None
    return [
        Point(
            "pgbench",
            Loop.OPEN if scheduled else Loop.CLOSED,
            arrival_scv=POISSON if scheduled else None,
            population=output.number(r"^number of clients: CELL"),
            throughput=output.needed(rf"^tps = CELL{_WITHOUT}", "tps"),
            response_time=output.needed(r"^latency average[^:=\n]*[:=] CELL ms", "latency", _MS),
            errors=output.number(r"^number of failed transactions: CELL"),
            samples=done,
            duration=output.number(r"^duration: CELL s"),
            more=filled(
                {
                    "response_time_deviation_s": deviation,
                    "throughput_with_connecting_ops_s": output.number(
                        r"^tps = CELL \(including connections"
                    ),
                    LAG: output.number(r"^rate limit schedule lag: avg CELL", _MS),
                    "connecting_s": output.number(r"^initial connection time = CELL ms", _MS),
                }
            ),
            mean_of_rate=deviation is None,
            notes=_notes(output, scheduled=scheduled, measured=deviation is not None),
        )
    ]


_WITHOUT = r" \((?:excluding connections|without initial|including reconnection)"


def _notes(text: ToolText, *, scheduled: bool, measured: bool) -> tuple[str, ...]:
    late = text.number(r"^number of transactions skipped: CELL")
    notes = {
        _SCHEDULED: scheduled,
        _COMPUTED: not measured,
        _RECONNECTING: text.find(r"^tps = \S+ (\(including reconnection)") is not None,
        f"transactions skipped because they were already too late: {digits(late or 0)}": late,
    }
    return tuple(note for note, holds in notes.items() if holds)


PGBENCH = tool_reader(
    "pgbench",
    _is_pgbench,
    _points,
    "clients, transactions per second without connecting, mean and deviation of latency, failures",
)
"""Reads the summary of pgbench."""
