"""Levenberg and Marquardt's descent to a least sum of squares, between bounds.

Source: Marquardt, *An algorithm for least-squares estimation of nonlinear parameters*, 1963;
steps are clipped to the bounds, and values held there while the sum rises inwards.
"""

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.kinds import FloatArray
from headway.models.inference.searching.loss import Loss, loss_cost, loss_weights
from headway.records import dataclass

Rows = NDArray[np.intp]
Residuals = Callable[[FloatArray, Rows], FloatArray]
"""From values, shape (starts, values), and which of all starts these rows are."""
Both = Callable[[FloatArray, Rows], tuple[FloatArray, FloatArray]]
"""Residuals and their derivatives, from the same."""

_FIRST = 1e-3  # damping of the first step
_EASED = 0.1  # factor on the damping after a step that went down
_RAISED = 5.0  # factor on it after one that did not
_CREPT = 8  # steps down after which one leads as far as all of them
_REACH = 2.0  # times that far
_FARTHEST = 1e100  # a leap beyond it has no square
_LEAST = 1e-14  # damping: enough that no system of equations is singular
_NOTHING = 1e-300
_SMALLEST = 1e-24  # sum of squares that rounding alone leaves


@dataclass(frozen=True)
class Valley:
    """Residuals in standard errors, their derivatives, and what bounds the values.

    Parameters
    ----------
    residuals
        By values, shape (starts, residuals); infinite in a row where there are none.
    jacobian
        Derivatives, shape (starts, residuals, values); asked for where residuals are finite only.
    both
        Residuals and derivatives at once, where they take hardly longer than residuals alone:
        most steps lead down, and need both. None elsewhere.
    low, high
        Bounds by value.
    scale
        By how much each value may change at first, shape (starts, values); damping holds what has
        little effect near it.
    loss
        How residuals count.
    exact
        How many of the last residuals count by their squares whatever the loss.
    still
        Places of values that a start does not move, by start; none where it is left out.
    """

    residuals: Residuals
    jacobian: Residuals
    low: FloatArray
    high: FloatArray
    scale: FloatArray
    loss: Loss = Loss.LINEAR
    exact: int = 0
    still: NDArray[np.intp] | None = None
    both: Both | None = None

    def of(self, k: int) -> "Valley":
        """The same for one start alone."""

        def own(function: Callable[[FloatArray, Rows], Any]) -> Callable[[FloatArray, Rows], Any]:
            return lambda values, rows: function(values, rows + k)

        return replace(
            self,
            residuals=own(self.residuals),
            jacobian=own(self.jacobian),
            both=None if self.both is None else own(self.both),
            scale=self.scale[k : k + 1],
        )

    def look(self, values: FloatArray, rows: Rows) -> tuple[FloatArray, FloatArray | None]:
        """Residuals, and derivatives where they come with them."""
        return (
            (self.residuals(values, rows), None) if self.both is None else self.both(values, rows)
        )

    def cost(self, errors: FloatArray) -> Any:
        """Cost of the residuals, by start."""
        if not self.exact:
            return loss_cost(errors, self.loss)
        exact = errors[..., -self.exact :]
        return loss_cost(errors[..., : -self.exact], self.loss) + 0.5 * (exact**2).sum(axis=-1)

    def weights(self, errors: FloatArray) -> FloatArray:
        """Weights of the squared residuals."""
        weights = loss_weights(errors, self.loss)
        weights[..., errors.shape[-1] - self.exact :] = 1.0
        return weights

    def shape(self, errors: FloatArray, jacobian: FloatArray) -> "tuple[FloatArray, ...]":
        """Gradient of the cost, and its curvature by Gauss and Newton."""
        pull = errors if self.loss is Loss.LINEAR else errors * (weights := self.weights(errors))
        weighted = jacobian if self.loss is Loss.LINEAR else jacobian * weights[..., None]
        turned = np.swapaxes(jacobian, -1, -2)
        return (turned @ pull[..., None])[..., 0], turned @ weighted


def descend(
    valley: Valley, starts: FloatArray, steps: int, precision: float, worth: float = 0.0
) -> tuple[FloatArray, FloatArray]:
    """Descend from every start in parallel until further steps gain nothing.

    Parameters
    ----------
    valley
        What to go down in.
    starts
        Values to start from, shape (starts, values); where residuals are not finite it stays.
    steps
        How many steps are made at most.
    precision
        Relative gain below which a step is not worth making.
    worth
        Absolute gain below which it is not.

    Returns
    -------
    Where each start ends, and the cost there.

    Examples
    --------
    >>> line = np.array([1.0, 2.0])
    >>> low, high, scale = np.zeros(1), np.full(1, 9.0), np.ones((2, 1))
    >>> slope = lambda x, rows: np.tile(line[:, None], (len(rows), 1, 1))
    >>> valley = Valley(lambda x, rows: line * x - 3, slope, low, high, scale)
    >>> values, cost = descend(valley, np.array([[1.0], [5.0]]), 50, 1e-12)
    >>> values.round(6).tolist(), cost.round(6).tolist()
    ([[1.8], [1.8]], [0.9, 0.9])
    """
    values = np.clip(starts, valley.low, valley.high)
    cost = np.empty(len(values))
    walk = _Walk(valley, values)
    while True:
        over = walk.is_over(steps, precision, worth)
        if over.any():
            ended = walk.state.rows[over]
            values[ended], cost[ended] = walk.state.values[over], walk.state.cost[over]
            walk.keep(~over)
        if not walk.state.rows.size:
            return values, cost
        walk.step()


@dataclass
class _State:
    """Where each start that still goes on has come to; the first axis of each array are these.

    Parameters
    ----------
    rows
        Which of all starts each is.
    values, cost
        Where it has come to, and the cost there.
    slope, bend
        Gradient of the cost there, and its curvature.
    damping
        Of its next step.
    made, descents, marks
        Its steps down, those since it leapt last or began, and where that was.
    ahead, gain
        Where its next step leads, and what it would gain if the valley were a parabola.
    """

    rows: Rows
    values: FloatArray
    cost: FloatArray
    slope: FloatArray
    bend: FloatArray
    damping: FloatArray
    made: NDArray[np.intp]
    descents: NDArray[np.intp]
    marks: FloatArray
    ahead: FloatArray
    gain: FloatArray


class _Walk:
    """Where every start has come to, and the shape of the valley there."""

    def __init__(self, valley: Valley, values: FloatArray) -> None:
        self.valley = valley
        count, width = values.shape
        rows = np.arange(count)
        errors, slopes = valley.look(values, rows)
        self.state = _State(
            rows,
            values.copy(),
            valley.cost(errors),
            np.zeros((count, width)),
            np.zeros((count, width, width)),
            np.full(count, _FIRST),
            np.zeros(count, int),
            np.zeros(count, int),
            values.copy(),
            values.copy(),
            np.zeros(count),
        )
        self._shape(np.isfinite(self.state.cost) & (self.state.cost > _SMALLEST), errors, slopes)

    def keep(self, going: NDArray[np.bool_]) -> None:
        """Leave out starts that do not go on."""
        self.state = _State(*(getattr(self.state, each.name)[going] for each in fields(_State)))

    def is_over(self, steps: int, precision: float, worth: float) -> NDArray[np.bool_]:
        """Find the next step of each start; mark those for which none is worth making."""
        s, valley = self.state, self.valley
        s.ahead = np.minimum(np.maximum(s.values + self._steps(), valley.low), valley.high)
        s.gain = ((s.values - s.ahead) * s.slope).sum(axis=-1)
        enough = s.gain > np.maximum(precision * s.cost, worth)
        return np.asarray(~enough | (s.made >= steps) | ~(s.cost > _SMALLEST))

    def step(self) -> None:
        """Try the next step of each start; damp those that did not descend and ease others."""
        s = self.state
        leaping = s.descents >= _CREPT
        if leaping.any():
            s.ahead[leaping] = self._leaps(leaping)
        errors, slopes = self.valley.look(s.ahead, s.rows)
        reached = self.valley.cost(errors)
        down = reached < s.cost
        s.values = np.where(down[:, None], s.ahead, s.values)
        s.cost = np.where(down, reached, s.cost)
        s.made += down
        s.descents = np.where(leaping & ~down, 0, s.descents + (down & ~leaping))
        changed = s.damping * np.where(down, _EASED, _RAISED)
        changed = np.where(down, np.maximum(changed, _LEAST), changed)
        s.damping = np.where(leaping, s.damping, changed)
        self._shape(down, errors, slopes)

    def _shape(
        self, some: NDArray[np.bool_], errors: FloatArray, slopes: FloatArray | None
    ) -> None:
        """Compute gradient and curvature at some starts."""
        s = self.state
        if not some.any():
            return
        if slopes is None:
            slopes = self.valley.jacobian(s.values[some], s.rows[some])
        else:
            slopes = slopes[some]
        s.slope[some], s.bend[some] = self.valley.shape(errors[some], slopes)

    def _leaps(self, some: NDArray[np.bool_]) -> FloatArray:
        """Go on as far as the last steps led, for steps zigzag along a kink and hardly advance."""
        here, mark = self.state.values[some], self.state.marks[some]
        by_ratio = (here > 0) & (mark > 0)
        ratio = np.where(by_ratio, here, 1.0) / np.where(by_ratio, mark, 1.0)
        with np.errstate(over="ignore"):
            ahead = np.where(by_ratio, here * ratio**_REACH, here + _REACH * (here - mark))
        ahead = np.where(np.abs(ahead) < _FARTHEST, ahead, here)
        self.state.marks[some] = here
        return np.clip(ahead, self.valley.low, self.valley.high)

    def _steps(self) -> FloatArray:
        s, valley = self.state, self.valley
        scale = valley.scale[s.rows]
        own = s.bend.diagonal(axis1=-2, axis2=-1)
        effect = np.maximum((own * scale**2).max(axis=-1, initial=0.0), _NOTHING)
        size = np.sqrt(effect)[:, None] / scale
        rises = s.slope > 0
        blocked = np.where(rises, s.values <= valley.low, (s.values >= valley.high) & (s.slope < 0))
        moving = ~blocked & (own > _NOTHING)
        if valley.still is not None:
            moving[np.arange(len(moving)), valley.still[s.rows]] = False
        share = moving / size
        damped = s.bend * (share[:, :, None] * share[:, None, :])
        diagonal = np.einsum("kii->ki", damped)  # a view: what is added stands in the matrix
        diagonal += np.where(moving, s.damping[:, None], 1.0)
        return np.asarray(np.linalg.solve(damped, (-s.slope * share)[..., None])[..., 0] / size)


def reflected(
    valley: Valley,
    start: FloatArray,
    steps: int,
    precision: float,
    moving: NDArray[np.bool_],
) -> tuple[FloatArray, float]:
    """Descend by SciPy's reflective trust region: slower, but better with many parameters.

    Kinks and bounds, where one of many derivatives jumps, stop `descend` short of the bottom.

    Parameters
    ----------
    valley, start, steps, precision
        As for `descend`, with one start: its values, and the cost there.
    moving
        Which values may change; SciPy's steps would move also those without any effect.
    """
    from scipy.optimize import least_squares

    one = np.arange(1)
    inside = np.clip(start, valley.low * (1 + 1e-12) + _NOTHING, valley.high)

    def whole(values: FloatArray) -> FloatArray:
        every = start.copy()
        every[moving] = values
        return every

    looked: dict[bytes, FloatArray | None] = {}

    def residuals(values: FloatArray) -> FloatArray:
        errors, slopes = valley.look(whole(values)[None], one)
        looked.clear()
        looked[values.tobytes()] = slopes
        return np.asarray(errors[0])

    def jacobian(values: FloatArray) -> FloatArray:
        slopes = looked.get(values.tobytes())
        if slopes is None:
            slopes = valley.jacobian(whole(values)[None], one)
        return np.asarray(slopes[0][:, moving])

    if not moving.any():
        return start, float(valley.cost(valley.residuals(start[None], one))[0])
    optimum = least_squares(
        residuals,
        inside[moving],
        jacobian,
        bounds=(valley.low[moving], valley.high[moving]),
        x_scale=valley.scale[0][moving],
        loss=valley.loss.value,
        xtol=10 * precision,
        ftol=10 * precision,
        gtol=10 * precision,
        max_nfev=steps,
    )
    return whole(optimum.x), float(optimum.cost)
