"""Holds what is solved to the whole chains of random small networks.

Run with ``python -m tests.brute.campaign --count 2000 --seed 0``.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from headway.errors import HeadwayError
from headway.models import parse_model
from tests import campaigns
from tests.brute.chain import TooLarge
from tests.brute.kinds import drawn

EXACT = 1e-10
HEAVY = 1e-4
"""Share of arrivals cut off from which a chain says too little, as one too large."""

LOADS = {"under 50% busy": 0.5, "50 to 80% busy": 0.8, "over 80% busy": 2.0}
"""Columns by load, and where they end."""

TINY = 1e-3
"""What relative errors of smaller numbers are of: chains are solved to so many digits."""


@dataclass(frozen=True)
class Checked:
    """A network held to its chain: the largest relative error of its numbers, and what is said.

    `load` is the utilisation of its busiest station.
    """

    seed: int
    kind: str
    error: float
    worst: str
    tolerance: float
    approximation: str
    refusal: str = ""
    load: float = 0.0

    @property
    def is_wrong(self) -> bool:
        """Whether it is called exact and is not."""
        return not self.approximation and not self.refusal and self.error > self.tolerance


def hold(seed: int) -> Checked | None:
    """Hold the network of a seed to its chain; None where the chain is too large."""
    case = drawn(seed)
    try:
        truth = case.solve()
    except TooLarge:
        return None
    if truth.cut > HEAVY:
        return None
    try:
        solution = parse_model(case.text).solve()
    except HeadwayError as refusal:
        return Checked(seed, case.kind, 0.0, "", 0.0, "", str(refusal))
    errors = {name: _error(solution[name], true) for name, true in truth.numbers.items()}
    worst = max(errors, key=lambda name: errors[name])
    tolerance, note = EXACT + 300 * truth.cut, solution.approximation
    load = max(float(np.asarray(solution[f"{name}.utilisation"])) for name in solution.stations)
    return Checked(seed, case.kind, errors[worst], worst, tolerance, note, load=load)


def _error(answer: object, true: float) -> float:
    value = float(np.asarray(answer))
    return abs(value - true) / max(abs(true), TINY)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what was held by kind; code 1 if an answer called exact is not."""
    items = list(campaigns.seeded(hold, __doc__, 2000, arguments))
    values = [one for one in items if one is not None]
    print(f"{len(values)} networks held to their chains, {len(items) - len(values)} too large")
    for line in (*summary(values), *by_load(values)):
        print(line)
    wrong = [one for one in values if one.is_wrong]
    for one in wrong:
        print(f"seed {one.seed} ({one.kind}): {one.worst} is {one.error:.2e} off")
    return 1 if wrong else 0


def summary(checks: Sequence[Checked]) -> Iterator[str]:
    """A line for each kind: how many are exact, approximate and refused, and their errors."""
    by_kind: dict[str, list[Checked]] = defaultdict(list)
    for one in checks:
        by_kind[one.kind].append(one)
    heads = ("exact", "worst", "approx.", "mean", "worst", "refused")
    yield f"{'kind':32} " + " ".join(map("{:>9}".format, heads))
    for kind, several in by_kind.items():
        exact = [one.error for one in several if not one.approximation and not one.refusal]
        nearly = [one.error for one in several if one.approximation]
        refused = Counter(one.refusal for one in several if one.refusal)
        yield (
            f"{kind:32} {len(exact):9} {max(exact, default=0.0):9.1e} {len(nearly):9} "
            f"{np.mean(nearly or [0.0]):9.2%} {max(nearly, default=0.0):9.2%} {refused.total():9}"
        )
        for reason, number in refused.most_common(3):
            yield f"    {number} refused: {reason}"


def by_load(checks: Sequence[Checked]) -> Iterator[str]:
    """A row for each kind with approximate answers: how many, median and largest error by load."""
    yield f"| approximate | {' | '.join(LOADS)} |"
    yield f"|{'---|' * (1 + len(LOADS))}"
    nearly = [one for one in checks if one.approximation]
    for kind in sorted({one.kind for one in nearly}):
        errors = [[x.error for x in nearly if x.kind == kind and column(x) == c] for c in LOADS]
        yield f"| {kind} | {' | '.join(map(_cell, errors))} |"


def column(check: Checked) -> str:
    """The column of a network."""
    return next(name for name, end in LOADS.items() if check.load < end)


def _cell(errors: Sequence[float]) -> str:
    if not errors:
        return "-"
    return f"{len(errors)}: {100 * np.median(errors):.1f}%, {100 * max(errors):.1f}%"


if __name__ == "__main__":
    campaigns.run(__spec__)
