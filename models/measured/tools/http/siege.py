"""siege's output: the table of older versions, and the JSON of version 4."""

import re
from collections.abc import Mapping

from headway.errors import MeasurementError
from headway.models.measured.points import LONGEST, SHORTEST, Loop, Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.tools.http.answers import refuse_empty
from headway.models.measured.tools.kit.numbers import number
from headway.models.measured.tools.kit.text import HEAD, placed

_TABLE = re.compile(r'(Transactions:\s+\d+ hits|"transactions":\s+\d+,)\s+"?[Aa]vailability"?:')
_CELL = re.compile(
    r'[{\s]*"?([A-Za-z][A-Za-z_ ]*)"?:\s+([\d.]+)\s*(hits|%|secs|MB|[a-zA-Z]+/sec)?,?$'
)
_USERS = re.compile(r"\*\* Preparing (\S+) concurrent users")

_CENTISECOND = 0.01  # to which siege prints single times [s]

_FINER = (
    "siege prints its mean as {printed} s; concurrency divided by rate gives the same mean with"
    " more digits"
)
Cells = Mapping[str, tuple[float, str]]


def _is_siege(text: str) -> bool:
    return "** SIEGE " in text[:HEAD] or bool(_TABLE.search(text[-HEAD:]))


def _points(text: str, source: str) -> list[Point]:
    cells = _cells(text, source)
    rate, place = _cell(cells, "transaction_rate", source)
    inside, _ = _cell(cells, "concurrency", source)
    answers, _ = _cell(cells, "transactions", source)
    failed, _ = _cell(cells, "failed_transactions", source)
    printed, _ = _cell(cells, "response_time", source)
    (longest, _), (shortest, _) = (
        _cell(cells, f"{which}_transaction", source) for which in ("longest", "shortest")
    )
    refuse_empty(answers, failed, place)
    mean, notes = _mean(rate, inside, printed)
    return [
        Point(
            "siege",
            Loop.CLOSED,
            population=_users(text, source),
            throughput=rate if answers and rate else None,
            response_time=mean if answers else None,
            errors=failed,
            samples=answers,
            duration=_cell(cells, "elapsed_time", source)[0],
            more={"printed_mean_s": printed, SHORTEST: shortest, LONGEST: longest},
            coarseness=_CENTISECOND / 2 / max(longest, _CENTISECOND / 2),
            notes=notes if answers else ("no request succeeded: there is no throughput",),
        )
    ]


def _mean(rate: float, inside: float, printed: float) -> tuple[float, tuple[str, ...]]:
    """The mean, with more digits than siege's two decimals where possible, and a note about it."""
    if rate <= 1 + printed:
        return printed, ()
    return inside / rate, (_FINER.format(printed=f"{printed:.2f}"),)


def _cells(text: str, source: str) -> Cells:
    """Numbers by their names in JSON, with their places."""
    cells = ((place, _CELL.match(row)) for place, row in placed(text, source))
    return {
        match[1].lower().replace(" ", "_"): (number(match[2], place), place)
        for place, match in cells
        if match
    }


def _cell(cells: Cells, name: str, source: str) -> tuple[float, str]:
    if name not in cells:
        title = name.replace("_", " ").capitalize()
        msg = f"{source}:1: siege's {title!r} is missing; use siege's complete output"
        raise MeasurementError(msg)
    return cells[name]


def _users(text: str, source: str) -> float | None:
    match = _USERS.search(text[:HEAD])
    return number(match[1], source) if match else None


SIEGE = tool_reader(
    "siege",
    _is_siege,
    _points,
    "transactions/s, failures, mean time; clients only with siege's banner",
)
"""Reads siege's output."""
