"""SPEC's published result pages as text: a table of throughput and response time.

The layouts of 1993 to 2025 differ in spacing, bars between cells and header lines; common
to all is a block of lines that contain only numbers.
"""

import re
from dataclasses import replace

from headway.errors import MeasurementError
from headway.kinds import FloatArray
from headway.models.language.units import unit
from headway.models.measured.facts import Fact, disclosed
from headway.models.measured.measurements import Measurements
from headway.models.measured.pages import html_as_text, is_html
from headway.models.measured.reader import Reader
from headway.numerals import digits

_SPEC = re.compile(
    r"SPEC ?SFS ?1\b|SPECnfs_A93|097\.LADDIS|SPECsfs97|SPECsfs2008|SPECstorage", re.IGNORECASE
)
_KIND = "SPEC result page"
_NUMBER = r"(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?"
_ROW = re.compile(rf"^[\s|]*({_NUMBER})((?:[\s|]+{_NUMBER})+)[\s|]*$")
_RESULT = re.compile(
    rf"^(?P<metric>SPEC[^=\n]*?)\s*=\s*(?P<peak>{_NUMBER})\s+\w.*?"
    rf"Overall\s+Response\s+Time\s*=\s*(?P<overall>{_NUMBER})\s*(?P<unit>[mu]?)s(?:ec)?",
    re.IGNORECASE | re.MULTILINE,
)
_LADDIS_RESULT = re.compile(
    rf"({_NUMBER})\s+SPECnfs_A93\s+Ops/Sec\s*@\s*({_NUMBER})\s*msec", re.IGNORECASE
)
_TIME_UNIT = re.compile(
    r"\b(milliseconds?|microseconds?|msecs?|usecs?|ms|us)\b|(?<![/\w])(secs?|seconds?)\b",
    re.IGNORECASE,
)
_RATE = re.compile(r"\b\w+\s*/\s*sec\w*", re.IGNORECASE)
_HEADER_LINES = 12
_AGREEMENT = 0.02  # of the table's peak with the printed one; pages round and truncate
_FACTOR = 3.0  # by which a printed overall response time may differ before the units are wrong

LONGEST_PAGE, MOST_LINES = 1_000_000, 20_000
"""The most characters and lines that are not blank; result pages have a tenth of it."""

_LONGEST_LINE = 400

Row = tuple[int, list[str]]


def read_page(text: str, source: str) -> Measurements:
    """Read a SPEC result page saved as text.

    Parameters
    ----------
    text, source
        The page, and its name for messages.

    Raises
    ------
    MeasurementError
        For a page without a result table or with two, or whose header and printed result
        contradict the table.
    """
    lines = _short_lines(text, source)
    table = _table(lines, source)
    header = lines[max(0, table[0][0] - _HEADER_LINES) : table[0][0]]
    measurements = _measurements(table, header, source)
    facts = {**_results("\n".join(lines)), **disclosed(lines)}
    _check_result(measurements, facts, source)
    return replace(measurements, facts=facts)


def _short_lines(text: str, source: str) -> list[str]:
    """The lines of a page without surplus blanks, over which patterns take long."""
    lines = text.splitlines()
    filled = sum(bool(line.strip()) for line in lines)
    if len(text) > LONGEST_PAGE or filled > MOST_LINES:
        msg = (
            f"{source}: {len(text)} characters in {filled} lines exceed the {LONGEST_PAGE} in "
            f"{MOST_LINES} allowed in a result page"
        )
        raise MeasurementError(msg)
    return [re.sub(r"[ \t]{3,}", "  ", line[:_LONGEST_LINE]) for line in lines]


def _table(lines: list[str], source: str) -> list[Row]:
    """Find the only block of lines that contain only numbers; it may contain blank lines."""
    tables: list[list[Row]] = []
    open_block = False
    for number, line in enumerate(lines):
        match = _ROW.match(line)
        if match:
            cells = [match[1], *re.findall(_NUMBER, match[2])]
            if not open_block or len(cells) != len(tables[-1][-1][1]):
                tables.append([])
            tables[-1].append((number, [cell.replace(",", "") for cell in cells]))
        open_block = bool(match) or (open_block and not line.strip(" |\t-=+"))
    return _only(tables, source)


def _only(tables: list[list[Row]], source: str) -> list[Row]:
    long = [table for table in tables if len(table) > 1]
    if not tables:
        msg = f"{source}: no result table; it needs lines with throughput and response time"
        raise MeasurementError(msg)
    if len(long) > 1:
        where = " and ".join(str(table[0][0] + 1) for table in long[:2])
        msg = f"{source}: two result tables, from lines {where}; keep one of them"
        raise MeasurementError(msg)
    return long[0] if long else tables[0]


def _measurements(table: list[Row], header: list[str], source: str) -> Measurements:
    """Name the columns: two are throughput and response time, four are SPECstorage's."""
    shape = {2: (None, 1, 0), 4: (0, 1, 2)}.get(len(table[0][1]))
    if shape is None:
        msg = f"{source}:{table[0][0] + 1}: {len(table[0][1])} columns; a result table has 2 or 4"
        raise MeasurementError(msg)
    business, response, throughput = shape
    time = _time_unit(header, source, table[0][0])
    titles = ["throughput_ops_s", f"response_{time}"]
    order = [throughput, response]
    if business is not None:
        titles.append("business_metric")
        order.append(business)
    rows = [",".join(cells[position] for position in order) for _, cells in table]
    read = Measurements.parse("\n".join([",".join(titles), *rows]), source)
    return replace(read, lines=tuple(number + 1 for number, _ in table))


def _time_unit(header: list[str], source: str, line: int) -> str:
    """The unit of response time that the header names; ms where there is no header."""
    words = [m[0].lower() for text in header if not _RESULT.search(text) for m in _times(text)]
    units = {_short(word) for word in words}
    if len(units) > 1:
        msg = f"{source}:{line + 1}: the header names {' and '.join(sorted(units))}; keep one unit"
        raise MeasurementError(msg)
    return units.pop() if units else "ms"


def _times(text: str) -> list[re.Match[str]]:
    without_rates = _RATE.sub("", text)
    return list(_TIME_UNIT.finditer(without_rates))


def _short(word: str) -> str:
    return {"m": "us" if word.startswith("micro") else "ms", "u": "us"}.get(word[0], "s")


def _results(text: str) -> dict[str, Fact]:
    """Title, metric, peak and overall response time as the page prints them."""
    facts = {}
    title = next((line.strip(" |") for line in text.splitlines() if " : " in line), None)
    if title:
        facts["system"] = Fact("system", title)
    match, laddis = _RESULT.search(text), _LADDIS_RESULT.search(text)
    rate = unit("op/s")
    if match:
        facts["benchmark"] = Fact("benchmark", match["metric"].strip(" |"))
        facts["peak"] = Fact("peak", match["peak"], _float(match["peak"]), rate)
        time = unit(f"{match['unit'].lower()}s")
        overall = time.si(_float(match["overall"]))
        facts["overall_response_time"] = Fact(
            "overall_response_time", match["overall"], overall, time
        )
    elif laddis:
        facts["benchmark"] = Fact("benchmark", "SPECnfs_A93")
        facts["peak"] = Fact("peak", laddis[1], _float(laddis[1]), rate)
    return facts


def _float(printed: str) -> float:
    return float(printed.replace(",", ""))


def _check_result(measurements: Measurements, facts: dict[str, Fact], source: str) -> None:
    """Refuse a table that contradicts the printed result; a business metric has another unit."""
    peak, overall = facts.get("peak"), facts.get("overall_response_time")
    if peak is not None and peak.value:
        table = measurements.find(["business_metric"]) or measurements.column("throughput")
        own = float(table.values.max())
        if abs(own / peak.value - 1) > _AGREEMENT:
            why = f"the table ends at {digits(own)}, but the page prints {peak.printed}"
            msg = f"{source}: {why}; check that the table is complete"
            raise MeasurementError(msg)
    if overall is not None and overall.value:
        _check_times(measurements.column("response").values, overall.value, source)


def _check_times(times: FloatArray, overall: float, source: str) -> None:
    low, high = float(times.min()), float(times.max())
    if not low / _FACTOR <= overall <= high * _FACTOR:
        msg = (
            f"{source}: response times of {digits(low * 1e3)} to {digits(high * 1e3)} ms "
            f"contradict the printed {digits(overall * 1e3)} ms; check the units in the table's "
            "header"
        )
        raise MeasurementError(msg)


def _read_html(text: str, source: str) -> Measurements:
    return read_page(html_as_text(text, source), source)


_CONTENTS = "the curve, and the page's facts about the system"
SPEC_HTML = Reader(
    _KIND, lambda text: is_html(text) and _SPEC.search(text), _read_html, contents=_CONTENTS
)
SPEC_PAGE = Reader(_KIND, _SPEC.search, read_page, contents=_CONTENTS)
