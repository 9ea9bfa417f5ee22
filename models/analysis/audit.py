"""Can a load test be trusted? Contradictions in its own numbers.

Little's law N = X R holds for any test of a steady state; if it fails, or if it reveals a
population that nobody set, the test was not what it claims to be.
"""

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import PurePath

from headway.models.auditing import accelerators, generators, limits, runs, tails, within
from headway.models.auditing.contradictions import CONTRADICTIONS
from headway.models.auditing.finding import (
    Finding,
    FindingKind,
    Look,
    Severity,
    each_series,
    most_severe_first,
)
from headway.models.auditing.open_view import OpenPoint, as_open
from headway.models.measured.measurements import Measurements
from headway.models.measured.points import Point
from headway.models.reading.loadtest import LoadTest, Measured, measurements_in, read
from headway.models.reading.rows import points_of_table
from headway.models.reading.systems import check_one_system
from headway.models.tables.shown import Answer
from headway.models.tracing.findings import OF_MODELS, OF_TRACES, findings_of_traces
from headway.models.tracing.services import services_of
from headway.records import dataclass

CHECKS: dict[FindingKind, Look] = {
    **CONTRADICTIONS,
    limits.HIDDEN: each_series(limits.levels_off),
    limits.BEHIND: each_series(limits.falls_behind),
    generators.RAN_OUT: generators.ran_out,
    generators.SENT_LATE: generators.sent_late,
    generators.SATURATED: generators.is_saturated,
    generators.LITTLES_LAW: generators.breaks_littles_law,
    generators.MEAN_OF_RATE: generators.has_mean_of_rate,
    accelerators.CONTRADICTS: accelerators.contradicts,
    accelerators.NO_COMPUTATION: accelerators.lacks_computation,
    runs.ERRORS: runs.fails,
    runs.FALLS: each_series(runs.falls),
    runs.SHORT: runs.ends_early,
    runs.DRIFT: runs.drifts,
    runs.REPEATS: runs.scatters,
    runs.MIXED: runs.mixes,
    within.WARM_UP: within.warms_up,
    within.CHANGE: within.changes,
    within.TREND: within.trends,
    within.STALLS: within.stalls,
    tails.FEW: tails.rest_on_few,
    tails.WIDE: tails.is_wide,
    tails.OMITS: tails.omits,
}
"""Every kind of finding in points, with its check."""

KINDS: tuple[FindingKind, ...] = (
    *CHECKS,
    *(kind for check in (*OF_TRACES, *OF_MODELS) for kind in check.kinds),
)
"""Every kind of finding: in points, in traces, and in what a model makes of them."""


@dataclass(frozen=True)
class Audit(Answer):
    """Findings in a load test.

    Examples
    --------
    >>> from headway.models.measured.points import Loop
    >>> points = [Point("load", Loop.OPEN, rate, throughput=80.0, response_time=0.5)
    ...           for rate in (100.0, 150.0, 200.0)]
    >>> answer = audit(LoadTest(tuple(points))).findings[0]
    >>> answer.kind, answer.value
    ('hidden_closed_loop', 40.0)
    """

    test: LoadTest
    findings: tuple[Finding, ...]

    @cached_property
    def as_open(self) -> tuple[OpenPoint, ...]:
        """Response times for open clients at the rates of its closed points, from a model."""
        return as_open(self.test.points)

    @property
    def is_blind(self) -> bool:
        """Whether nothing tells the load of any point, so that hardly anything could be checked.

        Examples
        --------
        >>> audit(LoadTest((Point("load", response_time=0.5),))).is_blind
        True
        """
        return not any(math.isfinite(point.load) for point in self.test.points)

    @property
    def checked(self) -> tuple[FindingKind, ...]:
        """Every kind of finding that was looked for."""
        traced = () if self.test.traces is None else OF_TRACES
        return (*CHECKS, *(kind for check in traced for kind in check.kinds))

    def __repr__(self) -> str:
        return f"Audit({self.test.source}: {len(self.findings)} findings)"


def audit(test: Measured) -> Audit:
    """Check a test for whatever makes its numbers misleading.

    Parameters
    ----------
    test
        Points in the order of their load, or a table of them.

    Raises
    ------
    MeasurementError
        For what is no measurements, and a table of several systems.
    """
    if isinstance(test, str | PurePath):
        test = read(str(test))
    if isinstance(test, LoadTest) and test.table is not None:
        check_one_system(test.table)
    if not isinstance(test, LoadTest):
        table = measurements_in(test)
        points = sorted(points_in(table), key=lambda point: point.load)
        test = LoadTest(tuple(points), table=table)
    return Audit(test, most_severe_first([*findings_in(test.points), *_in_traces(test)]))


def _in_traces(test: LoadTest) -> Iterator[Finding]:
    """Findings in the traces that a test's points were made of, beyond these points."""
    if test.traces is not None:
        yield from findings_of_traces(services_of(test.traces.loads), test.traces.passed_over)


def findings_in(points: Sequence[Point]) -> tuple[Finding, ...]:
    """Findings in points, the most severe first.

    Parameters
    ----------
    points
        In the order of their load.
    """
    return most_severe_first(finding for look in CHECKS.values() for finding in look(points))


def points_in(table: Measurements) -> tuple[Point, ...]:
    """The points of the load test behind a table, or its rows as points according to their roles.

    Parameters
    ----------
    table
        A table of any origin.
    """
    made = tuple(point for point in table.made_of if isinstance(point, Point))
    return made or tuple(points_of_table(table))


def touching(
    points: Sequence[Point],
    used: Collection[int],
    percentiles: bool,  # noqa: FBT001
) -> tuple[Finding, ...]:
    """Errors and warnings that concern an answer from some of the points.

    Parameters
    ----------
    points
        All points, in any order.
    used
        Positions of the points used in the answer.
    percentiles
        Whether it uses percentiles: if not, findings that concern only these do not count.
    """
    order = sorted(range(len(points)), key=lambda k: points[k].load)
    tails_alone = {kind.name for kind in CHECKS if kind.percentiles}
    findings = (
        replace(finding, points=tuple(sorted(order[k] for k in finding.points)))
        for finding in findings_in([points[k] for k in order])
        if finding.severity is not Severity.NOTE
        if percentiles or finding.kind not in tails_alone
    )
    return tuple(each for each in findings if not each.points or {*each.points} & {*used})
