"""What pgbench writes: versions 9 (``latency average: 4.5 ms``) to 17 (``= 4.5 ms``)."""

from headway.models.measured.points import Loop, Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.tools.kit.numbers import filled
from headway.models.measured.tools.kit.refusals import nothing
from headway.models.measured.tools.kit.text import Text

_COMPUTED = "the mean is computed from the run time and the clients: Little's law proves nothing"
_SCHEDULED = (
    "a rate was set, which pgbench does not print: latency counts from when a transaction was due"
)
_RECONNECTING = "each transaction makes its own connection, which its time includes"
_MS = 1e-3


def _is_pgbench(text: str) -> bool:
    return "number of transactions actually processed:" in text and "transaction type:" in text


def _points(text: str, source: str) -> list[Point]:
    """The one point of a run: its summary, not what it told on the way."""
    found = Text(text, source)
    done = found.needed(r"^number of transactions actually processed: ([^\s/]+)", "count")
    if done == 0:
        raise nothing(source, "no transaction")
    deviation = found.number(r"^latency stddev\s*[:=] CELL ms", _MS)
    scheduled = found.find(r"^rate limit schedule lag") is not None
    return [
        Point(
            "pgbench",
            Loop.OPEN if scheduled else Loop.CLOSED,
            population=found.number(r"^number of clients: CELL"),
            throughput=found.needed(rf"^tps = CELL{_WITHOUT}", "tps"),
            response_time=found.needed(r"^latency average[^:=\n]*[:=] CELL ms", "latency", _MS),
            errors=found.number(r"^number of failed transactions: CELL"),
            samples=done,
            duration=found.number(r"^duration: CELL s"),
            more=filled(
                {
                    "response_time_deviation_s": deviation,
                    "throughput_with_connecting_ops_s": found.number(
                        r"^tps = CELL \(including connections"
                    ),
                    "schedule_lag_s": found.number(r"^rate limit schedule lag: avg CELL", _MS),
                    "connecting_s": found.number(r"^initial connection time = CELL ms", _MS),
                }
            ),
            mean_of_rate=deviation is None,
            notes=_notes(found, scheduled=scheduled, measured=deviation is not None),
        )
    ]


_WITHOUT = r" \((?:excluding connections|without initial|including reconnection)"


def _notes(text: Text, *, scheduled: bool, measured: bool) -> tuple[str, ...]:
    late = text.number(r"^number of transactions skipped: CELL")
    notes = {
        _SCHEDULED: scheduled,
        _COMPUTED: not measured,
        _RECONNECTING: text.find(r"^tps = \S+ (\(including reconnection)") is not None,
        f"transactions skipped, as they were too late already: {late or 0:g}": late,
    }
    return tuple(note for note, holds in notes.items() if holds)


PGBENCH = tool_reader(
    "pgbench",
    _is_pgbench,
    _points,
    "clients, transactions per second without connecting, mean and deviation of latency, failures",
)
"""Reads the summary of pgbench."""
