"""vegeta's default report, as text, and its percentiles for plots (``-type=hdrplot``)."""

import re
from collections.abc import Sequence

from headway.models.measured.arrivals import CONSTANT
from headway.models.measured.points import DRAIN, LONGEST, SHORTEST, Loop, Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.tools.http.answers import of_errors, refuse_empty, statuses
from headway.models.measured.tools.http.vegeta import UNTIL_THE_LAST
from headway.models.measured.tools.kit.numbers import go_seconds, number, percentiles_of
from headway.models.measured.tools.kit.refusals import broken
from headway.models.measured.tools.kit.text import ToolText

_REQUESTS = re.compile(r"^Requests\s+\[total, rate(, throughput)?\]", re.MULTILINE)
_LEAST = 1e-9  # least time that a run takes [s]


def _points(text: str, source: str) -> list[Point]:
    run = ToolText(text, source)
    requests, place = _row(run, "Requests")
    if len(requests) < 2:
        raise broken(place, "there is no rate")
    spans, times = _named(run, "Duration", "total"), _named(run, "Latencies", "mean")
    total, offered = number(requests[0], place), number(requests[1], place)
    bad, answers = statuses(_codes(run))
    refuse_empty(answers, bad, place)
    whole = go_seconds(spans["total"], place)
    throughput = (
        number(requests[2], place) if len(requests) > 2 else (total - bad) / max(whole, _LEAST)
    )
    cells = {float(name): go_seconds(cell, place) for name, cell in times.items() if name.isdigit()}
    ends = {SHORTEST: times.get("min"), LONGEST: times.get("max"), DRAIN: spans.get("wait")}
    return [
        Point(
            "vegeta",
            Loop.OPEN,
            offered_rate=offered,
            arrival_scv=CONSTANT,
            throughput=throughput if bad < total else None,
            response_time=go_seconds(times["mean"], place),
            percentiles=percentiles_of(cells),
            errors=bad,
            samples=total,
            duration=go_seconds(spans.get("attack", spans["total"]), place),
            with_failures=bad > 0,
            more={name: go_seconds(cell, place) for name, cell in ends.items() if cell is not None},
            notes=(UNTIL_THE_LAST, *of_errors(bad, total)),
        )
    ]


def _row(run: ToolText, name: str) -> tuple[list[str], str]:
    line = run.needs(rf"{name}\s+\[[^\]]*\]\s+(.*\S)\s*$", f"{name}   [total, ...]   3000, ...")
    return [cell.strip() for cell in line.groups[0].split(",")], line.place


def _named(run: ToolText, name: str, needed: str) -> dict[str, str]:
    """Cells by the names in the brackets."""
    shape = f"{name}   [min, mean, ...]   9ms, ..."
    line = run.needs(rf"{name}\s+\[([^\]]*)\]\s+(.*\S)\s*$", shape)
    names, cells = ([cell.strip() for cell in each.split(",")] for each in line.groups)
    if len(names) != len(cells) or needed not in names:
        raise broken(line.place, f"{len(cells)} cells for the names {', '.join(names)}")
    return dict(zip(names, cells, strict=True))


def _codes(run: ToolText) -> dict[str, float]:
    """Answers by status; status 0 stands for requests without an answer."""
    line = run.needs(r"Status Codes\s+\[code:count\]\s*(.*)$", "Status Codes  [code:count]  200:9")
    pairs = (pair.partition(":") for pair in line.groups[0].split())
    return {code: number(many, line.place) for code, _, many in pairs}


VEGETA_TEXT = tool_reader(
    "vegeta (text)",
    lambda text: bool(_REQUESTS.search(text)),
    _points,
    "rates sent and successful, answers by status, mean time, four percentiles",
)
"""Reads what ``vegeta report`` prints."""

_PLOT = re.compile(r"\s*Value\(ms\)\s+Percentile\s+TotalCount\s+1/\(1-Percentile\)")
_MS = 1e-3


def _of_plot(text: str, source: str) -> Sequence[Point]:
    """The percentiles of a run, and its number of requests; there is no rate."""
    run = ToolText(text, source)
    rows = run.all(r"\s*(\S+)\s+(\S+)\s+(\S+)\s+(\S+)\s*$")[1:]  # below their titles
    if not rows:
        raise run.missing("row of a time and its percentile")
    cells = {
        round(100 * number(row.groups[1], row.place), 6): number(row.groups[0], row.place) * _MS
        for row in rows
    }
    count = rows[-1].number(2)
    most = 100 * (1 - 1 / max(count, 1.0))  # no request is beyond this
    known = {percent: time for percent, time in cells.items() if 0 < percent <= most}
    return [Point("vegeta", Loop.OPEN, percentiles=percentiles_of(known), samples=count)]


VEGETA_HDR = tool_reader(
    "vegeta (hdrplot)",
    lambda text: bool(_PLOT.match(text)),
    _of_plot,
    "percentiles, without rate; read the report in JSON beside it",
)
"""Reads what ``vegeta report -type=hdrplot`` prints."""
