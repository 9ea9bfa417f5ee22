"""Which parameter's uncertainty causes an output's, and so which to measure next.

The first index of a parameter is the share of an output's variance that would vanish if it alone
were known exactly, Var E[Y | X] / Var Y; its total index is the share that would remain if all
others were known, E Var[Y | others] / Var Y. Both definitions hold for correlated parameters too:
the first index then includes what a parameter shares with others, and the total index does not.

The indices are found for independent coordinates: each is the part of a parameter that is
independent of those before it. A parameter comes first in the order for its first index, and last
for its total index.

Source: Kucherenko, Tarantola and Annoni, *Estimation of global sensitivity indices for models with
dependent variables*, 2012; Mara and Tarantola, *Variance-based sensitivity indices for models with
dependent inputs*, 2012; Saltelli et al., *Variance based sensitivity analysis of model output*,
2010.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from headway.kinds import FloatArray
from headway.models.uncertain.sampling import Joint, normal_scores
from headway.numerals import first_largest
from headway.records import dataclass

Evaluate = Callable[[Mapping[str, FloatArray]], Mapping[str, FloatArray]]
"""A function that returns outputs by name, shape (draws, points), at values by parameter, shape
(draws,)."""

# parts of the draws that are evaluated separately, so that their difference shows the error
_HALVES = 2
_STILL = 1e-9  # relative spread below which an output counts as constant


@dataclass(frozen=True)
class Importance:
    """First and total Sobol indices of every output.

    Parameters
    ----------
    parameters
        Names of the parameters, in order.
    first, total
        Indices by output, shape (parameters, points); NaN where some draws saturate, as an infinite
        variance has no shares, and where the output is constant.
    error
        Largest difference between the indices and those from half of the draws.
    draws
        Number of draws.
    """

    parameters: tuple[str, ...]
    first: Mapping[str, FloatArray]
    total: Mapping[str, FloatArray]
    error: float
    draws: int


def sobol_importance(evaluate: Evaluate, joint: Joint, draws: int, seed: int) -> Importance:
    """First and total indices of a function of uncertain parameters.

    Parameters
    ----------
    evaluate
        The function.
    joint
        The joint distribution of the parameters.
    draws
        Least number of draws; it is rounded up to a power of two.
    seed
        Seed of the draws.

    Examples
    --------
    >>> from headway.models.uncertain.sampling import SplitNormal
    >>> both = {"x": SplitNormal(0.0, -1.0, 1.0), "y": SplitNormal(0.0, -2.0, 2.0)}
    >>> def add(at):
    ...     return {"sum": (at["x"] + at["y"])[:, None]}
    >>> indices = sobol_importance(add, Joint(both, np.eye(2)), 1024, 1)
    >>> indices.first["sum"][:, 0].round(2).tolist()  # 1 : 4 of the variance
    [0.2, 0.8]
    """
    half = 2 ** max((draws - 1).bit_length() - 1, 1)
    seeds = np.random.SeedSequence(seed).generate_state(_HALVES)
    halves = [_indices(evaluate, joint, half, int(one)) for one in seeds]
    together = {
        output: np.clip(np.mean([shares[output] for shares in halves], axis=0), 0, 1)
        for output in halves[0]
    }
    apart = (np.abs(halves[0][output] - halves[1][output]) / _HALVES for output in halves[0])
    error = max((float(np.nanmax(each, initial=0.0)) for each in apart), default=0.0)
    first = {output: indices[0] for output, indices in together.items()}
    total = {output: indices[1] for output, indices in together.items()}
    return Importance(tuple(joint.marginals), first, total, error, _HALVES * half)


def _indices(evaluate: Evaluate, joint: Joint, count: int, seed: int) -> dict[str, FloatArray]:
    """Both indices by output, shape (2, parameters, points)."""
    width = len(joint.marginals)
    scores = normal_scores(count, 2 * width, seed)
    one, other = scores[:, :width], scores[:, width:]
    indices: dict[str, FloatArray] = {}
    for place in range(width):
        blocks = (one, other, _mixed(one, other, 0), _mixed(one, other, width - 1))
        outputs = evaluate(joint.values(np.concatenate(blocks), place))
        for output, values in outputs.items():
            four = values.reshape(len(blocks), count, -1)
            own = indices.setdefault(output, np.full((2, width, four.shape[-1]), np.nan))
            own[0, place], own[1, place - 1] = _of_ends(four)
    return indices


def _mixed(one: FloatArray, other: FloatArray, column: int) -> FloatArray:
    """The first sample, with one column of the second."""
    mixed = one.copy()
    mixed[:, column] = other[:, column]
    return mixed


def _of_ends(four: FloatArray) -> tuple[FloatArray, FloatArray]:
    """First index of the first coordinate and total index of the last, by point."""
    from scipy.stats import sobol_indices

    sides = np.swapaxes(four, 1, 2)  # the order that scipy expects: points, then draws
    finite = np.where(np.isfinite(sides), sides, np.nan)
    with np.errstate(invalid="ignore"):
        spread, size = np.ptp(finite, axis=(0, 2)), np.abs(finite).max(axis=(0, 2))
        # an output with infinite values has no indices
        varying = np.flatnonzero(spread > _STILL * size)
    first, total = np.full((2, sides.shape[1]), np.nan)
    if varying.size:
        kept: Any = sides[:, varying]
        blocks: Any = {"f_A": kept[0], "f_B": kept[1], "f_AB": kept[2:]}
        indices = sobol_indices(func=blocks, n=four.shape[1])
        first[varying] = np.reshape(indices.first_order, (-1, 2))[:, 0]
        total[varying] = np.reshape(indices.total_order, (-1, 2))[:, 1]
    return first, total


def most_important(importance: Importance, output: str, point: int) -> str | None:
    """The most important parameter of an output; None if none is known."""
    shares = importance.first[output][:, point]
    return None if np.isnan(shares).all() else importance.parameters[first_largest(shares)]
