"""Common parts of sysstat's and procps's texts: tables under titles, clocks, percentages."""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import pairwise
from typing import Any, NamedTuple

from headway.errors import MeasurementError, quoted
from headway.models.measured.tools.kit.documents import at
from headway.models.measured.tools.kit.numbers import number
from headway.models.measured.tools.kit.text import placed
from headway.numerals import digits
from headway.records import dataclass

DAY = 86400.0
_HEAD = 20_000  # characters in which the titles of a table come
LONGEST_STEP = DAY / 2
"""A longer step between samples means that the clock was set back [s]."""

BANNER = re.compile(r"\s*Linux \S+ \(.*?\)\s+\S+(?:\s+_\S+_\s+\((\S+) CPU\))?")
"""The first line, with the number of CPUs."""

_CLOCK = re.compile(
    r"(?:(?P<day>[0-9]{4}-[0-9]{2}-[0-9]{2})[T ])?(?P<h>[0-9]{2}):(?P<m>[0-9]{2}):(?P<s>[0-9]{2})"
    r"(?:[+-][0-9]{2}:?[0-9]{2}|Z)?(?:\s+(?P<half>[AP]M))?(?=\s|$)"
)
_EPOCH = re.compile(r"[0-9]{10}(?=\s)")
_AVERAGE = re.compile(r"[^\W\d]+\.? ?:(?=\s)")
_NUMBER = re.compile(r"-?[0-9]+[.,]?[0-9]*")


@dataclass(frozen=True)
class TitledRow:
    """A line below titles.

    Parameters
    ----------
    place
        File and line, for messages.
    cells
        The cell under each title.
    time
        When it was printed, in seconds of the day or since 1970; None if unknown.
    average
        Whether it is the tool's own mean of its samples.
    since_boot
        Whether it covers the time since boot.
    """

    place: str
    cells: Mapping[str, str]
    time: float | None = None
    average: bool = False
    since_boot: bool = False

    def value(self, *titles: str) -> float | None:
        """The number under the first of these titles that the row has; None if it has none.

        Commas are decimal marks: these tools do not separate thousands.
        """
        title = next((title for title in titles if title in self.cells), None)
        if title is None:
            return None
        return number(self.cells[title].replace(",", "."), f"{self.place}: {title}")


class _Line(NamedTuple):
    """A line: its words, its time, and whether it is an average."""

    words: list[str]
    time: float | None = None
    average: bool = False


@dataclass(frozen=True)
class TitledTable:
    """Titles with their rows, and the time beside the titles."""

    titles: tuple[str, ...]
    rows: list[TitledRow] = field(default_factory=list)
    started: float | None = None


def clock(text: str) -> float | None:
    """Seconds of the day of a time such as ``06:42:39 PM`` at the start of a text.

    Examples
    --------
    >>> clock("06:42:39 PM  all"), clock("2026-11-22T03:03:16+0000"), clock("all")
    (67359.0, 10996.0, None)
    """
    match = _CLOCK.match(text)
    return _of_day(match) if match else None


def _of_day(match: re.Match[str]) -> float:
    hour = int(match["h"])
    if match["half"]:
        hour = hour % 12 + (12 if match["half"] == "PM" else 0)
    return hour * 3600.0 + int(match["m"]) * 60.0 + int(match["s"])


def cores_of(text: str, source: str) -> dict[str, float]:
    """The number of CPUs in the first line, as a further number of a point."""
    match = BANNER.match(text)
    return {"cores": number(match[1], f"{source}:1")} if match and match[1] else {}


def tables(text: str, source: str) -> list[TitledTable]:
    """Split a text into its tables at blank lines.

    Raises
    ------
    MeasurementError
        For a row with more or fewer cells than titles: the file may be truncated.
    """
    parsed: list[TitledTable] = []
    fresh = True
    for place, written in placed(text, source):
        content = written.strip()
        if not content or BANNER.match(content) or "LINUX RESTART" in content:
            fresh = True
            continue
        parts = _parted(content)
        if not parts.words:
            fresh = True
        elif fresh and not _NUMBER.fullmatch(parts.words[-1]):
            parsed.append(TitledTable(tuple(parts.words), started=parts.time))
            fresh = False
        else:
            fresh = False
            _add_row(parsed, place, parts)
    return parsed


def _parted(content: str) -> _Line:
    content = content.lstrip("# ")
    if match := _CLOCK.match(content) or _EPOCH.match(content):
        time = _of_day(match) if match.re is _CLOCK else float(match[0])
        return _Line(content[match.end() :].split(), time)
    if (match := _AVERAGE.match(content)) and not content.startswith(("avg-cpu", "Device")):
        return _Line(content[match.end() :].split(), average=True)
    return _Line(content.removeprefix("Time ").split())


def _add_row(tables: list[TitledTable], place: str, parts: _Line) -> None:
    """Add a row to the last table."""
    if not tables:
        msg = f"{place}: there is a row before the titles; use the complete output"
        raise MeasurementError(msg)
    table, words = tables[-1], parts.words
    titles = table.titles[1:] if table.titles[0] == "avg-cpu:" else table.titles
    if titles and titles[-1] == "Command" and len(words) > len(titles):
        words = [*words[: len(titles) - 1], " ".join(words[len(titles) - 1 :])]
    if len(words) != len(titles):
        msg = f"{place}: {len(words)} cells under {len(titles)} titles; the file may be truncated"
        raise MeasurementError(msg)
    boot = parts.time is not None and parts.time == table.started
    cells = dict(zip(titles, words, strict=True))
    table.rows.append(TitledRow(place, cells, parts.time, parts.average, boot))


def titled(titles: re.Pattern[str]) -> Callable[[str], bool]:
    """Make a function that recognises sysstat's texts by first line and titles of a table."""

    def recognises(text: str) -> bool:
        return BANNER.match(text) is not None and titles.search(text[:_HEAD]) is not None

    return recognises


def hosts(
    document: Mapping[str, Any], source: str
) -> Iterator[tuple[Mapping[str, Any], list[Any]]]:
    """Hosts of sysstat's JSON, each with its samples.

    Raises
    ------
    MeasurementError
        If it has none, or none has a sample.
    """
    entries = at(document, "sysstat", "hosts", source=source)
    for host in entries if isinstance(entries, list) else []:
        samples = at(host, "statistics", source=source)
        if not isinstance(samples, list) or not samples:
            msg = f"{source}: no samples; let the monitor run for at least one interval"
            raise MeasurementError(msg)
        yield host, samples


def json_row(entry: object, place: str, stamp: object = None) -> TitledRow:
    """An object of sysstat's JSON as a row.

    Raises
    ------
    MeasurementError
        If it is not an object of names and values.
    """
    if not isinstance(entry, Mapping):
        msg = f"{place}: {quoted(str(entry))} is not an object of names and values"
        raise MeasurementError(msg)
    cells = {str(key): str(value) for key, value in entry.items()}
    return TitledRow(place, cells, clock(stamp) if isinstance(stamp, str) else None)


def kept(rows: Iterable[TitledRow]) -> list[TitledRow]:
    """Samples of intervals; otherwise the tool's own mean, or else the sample since boot."""
    rows = list(rows)
    samples = [row for row in rows if not row.average and not row.since_boot]
    return samples or [row for row in rows if row.average] or rows


def share(row: TitledRow, *titles: str) -> float | None:
    """The percentage under a title, as a share from 0 to 1.

    Raises
    ------
    MeasurementError
        For anything else.
    """
    value = row.value(*titles)
    if value is not None and not -0.5 <= value <= 101:
        msg = f"{row.place}: {titles[0]} is {digits(value)}, not a percentage from 0 to 100"
        raise MeasurementError(msg)
    return None if value is None else min(max(value / 100, 0.0), 1.0)


def busy(row: TitledRow) -> float | None:
    """The share of time in which a CPU works, including time taken by a hypervisor.

    It is all time except idling and waiting for input and output; None for a CPU that is switched
    off, whose shares are all zero.

    Raises
    ------
    MeasurementError
        If the idle time is missing.
    """
    idle = share(row, "%idle", "idle", "id")
    if idle is None:
        msg = f"{row.place}: the idle time is missing"
        raise MeasurementError(msg)
    waiting = share(row, "%iowait", "iowait", "wa") or 0.0
    parts = ("usr", "user", "us", "sys", "system", "sy", "nice", "irq", "soft", "steal", "st")
    named = [share(row, f"%{part}", part) or 0.0 for part in parts]
    if idle + waiting + sum(named) == 0:
        return None
    return max(1 - idle - waiting, 0.0)


def mean(values: Sequence[float]) -> float:
    """The mean of these numbers."""
    return math.fsum(values) / len(values)


def cpu_utilisation(rows: Iterable[TitledRow]) -> dict[str, float]:
    """Mean utilisation of all CPUs as ``cpu``, and of each with rows of its own as ``cpu_0``."""
    utilisations: dict[str, list[float]] = {}
    for row in rows:
        label = row.cells.get("CPU", row.cells.get("cpu", "all"))
        name = f"cpu_{label}" if label.isdigit() else "cpu"
        if (value := busy(row)) is not None:
            utilisations.setdefault(name, []).append(value)
    return {name: mean(values) for name, values in utilisations.items()}


def span(rows: Iterable[TitledRow], started: float | None = None) -> float | None:
    """The duration of all samples [s]; None without a clock, or if it was set back.

    Parameters
    ----------
    rows
        In the order of their time.
    started
        Start of the first; if unknown, it is as long as the others.

    Examples
    --------
    >>> rows = [TitledRow("x:1", {}, 86399.0), TitledRow("x:2", {}, 1.0), TitledRow("x:3", {}, 3.0)]
    >>> span(rows), span(rows, 86397.5)
    (6.0, 5.5)
    """
    times = [row.time for row in rows if row.time is not None]
    times = [time for i, time in enumerate(times) if i == 0 or time != times[i - 1]]
    if started is not None and times and started != times[0]:
        times.insert(0, started)
        lacking = 0
    else:
        lacking = 1
    steps = [(after - before) % DAY for before, after in pairwise(times)]
    if not steps or max(steps) > LONGEST_STEP:
        return None
    return math.fsum(steps) * (len(steps) + lacking) / len(steps)


def sample_notes(rows: Sequence[TitledRow]) -> tuple[str, ...]:
    """Notes on a mean of some samples."""
    if rows[0].since_boot:
        return ("The only sample covers the time since boot.",)
    if rows[0].average:
        return ("The mean is the tool's own; the file has no samples.",)
    times = len({row.time for row in rows} if rows[0].time is not None else {r.place for r in rows})
    return (f"The mean of {times} sample{'s' if times > 1 else ''}.",)


BUSY = "CPU time taken by a hypervisor counts as busy, waiting for a disk as idle."
"""How CPU utilisation is counted."""
