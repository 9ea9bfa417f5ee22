"""A gate for a pipeline: whether a load test can be trusted, and whether its build may pass.

The audit answers the first, and the comparison with a baseline the second: a quantity is worse if
the whole 95% interval of its change is worse than allowed, and undecided if only part of it is.
"""

from collections.abc import Iterator
from enum import StrEnum

from headway.models.analysis.audit import Audit, audit
from headway.models.auditing.finding import Severity, kind_words
from headway.models.inference.builds import USUAL, Builds, Difference, compare_builds
from headway.models.reading.loadtest import LoadTest
from headway.models.tables.shown import Answer
from headway.numerals import counted, digits
from headway.records import dataclass


class Verdict(StrEnum):
    """The result of a check."""

    PASSED = "passed"
    UNDECIDED = "undecided"
    FAILED = "failed"


@dataclass(frozen=True)
class GateCheck:
    """A check that a build must pass.

    Parameters
    ----------
    group, name
        ``audit`` or ``baseline``, and the subject of the check.
    verdict, text
        The result, and the reason.
    """

    group: str
    name: str
    verdict: Verdict
    text: str


@dataclass(frozen=True)
class Gate(Answer):
    """Whether a build may pass.

    Parameters
    ----------
    audit
        The audit of the build's load test.
    builds
        The comparison with the baseline; None without a baseline.
    is_strict
        Whether warnings and undecided checks keep the build back too.
    """

    audit: Audit
    builds: Builds | None = None
    is_strict: bool = False

    @property
    def checks(self) -> tuple[GateCheck, ...]:
        """Every check: findings of the audit, then quantities of the comparison."""
        found = (*_of_audit(self.audit), *_of_builds(self.builds))
        trusted = GateCheck("audit", "load test", Verdict.PASSED, "no errors and no warnings found")
        return found if any(each.group == "audit" for each in found) else (trusted, *found)

    @property
    def passes(self) -> bool:
        """Whether no check keeps the build back."""
        kept = {Verdict.FAILED, *([Verdict.UNDECIDED] if self.is_strict else [])}
        return not any(each.verdict in kept for each in self.checks)

    @property
    def title(self) -> str:
        """The verdict in one line.

        Examples
        --------
        >>> from headway.models.measured.points import Point
        >>> Gate(audit(LoadTest((Point("wrk", throughput=9.0, response_time=0.1),)))).title
        'passed: 1 check, 0 failed, 0 undecided'
        """
        verdicts = [each.verdict for each in self.checks]
        failed, open_ = (verdicts.count(each) for each in (Verdict.FAILED, Verdict.UNDECIDED))
        outcome = "passed" if self.passes else "failed"
        return f"{outcome}: {counted(len(verdicts), 'check')}, {failed} failed, {open_} undecided"


def gate(
    after: LoadTest,
    before: LoadTest | None = None,
    at_most: float = USUAL,
    strict: bool = False,  # noqa: FBT001, FBT002 - as on the command line
) -> Gate:
    """Judge the load test of a build.

    Parameters
    ----------
    after, before
        What `headway.read` gives: the build to be judged, and the baseline.
    at_most
        The largest worsening allowed, as a share above 0.
    strict
        Whether warnings, and what the runs leave undecided, keep the build back too.

    Raises
    ------
    MeasurementError, InvalidParameter
        As for `compare_builds`.

    Examples
    --------
    >>> from headway.models.measured.points import Point
    >>> def runs(slower):
    ...     return LoadTest(tuple(
    ...         Point("wrk", population=n, throughput=n / time, response_time=time, file=f"{n}.txt")
    ...         for n in (1, 2, 4) for time in (0.010 * n * slower, 0.0101 * n * slower)
    ...     ))
    >>> [each.name for each in gate(runs(1.1), runs(1.0)).checks if each.verdict == "failed"]
    ['response time', 'throughput']
    """
    builds = None if before is None else compare_builds(before, after, at_most)
    return Gate(audit(after), builds, strict)


_WEIGHED = {Severity.ERROR: Verdict.FAILED, Severity.WARNING: Verdict.UNDECIDED}


def _of_audit(audited: Audit) -> Iterator[GateCheck]:
    """Checks from the audit: errors fail; warnings leave open whether the numbers hold."""
    for each in audited.findings:
        if each.severity in _WEIGHED:
            yield GateCheck("audit", kind_words(each.kind), _WEIGHED[each.severity], each.text)


def _of_builds(builds: Builds | None) -> Iterator[GateCheck]:
    """A check for each quantity over all loads."""
    if builds is None:
        return
    for one in builds.overall:
        name = one.quantity.replace("_", " ")
        worse, undecided = (one in found for found in (builds.worse, builds.undecided))
        verdict = Verdict.FAILED if worse else Verdict.UNDECIDED if undecided else Verdict.PASSED
        yield GateCheck("baseline", name, verdict, _change(one, builds, verdict))


def _change(one: Difference, builds: Builds, verdict: Verdict) -> str:
    """The change with its interval, and what to do if the runs do not decide."""
    low, middle, high = (f"{100 * (each - 1):+.1f}%" for each in (one.low, one.ratio, one.high))
    known = f"{middle} (95%: {low} to {high})" if one.low == one.low else middle
    allowed = f"{digits(100 * builds.at_most)}%"
    if verdict is Verdict.FAILED:
        return f"{known}: worse by more than {allowed}"
    if verdict is Verdict.PASSED:
        return f"{known}: not worse by more than {allowed}"
    may = "is probably worse" if one.is_worse else "may be worse"
    if builds.has_enough:
        usual = f"{counted(builds.fewest, 'run')} of each load and build"
        return (
            f"{known}: {may} by more than {allowed}; {usual} usually decide, but not here: add more"
        )
    if builds.runs is None:
        return f"{known}: {may} by more than {allowed}; measure each load more than once to decide"
    return (
        f"{known}: {may} by more than {allowed}; more runs would decide ({allowed} takes "
        f"{counted(builds.runs, 'run')} of each load and build)"
    )
