"""Netgauge's ``-o``: its LogGP pattern (``-x loggp``), and pairs (``one_one``)."""

import re
from collections.abc import Iterator, Sequence

from headway.models.measured.points import Loop, Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.tools.kit.numbers import (
    bytes_words,
    filled,
    number,
    percentiles_of,
)
from headway.models.measured.tools.kit.refusals import nothing
from headway.models.measured.tools.kit.text import HEAD, ToolText, by_title

_TOOL = "Netgauge"
_LOGGP = "# size n PRTT(1,0,s) PRTT(n,0,s)"
_ONE = re.compile(r"^## Netgauge v\S+ - mode ", re.MULTILINE)
_US, _MBIT = 1e-6, 1e6 / 8
_TITLES = (
    "size", "n", "PRTT(1,0,s)", "PRTT(n,0,s)", "PRTT(n,d,s)", "L", "o_s", "o_r", "g", "G", "lsqu",
)  # fmt: skip
_DERIVED = {
    "latency_s": "L", "send_overhead_s": "o_s", "receive_overhead_s": "o_r", "gap_s": "g",
    "gap_per_byte_s": "G",
}  # fmt: skip
_ROUND = (
    "the time is a whole round trip, the shortest of its runs; L is half the shortest round trip,"
    " including overheads; g and G come from lines through all sizes so far"
)
_HALF = "latency is half the round trip"
_FITTED = "a parameter that its lines make negative or no number at this size is left out"
_NONE = ("nan", "-nan", "inf")  # for values that lines through too few sizes do not determine
_LETTERS = tuple("ABCDEFGHIJKLMNOPQ")


def _is_loggp(text: str) -> bool:
    return _LOGGP in text[:HEAD]


def _loggp(text: str, source: str) -> list[Point]:
    """One point per message size: one message, and trains of n without and with a pause."""
    rows = [_row(_TITLES, cells, place) for place, cells in _rows(ToolText(text, source))]
    if not rows:
        raise ToolText(text, source).missing("row below its titles")
    return [_of_train(row, place) for row, place in rows]


Row = tuple[dict[str, float | None], str]


def _rows(text: ToolText) -> Iterator[tuple[str, list[str]]]:
    """Rows of numbers, without the brackets and dashes between groups."""
    for place, line in text:
        cells = [word.strip("()") for word in line.split() if word != "-"]
        if cells and not line.startswith("#"):
            yield place, cells


def _row(titles: Sequence[str], cells: Sequence[str], place: str) -> Row:
    named = by_title(titles, cells, place).items()
    return {
        title: None
        if text in _NONE
        else number(text, f"{place}: {title}", signed=title in _DERIVED.values())
        for title, text in named
    }, place


def _of_train(row: dict[str, float | None], place: str) -> Point:
    fitted = {name: _scaled(row[title], _US) for name, title in _DERIVED.items()}
    times = {name: time for name, time in filled(fitted).items() if time >= 0}
    single = _scaled(row["PRTT(1,0,s)"], _US)
    if not single or single < 0:
        raise nothing(place, "no message")
    return Point(
        _TOOL,
        Loop.CLOSED,
        response_time=single,
        more=filled(
            {
                "message_size_bytes": row["size"],
                "train_messages": row["n"],
                "train_round_trip_s": _scaled(row["PRTT(n,0,s)"], _US),
                "spaced_train_round_trip_s": _scaled(row["PRTT(n,d,s)"], _US),
                **times,
            }
        ),
        name=bytes_words(row["size"]),
        notes=(_ROUND, *(_FITTED,) * (len(times) < len(fitted))),
    )


def _scaled(value: float | None, scale: float) -> float | None:
    return None if value is None else value * scale


def _is_one(text: str) -> object:
    return _ONE.search(text[:HEAD])


def _one(text: str, source: str) -> list[Point]:
    """One point per message size: half the round trip, bandwidth, and time that sending blocks."""
    rows = [_row(_LETTERS, cells, place) for place, cells in _rows(ToolText(text, source))]
    if not rows:
        raise ToolText(text, source).missing("row below the letters of its columns")
    return [_of_pair(row, place) for row, place in rows]


def _of_pair(row: dict[str, float | None], place: str) -> Point:
    mean = _scaled(row["I"], _US)
    if not mean or mean < 0:
        raise nothing(place, "no message")
    return Point(
        _TOOL,
        Loop.CLOSED,
        response_time=mean,
        percentiles=percentiles_of({50.0: _scaled(row["J"], _US)}),
        more=filled(
            {
                "message_size_bytes": row["A"],
                "bandwidth_bytes_s": _scaled(row["O"], _MBIT),
                "response_time_min_s": _scaled(row["H"], _US),
                "response_time_max_s": _scaled(row["K"], _US),
                "response_time_deviation_s": _scaled(row["L"], _US),
                "send_time_s": _scaled(row["C"], _US),
            }
        ),
        name=bytes_words(row["A"]),
        notes=(_HALF,),
    )


NETGAUGE_LOGGP = tool_reader(
    "Netgauge (LogGP)",
    _is_loggp,
    _loggp,
    "one point per message size: round trips of one message and of trains, its L, o, g and G",
)
"""Reads the file of ``netgauge -x loggp -o FILE``."""

NETGAUGE = tool_reader(
    _TOOL,
    _is_one,
    _one,
    "one point per message size: half the round trip with its median, bandwidth",
)
"""Reads the file of ``netgauge -x one_one -o FILE``."""
