"""oha's summary, as text."""

import re

from headway.models.measured.points import LONGEST, SHORTEST, Loop, Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.tools.http.answers import answered, of_errors, refuse_empty, statuses
from headway.models.measured.tools.http.oha import AT_THE_END, of_end
from headway.models.measured.tools.kit.numbers import number, percentiles_of, seconds
from headway.models.measured.tools.kit.text import ToolText

_SUCCESS = re.compile(r"^[ \t]*Success rate:[ \t]", re.MULTILINE)
_TIME = r"([\d.]+)\s*(secs?|ms|us|µs|ns|m)\b"
_UNSAID = "oha prints neither its connections nor the rate set by -q"


def _points(text: str, source: str) -> list[Point]:
    run = ToolText(text, source)
    rate = run.needs(r"\s*Requests/sec:\s+([\d.]+)", "Requests/sec: 900.0")
    codes = run.all(r"\s*\[(\d{3})\] (\d+) responses")
    answers = {line.groups[0]: line.number(1) for line in codes}
    errors = run.all(r"\s*\[(\d+)\] (?!\d+ responses)(.+)$")
    failed = {line.groups[1]: line.number() for line in errors}
    bad, good = statuses(answers)
    lost = sum(n for what, n in failed.items() if what.strip() != AT_THE_END)
    cut = sum(failed.values()) - lost
    refuse_empty(good, lost, rate.place)
    tails = run.all(rf"\s*([\d.]+)%+ in {_TIME}")
    more = {SHORTEST: _span(run, "Fastest"), LONGEST: _span(run, "Slowest")}
    return [
        Point(
            "oha",
            Loop.CLOSED,
            throughput=answered(rate.number(), bad + lost + cut, good + lost + cut),
            response_time=_span(run, "Average"),
            percentiles=percentiles_of(
                {t.number(): seconds(t.groups[1] + t.groups[2], t.place) for t in tails}
            ),
            errors=bad + lost,
            samples=good,
            duration=_span(run, "Total"),
            with_failures=bad > 0,
            more={name: value for name, value in more.items() if value is not None},
            notes=(_UNSAID, *of_end(cut), *of_errors(bad + lost, good + lost)),
        )
    ]


def _span(run: ToolText, name: str) -> float | None:
    lines = run.all(rf"\s*{name}:\s+{_TIME}")
    if not lines:
        return None
    value, unit = lines[0].groups
    return seconds(f"{number(value, lines[0].place)}{unit}", lines[0].place)


OHA_TEXT = tool_reader(
    "oha (text)",
    lambda text: bool(_SUCCESS.search(text)) and "Requests/sec:" in text,
    _points,
    "requests/s, answers by status, mean time, percentiles",
)
"""Reads what oha prints without ``--output-format``."""
