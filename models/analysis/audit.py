"""Can a load test be trusted? What its own numbers say against it.

Little's law N = X R holds for any test that is over a steady state; where it breaks, or holds
where nobody claimed a population, the test was another than it says.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from headway.models.auditing import generators, limits, runs, tails
from headway.models.auditing.finding import Finding, Kind, Look, Severity, each_series
from headway.models.auditing.open_view import OpenPoint, as_open
from headway.models.measured.measurements import Measurements
from headway.models.measured.points import Point
from headway.models.reading.loadtest import LoadTest
from headway.models.reading.rows import points_of_table
from headway.models.tables.shown import Answer

CHECKS: dict[Kind, Look] = {
    limits.HIDDEN: each_series(limits.levels_off),
    limits.BEHIND: each_series(limits.falls_behind),
    generators.RAN_OUT: generators.ran_out,
    generators.SENT_LATE: generators.sent_late,
    generators.SATURATED: generators.is_saturated,
    generators.LITTLES_LAW: generators.breaks_littles_law,
    generators.MEAN_OF_RATE: generators.has_mean_of_rate,
    runs.ERRORS: runs.fails,
    runs.FALLS: each_series(runs.falls),
    runs.SHORT: runs.ends_early,
    runs.DRIFT: runs.drifts,
    runs.REPEATS: runs.scatters,
    runs.MIXED: runs.mixes,
    tails.FEW: tails.rest_on_few,
    tails.WIDE: tails.is_wide,
    tails.OMITS: tails.omits,
}
"""Every kind of finding, and what looks for it."""


@dataclass(frozen=True)
class Audit(Answer):
    """What was found in a load test.

    Examples
    --------
    >>> from headway.models.measured.points import Loop
    >>> points = [Point("load", Loop.OPEN, rate, throughput=80.0, response_time=0.5)
    ...           for rate in (100.0, 150.0, 200.0)]
    >>> found = audit(LoadTest(tuple(points))).findings[0]
    >>> found.kind, found.value
    ('hidden_closed_loop', 40.0)
    """

    test: LoadTest
    findings: tuple[Finding, ...]

    @cached_property
    def as_open(self) -> tuple[OpenPoint, ...]:
        """What open clients would have seen at the rates of its closed points, by a model."""
        return as_open(self.test.points)

    def __repr__(self) -> str:
        return f"Audit({self.test.source}: {len(self.findings)} findings)"


def audit(test: LoadTest) -> Audit:
    """Look for what makes a test's numbers mean something else than they say.

    Parameters
    ----------
    test
        Points in the order of their load.
    """
    return Audit(test, findings_in(test.points))


def findings_in(points: Sequence[Point]) -> tuple[Finding, ...]:
    """What is found in points, the gravest first.

    Parameters
    ----------
    points
        In the order of their load.
    """
    found = [finding for look in CHECKS.values() for finding in look(points)]
    order = list(Severity)
    return tuple(sorted(found, key=lambda finding: order.index(finding.severity)))


def points_in(table: Measurements) -> tuple[Point, ...]:
    """The points of a load test that a table was made of, or that its rows are by their roles.

    Parameters
    ----------
    table
        Of any origin.
    """
    made = tuple(point for point in table.made_of if isinstance(point, Point))
    return made or tuple(points_of_table(table))


def touching(
    points: Sequence[Point],
    used: Collection[int],
    percentiles: bool,  # noqa: FBT001
) -> tuple[Finding, ...]:
    """Errors and warnings that are found in points, and matter to an answer made of some of them.

    Parameters
    ----------
    points
        All that there are, in any order.
    used
        Positions of those that the answer is made of.
    percentiles
        Whether it is made of percentiles: else what touches these alone does not matter.
    """
    order = sorted(range(len(points)), key=lambda k: points[k].load)
    tails_alone = {kind.name for kind in CHECKS if kind.percentiles}
    found = (
        replace(finding, points=tuple(sorted(order[k] for k in finding.points)))
        for finding in findings_in([points[k] for k in order])
        if finding.severity is not Severity.NOTE
        if percentiles or finding.kind not in tails_alone
    )
    return tuple(each for each in found if not each.points or {*each.points} & {*used})
