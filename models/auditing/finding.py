"""Findings in load tests, and the declaration of their kinds."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from enum import StrEnum

from headway.models.language.scales import Scale
from headway.models.language.units import unit
from headway.models.measured.points import Point
from headway.numerals import four_digits
from headway.records import dataclass

_TIME = unit("s")


class Severity(StrEnum):
    """How much a finding matters."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True)
class Finding:
    """A finding in a test: a sentence with its numbers and what to do.

    Parameters
    ----------
    kind
        Its name for programs, such as ``hidden_closed_loop``.
    severity, text
        How much it matters, and the sentence.
    value, ci95
        The number in it, with its interval; None if there is none.
    points
        Positions of the points concerned; empty if it concerns the whole test.
    times
        Times in the sentence, in their order: each as it is written there, and in seconds.

    Examples
    --------
    >>> late = Finding("sent_late", Severity.WARNING, "sent 0.02 s late", times=(("0.02 s", 0.02),))
    >>> late.text_in(Scale.of([(0.003, unit("s"))]))
    'sent 20 ms late'
    """

    kind: str
    severity: Severity
    text: str
    value: float | None = None
    ci95: tuple[float, float] | None = None
    points: tuple[int, ...] = ()
    times: tuple[tuple[str, float], ...] = ()

    def text_in(self, scale: Scale) -> str:
        """The sentence with its times in the units of another answer, such as a fit.

        Parameters
        ----------
        scale
            The units of that answer.
        """
        parts, rest = [], self.text
        for written, seconds in self.times:
            before, _, rest = rest.partition(written)
            parts += [before, scale.text(seconds, _TIME)]
        return "".join([*parts, rest])


def most_severe_first(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Findings in the order of their severity.

    Examples
    --------
    >>> few = Finding("few", Severity.NOTE, "few"), Finding("wrong", Severity.ERROR, "wrong")
    >>> [each.kind for each in most_severe_first(few)]
    ['wrong', 'few']
    """
    order = list(Severity)
    return tuple(sorted(findings, key=lambda each: order.index(each.severity)))


def kind_words(kind: str) -> str:
    """A kind of finding as people say it.

    Examples
    --------
    >>> kind_words("littles_law"), kind_words("hidden_closed_loop")
    ("Little's law", 'hidden closed loop')
    """
    return kind.replace("littles", "Little's").replace("_", " ")


Look = Callable[[Sequence[Point]], Iterator[Finding]]
"""Checks points, in the order of their load, for a kind of finding."""


@dataclass(frozen=True)
class FindingKind:
    """A kind of finding.

    Parameters
    ----------
    name
        Its name for programs.
    severity
        How much it matters by default.
    means
        What it means, for the reference.
    remedy
        What to do: the end of every sentence of this kind.
    percentiles
        Whether it concerns only percentiles, and no mean.

    Examples
    --------
    >>> slow = FindingKind("slow", Severity.NOTE, "it is slow", "wait")
    >>> slow.finding("the point at 5 took 3 s", [0]).text
    'the point at 5 took 3 s; wait'
    """

    name: str
    severity: Severity
    means: str
    remedy: str
    percentiles: bool = False

    def finding(
        self,
        sentence: str,
        points: Iterable[int] = (),
        value: float | None = None,
        ci95: tuple[float, float] | None = None,
        severity: Severity | None = None,
        times: Sequence[tuple[str, float]] = (),
    ) -> Finding:
        """Make a finding of this kind: the sentence, then what to do.

        Parameters
        ----------
        sentence
            The sentence without the remedy.
        points, value, ci95, times
            As for `Finding`.
        severity
            If it differs from that of the kind.
        """
        text = f"{sentence}; {self.remedy}"
        places, much = tuple(points), severity or self.severity
        return Finding(self.name, much, text, value, ci95, places, tuple(times))


def series(points: Sequence[Point]) -> list[list[int]]:
    """Positions of the points of each series: an operation, or a group of jobs.

    Examples
    --------
    >>> series([Point("fio", name=name) for name in ("read", "write", "read")])
    [[0, 2], [1]]
    """
    groups: dict[str, list[int]] = defaultdict(list)
    for place, point in enumerate(points):
        groups[point.name].append(place)
    return list(groups.values())


def each_series(look: Look) -> Look:
    """Apply a check to each series separately.

    Parameters
    ----------
    look
        Checks the points of one series.
    """

    def looks(points: Sequence[Point]) -> Iterator[Finding]:
        for places in series(points):
            for finding in look([points[k] for k in places]):
                yield replace(finding, points=tuple(places[k] for k in finding.points))

    return looks


def of_several(count: int) -> str:
    """Note that a point is the worst of several.

    Examples
    --------
    >>> of_several(1), of_several(3)
    ('', ' (the worst of 3 points)')
    """
    return f" (the worst of {count} points)" if count > 1 else ""


def naming(places: Sequence[int], points: Sequence[Point]) -> str:
    """Name points by their load, or by their file if they have none.

    Examples
    --------
    >>> naming([0, 2], [Point("k6", offered_rate=rate) for rate in (10.0, 20.0, 40.0)])
    'the 2 points from 10 to 40 op/s'
    """
    loads, first = [points[k].load for k in places], points[places[0]]
    if not all(map(math.isfinite, loads)):
        return first.file or "this test"
    low, high = map(four_digits, (min(loads), max(loads)))
    reach = f"at {low}" if low == high else f"from {low} to {high}"
    one = first.load_unit.removesuffix("s") if low == high == "1" else first.load_unit
    if len(loads) == 1:
        return f"the point {first.name} {reach} {one}".replace("  ", " ")
    return f"the {len(loads)} points {reach} {one}"


def time_units(points: Sequence[Point]) -> Scale:
    """The unit of a test's times: by its response times and percentiles."""
    times = [time for p in points for time in (p.response_time, *p.percentiles.values())]
    return Scale.of([([time for time in times if time is not None], _TIME)])


def time_text(time: float, points: Sequence[Point]) -> str:
    """A time of a test in the unit of its response times."""
    return time_units(points).text(time, _TIME)
