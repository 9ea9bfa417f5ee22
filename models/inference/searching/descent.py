"""Levenberg and Marquardt's descent to a least sum of squares, between bounds.

Source: Marquardt, *An algorithm for least-squares estimation of nonlinear parameters*, 1963;
steps are clipped to the bounds, and values held there while the sum rises inwards.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from headway.kinds import FloatArray
from headway.models.inference.searching.loss import Loss, loss_cost, loss_weights

Residuals = Callable[[FloatArray], FloatArray]

_FIRST = 1e-3  # damping of the first step
_EASED = 0.1  # factor on the damping after a step that went down
_RAISED = 5.0  # factor on it after one that did not
_LEAST = 1e-14  # damping: enough that no system of equations is singular
_NOTHING = 1e-300
_SMALLEST = 1e-24  # sum of squares that rounding alone leaves


@dataclass(frozen=True)
class Valley:
    """Residuals in standard errors, their derivatives, and what bounds the values.

    Parameters
    ----------
    residuals
        By values; infinite where there are none.
    jacobian
        Derivatives, shape (residuals, values); asked for where residuals are finite only.
    low, high
        Bounds by value.
    scale
        By how much each value may change at first; damping holds what has little effect near it.
    loss
        How residuals count.
    exact
        How many of the last residuals count by their squares whatever the loss.
    """

    residuals: Residuals
    jacobian: Residuals
    low: FloatArray
    high: FloatArray
    scale: FloatArray
    loss: Loss = Loss.LINEAR
    exact: int = 0

    def cost(self, errors: FloatArray) -> float:
        """What residuals cost."""
        if not self.exact:
            return loss_cost(errors, self.loss)
        held = errors[-self.exact :]
        return loss_cost(errors[: -self.exact], self.loss) + 0.5 * float(held @ held)

    def weights(self, errors: FloatArray) -> FloatArray:
        """By what squares of residuals are weighted here."""
        found = loss_weights(errors, self.loss)
        found[len(found) - self.exact :] = 1.0
        return found


def descend(
    valley: Valley, start: FloatArray, steps: int, precision: float, worth: float = 0.0
) -> tuple[FloatArray, float]:
    """Go down from a start until a further step gains nothing.

    Parameters
    ----------
    valley
        What to go down in.
    start
        Values to start from; residuals are finite there.
    steps
        How many steps are made at most.
    precision
        Relative gain below which a step is not worth making.
    worth
        Absolute gain below which it is not.

    Returns
    -------
    Values, and the cost there.

    Examples
    --------
    >>> line = np.array([1.0, 2.0])
    >>> low, high, scale = np.zeros(1), np.full(1, 9.0), np.ones(1)
    >>> valley = Valley(lambda x: line * x - 3, lambda x: line[:, None], low, high, scale)
    >>> values, cost = descend(valley, np.array([1.0]), 50, 1e-12)
    >>> round(float(values[0]), 6), round(cost, 6)
    (1.8, 0.9)
    """
    values, damping = np.clip(start, valley.low, valley.high), _FIRST
    errors = valley.residuals(values)
    cost = valley.cost(errors)
    for _ in range(steps):
        slope, bend = _shape(valley, values, errors)
        least = max(precision * cost, worth)
        found = _downhill(valley, (values, cost), (slope, bend), damping, least)
        if found is None:
            break
        values, errors, cost, damping = found
        damping = max(damping * _EASED, _LEAST)
    return values, cost


def _shape(valley: Valley, values: FloatArray, errors: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Gradient of the cost, and its curvature by Gauss and Newton."""
    jacobian = valley.jacobian(values)
    if valley.loss is Loss.LINEAR:
        return errors @ jacobian, jacobian.T @ jacobian
    weighted = jacobian * valley.weights(errors)[:, None]
    return errors @ weighted, weighted.T @ jacobian


def _downhill(
    valley: Valley,
    here: tuple[FloatArray, float],
    shape: tuple[FloatArray, FloatArray],
    damping: float,
    least: float,
) -> tuple[FloatArray, FloatArray, float, float] | None:
    """A step that lowers the cost, damped until it does; None where none is worth making."""
    (values, cost), (slope, bend) = here, shape
    effect = float(np.max(np.diag(bend) * valley.scale**2, initial=_NOTHING))
    size = np.sqrt(effect) / valley.scale
    held = ((values <= valley.low) & (slope > 0)) | ((values >= valley.high) & (slope < 0))
    moving = np.flatnonzero(~held & (np.diag(bend) > _NOTHING))
    if not moving.size or cost <= _SMALLEST:
        return None
    scaled = (bend / np.outer(size, size))[np.ix_(moving, moving)]
    while True:
        step = np.zeros(len(values))
        step[moving] = _solved(scaled, damping, -(slope / size)[moving]) / size[moving]
        tried = np.clip(values + step, valley.low, valley.high)
        if not -float(slope @ (tried - values)) > least:
            return None
        errors = valley.residuals(tried)
        reached = valley.cost(errors)
        if reached < cost:
            return tried, errors, reached, damping
        damping *= _RAISED


def _solved(curvature: FloatArray, damping: float, wanted: FloatArray) -> Any:
    damped = curvature + damping * np.eye(len(wanted))
    return np.linalg.solve(damped, wanted)


def reflected(
    valley: Valley, start: FloatArray, steps: int, precision: float
) -> tuple[FloatArray, float]:
    """Go down by SciPy's reflective trust region: slower, but many parameters hold it up less.

    Kinks and bounds, where one of many derivatives jumps, stop `descend` short of the bottom.

    Parameters
    ----------
    valley, start, steps, precision
        As for `descend`.
    """
    from scipy.optimize import least_squares

    inside = np.clip(start, valley.low * (1 + 1e-12) + _NOTHING, valley.high)
    found = least_squares(
        valley.residuals,
        inside,
        valley.jacobian,
        bounds=(valley.low, valley.high),
        x_scale=valley.scale,
        loss=valley.loss.value,
        xtol=10 * precision,
        ftol=10 * precision,
        gtol=10 * precision,
        max_nfev=steps,
    )
    return found.x, float(found.cost)
