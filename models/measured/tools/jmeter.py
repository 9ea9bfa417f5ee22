"""JMeter's logs (JTL), as CSV or XML: one sample per row, in whole milliseconds."""

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple, cast
from xml.etree.ElementTree import Element, ParseError, XMLPullParser

from headway.errors import MeasurementError, quoted
from headway.models.measured.points import Loop, Point
from headway.models.measured.reader import log_reader
from headway.models.measured.tools.kit.requests import Requests
from headway.models.measured.window import WHOLE, RunWindow

_TITLES = (
    "timeStamp", "elapsed", "label", "responseCode", "responseMessage", "threadName", "dataType",
    "success",
)  # fmt: skip
"""Columns of a CSV without a header, as JMeter writes them by default."""

_HEADER = re.compile(r"\ufeff?timeStamp([,;\t|])elapsed\b.*\bsuccess\b")
_BARE = re.compile(r"\d{13}([,;\t|])\d+\1[^\n]*\1(true|false)\1", re.ASCII)
_XML = re.compile(r"\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)*<testResults\b", re.DOTALL)
_TRANSACTION = "Number of samples in transaction"
_BACK = 1000  # ms that a thread's clock may go back: a late answer, or rounding


class _Sample(NamedTuple):
    stamp: int
    elapsed: int
    good: bool
    thread: str
    threads: int
    transaction: bool


class _Log:
    """Totals of samples; the order within a thread shows whether stamps mark starts or ends."""

    def __init__(self, window: RunWindow) -> None:
        self.by_start, self.by_end, self.whole = (Requests(1e-3, window) for _ in range(3))
        self.before: dict[str, tuple[int, int]] = {}
        self.late = self.early = self.threads = 0

    def add(self, sample: _Sample, place: str) -> None:
        """Add a sample."""
        stamp, elapsed = sample.stamp, sample.elapsed
        self.threads = max(self.threads, sample.threads)
        if sample.transaction:
            self.whole.add(stamp, elapsed, sample.good)
            return
        self._turn(sample, place)
        self.by_start.add(stamp, elapsed, sample.good)
        self.by_end.add(stamp - elapsed, elapsed, sample.good)

    def _turn(self, sample: _Sample, place: str) -> None:
        """Count contradictions to stamps of starts, and to stamps of ends."""
        stamp, elapsed = self.before.get(sample.thread, (0, 0))
        if sample.stamp < stamp - _BACK:
            back = f"goes back by {stamp - sample.stamp} ms in {quoted(sample.thread)}"
            msg = f"{place}: the clock {back}; cut the log there"
            raise MeasurementError(msg)
        self.late += sample.stamp < stamp + elapsed - 2
        self.early += sample.stamp - sample.elapsed < stamp - 2
        self.before[sample.thread] = sample.stamp, sample.elapsed

    def point(self, source: str) -> Point:
        """The point of all samples."""
        notes = ["times are in whole milliseconds and include the start of the virtual machine"]
        requests = self.by_start
        if self.late > self.early:
            requests = self.by_end
            notes.append("its time stamps mark the ends of samples")
        if requests.is_empty:
            requests = self.whole
            notes.append("a sample is a transaction of several requests")
        elif not self.whole.is_empty:
            notes.append("rows of transactions are ignored because their requests have rows too")
        if requests.is_empty:
            msg = f"{source}: this JMeter log has no samples"
            raise MeasurementError(msg)
        point = requests.point("JMeter", source)
        users = self.threads or len(self.before)
        return replace(
            point,
            loop=Loop.CLOSED,
            population=float(users) if users else None,
            notes=(*point.notes, *notes),
        )


def _is_jmeter(text: str) -> bool:
    head = text[:2000]
    return bool(_HEADER.match(head) or _BARE.match(head) or _XML.match(head))


def _points(lines: Iterable[str], source: str, window: RunWindow) -> list[Point]:
    return [jtl_point(lines, source, window)]


def jtl_point(lines: Iterable[str], source: str, window: RunWindow = WHOLE) -> Point:
    """Make the point of a log of any length, line by line.

    Parameters
    ----------
    lines
        An open file, or its lines.
    source
        Its name, for messages.
    window
        The part of the run that counts.

    Raises
    ------
    MeasurementError
        For a log that is truncated or corrupt, or in which no sample succeeded.

    Examples
    --------
    >>> rows = ["timeStamp,elapsed,success", "1700000000000,20,true", "1700000000020,30,true"]
    >>> jtl_point(rows, "a.jtl").throughput
    40.0
    """
    rest = iter(lines)
    first = next(rest, "")
    samples = _of_xml if first.lstrip().startswith("<") else _of_csv
    log = _Log(window)
    for place, sample in samples(chain([first], rest), source):
        log.add(sample, place)
    return log.point(source)


_Samples = Iterator[tuple[str, _Sample]]


def _of_csv(lines: Iterable[str], source: str) -> _Samples:
    rest = iter(lines)
    first = next(rest, "")
    header = re.match(r"\ufeff?timeStamp([,;\t|])", first)
    delimiter = (header or re.match(r"\d*([,;\t|])", first) or [",", ","])[1]
    rows = csv.reader(rest if header else chain([first], rest), delimiter=delimiter)
    titles = first.lstrip("\ufeff").rstrip("\r\n").split(delimiter) if header else list(_TITLES)
    ahead = 1 if header else 0
    at = [titles.index(name) if name in titles else -1 for name in _CSV]
    try:
        for row in rows:
            place = f"{source}:{rows.line_num + ahead}"
            if row and row[0] != "timeStamp":
                _check_length(len(row), len(titles), place, exact=bool(header))
                yield place, _sample([row[i] if i >= 0 else "" for i in at], place)
    except csv.Error as error:
        msg = f"{source}:{rows.line_num + ahead}: this row cannot be read ({error})"
        raise MeasurementError(msg) from None


def _check_length(cells: int, titles: int, place: str, exact: bool) -> None:  # noqa: FBT001
    """Refuse a row that is too long or too short, as in a log that was cut off."""
    if cells < titles or (exact and cells > titles):
        wrong = f"has {cells} cells instead of {titles}"
        msg = f"{place}: this row {wrong}; if the log was cut here, delete the row"
        raise MeasurementError(msg)


_CSV = ("timeStamp", "elapsed", "success", "threadName", "allThreads", "responseMessage")
_ATTRIBUTES = ("ts", "t", "s", "tn", "na", "rm")


def _sample(cells: Sequence[str], place: str) -> _Sample:
    stamp, elapsed, success, thread, threads, message = cells
    known = (stamp, elapsed, threads or "0")
    if success not in ("true", "false") or not all(map(_DIGITS.fullmatch, known)):
        wrong = next((c for c in known if not _DIGITS.fullmatch(c)), success)
        needed = (
            "whole milliseconds (jmeter.save.saveservice.timestamp_format=ms), or true or false"
        )
        msg = f"{place}: {quoted(wrong)}; it needs {needed}"
        raise MeasurementError(msg)
    return _Sample(
        int(stamp),
        int(elapsed),
        success == "true",
        thread,
        int(threads or "0"),
        message.startswith(_TRANSACTION),
    )


_DIGITS = re.compile(r"\d{1,15}", re.ASCII)


def _of_xml(lines: Iterable[str], source: str) -> _Samples:
    parser: XMLPullParser[Any] = XMLPullParser(("start", "end"))
    open_now: list[Element] = []
    try:
        for number, line in enumerate(lines, 1):
            if "<!DOCTYPE" in line or "<!ENTITY" in line:
                msg = f"{source}:{number}: this XML declares entities; remove them"
                raise MeasurementError(msg)
            parser.feed(line)
            for event, element in _events(parser):
                if event == "start":
                    open_now.append(element)
                else:
                    open_now.pop()
                    if len(open_now) == 1:
                        yield from _requests(element, f"{source}:{number}")
                        open_now[0].clear()
        parser.close()
    except ParseError as error:
        wrong = "this XML is invalid or truncated; close it with </testResults>"
        msg = f"{source}:{error.position[0]}: {wrong}"
        raise MeasurementError(msg) from None


def _events(parser: "XMLPullParser[Any]") -> Iterator[tuple[str, Element]]:
    """The parser's events, which are elements only."""
    return cast("Iterator[tuple[str, Element]]", parser.read_events())


def _requests(element: Element, place: str) -> _Samples:
    """A sample, with those within a transaction."""
    if element.tag not in ("httpSample", "sample"):
        return
    sample = _sample([element.get(name, "") for name in _ATTRIBUTES], place)
    yield place, sample
    if sample.transaction:
        for inner in element:
            yield from _requests(inner, place)


JMETER = log_reader(
    "JMeter",
    _is_jmeter,
    _points,
    "a log of samples (JTL), CSV or XML: threads, rate and times of successful samples",
)
"""Reads JMeter's JTL."""
