"""What readers of HTTP load generators share: runs in a text, and answers that are errors."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from headway.errors import MeasurementError
from headway.models.measured.tools.writing import amount, lines_of, number, seconds

HEAD = 4096
"""Characters in which a text shows whose it is."""


@dataclass(frozen=True)
class Found:
    """What a line says, and where it stands."""

    groups: tuple[str, ...]
    place: str

    def number(self, group: int = 0) -> float:
        """A part of it as a number."""
        return number(self.groups[group], self.place)

    def seconds(self, unit: str = "", group: int = 0) -> float:
        """A part of it as a time, in a unit where none is glued to it [s]."""
        return seconds(self.groups[group], self.place, unit)


@dataclass(frozen=True)
class Run:
    r"""The lines of one run, asked by pattern.

    Examples
    --------
    >>> run = Run("a.txt", ((7, "Requests/sec:  12.5"),))
    >>> run.needs(r"Requests/sec:\s+(\S+)", "Requests/sec: 9")
    Found(groups=('12.5',), place='a.txt:7')
    >>> run.all(r"Socket errors") == []
    True
    """

    source: str
    lines: tuple[tuple[int, str], ...]

    def all(self, pattern: str) -> list[Found]:
        """What every line that begins like this says."""
        known = re.compile(pattern)
        matches = ((number, known.match(line)) for number, line in self.lines)
        return [Found(m.groups(), f"{self.source}:{number}") for number, m in matches if m]

    def needs(self, pattern: str, shape: str) -> Found:
        """What the first such line says.

        Raises
        ------
        MeasurementError
            Where there is none, with the line where the run ends and one as it should be.
        """
        found = self.all(pattern)
        if not found:
            place = f"{self.source}:{self.lines[-1][0] if self.lines else 1}"
            msg = f"{place}: there is no line such as '{shape}' up to here; give all of it"
            raise MeasurementError(msg)
        return found[0]

    def until(self, mark: str) -> "Run":
        """The same, cut before the first line that holds a mark."""
        ends = (index for index, (_, line) in enumerate(self.lines) if mark in line)
        return Run(self.source, self.lines[: next(ends, len(self.lines))])


def runs(text: str, source: str, start: str) -> list[Run]:
    r"""Part a text into runs, each from a line that begins like ``start``.

    Raises
    ------
    MeasurementError
        Where no line does.

    Examples
    --------
    >>> [len(run.lines) for run in runs("noise\nRunning 1\na\nRunning 2\n", "a.txt", "Running")]
    [2, 1]
    """
    lines, known = lines_of(text), re.compile(start)
    starts = [index for index, (_, line) in enumerate(lines) if known.match(line)]
    if not starts:
        msg = f"{source}:1: there is no line '{start} ...': it holds no run"
        raise MeasurementError(msg)
    ends = [*starts[1:], len(lines)]
    return [Run(source, tuple(lines[a:b])) for a, b in zip(starts, ends, strict=True)]


def needed(found: Any, *path: str, source: str, scale: float = 1.0) -> float:
    """The number under a path of keys in SI.

    Raises
    ------
    MeasurementError
        Where it is not there, or says "none".

    Examples
    --------
    >>> needed({"rate": 12}, "rate", source="run")
    12.0
    """
    value = amount(found, *path, source=source, scale=scale)
    if value is None:
        msg = f"{source}: there is no number {'.'.join(path)} in it; give the whole file"
        raise MeasurementError(msg)
    return value


def answered(rate: float, bad: float, total: float) -> float | None:
    """The rate of answers that are no errors, of the rate of all; None where all are.

    Examples
    --------
    >>> answered(100.0, 5, 50), answered(100.0, 50, 50)
    (90.0, None)
    """
    if bad == 0:
        return rate if total > 0 else None
    return rate * ((total - bad) / total) if bad < total else None


def of_errors(bad: float, total: float) -> tuple[str, ...]:
    """What is to be known where answers are errors; nothing where none is.

    Examples
    --------
    >>> of_errors(0, 50)
    ()
    """
    if bad == 0:
        return ()
    if bad >= total:
        return ("no request succeeded: there is no throughput, and times are those of errors",)
    return (
        f"{bad:g} of {total:g} requests failed: the throughput leaves them out,"
        " the times hold those that were answered",
    )


def refuse_empty(answers: float, errors: float, place: str) -> None:
    """Refuse a run in which nothing came back and nothing failed.

    Raises
    ------
    MeasurementError
        With what to do.
    """
    if answers <= 0 and errors <= 0:
        msg = f"{place}: no request was answered; is the server up, the run long enough?"
        raise MeasurementError(msg)


def statuses(found: Mapping[str, float]) -> tuple[float, float]:
    """Answers with a status that is an error, and all answers, of a count by status.

    Examples
    --------
    >>> statuses({"200": 90, "302": 5, "503": 5})
    (5, 100)
    """
    return sum(n for code, n in found.items() if code[:1] not in "123"), sum(found.values())


def counts_of(found: Any, name: str, source: str) -> Mapping[str, float]:
    """Counts by status or by error, of an object.

    Raises
    ------
    MeasurementError
        For something else than an object of numbers.

    Examples
    --------
    >>> counts_of({"200": 9}, "status_codes", "run")
    {'200': 9.0}
    """
    if not isinstance(found, Mapping):
        msg = f"{source}: {name} is no object; give the whole file"
        raise MeasurementError(msg)
    return {key: needed(found, key, source=f"{source}: {name}") for key in found}
