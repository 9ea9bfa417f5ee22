"""k6's summary at the end of a test as text, before version 1 and since."""

import re
from collections.abc import Mapping

from headway.models.measured.points import LONGEST, SHORTEST, Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.tools.k6 import CONNECTING, MIXED, SentBy, with_roles
from headway.models.measured.tools.kit.numbers import filled, number, percentiles_of, seconds
from headway.models.measured.tools.kit.refusals import broken, nothing

_LINE = re.compile(
    r"^[ \t]*(?:[✓✗][ \t]*)?([a-z_]+(?:\{[^}\n]*\})?)[ \t]*\.*:[ \t](.*)$", re.MULTILINE
)
_EXPECTED = re.compile(r"^[ \t]*\{ ?expected_response:true ?\}[ \t]*\.*:[ \t](.*)$", re.MULTILINE)
_IS_K6 = re.compile(r"^[ \t]*http_reqs[ \t]*\.*:[ \t]+\d+[ \t]+[\d.]+/s", re.MULTILINE)
_STATISTIC = re.compile(r"(avg|min|med|max|p\([\d.]+\))=(\S+)")
_GOOD = "{ expected_response:true }"

_Statistics = Mapping[str, float]


def _is_text(text: str) -> bool:
    return bool(_IS_K6.search(text)) and "http_req_duration" in text


def _points(text: str, source: str) -> list[Point]:
    metrics = _metrics(text)
    requests = metrics.get("http_reqs", "").split()
    if len(requests) < 2:
        raise broken(source, "there is no line http_reqs with a count and a rate")
    count, rate = number(requests[0], source), number(requests[1].removesuffix("/s"), source)
    if not count or not rate:
        raise nothing(source, "no request")
    failed = _failed(metrics.get("http_req_failed", ""), count, source)
    if failed >= count:
        raise nothing(source, "no request")
    every = _statistics(metrics.get("http_req_duration", ""), source)
    good = _statistics(metrics.get(_GOOD, ""), source)
    times, iteration = good or every, _statistics(metrics.get("iteration_duration", ""), source)
    users, pool = (_numbers(metrics.get(name, ""), source) for name in ("vus", "vus_max"))
    _check_pool(text, pool.get("max"), source)
    iterations = metrics.get("iterations", "").split()
    dropped = metrics.get("dropped_iterations", "").split()
    point = Point(
        "k6",
        throughput=rate * (1 - failed / count),
        response_time=times.get("avg"),
        percentiles=_percentiles(times, source),
        errors=failed,
        samples=count - failed if good else count,
        duration=count / rate,
        more=filled({SHORTEST: times.get("min"), LONGEST: times.get("max")}),
        with_failures=failed > 0 and not good,
        notes=(MIXED,) * (failed > 0 and not good) + (CONNECTING,),
    )
    sent = SentBy(
        users.get("max"),
        users.get("min"),
        pool.get("max"),
        _rate(iterations, source),
        iteration.get("avg"),
        _rate(dropped, source),
        rate,
        every.get("avg"),
    )
    return [with_roles(point, sent)]


def _check_pool(text: str, pool: float | None, source: str) -> None:
    """Refuse a number of virtual users that the last line contradicts."""
    last = re.search(r"/(\S+) VUs", text)
    if last and pool is not None and number(last[1], source) != pool:
        raise broken(source, f"vus_max is {pool:.15g}, but the last line has {last[1]} VUs")


def _metrics(text: str) -> dict[str, str]:
    """The contents of each line, by metric; that of expected responses is below the others'."""
    found = {match[1]: match[2] for match in _LINE.finditer(text)}
    good = _EXPECTED.search(text)
    return found | ({_GOOD: good[1]} if good else {})


def _statistics(line: str, source: str) -> _Statistics:
    return {name: seconds(cell, source) for name, cell in _STATISTIC.findall(line)}


def _percentiles(times: _Statistics, source: str) -> Mapping[float, float]:
    named = {"med": 50.0} | {n: number(n[2:-1], source) for n in times if n.startswith("p(")}
    return percentiles_of({percent: times.get(name) for name, percent in named.items()})


def _numbers(line: str, source: str) -> _Statistics:
    """Least and largest value of a count, which comes before them."""
    cells = dict(re.findall(r"(min|max)=(\S+)", line))
    return {name: number(cell, source) for name, cell in cells.items()}


def _rate(cells: list[str], source: str) -> float | None:
    return number(cells[1].removesuffix("/s"), source) if len(cells) > 1 else None


def _failed(line: str, count: float, source: str) -> float:
    """Number of requests that failed: counted since version 0.40, given as a share before."""
    counted = re.search(r"(\d+) out of (\d+)", line) or re.search(r"✓ (\d+)\s+✗ (\d+)", line)
    if counted:
        return number(counted[1], source)
    share = re.match(r"([\d.]+)%", line)
    return round(number(share[1], source) / 100 * count) if share else 0.0


K6_TEXT = tool_reader(
    "k6 (text)",
    _is_text,
    _points,
    "the summary at the end: rate, times and failures of requests, virtual users",
)
"""Reads what k6 prints at the end of a test."""
