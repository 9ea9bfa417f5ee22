"""What independent replicas say: means with Student's intervals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite

import numpy as np
from scipy.stats import t as student

CONFIDENCE = 0.95
_ROUNDING = 1e-9
"""Relative: a constant has no width, and rounding all the same."""


@dataclass(frozen=True)
class Estimate:
    """An estimate from independent replicas.

    Parameters
    ----------
    mean
        Over the replicas.
    error
        Standard error of that mean.
    replicas
        How many there are.

    Examples
    --------
    >>> found = estimate([1.0, 2.0, 3.0])
    >>> found.mean, [round(end, 3) for end in found.interval(0.95)]
    (2.0, [-0.484, 4.484])
    """

    mean: float
    error: float
    replicas: int

    def half_width(self, confidence: float = CONFIDENCE) -> float:
        """Half the width of the interval."""
        if self.replicas < 2:
            return inf
        return float(student.ppf((1 + confidence) / 2, self.replicas - 1)) * self.error

    def interval(self, confidence: float = CONFIDENCE) -> tuple[float, float]:
        """Where the value lies with this confidence."""
        half = self.half_width(confidence)
        return self.mean - half, self.mean + half

    def holds(self, value: float, confidence: float = CONFIDENCE) -> bool:
        """Whether a value lies in the interval, but for rounding."""
        slack = _ROUNDING * abs(self.mean)
        return abs(value - self.mean) <= self.half_width(confidence) + slack

    def meets(self, relative: float) -> bool:
        """Whether the half width is at most so large, relative to the mean."""
        return self.half_width() <= (relative + _ROUNDING) * abs(self.mean)


def estimate(values: Sequence[float]) -> Estimate:
    """Estimate a mean from one value a replica."""
    found = np.asarray(values, float)
    error = found.std(ddof=1) / len(found) ** 0.5 if len(found) > 1 else inf
    return Estimate(float(found.mean()), float(error), len(found))


def estimates(replicas: Sequence[Mapping[str, float]]) -> dict[str, Estimate]:
    """Estimate everything that all replicas have seen, by name."""
    every = {name: [each[name] for each in replicas] for name in replicas[0]}
    return {name: estimate(v) for name, v in every.items() if all(map(isfinite, v))}


def together(confidence: float, count: int) -> float:
    """Confidence of each of several intervals that all hold together (Bonferroni).

    Examples
    --------
    >>> together(0.95, 5)
    0.99
    """
    return 1 - (1 - confidence) / max(count, 1)


def needed(estimate: Estimate, relative: float) -> int:
    """Replicas that a relative half width takes, judged by those there are."""
    if estimate.meets(relative):
        return estimate.replicas
    wanted = estimate.half_width() / (relative * abs(estimate.mean)) if estimate.mean else inf
    return int(np.ceil(min(estimate.replicas * wanted**2, 1e12)))
