"""Gatling's ``simulation.log`` as text (before 3.12): users and requests, in milliseconds."""

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from headway.errors import MeasurementError
from headway.models.measured.points import Loop, Point
from headway.models.measured.reader import log_reader
from headway.models.measured.tools.kit.requests import Requests
from headway.models.measured.tools.kit.sending import Sending
from headway.models.measured.tools.kit.text import placed
from headway.models.measured.window import RunWindow
from headway.numerals import digits

_STEADY = 0.95  # of the most users that are on for their number to count as held


def _is_gatling(text: str) -> bool:
    return text.startswith(("RUN\t", "ASSERTION\t")) and "\nUSER\t" in text


@dataclass
class Population:
    """When users came (1) and went (-1) [ms]."""

    times: "array[int]" = field(default_factory=lambda: array("q"))
    steps: "array[int]" = field(default_factory=lambda: array("b"))

    def add(self, time: int, step: int) -> None:
        """Record a user who came or went."""
        self.times.append(time)
        self.steps.append(step)


def _points(lines: Iterable[str], source: str, window: RunWindow) -> list[Point]:
    """The point of a simulation, from all its requests within a window."""
    requests, users = Requests(1e-3, window), Population()
    for place, content in placed(lines, source):
        cells = content.split("\t")
        if cells[0] == "REQUEST":
            start, end, good = _request(cells, place)
            requests.add(start, end - start, good)
        elif cells[0] == "USER":
            users.add(*_user(cells, place))
    point = requests.point("Gatling", source)
    return [with_population(point, users, requests)]


def _stamp(cell: str) -> int:
    """Milliseconds in a cell; -1 for any other cell."""
    return int(cell) if cell.isascii() and cell.isdecimal() and len(cell) < 16 else -1


def _request(cells: Sequence[str], place: str) -> tuple[int, int, bool]:
    """Start, end and success; their place differs by version, and OK or KO follows them."""
    for place_of in range(3, len(cells)):
        start, end = _stamp(cells[place_of - 2]), _stamp(cells[place_of - 1])
        if cells[place_of] in ("OK", "KO") and 0 <= start <= end:
            return start, end, cells[place_of] == "OK"
    msg = (
        f"{place}: this request has no start, end and OK or KO; if the log was cut, delete this "
        "line"
    )
    raise MeasurementError(msg)


def _user(cells: Sequence[str], place: str) -> tuple[int, int]:
    """When a user came (1) or went (-1); before 3.4 both stamps follow START or END."""
    step = 1 if "START" in cells else -1 if "END" in cells else 0
    stamps = [_stamp(cell) for cell in cells if len(cell) > 9 and _stamp(cell) > 0]
    if not step or not stamps:
        msg = (
            f"{place}: this user has no START or END with a time; if the log was cut, delete this "
            "line"
        )
        raise MeasurementError(msg)
    return (stamps[0] if step == 1 else stamps[-1]), step


def with_population(point: Point, population: Population, requests: Requests) -> Point:
    """Classify the loop: a constant number of users in the middle of the run makes it closed."""
    most, mean = _mean_users(population, requests.sending)
    if most > 1 and mean >= _STEADY * most:
        note = f"closed, because the number of users stayed at {digits(most)}"
        return replace(point, loop=Loop.CLOSED, population=float(most), notes=(*point.notes, note))
    return replace(
        point, loop=Loop.OPEN, notes=(*point.notes, f"open, because users came and went, {_ON}")
    )


_ON = "and their number was not constant"


def _mean_users(users: Population, sending: Sending) -> tuple[int, float]:
    """The largest and the mean number of users in the middle half of the run."""
    first, last = sending.first, sending.first + sending.length
    if not users.times:
        return 0, 0.0
    times, steps = np.array(users.times), np.array(users.steps, dtype=int)
    order = np.lexsort((steps, times))
    times, steps = times[order], steps[order]
    on = np.concatenate([[0], np.cumsum(steps)])
    begin, end = first + (last - first) / 4, last - (last - first) / 4
    edges = np.clip(np.concatenate([[begin], times, [end]]), begin, end)
    spans = np.diff(edges)
    return int(on[spans > 0].max(initial=0)), float((on * spans).sum() / max(spans.sum(), 1))


GATLING = log_reader(
    "Gatling",
    _is_gatling,
    _points,
    "a log of requests (text, before 3.12): users, rate and times of successful requests",
)
"""Reads Gatling's ``simulation.log``."""
