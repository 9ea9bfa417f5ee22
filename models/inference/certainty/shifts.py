"""Errors that repeats of a load share: a variance component between loads, beside that within.

All repeats of a load, taken in one run, may be off together. What residuals of a load have in
common is the mean square between loads, what is left that within (pure error). Standard errors rest
on the first and count loads instead of points, unless all points together make intervals wider. So
intervals hold whatever runs share; after a test of significance fewer hold, as it overlooks what is
about as large as the scatter of repeats. What the model misses at a load is common to its repeats
too, so both are one component.

Source: Searle, Casella and McCulloch, *Variance Components*, 1992, sections 3.5 and 3.6.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.kinds import FloatArray
from headway.models.inference.searching.problem import RELATIVE_NOISE, Problem
from headway.records import dataclass

_RANK = 1e-9  # singular value, of the largest, below which a direction is rounding
CONFIDENCE = 0.95

_REPEATS = "a shift common to repeats of a load"


@dataclass(frozen=True)
class Shift:
    """The share of residuals that repeats of a load have in common, and the rest.

    Parameters
    ----------
    points, loads, parameters
        How many measurements count, at how many loads (and other settings), for how many
        free parameters.
    between, within
        Sums of squares of the residuals in standard errors: what is common, and what is left.
    repeats
        Repeats of a load, on average.
    weight
        How many times the mean square between loads an estimate varies by: 1 where all loads have
        as many repeats, more where it leans on a load of many.
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
        """Whether there are enough repeats and loads to estimate it."""
        return self.repeated and self.loads > self.parameters

    @property
    def is_detected(self) -> bool:
        """Whether residuals of a load share more than chance explains on average."""
        return self.known and self.mean_between > self.mean_within

    @property
    def by_load(self) -> bool:
        """Whether loads count instead of points, as they do where that widens the intervals."""
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
        """Of freedom of the variance."""
        return self.counted - self.parameters

    @property
    def variance(self) -> float:
        """Variance of the estimates, relative to the residuals' standard errors."""
        if self.by_load:
            return self.weight * self.mean_between
        return (self.between + self.within) / self.degrees if self.degrees > 0 else np.nan

    @property
    def mean_between(self) -> float:
        """Mean square of the part that residuals of a load share."""
        return self.between / (self.loads - self.parameters)

    @property
    def mean_within(self) -> float:
        """Mean square of the rest: pure error."""
        return self.within / (self.points - self.loads)

    @property
    def size(self) -> float:
        """Relative standard deviation of what repeats of a load share."""
        more = max(self.mean_between - self.mean_within, 0.0) if self.known else 0.0
        return self._share(more / self.repeats)

    @property
    def scatter(self) -> float:
        """Relative standard deviation of single measurements, without the shared part."""
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
        """Describe it in words."""
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
    """Split residuals into the part that those of a load share, and the rest.

    Parameters
    ----------
    problem
        The fit.
    pulls
        How each used row pulls, shape (rows,): its residual, in least squares.
    effects
        Derivatives of the residuals for the free parameters, each on a scale of its own, shape
        (rows, parameters).
    """
    group, repeats = _groups(problem)
    share = np.broadcast_to(problem.share, problem.used.shape)[problem.used]
    loads = round(float(np.sum(share / repeats[group])))
    between = float(np.sum(np.bincount(group, pulls) ** 2 / repeats))
    within = max(float(np.sum(pulls**2)) - between, 0.0)
    plain = Shift(problem.counted, loads, effects.shape[1], between, within)
    return _weighed(plain, effects, group) if plain.known else plain


def _groups(problem: Problem) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Which load and output each used row is of, and how many rows each of these has."""
    places = np.arange(problem.loads) if problem.places is None else problem.places
    rows = np.arange(len(problem.outputs))[:, None] * problem.loads + places
    used = rows.ravel()[problem.used]
    _, group, repeats = np.unique(used, return_inverse=True, return_counts=True)
    return np.ravel(group), repeats


def _weighed(plain: Shift, effects: FloatArray, group: NDArray[np.intp]) -> Shift:
    """The same with repeats on average, and how estimates lean on loads of many repeats.

    A parameter on which rows have the influence a varies by within sum a^2 + common sum c^2, with c
    the sum of a over the rows of a load; the one that leans most on common errors counts.
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
