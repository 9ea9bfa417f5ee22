"""How many clients sent the requests, as far as columns, numbers and names of files show.

If a closed test is taken for an open one, the fitted server does not exist: a constant number of
requests inside looks like a queue. So headway looks for signs of clients and reports them; if there
are none, or two contradict each other, it asks the user.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import isfinite, prod
from pathlib import PurePath

import numpy as np

from headway.errors import InvalidParameter, MeasurementError
from headway.kinds import FloatArray
from headway.models.language.units import unit
from headway.models.measured.cells import Observed
from headway.models.measured.columns import find
from headway.models.measured.measurements import Measurements
from headway.models.measured.points import Loop, Point
from headway.models.measured.roles import DELIVERED, INSIDE, OFFERED, POPULATION, RESPONSE, THINK
from headway.numerals import counted, digits, four_digits, some_of
from headway.records import dataclass

_PRINTED = 0.03
"""Relative difference of X (R + Z) from N that printed digits explain."""

_CLOSE = 0.02
"""The same if only X R itself shows the clients."""

_HALF = 0.5
"""Largest difference of a mean from what it is rounded to."""

_EXACT = 1e-4
"""Relative difference below which no product of printed numbers can be."""

_LUCK = 1e-4
"""Probability below which no open test has X R so close to whole numbers at every point."""

_MOST = 1.05
"""Ratio of X R to N above which names of files and points contradict each other."""


def with_population(table: Measurements) -> Measurements:
    r"""Take a column as the population, or add one, if the table shows that clients circulate.

    Parameters
    ----------
    table
        Measurements with roles given by the user; if a column is already a population or an offered
        rate, nothing further is looked for.

    Examples
    --------
    >>> text = "outstanding,throughput_ops_s,response_ms\n1,100,10\n4,200,20.1\n16,220,72.5\n"
    >>> closed = with_population(Measurements.parse(text, "a.csv"))
    >>> closed.column("outstanding").role, closed.notes
    ('population', ('closed: 1 to 16 clients (from outstanding)',))
    """
    if find(table, POPULATION) is not None or find(table, OFFERED) is not None:
        return table
    inside = find(table, INSIDE)
    rate, time = find(table, DELIVERED), find(table, RESPONSE)
    if inside is not None:
        think = find(table, THINK)
        if _is_setting(inside.values, rate, time, think) and not inside.role:
            column = replace(inside, role=POPULATION.word)
            return _noted(table, column, f"from {inside.header}")
        return table
    if rate is None or time is None or rate.role or time.role:
        return table
    clients = _whole(rate.values * time.values)
    if clients is None:
        return table
    column = Observed("population", "population", unit(""), clients, np.zeros(clients.shape))
    return _noted(table, column, "X R is a whole number at every point")


def _noted(table: Measurements, column: Observed, why: str) -> Measurements:
    note = f"{_words(Loop.CLOSED, column.values.tolist())} ({why})"
    columns = {**table.columns, column.header: column}
    return replace(table, columns=columns, notes=(*table.notes, note))


_DRIVEN = {Loop.CLOSED: "closed: {} clients", Loop.OPEN: "open: {} requests/s asked for"}


def _words(loop: Loop, numbers: Iterable[float]) -> str:
    """Say how a test was driven, such as ``closed: 1 to 64 clients``."""
    known = [number for number in numbers if isfinite(number)]
    ends = dict.fromkeys((digits(min(known)), digits(max(known))))
    return _DRIVEN[loop].format(" to ".join(ends))


def _is_setting(
    inside: FloatArray, rate: Observed | None, time: Observed | None, think: Observed | None
) -> bool:
    """Whether a column of requests inside was set rather than measured.

    Settings are different whole numbers. A measured number is X R, by Little's law: whole numbers
    equal to X R as printed are no coincidence, and larger ones count clients that also think. Means
    rounded to whole numbers are neither.
    """
    known = inside[np.isfinite(inside)]
    if known.size < 2 or np.any(known % 1) or np.any(known < 1) or np.unique(known).size < 2:
        return False
    if think is not None and np.nanmax(think.values, initial=0.0) > 0:
        return True
    if rate is None or time is None:
        return False
    measured = rate.values * time.values
    with np.errstate(invalid="ignore"):
        is_inside = np.nanmax(measured / inside) <= 1 + _PRINTED
        is_exact = np.nanmax(np.abs(measured / inside - 1)) <= _PRINTED
        is_rounded = np.nanmax(np.abs(measured - inside)) <= _HALF
    return bool(is_inside and (is_exact or not is_rounded))


def _whole(inside: FloatArray) -> FloatArray | None:
    """X R as whole numbers, if it is so close to them that this can hardly be chance.

    If X R were spread evenly, it would be within a share d of a whole number n at every point with
    probability prod min(1, 2 d n), over the numbers that differ.
    """
    if not np.isfinite(inside).all() or np.any(inside < 1 - _CLOSE):
        return None
    whole = np.round(inside)
    off, numbers = float(np.abs(inside / whole - 1).max()), np.unique(whole)
    luck = prod(min(1.0, 2 * max(off, _EXACT) * n) for n in numbers.tolist())
    return None if numbers.size < 3 or off > _CLOSE or luck > _LUCK else whole


_NAMES = {
    POPULATION.part: (
        r"users?|u|clients?|connections?|conns?|vus?|concurrency|conc|c|qd|iodepth|depth|threads?|t"
    ),
    OFFERED.part: r"rates?|rps|qps|ops|r",
}
"""Words before a number in the name of a file, the clearest first."""

_SHOWN = 4
"""Files that a refusal lists."""

_Numbers = Mapping[str, float]


@dataclass(frozen=True)
class Told:
    """What the user says about the clients or rates of files.

    Parameters
    ----------
    option
        ``--clients`` or ``--rate``.
    texts
        ``N`` for every file; ``FILE=N``; or part of a name with {} for its number: ``u{}_stats``.

    Raises
    ------
    InvalidParameter
        For any other text.

    Examples
    --------
    >>> Told("--clients", ("u{}_",)).of(["u8_stats.csv", "u16_stats.csv"])
    {'u8_stats.csv': 8.0, 'u16_stats.csv': 16.0}
    """

    option: str
    texts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a text that says nothing about any file."""
        for text in self.texts:
            number = text.rpartition("=")[2]
            if "{}" not in text and _number(number) is None:
                msg = (
                    f"{self.option} {text}: write a number for all files, FILE=NUMBER, or a part "
                    "of the names with {} for the number, such as c{}.txt"
                )
                raise InvalidParameter(msg)

    def of(self, files: Sequence[str]) -> _Numbers:
        """The number of each file.

        Raises
        ------
        MeasurementError
            For a text that matches no file, and files that no text matches.
        """
        known: dict[str, float] = {}
        for text in self.texts:
            found = {name: n for name in files if (n := _told(text, name)) is not None}
            if not found:
                msg = f"{self.option} {text}: matches none of the files {_some(files)}"
                raise MeasurementError(msg)
            known |= found
        without = [name for name in files if name not in known]
        if self.texts and without:
            msg = (
                f"{self.option} gives no number for {len(without)} of "
                f"{counted(len(files), 'file')}: {_some(without)}; "
                f"add {self.option} FILE=NUMBER for each"
            )
            raise MeasurementError(msg)
        return known


def _told(text: str, name: str) -> float | None:
    if "{}" in text:
        before, _, after = text.partition("{}")
        match = re.search(rf"{re.escape(before)}(\d+(?:\.\d+)?){re.escape(after)}", name)
        return float(match[1]) if match else None
    place, equals, number = text.rpartition("=")
    path = PurePath(name)
    fits = not equals or place in (name, path.name) or path.match(place)
    return _number(number) if fits else None


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if isfinite(value) and value > 0 else None


def _some(files: Sequence[str]) -> str:
    return some_of([PurePath(name).name for name in files], _SHOWN)


def numbers_in(files: Sequence[str]) -> tuple[str, _Numbers]:
    """The field of a point that numbers in names of files give, and the number of each file.

    Examples
    --------
    >>> numbers_in(["c_1.txt", "c_32.txt"])
    ('population', {'c_1.txt': 1.0, 'c_32.txt': 32.0})
    >>> numbers_in(["R63.txt", "R125.txt"])[0], numbers_in(["run1.txt", "run2.txt"])
    ('offered_rate', ('', {}))
    """
    for part, words in _NAMES.items():
        for word in words.split("|"):
            pattern = re.compile(
                rf"(?<![A-Za-z])(?:{word})[-_= ]?(\d+)(?!\d*[.]\d*[a-z]?\d)", re.IGNORECASE
            )
            found = {name: pattern.findall(_named(name)) for name in files}
            if all(len(each) == 1 for each in found.values()):
                numbers = {name: float(each[0]) for name, each in found.items()}
                if len(set(numbers.values())) > 1:
                    return part, numbers
    return "", {}


def _named(name: str) -> str:
    """The part of a file's name that describes its run: the name itself, and its folder."""
    return "/".join(PurePath(name).parts[-2:])


@dataclass(frozen=True)
class Driven:
    """The points of a test with what is known of clients and rates.

    Parameters
    ----------
    points
        The points in the order given.
    notes
        Notes on what was found, a sentence each.
    """

    points: tuple[Point, ...]
    notes: tuple[str, ...] = ()


NO_CLIENTS, NO_RATES = Told("--clients"), Told("--rate")
"""The user says nothing about either."""


def driven(points: Sequence[Point], clients: Told, rates: Told) -> Driven:
    """Fill in clients and rates that tools do not print, from the user, or else from file names.

    Parameters
    ----------
    points
        The points of all files of a test.
    clients, rates
        What the user says.

    Raises
    ------
    MeasurementError
        As for `Told.of`; and for a number that contradicts the measurements.

    Examples
    --------
    >>> two = [Point("hey", Loop.CLOSED, throughput=10.0 * n, file=f"c{n}.txt") for n in (1, 2)]
    >>> known = driven(two, NO_CLIENTS, NO_RATES)
    >>> [point.population for point in known.points], known.notes
    ([1.0, 2.0], ('closed: 1 to 2 clients (from names of files)',))
    """
    files = list(dict.fromkeys(point.file for point in points))
    notes: list[str] = []
    part, named = numbers_in(files) if len(files) > 1 else ("", {})
    for told, own, loop in (
        (clients, POPULATION.part, Loop.CLOSED),
        (rates, OFFERED.part, Loop.OPEN),
    ):
        numbers, source = told.of(files), f"from {told.option}"
        if numbers:
            _check_said(points, told.option, numbers, own)
        elif part == own and _may_be_named(points, named, own, loop):
            numbers, source = named, "from names of files"
        if numbers:
            points = [_driven_by(point, own, loop, numbers[point.file]) for point in points]
            notes.append(f"{_words(loop, numbers.values())} ({source})")
    return Driven(tuple(points), tuple(notes))


def _check_said(
    points: Sequence[Point], option: str, numbers: Mapping[str, float], part: str
) -> None:
    """Refuse numbers of the user that the measurements contradict."""
    if beyond := _beyond(points, numbers, part):
        raise _contradiction(option, beyond, numbers[beyond.file], part)


def _may_be_named(
    points: Sequence[Point], numbers: Mapping[str, float], part: str, loop: Loop
) -> bool:
    """Whether numbers in names of files may be those that all points lack."""
    lacking = bool(numbers) and all(_lacks(point, part, loop) for point in points)
    return lacking and _beyond(points, numbers, part) is None


def _beyond(points: Sequence[Point], numbers: Mapping[str, float], part: str) -> Point | None:
    """A point at which more was measured than a number allows."""
    return next((p for p in points if _measured(p, part) > _MOST * numbers[p.file]), None)


def _lacks(point: Point, part: str, loop: Loop) -> bool:
    """Whether a number in a name may be the one that a point lacks."""
    other = Loop.OPEN if loop is Loop.CLOSED else Loop.CLOSED
    if point.is_monitor or point.loop is other or point.throughput is None:
        return False
    is_set = point.population is not None or point.offered_rate is not None
    return getattr(point, part) is None and (point.loop is loop or not is_set)


def _measured(point: Point, part: str) -> float:
    """Lower bound of a population or offered rate: requests inside, or requests answered."""
    return (point.inside if part == POPULATION.part else point.throughput) or 0.0


def _contradiction(option: str, point: Point, number: float, part: str) -> MeasurementError:
    what = "requests were inside (X R)" if part == POPULATION.part else "1/s were answered"
    measured = four_digits(_measured(point, part))
    msg = f"{point.file}: {option} says {digits(number)}, but {measured} {what}"
    return MeasurementError(msg)


def _driven_by(point: Point, part: str, loop: Loop, number: float) -> Point:
    if part == POPULATION.part:
        return replace(point, population=number, loop=loop)
    return replace(point, offered_rate=number, loop=loop)


def check_clients(points: Sequence[Point]) -> None:
    """Refuse to take a test as open whose tool waits for answers and does not print its clients.

    Raises
    ------
    MeasurementError
        With the options that say them.
    """
    lacking = [
        point
        for point in points
        if point.loop is Loop.CLOSED and point.population is None and point.offered_rate is None
    ]
    if lacking and not any(point.population is not None for point in points):
        point = lacking[0]
        msg = (
            f"{point.file}: {point.tool} waits for answers (a closed test), and its output does "
            "not say by how many clients; add --clients N, --clients FILE=N, or --clients 'c{}' "
            "where {} is the number in the names of files"
        )
        raise MeasurementError(msg)
