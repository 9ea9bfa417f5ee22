"""Accelerators that compute for a known time between requests: their utilisation and throughput.

Each of N computes for Z and waits, and is busy for a share AU of the time, so that X = N AU / Z.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from headway.models.auditing.finding import Finding, FindingKind, Severity, naming, of_several
from headway.models.measured.points import Point
from headway.models.measured.tools.mlperf_storage import ACCELERATOR
from headway.numerals import counted

LAW = 0.01
"""Relative difference between X Z / N and the utilisation above which it is a finding: printed
values have four digits or more, and epochs last minutes."""

CONTRADICTS = FindingKind(
    "utilisation_contradicts",
    Severity.WARNING,
    "throughput differs by a share `value`, over 1%, from accelerators x utilisation / time "
    "of computation",
    "throughput counts the first step of each epoch, which utilisation leaves out, or they "
    "computed longer than is published: take stalls, which follow from utilisation",
)
NO_COMPUTATION = FindingKind(
    "no_computation_time",
    Severity.WARNING,
    "accelerators without a published computation time, so that their waits are unknown",
    "or read its throughput alone",
)


def law_error(point: Point) -> float | None:
    """Relative difference of X Z / N from the utilisation; None if one of them is not known.

    Parameters
    ----------
    point
        A measured point of accelerators.

    Examples
    --------
    >>> law_error(Point("t", population=4, think_time=0.5, throughput=7.0, utilisation={
    ...     "accelerator": 0.875}))
    0.0
    """
    busy, clients, think, rate = (
        point.utilisation.get(ACCELERATOR),
        point.population,
        point.think_time,
        point.throughput,
    )
    if not busy or not clients or not think or rate is None:
        return None
    return rate * think / (clients * busy) - 1


def contradicts(points: Sequence[Point]) -> Iterator[Finding]:
    """Points whose throughput does not follow from their utilisation, by configuration."""
    wrong: dict[tuple[str, float], dict[int, float]] = defaultdict(dict)
    for place, point in enumerate(points):
        error = law_error(point)
        if error is not None and abs(error) > LAW:
            wrong[point.name, point.load][place] = error
    for some in wrong.values():
        worst = max(some, key=lambda place: abs(some[place]))
        yield CONTRADICTS.finding(
            f"{naming([worst], points)}: throughput is {abs(some[worst]):.1%} "
            f"{'below' if some[worst] < 0 else 'above'} what the utilisation of its accelerators "
            f"makes of it, the most of {counted(len(some), 'run')}",
            some,
            some[worst],
        )


def lacks_computation(points: Sequence[Point]) -> Iterator[Finding]:
    """Points of accelerators whose time of computation is not known."""
    some = [k for k, p in enumerate(points) if ACCELERATOR in p.utilisation and not p.think_time]
    if some:
        first = points[some[0]]
        why = first.notes[0] if first.notes else "no time of computation is known"
        yield NO_COMPUTATION.finding(
            f"{naming(some[:1], points)}: {why}{of_several(len(some))}", some
        )
