"""Several outputs of one run, such as a summary and a log, or JSON and text, as one measurement.

Two files belong to one run if they are of different kinds, are in one folder, agree in every number
that both have, and either share their name (``c8.json`` and ``c8.txt``) or count the same requests.
Two files of one kind are repeats, however similar they are, unless their points name the same run:
then each host of the run wrote the totals.
"""

import re
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from pathlib import PurePath

from headway.models.measured.measurements import Measurements
from headway.models.measured.points import Point
from headway.models.reading.rows import Used
from headway.records import dataclass

_AGREES = 0.02
"""Relative difference of a number that tools print with two or three digits."""

_PURPOSES = "stats history summary log raw out stdout report results? full percentiles requests"
_PURPOSE = re.compile(rf"[-_. ]*(?:{_PURPOSES.replace(' ', '|')})$")
"""What tools and scripts append to a run's name for one of its outputs."""

_COMPARED = ("offered_rate", "population", "throughput", "response_time", "samples")


@dataclass(frozen=True)
class Output:
    """The content of one file.

    Parameters
    ----------
    name, kind
        Name and kind of the file.
    points
        Its points, in order.
    columns
        The roles of its columns, if it is a table.
    table
        The table itself, if it is one.
    """

    name: str
    kind: str
    points: Sequence[Point] = ()
    columns: tuple[Used, ...] = ()
    table: Measurements | None = None


def runs_of(outputs: Sequence[Output]) -> Iterator[tuple[Output, list[Output]]]:
    """The fullest output of each run, completed from the other outputs of that run.

    Parameters
    ----------
    outputs
        Outputs, in the order of their files.

    Examples
    --------
    >>> summary = Output("c8.txt", "text", [Point("t", throughput=10.0, response_time=0.2)])
    >>> log = Output("c8.json", "log", [Point("t", throughput=10.04, samples=300.0, duration=30.0)])
    >>> again = Output("c9.json", "log", [Point("t", throughput=10.04, samples=300.0)])
    >>> [(run.name, run.points[0].response_time, [o.name for o in others])
    ...  for run, others in runs_of([summary, log, again])]
    [('c8.json', 0.2, ['c8.txt']), ('c9.json', None, [])]
    """
    groups: list[list[Output]] = []
    known: dict[Hashable, list[list[Output]]] = {}
    for output in outputs:
        marks = _marks(output)
        likely = (group for mark in marks for group in known.get(mark, ()))
        group = next((group for group in likely if _is_of(group, output)), [])
        if not group:
            groups.append(group)
        group.append(output)
        for mark in marks:
            known.setdefault(mark, []).append(group)
    for group in groups:
        first, *others = sorted(group, key=_told, reverse=True)
        points = [
            _filled(*each) for each in zip(*(o.points for o in (first, *others)), strict=True)
        ]
        yield replace(first, points=points), others


def _marks(output: Output) -> list[Hashable]:
    """What outputs of one run have in common: the folder together with the name or the requests."""
    path, samples = PurePath(output.name), tuple(point.samples for point in output.points)
    named: list[Hashable] = [(path.parent, _stem(path)), *_hosts(output)]
    return named if None in samples else [*named, (path.parent, samples)]


def _hosts(output: Output) -> list[Hashable]:
    """What equal totals of other hosts have in common; empty for a file without such others."""
    runs = tuple(point.same_run for point in output.points)
    return [runs] if runs and all(runs) else []


def _is_of(group: Sequence[Output], output: Output) -> bool:
    """Whether an output belongs to the run of others, and is the only one of its kind."""
    if _hosts(output) and _hosts(output) == _hosts(group[0]):
        return True
    kinds = (each.kind for each in group)
    return output.kind not in kinds and all(_is_same_run(each, output) for each in group)


def _is_same_run(one: Output, other: Output) -> bool:
    if len(one.points) != len(other.points):
        return False
    named = _stem(PurePath(one.name)) == _stem(PurePath(other.name))
    return all(_agree(*pair, named=named) for pair in zip(one.points, other.points, strict=True))


def _stem(path: PurePath) -> str:
    """The name of a run: its file's, without endings and words for the kind of output."""
    stem = path.name.partition(".")[0]
    while (shorter := _PURPOSE.sub("", stem)) not in ("", stem):
        stem = shorter
    return stem


def _agree(one: Point, other: Point, *, named: bool) -> bool:
    """Whether two points may be of one run; without a common name, they must count alike."""
    shared = [p for p in one.percentiles if p in other.percentiles]
    pairs = [(getattr(one, name), getattr(other, name)) for name in _COMPARED]
    pairs += [(one.percentiles[p], other.percentiles[p]) for p in shared]
    known = [(a, b) for a, b in pairs if a is not None and b is not None]
    if None not in (one.loop, other.loop) and one.loop is not other.loop:
        return False
    if not named and (one.samples is None or one.samples != other.samples):
        return False
    return len(known) > 0 and all(abs(a - b) <= _AGREES * max(a, b) for a, b in known)


def _told(output: Output) -> tuple[int, int]:
    """How many numbers an output has for its points, and how many percentiles."""
    names = (*_COMPARED, "duration", "errors")
    numbers = [getattr(point, name) for point in output.points for name in names]
    tails = sum(len(point.percentiles) for point in output.points)
    return sum(number is not None for number in numbers), tails


_FILLED = (
    "loop",
    "offered_rate",
    "population",
    "think_time",
    "throughput",
    "response_time",
    "errors",
    "samples",
    "duration",
    "dropped",
    "lateness",
    "utilisation",
    "course",
    "gaps",
)
"""What one output may give and another of the same run leave open."""


def _filled(point: Point, *others: Point) -> Point:
    """A point completed with what others give and it does not."""
    for other in others:
        missing = {
            name: getattr(other, name)
            for name in _FILLED
            if getattr(point, name) in (None, {}) and getattr(other, name) is not None
        }
        if "response_time" in missing:
            missing["mean_of_rate"] = other.mean_of_rate
        tails = {**other.percentiles, **point.percentiles}
        missing |= {"percentiles": tails, "more": {**other.more, **point.more}}
        point = replace(point, **missing)
    return point
