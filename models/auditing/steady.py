"""Whether requests come at one rate throughout a run.

Poisson counts of requests in 64 equal parts of a run have a standard deviation of the root of their
mean, so that of their square roots is 1/2 whatever the rate (Bartlett, *JRSS Supplement* 3, 1936).
These square roots are compared with the shapes of `headway.models.auditing.within`: a step, a
patch, a line, a decay. Of 2,000 Poisson runs, and of 2,000 with bunches of five, of 256 to 20,000
requests, none is said to change; with 1,000 requests or more, nine in ten runs whose rate doubles
are.
"""

from collections.abc import Iterator

import numpy as np

from headway.kinds import FloatArray
from headway.models.auditing.finding import Finding, FindingKind, Severity
from headway.models.auditing.within import FEWEST, RunShape, shape_in
from headway.models.measured.course import PARTS
from headway.numerals import four_digits
from headway.records import dataclass

_MATTERS = 1.25  # ratio of rates from which a change matters

STEADY = FindingKind(
    "rate_not_steady",
    Severity.WARNING,
    "loads whose rate of requests from outside changes by a factor `value` within",
    "its mean response time is not the one at its mean rate: cut it into shorter loads "
    "(headway model --window)",
)


@dataclass(frozen=True)
class _Change:
    """Rates before and after, or outside and inside [1/s], and the sentence about them."""

    before: float
    after: float
    sentence: str


def unsteady(times: FloatArray, name: str, runs: int = 1) -> Iterator[Finding]:
    """Say where the rate of a run changes clearly, and by at least a quarter.

    Parameters
    ----------
    times
        When its requests came [s].
    name
        Name of the run in the sentence.
    runs
        Number of runs examined, one of which differs by chance more easily if there are many.

    Examples
    --------
    >>> times = np.append(np.arange(0, 10, 0.02), np.arange(10, 20, 0.01))
    >>> [found] = unsteady(times, "monday")
    >>> found.text.partition(";")[0]
    'the rate of monday changes after 9.995 s from 50.03/s to 100.1/s'
    """
    if len(times) < FEWEST or not np.ptp(times) > 0:
        return
    counts, ends = np.histogram(times, PARTS)
    shape = shape_in(np.sqrt(counts), np.ones(PARTS, bool), len(times), runs)
    part = float(ends[1] - ends[0])
    change = _change(counts / part, shape, part)
    low, high = sorted((change.before, change.after))
    factor = high / max(low, 1 / (part * PARTS))
    if shape.excess > 1 and factor >= _MATTERS:
        yield STEADY.finding(f"the rate of {name} {change.sentence}", value=factor)


def _change(rates: FloatArray, shape: RunShape, part: float) -> _Change:
    inside = np.zeros(PARTS, bool)
    inside[shape.first : shape.last] = True
    if inside.all():  # a line, or a decay
        before, after = (
            float(rates[s].mean()) for s in (slice(PARTS // 4), slice(-PARTS // 4, None))
        )
        sentence = (
            f"drifts from {_per_s(before)} in its first quarter to {_per_s(after)} in its last"
        )
        return _Change(before, after, sentence)
    before, after = float(rates[~inside].mean()), float(rates[inside].mean())
    first, last = (four_digits(k * part) for k in (shape.first, shape.last))
    sentence = (
        f"changes after {first} s from {_per_s(before)} to {_per_s(after)}"
        if shape.last == PARTS
        else f"is {_per_s(after)} from {first} to {last} s, and {_per_s(before)} otherwise"
    )
    return _Change(before, after, sentence)


def _per_s(rate: float) -> str:
    return f"{four_digits(rate)}/s"
