"""JMeter's summaries: the lines of its summariser, and the table of its reports as CSV."""

import csv
import re
from collections.abc import Mapping
from typing import TypeVar

from headway.models.measured.points import LONGEST, SHORTEST, Loop, Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.tools.http.answers import answered, of_errors
from headway.models.measured.tools.kit.numbers import filled, number, percentiles_of
from headway.models.measured.tools.kit.refusals import broken

_MS = 1e-3
_Name = TypeVar("_Name")
_LINE = re.compile(
    r"(?P<sign>[+=])[ \t]+(?P<count>\S+) in (?P<time>\S+) =\s*(?P<rate>\S+)/s "
    r"Avg:\s*(?P<mean>\S+) Min:\s*(?P<min>\S+) Max:\s*(?P<max>\S+) Err:\s*(?P<errors>\S+)"
    r"(?:.*?Active: (?P<active>\S+) Started: (?P<started>\S+))?"
)
_CLOCK = re.compile(r"(?:(\d+):)?(\d+):(\d+)")
_WHOLE = "times are in whole milliseconds and include failed samples"


def _is_summariser(text: str) -> bool:
    return any(_LINE.search(line) for line in text.splitlines())


def _summary(text: str, source: str) -> list[Point]:
    """The point of the last total or, without one, of the last interval."""
    found = [(k, m) for k, line in enumerate(text.splitlines(), 1) if (m := _LINE.search(line))]
    if not found:
        raise broken(source, "there is no line of a summary")
    read = [{name: _cell(m, name, f"{source}:{k}") for name in _NUMBERS} for k, m in found]
    at = next((k for k in range(len(found))[::-1] if found[k][1]["sign"] == "="), len(found) - 1)
    (line, last), cells = found[at], read[at]
    threads = max((one["active"] for one in read), default=0.0)
    total, bad = cells["count"], cells["errors"]
    return [
        Point(
            "JMeter",
            Loop.CLOSED,
            population=threads or None,
            throughput=answered(cells["rate"], bad, total),
            response_time=cells["mean"] * _MS,
            errors=bad,
            samples=total,
            duration=_seconds(last["time"], f"{source}:{line}"),
            with_failures=bad > 0,
            more={SHORTEST: cells["min"] * _MS, LONGEST: cells["max"] * _MS},
            notes=(_WHOLE, *of_errors(bad, total)),
        )
    ]


_NUMBERS = ("count", "rate", "mean", "min", "max", "errors", "active", "started")


def _cell(match: re.Match[str], name: str, place: str) -> float:
    """A number of a line; 0 if the line does not have it."""
    return number(match[name], place) if match[name] else 0.0


def _seconds(text: str, place: str) -> float:
    """Seconds as the versions write them: ``00:01:20``, or ``79.9s`` before 3.1."""
    clock = _CLOCK.fullmatch(text)
    if clock is None:
        return number(text.removesuffix("s"), place)
    hours, minutes, rest = (float(cell or 0) for cell in clock.groups())
    return 3600 * hours + 60 * minutes + rest


_TITLES = {
    "count": ("# Samples", "sampleCount", "#Samples"),
    "mean": ("Average",),
    "min": ("Min",),
    "max": ("Max",),
    "errors": ("Error %",),
    "rate": ("Throughput",),
}
_PERCENT = re.compile(r"(\d+(?:\.\d+)?)% Line|(Median)")


def _is_table(text: str) -> bool:
    head = text.lstrip("\ufeff")[:1000].partition("\n")[0]
    return head.startswith("Label,") and "Samples" in head and "Error %" in head


def _table(text: str, source: str) -> list[Point]:
    """The point of the row of totals, or of the only sampler."""
    rows = list(csv.DictReader(text.lstrip("\ufeff").splitlines()))
    total = [row for row in rows if (row.get("Label") or "").upper() == "TOTAL"] or rows[-1:]
    if not total or None in total[0].values() or None in total[0]:
        last = f"{source}:{len(rows) + 1}"
        raise broken(last, "there is no complete row of totals")
    row, place = total[0], f"{source}:{rows.index(total[0]) + 2}"
    cells = {name: _number(row, titles, place) for name, titles in _TITLES.items()}
    count, share = cells["count"] or 0.0, (cells["errors"] or 0.0) / 100
    bad = round(count * share)
    named = {title: match[1] or "50" for title in row if (match := _PERCENT.fullmatch(title))}
    tails = {float(percent): _number(row, (title,), place) for title, percent in named.items()}
    ends = {SHORTEST: cells["min"], LONGEST: cells["max"]}
    return [
        Point(
            "JMeter",
            Loop.CLOSED,
            throughput=answered(cells["rate"] or 0.0, bad, count),
            response_time=None if cells["mean"] is None else cells["mean"] * _MS,
            percentiles=_scaled(percentiles_of(tails)),
            errors=float(bad),
            samples=count,
            with_failures=bad > 0,
            more=_scaled(filled(ends)),
            notes=(_WHOLE, *of_errors(bad, count)),
        )
    ]


def _number(row: Mapping[str, str], titles: tuple[str, ...], place: str) -> float | None:
    """A cell; in older versions a rate may be per minute or hour, such as ``12.5/min``."""
    text = next((row[title] for title in titles if title in row), "").strip()
    if not text:
        return None
    for ending, scale in (("/sec", 1.0), ("/min", 60.0), ("/hour", 3600.0), ("%", 1.0)):
        if text.endswith(ending):
            return number(text.removesuffix(ending), place) / scale
    return number(text, place)


def _scaled(cells: Mapping[_Name, float]) -> dict[_Name, float]:
    return {name: value * _MS for name, value in cells.items()}


JMETER_SUMMARY = tool_reader(
    "JMeter (summariser)",
    _is_summariser,
    _summary,
    "the last total on the console: threads, rate, mean, failures",
)
"""Reads the lines that JMeter's summariser prints."""

JMETER_TABLE = tool_reader(
    "JMeter (report table)",
    _is_table,
    _table,
    "the totals of an aggregate or summary report saved as CSV",
)
"""Reads the table of JMeter's aggregate and summary reports."""
