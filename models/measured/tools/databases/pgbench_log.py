"""The transactions of pgbench one by one, as ``pgbench --log`` writes them."""

import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from heapq import merge

import numpy as np

from headway.errors import MeasurementError, quoted
from headway.models.measured.points import LAG, Loop, Point
from headway.models.measured.reader import LinesOf, log_reader
from headway.models.measured.tools.kit.refusals import broken
from headway.models.measured.tools.kit.requests import Requests
from headway.models.measured.tools.kit.text import placed
from headway.models.measured.window import RunWindow

_FAILED = ("failed", "serialization", "deadlock")
_SKIPPED = "skipped"
_SPENT = "|".join((r"\d+", _SKIPPED, *_FAILED))
_ROW = re.compile(
    rf"\d+ \d+ (?:{_SPENT}) \d+ 1\d{{9}} \d{{1,6}}(?: \d+){{0,2}}\r?(?:\n|$)", re.ASCII
)
_WHOLE = re.compile(r"\d{1,15}", re.ASCII)
_LONGEST = re.compile(r"\d{1,6}", re.ASCII)
_US = 1e-6  # s
# columns: without lag and tries, with one of them, with both
_LEAST, _WITH_LAG, _WITH_ALL = 6, 7, 8

_BACK = 1_000_000  # us that the clock of a client may go back
_ALONE = 60_000_000  # us that one client may run before any other starts

_OF_THREAD = (
    "its clients are those of this file: pgbench writes one for each thread (-j), which headway "
    "reads as one run where all are given"
)
_SCHEDULED = "a rate was set: latency starts when a transaction was due"


class _Log:
    """Transactions as they are read.

    A seventh column is the lag behind the schedule, or the number of retries of a transaction: most
    are not retried, and hardly any starts in the very microsecond in which it is due.
    """

    def __init__(self, window: RunWindow) -> None:
        self.done = Requests(_US, window)
        self.skipped = array("d")
        self.before: dict[int, tuple[int, bool]] = {}
        self.ended: dict[int, int] = {}
        self.starts: list[tuple[int, str]] = []
        self.first: int | None = None
        self.width = self.lags = self.zeros = self.lagging = 0

    def add(self, cells: Sequence[str], place: str) -> None:
        """Add a row.

        Raises
        ------
        MeasurementError
            For cells that are not numbers, and for a row that is not the next of its client.
        """
        self.width = self.width or len(cells)
        if len(cells) != self.width or not _LEAST <= self.width <= _WITH_ALL:
            raise broken(place, f"{len(cells)} cells, where rows have {self.width}")
        client, number, _ = (_whole(cells[k], place) for k in (0, 1, 3))
        spent, is_skipped = cells[2], cells[2] == _SKIPPED
        ended = _whole(cells[4], place) * 1_000_000 + _whole(cells[5], place, _LONGEST)
        self._follow(client, number, place, is_skipped=is_skipped)
        self.first = ended if self.first is None else self.first
        more = [_whole(cell, place) for cell in cells[_LEAST:]]
        if is_skipped:
            self.skipped.append(ended - self.first)
            return
        elapsed = 0 if spent in _FAILED else _whole(spent, place)
        self._check_start(client, ended, elapsed - sum(more[:1]), place)
        self.done.add(ended - self.first - elapsed, elapsed, spent not in _FAILED)
        if more:
            self.lags, self.zeros = self.lags + more[0], self.zeros + (more[0] == 0)
            self.lagging += 1

    def _follow(self, client: int, number: int, place: str, *, is_skipped: bool) -> None:
        """Refuse a transaction that is not the next of its client.

        In some versions a skipped transaction has the number of the next one.
        """
        last, free = self.before.get(client, (number - 1, True))
        if number != last + 1 and not (free and number == last):
            what = f"transaction {number} of client {client} follows {last}"
            msg = f"{place}: {what}; log a whole run, without --sampling-rate"
            raise MeasurementError(msg)
        self.before[client] = number, is_skipped

    def _check_start(self, client: int, ended: int, spent: int, place: str) -> None:
        """Refuse a transaction that starts before its client's previous one has ended."""
        before = self.ended.get(client)
        if before is None:
            self.starts.append((ended - spent, place))
        elif ended - spent < before - _BACK:
            raise broken(place, f"client {client} starts before it ended its last transaction")
        self.ended[client] = ended

    def _check_starts(self) -> None:
        """Refuse a first transaction that starts long before those of all other clients."""
        earliest = sorted(self.starts)[:2]
        if len(earliest) > 1 and earliest[1][0] - earliest[0][0] > _ALONE:
            raise broken(earliest[0][1], "this client starts a minute or more before any other")

    def point(self, source: str) -> Point:
        """The point of all transactions."""
        if self.done.is_empty:
            msg = f"{source}: this log of pgbench has no transaction that was executed"
            raise MeasurementError(msg)
        self._check_starts()
        point = self.done.point("pgbench", source)
        clients = float(len(self.before))
        if not self.lagging or (self.width == _WITH_LAG and 2 * self.zeros > self.lagging):
            return replace(point, loop=Loop.CLOSED, population=clients)
        late = self._skipped()
        sending = self.done.sending
        due = sending.good + self.done.failed + late
        span = (sending.sent - sending.first) * _US
        return replace(
            point,
            loop=Loop.OPEN,
            population=clients,
            offered_rate=(due - 1) / span if span > 0 else None,
            dropped=late / due if late else None,
            more={**point.more, LAG: self.lags / self.lagging * _US},
            notes=(*point.notes, _SCHEDULED),
        )

    def _skipped(self) -> int:
        """Transactions within the window that were skipped because they were late."""
        window = self.done.window
        since = (np.array(self.skipped) - self.done.origin) * _US
        return int(((since >= window.start) & (since < window.end)).sum())


def _whole(text: str, place: str, shape: re.Pattern[str] = _WHOLE) -> int:
    if not shape.fullmatch(text):
        msg = f"{place}: {quoted(text)} is not a whole number of pgbench's log"
        raise MeasurementError(msg)
    return int(text)


def _points(lines: Iterable[str], source: str, window: RunWindow) -> list[Point]:
    return [_point(placed(lines, source), source, window, _OF_THREAD)]


def _point(
    rows: Iterable[tuple[str, str]], source: str, window: RunWindow, clients_of: str
) -> Point:
    log = _Log(window)
    for place, line in rows:
        if line.strip():
            log.add(line.split(" "), place)
    point = log.point(source)
    return replace(point, notes=(*point.notes, clients_of))


def _joined(files: Sequence[LinesOf], window: RunWindow) -> list[Point]:
    """The point of a run whose threads each wrote a file, with rows in the order of writing.

    PostgreSQL 17, pgbench, Per-Transaction Logging: with ``-j`` of 2 or more each worker has its
    own log; the first one's is ``PREFIX.PID``, those of the others ``PREFIX.PID.1`` and so on.
    """
    owner: dict[str, str] = {}
    rows = merge(*(_of_own_clients(*file, owner) for file in files), key=_written)
    of_all = f"{len(files)} files are one run: pgbench writes one for each thread (-j)"
    return [_point(rows, files[0][0], window, of_all)]


def _of_own_clients(
    name: str, lines: Iterable[str], owner: dict[str, str]
) -> Iterator[tuple[str, str]]:
    """Rows of a thread, each after its place.

    Raises
    ------
    MeasurementError
        For a client that is in another file too.
    """
    for place, line in placed(lines, name):
        client, parted, _ = line.partition(" ")
        if parted and owner.setdefault(client, name) != name:
            msg = (
                f"{place}: client {quoted(client)} is in {owner[client]} too, so that these files "
                "are not of one run; move one to another folder"
            )
            raise MeasurementError(msg)
        yield place, line


def _written(row: tuple[str, str]) -> tuple[int, int]:
    """When a row was written; a line that is not a row comes first, and is refused later."""
    cells = row[1].split(" ")[4:_LEAST]
    if len(cells) < 2 or not all(_WHOLE.fullmatch(cell) for cell in cells):
        return 0, 0
    return int(cells[0]), int(cells[1])


PGBENCH_LOG = replace(
    log_reader(
        "pgbench (log)",
        _ROW.match,
        _points,
        "one transaction per row: its client, time, end and lag behind the schedule",
    ),
    join=_joined,
)
"""Reads what ``pgbench --log`` writes."""
