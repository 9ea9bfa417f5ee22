"""The output of wrk and wrk2: one run or several, with what scripts append."""

import re
from collections.abc import Mapping

from headway.models.measured.arrivals import CONSTANT
from headway.models.measured.points import LONGEST, Loop, Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.tools.http.answers import answered, of_errors, refuse_empty
from headway.models.measured.tools.kit.numbers import SECONDS, count, number, seconds
from headway.models.measured.tools.kit.text import HEAD, ToolText, runs

_RUNNING = re.compile(r"^Running \S+ test @ ", re.MULTILINE)
OF_WRK2 = ("Thread calibration:", "HdrHistogram - Recorded")
"""What wrk2 prints and wrk does not."""

BYTES = {"B": 1.0, "KB": 1024.0, "MB": 1024.0**2, "GB": 1024.0**3, "TB": 1024.0**4}
"""Bytes in a unit, as wrk writes it."""

CORRECTED = (
    "wrk adds times that it did not measure to correct for coordinated omission:"
    " throughput times mean may exceed the connections"
)
"""Note on wrk's times."""

FROM_DUE = "times start when a request was due; wrk2 does not print the requested rate"
"""Note on wrk2's times."""


def _is_wrk2(text: str) -> bool:
    head = text[:HEAD]
    return bool(_RUNNING.search(head)) and any(mark in head for mark in OF_WRK2)


def _is_wrk(text: str) -> bool:
    return bool(_RUNNING.search(text[:HEAD])) and not _is_wrk2(text)


def _of_wrk(text: str, source: str) -> list[Point]:
    return [_point("wrk", Loop.CLOSED, run, (CORRECTED,)) for run in runs(text, source, "Running ")]


def _of_wrk2(text: str, source: str) -> list[Point]:
    summaries = (run.until("Uncorrected Latency") for run in runs(text, source, "Running "))
    tails = runs(text, source, "Running ")
    return [
        _point("wrk2", Loop.OPEN, tail, (FROM_DUE, *_timed(run)), run)
        for run, tail in zip(summaries, tails, strict=True)
    ]


def _point(
    tool: str, loop: Loop, run: ToolText, notes: tuple[str, ...], times: ToolText | None = None
) -> Point:
    """The point of a run; its times may come from a part of the output."""
    clients = run.needs(r"\s+\d+ threads and (\d+) connections", "2 threads and 8 connections")
    sent = run.needs(r"\s+(\d+) requests in (\S+), (\S+) read", "900 requests in 5.00s, 90KB read")
    rate = run.needs(r"Requests/sec:\s+(\S+)", "Requests/sec: 900")
    transfer = run.needs(r"Transfer/sec:\s+([\d.]+)([KMGT]?B)", "Transfer/sec: 90KB")
    total = sent.number()
    lost, bad = lost_in(run), count_in(run, r"\s+Non-2xx or 3xx responses:\s+(\S+)")
    refuse_empty(total, lost + bad, sent.place)
    return Point(
        tool,
        loop,
        population=clients.number(),
        throughput=answered(count(rate.groups[0], rate.place), bad, total),
        response_time=_mean(run) if total else None,
        percentiles=percentiles_in(times or run) if total else {},
        errors=lost + bad,
        samples=total,
        arrival_scv=CONSTANT if loop is Loop.OPEN else None,
        duration=sent.seconds(group=1),
        with_failures=bad > 0,
        more={"bandwidth_bytes_s": transfer.number()
              * BYTES[transfer.groups[1]]} | _longest(run, total),
        notes=(*notes, *of_errors(bad, total)),
    )  # fmt: skip


def _longest(run: ToolText, total: float) -> dict[str, float]:
    lines = run.all(r"\s+Latency\s+\S+\s+\S+\s+(\S+)\s+\S*%\s*$") if total else []
    return {LONGEST: lines[0].seconds()} if lines else {}


def _mean(run: ToolText) -> float:
    line = run.needs(r"\s+Latency\s+(\S+)\s+\S+\s+\S+\s+\S*%\s*$", "Latency 8.4ms")
    return line.seconds()


def lost_in(run: ToolText) -> float:
    """Requests without an answer."""
    return sum(
        number(cell, line.place)
        for line in run.all(
            r"\s+Socket errors: connect (\S+), read (\S+), write (\S+), timeout (\S+)"
        )
        for cell in line.groups
    )


def count_in(run: ToolText, pattern: str) -> float:
    """The sum of the numbers after some words; 0 without them."""
    return sum(line.number() for line in run.all(pattern))


def percentiles_in(run: ToolText) -> Mapping[float, float]:
    """Percentiles from the summary, or else from the spectrum (in ms) or a script's table."""
    spectrum = {
        round(100 * number(share, line.place), 1): seconds(value, line.place, "ms")
        for line in run.all(r"\s+(\S+)\s+([01]\.\d{3})000\s+\S+\s+\S+$")
        for value, share in [line.groups]
        if float(share) > 0
    }
    table = {
        number(percent, line.place): seconds(value + unit, line.place)
        for line in run.all(r"p([\d.]+) latency,([^,]+),(\w+)$")
        for percent, value, unit in [line.groups]
        if unit in SECONDS
    }
    summary = {
        number(percent, line.place): seconds(value, line.place)
        for line in run.all(r"\s*([\d.]+)%\s+(\S+)\s*$")
        for percent, value in [line.groups]
    }
    return {**spectrum, **table, **summary}


def _timed(run: ToolText) -> tuple[str, ...]:
    """A note on the number of requests timed after calibration."""
    counts = run.all(r"#\[Max\s+=\s+\S+ Total count\s+=\s+(\d+)\]")
    return tuple(f"its times are those of {line.groups[0]} requests, after 10 s of calibration"
                 for line in counts[:1])  # fmt: skip


WRK = tool_reader(
    "wrk",
    _is_wrk,
    _of_wrk,
    "connections, requests/s, mean time, percentiles (with --latency)",
)
"""Reads wrk's output."""

WRK2 = tool_reader(
    "wrk2",
    _is_wrk2,
    _of_wrk2,
    "connections, requests/s, mean time, percentiles of summary and spectrum",
)
"""Reads wrk2's output."""
