"""Estimates from independent replicas: means with Student's intervals."""

from collections.abc import Mapping, Sequence
from math import inf, isfinite

import numpy as np
from scipy.special import stdtrit

from headway.records import dataclass

CONFIDENCE = 0.95
_ROUNDING = 1e-9
"""Relative tolerance for constants, whose interval would not cover their rounding errors."""


@dataclass(frozen=True)
class Estimate:
    """An estimate from independent replicas.

    Parameters
    ----------
    mean
        Mean over the replicas.
    error
        Standard error of that mean.
    replicas
        Number of replicas.

    Examples
    --------
    >>> result = estimate([1.0, 2.0, 3.0])
    >>> result.mean, [round(end, 3) for end in result.interval(0.95)]
    (2.0, [-0.484, 4.484])
    """

    mean: float
    error: float
    replicas: int

    def half_width(self, confidence: float = CONFIDENCE) -> float:
        """Half width of the confidence interval."""
        if self.replicas < 2:
            return inf
        # of Student's t distribution
        quantile = float(stdtrit(self.replicas - 1, (1 + confidence) / 2))
        return quantile * self.error

    def interval(self, confidence: float = CONFIDENCE) -> tuple[float, float]:
        """The confidence interval."""
        half = self.half_width(confidence)
        return self.mean - half, self.mean + half

    def holds(self, value: float, confidence: float = CONFIDENCE) -> bool:
        """Whether a value lies in the confidence interval, up to rounding."""
        slack = _ROUNDING * abs(self.mean)
        return abs(value - self.mean) <= self.half_width(confidence) + slack

    def meets(self, relative: float) -> bool:
        """Whether the half width is at most this share of the mean."""
        return self.half_width() <= (relative + _ROUNDING) * abs(self.mean)


def estimate(values: Sequence[float]) -> Estimate:
    """Estimate a mean from one value per replica."""
    array = np.asarray(values, float)
    error = array.std(ddof=1) / len(array) ** 0.5 if len(array) > 1 else inf
    return Estimate(float(array.mean()), float(error), len(array))


def estimates(replicas: Sequence[Mapping[str, float]]) -> dict[str, Estimate]:
    """Estimate each result, by name, that all replicas have."""
    every = {name: [each[name] for each in replicas] for name in replicas[0]}
    return {name: estimate(v) for name, v in every.items() if all(map(isfinite, v))}


def together(confidence: float, count: int) -> float:
    """Confidence of single intervals for a joint confidence of several (Bonferroni).

    Examples
    --------
    >>> together(0.95, 5)
    0.99
    """
    return 1 - (1 - confidence) / max(count, 1)


def needed(estimate: Estimate, relative: float) -> int:
    """Replicas needed for a relative half width, estimated from the existing ones."""
    if estimate.meets(relative):
        return estimate.replicas
    wanted = estimate.half_width() / (relative * abs(estimate.mean)) if estimate.mean else inf
    return int(np.ceil(min(estimate.replicas * wanted**2, 1e12)))
