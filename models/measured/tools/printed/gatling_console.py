"""Gatling's statistics on the console: the last ones of a run, in milliseconds."""

import re

from headway.models.measured.points import LONGEST, SHORTEST, Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.tools.kit.numbers import cell, filled, number, percentiles_of
from headway.models.measured.tools.kit.refusals import nothing
from headway.models.measured.tools.kit.text import ToolText, runs

_START = "---- Global Information ----"
_PERCENT = re.compile(r"> response time (\d+(?:\.\d+)?)(?:st|nd|rd|th) percentile")
_MS = 1e-3
_UNSAID = "Gatling's console does not show the users; times are of successful requests"


def _points(text: str, source: str) -> list[Point]:
    """The point of the last statistics, which cover the whole run."""
    run = runs(text, source, _START)[-1]
    good, bad = _counts(run, "request count")
    if not good:
        raise nothing(source, "no request")
    rates = _cells(run, "mean (?:requests/sec|throughput \\(rps\\))")
    rate = rates[1] if rates[1] is not None else rates[0]
    return [
        Point(
            "Gatling",
            throughput=rate,
            response_time=_ok(run, "mean response time"),
            percentiles=_percentiles(run),
            errors=bad,
            samples=good,
            duration=good / rate if rate else None,
            more=filled(
                {SHORTEST: _ok(run, "min response time"), LONGEST: _ok(run, "max response time")}
            ),
            notes=(_UNSAID,),
        )
    ]


def _cells(run: ToolText, what: str) -> tuple[float | None, float | None]:
    """The numbers of all requests, and of those that succeeded; before 3.13 as ``OK=``."""
    line = run.needs(
        rf"> {what}[^|\d]*?\|?\s+([\d.,-]+)\s*(?:\(OK=\s*([\d.,-]+)|\|\s*([\d.,-]+))",
        "> request count   960 (OK=960    KO=0     )",
    )
    every, own, other = line.groups
    return cell(every, line.place), cell(own or other, line.place)


def _counts(run: ToolText, what: str) -> tuple[float, float]:
    every, good = _cells(run, what)
    return good or 0.0, (every or 0.0) - (good or 0.0)


def _ok(run: ToolText, what: str) -> float | None:
    every, good = _cells(run, what)
    value = good if good is not None else every
    return None if value is None else value * _MS


def _percentiles(run: ToolText) -> dict[float, float]:
    named = {match[1]: match[0] for _, line in run if (match := _PERCENT.search(line))}
    return percentiles_of(
        {number(percent, "percentile"): _ok(run, what.removeprefix("> "))
         for percent, what in named.items()}
    )  # fmt: skip


GATLING_CONSOLE = tool_reader(
    "Gatling (console)",
    lambda text: _START in text,
    _points,
    "rate, times and failures of requests",
)
"""Reads what Gatling prints at the end of a run."""
