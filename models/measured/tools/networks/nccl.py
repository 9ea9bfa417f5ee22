"""nccl-tests: times of collective operations of GPUs, out of place and in place, by size.

The output begins with the ranks and their hosts, and since version 2.17 with the test. Without its
name, the ratio of bus bandwidth to algorithm bandwidth shows an all-reduce, 2 (n - 1) / n, or a
reduce-scatter, which has an operation and the ratio (n - 1) / n.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import field

from headway.errors import MeasurementError
from headway.models.measured.points import Loop, Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.tools.kit.numbers import bytes_words, number
from headway.models.measured.tools.kit.refusals import broken
from headway.models.measured.tools.kit.text import ToolText
from headway.records import dataclass

_HEAD = re.compile(r"#?\s*nThreads?:? \d+ nGpus:? \d+ minBytes.*")
_TEST = re.compile(r"#?\s*Collective test starting: (\w+?)(?:_perf)?(?:_mpi)?\s*")
_RANK = re.compile(r"#?\s*Rank\s+(\d+)\s+(?:Group\s+\d+\s+)?Pid\s+\d+\s+on\s+(\S+)\s+device.*")
_TITLES = re.compile(r"#?\s*(size\s+count\s.*\balgbw\s+busbw.*)")
_ROW = re.compile(r"\s*\d+\s+\d+\s+.*")
_END = re.compile(r"#?\s*Avg bus bandwidth\s*:.*")
_BLANK = ("redop", "root")  # cells that old versions leave empty if they do not apply
_SIZED = 4  # cells of a row that has more than its parameters
_US, _GB = 1e-6, 1e9
_FACTOR = 0.02  # relative difference of two ratios of bandwidths, which have two decimals
PLACES = ("out-of-place", "in-place")
"""Where results are written; each row has both."""


@dataclass
class _Run:
    """One run as it is read."""

    test: str = ""
    hosts: dict[int, str] = field(default_factory=dict)
    titles: tuple[str, ...] = ()
    rows: list["_Row"] = field(default_factory=list)
    is_complete: bool = False


@dataclass(frozen=True)
class _Row:
    cells: dict[str, str]
    timed: tuple[tuple[float, float, float], ...]
    place: str


def _is_nccl(text: str) -> object:
    return re.search(r"^[# \t]*size\s+count\s.*\balgbw\s+busbw", text, re.MULTILINE)


def _points(text: str, source: str) -> list[Point]:
    """Two points for each row: out of place, in place."""
    output = ToolText(text, source)
    runs = [run for run in _runs(output) if run.titles]
    if not any(run.rows for run in runs):
        raise output.missing("row below its titles")
    for run in runs:
        if not run.is_complete:
            last = run.rows[-1].place if run.rows else output.end
            raise broken(last, "no line 'Avg bus bandwidth' follows")
    return [point for run in runs for point in _of_run(run)]


def _runs(text: ToolText) -> Iterator[_Run]:
    run = _Run()
    for place, line in text:
        if _TEST.fullmatch(line) or (_HEAD.fullmatch(line) and (run.hosts or run.rows)):
            yield run
            run = _Run()
        _add(run, line, place)
    yield run


def _add(run: _Run, line: str, place: str) -> None:
    """Add a line to its run; skip the tool's other words."""
    if match := _TEST.fullmatch(line):
        run.test = match[1]
    elif match := _RANK.fullmatch(line):
        run.hosts[int(match[1])] = match[2]
    elif match := _TITLES.fullmatch(line):
        run.titles = tuple(match[1].split())
    elif _END.fullmatch(line):
        run.is_complete = True
    elif run.titles and not run.is_complete and _ROW.fullmatch(line):
        run.rows.append(_row(run.titles, line.split(), place))


def _row(titles: Sequence[str], cells: list[str], place: str) -> _Row:
    """Parameters of a row by title, and its times and bandwidths of each place."""
    start = next(k for k, title in enumerate(titles) if title.endswith("time"))
    short = len(titles) - len(cells)
    names = [title for title in titles[:start] if title not in _BLANK[:short]]
    width = (len(titles) - start) // len(PLACES)
    if short < 0 or len(names) + len(PLACES) * width != len(cells) or width < _SIZED - 1:
        raise broken(place, f"{len(cells)} cells under {len(titles)} titles")
    results = cells[len(names) :]
    parts = [results[k * width : (k + 1) * width] for k in range(len(PLACES))]
    for part in parts:
        _check_right(part, place)
    timed = tuple((_of(p[0], place), _of(p[1], place), _of(p[2], place)) for p in parts)
    return _Row(dict(zip(names, cells, strict=False)), timed, place)


def _of(text: str, place: str) -> float:
    return number(text, place)


def _check_right(part: Sequence[str], place: str) -> None:
    """Refuse results that the tool found wrong: numbers of elements; in old versions an error."""
    wrong = part[3] if len(part) > _SIZED - 1 else "N/A"
    if wrong.upper() != "N/A" and number(wrong, place) >= 1:
        msg = f"{place}: the tool found {wrong} wrong elements; repair the machine"
        raise MeasurementError(msg)


def _of_run(run: _Run) -> Iterator[Point]:
    count, hosts = len(run.hosts), len(set(run.hosts.values()))
    test = run.test or _told_by_bandwidth(run, count)
    for row in run.rows:
        size = number(row.cells["size"], row.place)
        for where, (time, rate, _) in zip(PLACES, row.timed, strict=True):
            words = (test, row.cells.get("type", ""), where, bytes_words(size))
            if size == 0 or time == 0:
                continue
            yield Point(
                "nccl-tests",
                Loop.CLOSED,
                response_time=time * _US,
                more={
                    "message_size_bytes": size,
                    "bandwidth_bytes_s": rate * _GB,
                    **({"processors": float(count), "machines": float(hosts)} if count else {}),
                },
                name=", ".join(filter(None, words)),
            )


def _told_by_bandwidth(run: _Run, count: int) -> str:
    """The test, from its bandwidths at the largest size; empty if they do not determine it."""
    _, rate, bus = max((part for row in run.rows for part in row.timed), key=lambda one: one[1])
    reduces = any(row.cells.get("redop", "none") not in ("none", "") for row in run.rows)
    if not reduces or count < 2 or rate == 0:
        return ""
    share = (count - 1) / count
    tests = {"all_reduce": 2 * share, "reduce_scatter": share}
    return next((t for t, f in tests.items() if abs(bus / rate / f - 1) < _FACTOR), "")


NCCL = tool_reader(
    "nccl-tests",
    _is_nccl,
    _points,
    "two points per message size, out of place and in place: time, bandwidth, GPUs and machines",
)
"""Reads what nccl-tests prints, of old and new versions."""
