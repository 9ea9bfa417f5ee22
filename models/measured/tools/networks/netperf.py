"""netperf's output: its tables, and those of ``-o`` (CSV) and ``-k`` (keys)."""

import re
from collections.abc import Mapping, Sequence

from headway.errors import MeasurementError, quoted
from headway.models.measured.points import Loop, Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.tools.kit.numbers import cell, filled, number, percentiles_of
from headway.models.measured.tools.kit.refusals import broken, nothing
from headway.models.measured.tools.kit.text import ToolText, by_title

_TEST = re.compile(
    r"^(?:MIGRATED )?((?:TCP|UDP|SCTP|DCCP|OMNI)[A-Za-z/ _-]*?) TEST\b", re.MULTILINE
)
_BURST = re.compile(r"first burst ([^\s:]+)")
_UNIT = re.compile(r"(?:10\^(\d{1,3}))?([KMG]?)(bits|bytes)/s(?:ec)?", re.IGNORECASE)
_TIMES = {"Mean": "MEAN", "Stddev": "STDDEV", "Minimum": "MIN", "Maximum": "MAX"}
_PERCENTILE = re.compile(r"P(\d+)_LATENCY")
_TITLE = re.compile(r"(?:(\d+)(?:st|nd|rd|th) Percentile|(\w+)) Latency Microseconds")
_KEY = re.compile(r"([A-Z][A-Z0-9_]*)=(.*)")
_OTHERS = {"Throughput": "THROUGHPUT", "Throughput Units": "THROUGHPUT_UNITS"}
_ELAPSED = {"Elapsed Time (sec)": "ELAPSED_TIME"}
_TRANSACTIONS = "Trans/s"
_US, _PERCENT = 1e-6, 1e-2
_UNMEASURED = ("-1", "-1.0", "-1.00", "-1.000")  # what netperf prints for CPU not measured
_INSIDE = (
    "a transaction starts when the last ends: throughput times mean is the population by "
    "construction"
)

Cells = dict[str, tuple[str, str]]
"""Cells by netperf's own names, each with its place."""


def _is_netperf(text: str) -> object:
    return _TEST.search(text[:4000])


def _points(text: str, source: str) -> list[Point]:
    """One point per test in the output."""
    starts = [title.start() for title in _TEST.finditer(text)] or [0]
    ends = [*starts[1:], len(text)]
    tests = (
        ToolText(text[start:end], source, text.count("\n", 0, start) + 1)
        for start, end in zip(starts, ends, strict=True)
    )
    return [_point(test, named=len(starts) > 1) for test in tests]


def _point(text: ToolText, *, named: bool) -> Point:
    test = text.find(_TEST.pattern)
    kind = test[1].title().replace("Tcp", "TCP").replace("Udp", "UDP") if test else ""
    cells = _keys(text) or _omni(text) or _table(text)
    if not cells:
        raise text.missing("result of this test")
    burst = _BURST.search(text.text)
    place = cells["THROUGHPUT"][1]
    value, unit = _number(cells, "THROUGHPUT"), cells.get("THROUGHPUT_UNITS", ("", ""))[0]
    if not value:
        raise nothing(place, "no transfer")
    answered = unit == _TRANSACTIONS
    return Point(
        "netperf",
        Loop.CLOSED if answered or "TCP" in kind else None,
        population=number(burst[1], place) + 1.0 if burst and answered else None,
        throughput=value if answered else None,
        response_time=_number(cells, "MEAN_LATENCY", _US),
        percentiles=_percentiles(cells),
        errors=_number(cells, "ERRORS"),
        samples=text.number(r"^HIST_TOTAL:\s+CELL"),
        duration=_number(cells, "ELAPSED_TIME"),
        utilisation=_utilisation(cells),
        more=_more(cells, None if answered else value * _bytes(unit, place)),
        name=kind if named else "",
        notes=(_INSIDE,) * bool(answered and burst),
    )


def _number(cells: Mapping[str, tuple[str, str]], name: str, scale: float = 1.0) -> float | None:
    text, place = cells.get(name, ("", ""))
    return cell(text, f"{place}: {name}", scale)


def _percentiles(cells: Cells) -> dict[float, float]:
    named = {float(key[1]): key[0] for name in cells if (key := _PERCENTILE.fullmatch(name))}
    values = {percent: _number(cells, name, _US) for percent, name in named.items()}
    return percentiles_of(values)


def _utilisation(cells: Cells) -> dict[str, float]:
    names = {"client_cpu": "LOCAL_CPU_UTIL", "server_cpu": "REMOTE_CPU_UTIL"}
    measured = {n: key for n, key in names.items() if cells.get(key, ("",))[0] not in _UNMEASURED}
    return filled({name: _number(cells, key, _PERCENT) for name, key in measured.items()})


def _more(cells: Cells, bandwidth: float | None) -> dict[str, float]:
    ends = {"min": "MIN_LATENCY", "max": "MAX_LATENCY", "deviation": "STDDEV_LATENCY"}
    sent = cells.get("SENT_THROUGHPUT")
    offered = None if sent is None else _number(cells, "SENT_THROUGHPUT")
    unit, place = cells.get("THROUGHPUT_UNITS", ("", ""))
    return filled(
        {
            "bandwidth_bytes_s": bandwidth,
            "sent_bandwidth_bytes_s": None if offered is None else offered * _bytes(unit, place),
            **{f"response_time_{n}_s": _number(cells, key, _US) for n, key in ends.items()},
        }
    )


def _bytes(unit: str, place: str) -> float:
    """Bytes per second in a unit: ``10^6bits/s`` is decimal, ``MBytes/s`` binary."""
    match = _UNIT.fullmatch(unit)
    if match is None or (power := int(match[1] or 0)) > 15:
        msg = f"{place}: {quoted(unit)} is not a unit of throughput such as 10^6bits/s or Trans/s"
        raise MeasurementError(msg)
    scale = 10.0**power * 1024.0 ** " KMG".index(match[2].upper() or " ")
    return scale / 8 if match[3].lower() == "bits" else scale


def _keys(text: ToolText) -> Cells:
    """Cells of ``-k``: ``THROUGHPUT=48489.68``."""
    lines = ((place, _KEY.fullmatch(line.strip())) for place, line in text)
    cells = {match[1]: (match[2], place) for place, match in lines if match}
    return cells if "THROUGHPUT" in cells else {}


def _omni(text: ToolText) -> Cells:
    """Cells of ``-o``: a line of titles, which may be wrapped, and a line of cells."""
    titles = ""
    for place, line in text:
        if titles and re.match(r"[-\d]", line):
            return _paired([_name(title) for title in titles.split(",")], line.split(","), place)
        if titles or line.startswith("Throughput,"):
            titles = f"{titles} {line}".strip()
    return {}


def _paired(names: Sequence[str], cells: Sequence[str], place: str) -> Cells:
    return {name: (text, place) for name, text in by_title(names, cells, place).items()}


def _name(title: str) -> str:
    """Netperf's own short name of a title."""
    match = _TITLE.fullmatch(title.strip())
    if match is None:
        plain = {**_OTHERS, **_ELAPSED, "Local CPU Util %": "LOCAL_CPU_UTIL"}
        return plain.get(title.strip(), title.strip())
    return f"P{match[1]}_LATENCY" if match[1] else f"{_TIMES.get(match[2], match[2])}_LATENCY"


_REQUESTS = ("", "", "", "", "ELAPSED_TIME", "THROUGHPUT", "LOCAL_CPU_UTIL", "REMOTE_CPU_UTIL")
_STREAM = ("", "", "", "ELAPSED_TIME", "THROUGHPUT", "LOCAL_CPU_UTIL", "REMOTE_CPU_UTIL")
_SENT = ("", "", "ELAPSED_TIME", "", "ERRORS", "SENT_THROUGHPUT")
_RECEIVED = ("", "ELAPSED_TIME", "", "THROUGHPUT")


def _table(text: ToolText) -> Cells:
    """The classic table: its titles take several lines and name unit and kind."""
    rows = [(place, line.split()) for place, line in text if re.fullmatch(r"[-\d. ]+", line)]
    rows = [(place, row) for place, row in rows if row]
    unit = re.search(r"10\^\d+bits/s|[KMG]?Bytes/s", text.text)
    if not rows:
        return {}
    if "per sec" in text.text:
        return _of_row(rows[0], _REQUESTS, _TRANSACTIONS)
    words = unit[0] if unit else ""
    if "Messages" in text.text and len(rows) > 1:
        return _of_row(rows[0], _SENT, words) | _of_row(rows[1], _RECEIVED, words)
    return {} if "Messages" in text.text else _of_row(rows[0], _STREAM, words)


def _of_row(line: tuple[str, Sequence[str]], names: Sequence[str], unit: str) -> Cells:
    place, row = line
    needed = max(names.index(n) for n in names if n.endswith("THROUGHPUT"))
    if len(row) <= needed:
        raise broken(place, f"{len(row)} cells are too few for a row of this table")
    cells = {name: (text, place) for name, text in zip(names, row, strict=False) if name}
    return {**cells, "THROUGHPUT_UNITS": (unit, place)}


NETPERF = tool_reader(
    "netperf",
    _is_netperf,
    _points,
    "transactions per second or bandwidth, mean and percentiles of latency if requested",
)
"""Reads netperf's output."""
