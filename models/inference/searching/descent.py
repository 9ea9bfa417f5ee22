"""Levenberg and Marquardt's descent to a least sum of squares, between bounds.

Source: Marquardt, *An algorithm for least-squares estimation of nonlinear parameters*, 1963. Steps
are clipped to the bounds, and a value is held at its bound while the sum of squares rises inwards.
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
"""A function of values, shape (starts, values), and of which of all starts these rows are."""
Both = Callable[[FloatArray, Rows], tuple[FloatArray, FloatArray]]
"""A function that returns residuals and their derivatives, of the same arguments."""

_FIRST = 1e-3  # damping of the first step
_EASED = 0.1  # factor on the damping after a step that reduces the cost
_RAISED = 5.0  # factor on the damping after a step that does not
_CREPT = 8  # successful steps after which one leap as long as all of them is tried
_REACH = 2.0  # length of the leap, relative to all those steps
_FARTHEST = 1e100  # a leap beyond this has no finite square
_LEAST = 1e-14  # damping that still keeps every system of equations regular
_NOTHING = 1e-300
_SMALLEST = 1e-24  # sum of squares that rounding alone leaves


@dataclass(frozen=True)
class Valley:
    """A least-squares problem: residuals in standard errors, their derivatives, and bounds.

    Parameters
    ----------
    residuals
        A function of values that returns residuals, shape (starts, residuals); infinite in a row
        without any.
    jacobian
        Derivatives, shape (starts, residuals, values); evaluated only where residuals are finite.
    both
        Residuals and derivatives in one call, if that takes hardly longer than residuals alone:
        most steps are successful, and need both. None otherwise.
    low, high
        Bounds by value.
    scale
        How far each value may change at first, shape (starts, values); damping keeps values of
        little effect near it.
    loss
        How residuals count.
    exact
        Number of the last residuals that count by their squares, whatever the loss.
    still
        Index of a value that is held, by start; by default none.
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
        """The problem for one start alone."""

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
        """Residuals, and derivatives if they come in the same call."""
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
        The problem.
    starts
        Values to start from, shape (starts, values); a start with residuals that are not finite
        stays.
    steps
        Most steps.
    precision
        Relative gain below which a step is not worthwhile.
    worth
        Absolute gain below which it is not.

    Returns
    -------
    The end of each start, and the cost there.

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
    """The starts that still descend; the first axis of each array is the start.

    Parameters
    ----------
    rows
        Indices of these starts among all.
    values, cost
        Current values, and the cost there.
    slope, bend
        Gradient of the cost there, and its curvature.
    damping
        Damping of the next step.
    made, descents, marks
        Number of steps made, successful steps since the last leap or the beginning, and the values
        at that time.
    ahead, gain
        Values after the next step, and its gain if the cost were quadratic.
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
    """The current values of every start, and gradient and curvature of the cost there."""

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
        """Drop starts that have ended."""
        self.state = _State(*(getattr(self.state, each.name)[going] for each in fields(_State)))

    def is_over(self, steps: int, precision: float, worth: float) -> NDArray[np.bool_]:
        """Find the next step of each start; mark the starts for which none is worthwhile."""
        s, valley = self.state, self.valley
        s.ahead = np.minimum(np.maximum(s.values + self._steps(), valley.low), valley.high)
        s.gain = ((s.values - s.ahead) * s.slope).sum(axis=-1)
        enough = s.gain > np.maximum(precision * s.cost, worth)
        return np.asarray(~enough | (s.made >= steps) | ~(s.cost > _SMALLEST))

    def step(self) -> None:
        """Try the next step of each start; damp those that failed more, the others less."""
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
        """Leap as far as the last steps led: along a kink, steps zigzag and hardly advance."""
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
        diagonal = np.einsum("kii->ki", damped)  # a view: adding to it changes the matrix
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

    Kinks and bounds, where one of many derivatives jumps, can stop `descend` short of the minimum.

    Parameters
    ----------
    valley, start, steps, precision
        As for `descend`, with a single start; returns its values and the cost there.
    moving
        Which values may change; SciPy's steps would move even those without any effect.
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
