"""Whether a fit's errors exceed the scatter of repeated loads: lack of fit and pure error.

Source: Draper and Smith, *Applied Regression Analysis*, section 2.1.
"""

import math

import numpy as np

from headway.kinds import FloatArray
from headway.loggp.measuring.misfit import Misfit, misfit
from headway.models.inference.searching.problem import Problem
from headway.numerals import significant
from headway.records import dataclass

_ALIKE = 1e-9  # relative scatter of repeats that agree to the last digit


@dataclass(frozen=True)
class PureError:
    """What repeated loads reveal about a fit.

    Parameters
    ----------
    loads, freedom
        Number of repeated loads, and degrees of freedom of the repeats of all outputs.
    scatter
        Relative standard deviation of single measurements about the mean of their load, by output.
    misfit
        The test of the model against the means of the repeats.
    """

    loads: int
    freedom: int
    scatter: dict[str, float]
    misfit: Misfit

    @property
    def agrees(self) -> bool:
        """Whether all repeats are equal to the last digit, as separate runs never are."""
        return max(self.scatter.values()) < _ALIKE

    @property
    def words(self) -> str:
        """Describe the scatter of repeats and the result of the test."""
        many = "s" * (self.loads > 1)
        if self.agrees:
            return (
                f"repeats at {self.loads} load{many} agree to the last digit, as separate "
                "runs never do: they say nothing about scatter"
            )
        scatter = ", ".join(
            f"{name.replace('_', ' ')} {share:.1%}" for name, share in self.scatter.items()
        )
        test = (
            "no degrees of freedom are left to test the fit"
            if self.misfit.f is None or self.misfit.p is None
            else f"lack-of-fit test F = {significant(self.misfit.f, 3)}, "
            f"p = {significant(self.misfit.p, 2)}"
        )
        return f"pure error of repeats at {self.loads} load{many}: {scatter}; {test}"

    def document(self) -> dict[str, object]:
        """The JSON document."""
        scatter = {"repeated_loads": self.loads, "freedom": self.freedom, "scatter": self.scatter}
        return {**self.misfit.document(), **scatter}


def pure_error(problem: Problem, free: FloatArray) -> PureError | None:
    """Compare a fit with the scatter of repeats; None if nothing was repeated.

    Parameters
    ----------
    problem, free
        The fit and its best values. Of two outputs that carry the same information one counts.
    """
    share = np.broadcast_to(problem.share, problem.used.shape)[:: problem.loads]
    independent = [
        k for k in range(len(problem.outputs)) if share[k] == 1 or k == int(share.argmin())
    ]
    inverse = np.arange(problem.loads) if problem.places is None else problem.places
    counts = np.bincount(inverse)
    if counts.max() < 2:
        return None
    freedom = int((counts - 1).sum()) * len(independent)
    firsts = np.array([int(np.argmax(inverse == k)) for k in range(len(counts))])
    predicted, slopes = problem.predict(free), problem.slopes(free)
    repeated = int((counts > 1).sum())
    columns: list[tuple[FloatArray, ...]] = []
    scatter: dict[str, float] = {}
    for k in independent:
        logs = np.log(problem.measured[k * problem.loads : (k + 1) * problem.loads])
        means = np.bincount(inverse, logs) / counts
        spread = math.sqrt(float(((logs - means[inverse]) ** 2).sum()) / (counts - 1).sum())
        scatter[problem.outputs[k]] = spread
        if spread < _ALIKE:  # rounded, or one run read twice: there is nothing to test with
            continue
        rows = k * problem.loads + firsts
        relative = slopes[rows] / predicted[rows, None]
        columns.append((np.exp(means), predicted[rows], spread / np.sqrt(counts), relative))
    if not columns:
        return PureError(repeated, freedom, scatter, Misfit(None, None, 0, 1.0, 1.0, 0.0))
    means, foreseen, deviation, relative = map(np.concatenate, zip(*columns, strict=True))
    freedom = freedom // len(independent) * len(columns)
    test = misfit(means, foreseen, deviation, relative, freedom)
    return PureError(repeated, freedom, scatter, test)
