"""Errors that repeats of a load share: a variance component between loads, and one within.

All repeats of a load that are taken in one run may be off together. The mean square between loads
measures what the residuals of a load have in common; the mean square within measures the rest (pure
error). Standard errors use the former and count loads instead of points, unless counting points
makes the intervals wider. So the intervals hold whatever runs share. Testing for significance first
would make them hold less often, as the test overlooks common errors about as large as the scatter
of repeats. What the model misses at a load is common to its repeats too, so both are one component.

Source: Searle, Casella and McCulloch, *Variance Components*, 1992, sections 3.5 and 3.6.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.kinds import FloatArray
from headway.models.inference.searching.problem import RELATIVE_NOISE, Problem
from headway.records import dataclass

_RANK = 1e-9  # relative singular value below which a direction is rounding
CONFIDENCE = 0.95

_REPEATS = "a shift common to repeats of a load"


@dataclass(frozen=True)
class Shift:
    """The share of residuals that repeats of a load have in common, and the rest.

    Parameters
    ----------
    points, loads, parameters
        Number of measurements that count, of loads (and other settings), and of free parameters.
    between, within
        Sums of squares of the residuals in standard errors: of the common part, and of the rest.
    repeats
        Mean number of repeats per load.
    weight
        Variance of an estimate over the mean square between loads: 1 if all loads have equally many
        repeats, more if the estimate relies on a load with many.
    """

    points: int
    loads: int
    parameters: int
    between: float
    within: float
    repeats: float = 1.0
    weight: float = 1.0

    @property
    def repeated(self) -> bool:
        """Whether any load was repeated."""
        return self.points > self.loads

    @property
    def known(self) -> bool:
        """Whether repeats and loads are enough to estimate it."""
        return self.repeated and self.loads > self.parameters

    @property
    def is_detected(self) -> bool:
        """Whether residuals of a load have more in common, on average, than by chance."""
        return self.known and self.mean_between > self.mean_within

    @property
    def by_load(self) -> bool:
        """Whether loads are counted, not points, as they are where that widens intervals."""
        if not self.known:
            return False
        loads, points = self.loads - self.parameters, self.points - self.parameters
        common, pooled = self.weight * self.mean_between, (self.between + self.within) / points
        return common * student(loads) ** 2 > pooled * student(points) ** 2

    @property
    def counted(self) -> int:
        """Number of independent measurements: points, or loads if repeats share errors."""
        return self.loads if self.by_load else self.points

    @property
    def common_share(self) -> float:
        """Share of the sum of squares that residuals of a load have in common."""
        return self.between / max(self.between + self.within, 1e-300)

    @property
    def degrees(self) -> int:
        """Degrees of freedom of the variance."""
        return self.counted - self.parameters

    @property
    def variance(self) -> float:
        """Variance of the estimates, relative to the residuals' standard errors."""
        if self.by_load:
            return self.weight * self.mean_between
        return (self.between + self.within) / self.degrees if self.degrees > 0 else np.nan

    @property
    def mean_between(self) -> float:
        """Mean square of what residuals of a load have in common."""
        return self.between / (self.loads - self.parameters)

    @property
    def mean_within(self) -> float:
        """Mean square of the rest: pure error."""
        return self.within / (self.points - self.loads)

    @property
    def size(self) -> float:
        """Relative standard deviation of the error that repeats of a load share."""
        more = max(self.mean_between - self.mean_within, 0.0) if self.known else 0.0
        return self._share(more / self.repeats)

    @property
    def scatter(self) -> float:
        """Relative standard deviation of single measurements, without the shared error."""
        return self._share(self.mean_within)

    def _share(self, variance: float) -> float:
        return RELATIVE_NOISE * float(np.sqrt(variance))

    def single(self, variance: Any) -> Any:
        """Variance of one further measurement in a separate run.

        Parameters
        ----------
        variance
            Mean square between loads, or of all residuals where these have nothing in common.
        """
        if not self.by_load:
            return variance
        return (variance + (self.repeats - 1) * self.mean_within) / self.repeats

    @property
    def words(self) -> str:
        """Describe the shared error in words."""
        if not self.repeated:
            return "no load was repeated, so run-to-run drift cannot be separated from model error"
        if not self.known:
            return (
                f"{_REPEATS} cannot be estimated, as there are no more loads than free "
                "parameters; intervals cover only the scatter of repeats"
            )
        if not self.by_load:
            return f"{_REPEATS} was not detected; intervals count all {self.points} points"
        if not self.is_detected:
            return (
                f"{_REPEATS} was not detected, but {self.loads} loads cannot rule it out; "
                f"intervals count loads, not the {self.points} points"
            )
        return (
            f"{_REPEATS} (run-to-run drift or model error): {self.size:.1%}, against a scatter of "
            f"{self.scatter:.1%}; intervals count {self.loads} loads, not {self.points} points"
        )

    def document(self) -> dict[str, object]:
        """The JSON document."""
        return {
            "known": self.known,
            "detected": self.is_detected if self.known else None,
            "size": self.size if self.known else None,
            "scatter": self.scatter if self.repeated else None,
            "loads": self.loads,
            "points": self.points,
            "degrees": self.degrees,
            "statement": self.words,
        }


def student(degrees: int) -> float:
    """Student's t for a two-sided 95% interval.

    Examples
    --------
    >>> round(student(6), 3)
    2.447
    """
    from scipy.special import stdtrit

    return float(stdtrit(degrees, (1 + CONFIDENCE) / 2)) if degrees > 0 else np.inf


def common_shift(problem: Problem, pulls: FloatArray, effects: FloatArray) -> Shift:
    """Split residuals into the part that those of a load have in common, and the rest.

    Parameters
    ----------
    problem
        The fit.
    pulls
        Influence of each used row, shape (rows,): in least squares its residual.
    effects
        Derivatives of the residuals by free parameter, each on its own scale, shape (rows,
        parameters).
    """
    group, repeats = _groups(problem)
    share = np.broadcast_to(problem.share, problem.used.shape)[problem.used]
    loads = round(float(np.sum(share / repeats[group])))
    between = float(np.sum(np.bincount(group, pulls) ** 2 / repeats))
    within = max(float(np.sum(pulls**2)) - between, 0.0)
    plain = Shift(problem.counted, loads, effects.shape[1], between, within)
    return _weighed(plain, effects, group) if plain.known else plain


def _groups(problem: Problem) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The load and output that each used row belongs to, and how many rows each of these has."""
    places = np.arange(problem.loads) if problem.places is None else problem.places
    rows = np.arange(len(problem.outputs))[:, None] * problem.loads + places
    used = rows.ravel()[problem.used]
    _, group, repeats = np.unique(used, return_inverse=True, return_counts=True)
    return np.ravel(group), repeats


def _weighed(plain: Shift, effects: FloatArray, group: NDArray[np.intp]) -> Shift:
    """The shift with the mean number of repeats, and the weight of loads with many repeats.

    If the influences of the rows on a parameter are a, its variance is within sum a^2 + common sum
    c^2, where c is the sum of a over the rows of a load. The parameter that relies most on common
    errors decides.
    """
    left, singular, right = np.linalg.svd(effects, full_matrices=False)
    kept = singular > _RANK * max(float(singular.max(initial=0.0)), 1e-300)
    left, right = left[:, kept], right[kept] / singular[kept, None]
    degrees = plain.loads - plain.parameters
    repeats = (plain.points - float(np.sum(_by_group(left, group) ** 2))) / degrees
    influence = left @ right
    moved = (influence**2).sum(axis=0)
    leaning = (_by_group(influence, group) ** 2).sum(axis=1)
    most = float(np.max(leaning[moved > 0] / moved[moved > 0], initial=0.0))
    common = max(most / repeats, 0.0) if repeats > 0 else 1.0
    between, within = plain.mean_between, plain.mean_within
    weight = (within + common * (between - within)) / between if plain.is_detected else 1.0
    return replace(plain, repeats=max(repeats, 1.0), weight=weight)


def _by_group(columns: FloatArray, group: NDArray[np.intp]) -> FloatArray:
    return np.array([np.bincount(group, column) for column in columns.T])
