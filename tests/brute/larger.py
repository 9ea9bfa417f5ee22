"""Holds what is solved of larger random networks to simulations of them.

Run with ``python -m tests.brute.larger --count 200 --seed 0``.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from headway.errors import HeadwayError
from headway.models import Model, Simulation, parse_model
from headway.queueing.playing.estimates import Estimate, together
from tests import campaigns
from tests.brute.drawing import LARGE
from tests.brute.kinds import drawn

CONFIDENCE = 0.99
HALF_WIDTH = 0.01
NO_MORE = 3e8
"""Events that a simulation may take; longer ones are counted as refused."""


@dataclass(frozen=True)
class Misses:
    """A network held to its simulation: how many numbers, how many within their intervals.

    `missed` says whether any lies outside an interval so wide that all hold with 99% at once.
    """

    seed: int
    kind: str
    numbers: int = 0
    inside: int = 0
    error: float = 0.0
    worst: str = ""
    approximation: str = ""
    missed: bool = False
    refusal: str = ""


def see(seed: int) -> Misses:
    """Hold the larger network of a seed to its simulation."""
    case = drawn(seed, LARGE)
    try:
        model = parse_model(case.text)
        solution = model.solve()
        simulated = model.simulate(HALF_WIDTH, seed=seed + 1, at_most=NO_MORE)
    except HeadwayError as refusal:
        return Misses(seed, case.kind, refusal=str(refusal))
    misses = dict(_misses(model, solution, simulated))
    worst = max(misses, key=lambda name: misses[name][0])
    inside = sum(one.holds(value, CONFIDENCE) for _, value, one in misses.values())
    wide = together(CONFIDENCE, len(misses))
    missed = not all(one.holds(value, wide) for _, value, one in misses.values())
    note = solution.approximation
    return Misses(seed, case.kind, len(misses), inside, misses[worst][0], worst, note, missed)


def _misses(
    model: Model, solution: object, simulated: Simulation
) -> Iterator[tuple[str, tuple[float, float, Estimate]]]:
    """Relative distance of each number from its simulation, and both."""
    names = ["throughput", "response_time"]
    names += [
        f"{k}.{part}" for k in model.graph.stations for part in ("queue_length", "throughput")
    ]
    names += [f"class {c}.{part}" for c in model.graph.classes for part in names[:2]]
    for name in names:
        if name in simulated.estimates:
            value = float(np.asarray(solution[name]))  # type: ignore[index]
            entry = simulated[name]
            near = abs(value - entry.mean) / abs(entry.mean) if entry.mean else abs(value)
            yield name, (near, value, entry)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what was held by kind."""
    for line in summary(list(campaigns.seeded(see, __doc__, 200, arguments))):
        print(line)
    return 0


def summary(errors: Sequence[Misses]) -> Iterator[str]:
    """A line a kind: exact answers within their intervals, and errors of approximate ones."""
    by_kind: dict[str, list[Misses]] = defaultdict(list)
    for one in errors:
        by_kind[one.kind].append(one)
    heads = ("exact", "numbers", "inside", "worst", "approx.", "mean", "worst", "refused")
    yield f"{'kind':32} " + " ".join(map("{:>8}".format, heads))
    for kind, several in by_kind.items():
        exact = [one for one in several if one.numbers and not one.approximation]
        nearly = [one.error for one in several if one.approximation]
        numbers, inside = (sum(getattr(one, n) for one in exact) for n in ("numbers", "inside"))
        share = inside / numbers if numbers else 0.0
        yield (
            f"{kind:32} {len(exact):8} {numbers:8} {share:8.1%} "
            f"{max((one.error for one in exact), default=0.0):8.2%} {len(nearly):8} "
            f"{np.mean(nearly or [0.0]):8.2%} {max(nearly, default=0.0):8.2%} "
            f"{sum(bool(one.refusal) for one in several):8}"
        )
        for one in (one for one in exact if one.missed):
            yield f"    seed {one.seed}: {one.worst} is {one.error:.2%} off, outside all chance"
        for reason in sorted({one.refusal for one in several if one.refusal})[:3]:
            yield f"    refused: {reason}"


if __name__ == "__main__":
    campaigns.run(__spec__)
