"""Derivatives of a solved model by differences, extrapolated to zero step size.

This works for every model: central differences over ever smaller steps, with the even error terms
eliminated one after another (Ridders). Whole numbers change by one.
"""

from collections.abc import Collection, Sequence
from enum import StrEnum

import numpy as np

from headway.kinds import FloatArray
from headway.models.analysis.points import outputs_at
from headway.models.structure.model import Model
from headway.records import dataclass

_RATIO = 8.0  # from each step to the next smaller one
_STEPS: FloatArray = 2e-3 / _RATIO ** np.arange(4.0)  # of the parameter's size
_CENTRAL, _ONE_SIDED = (2, 4, 6), (1, 2, 3)  # powers of the step in a difference's error
_SURE = 1e-5  # error of an elasticity above which the derivative is not reported
_FLAT = 1e-8  # change of an output below which a corner cannot be distinguished from rounding


class Change(StrEnum):
    """Kind of derivative: of a smooth output, for a count, at a corner, or none."""

    DERIVATIVE = "derivative"
    WHOLE_STEP = "whole step"
    CORNER = "corner"
    NONE = "none"


@dataclass(frozen=True)
class Slope:
    """How an output changes with a parameter.

    Parameters
    ----------
    value
        Output per parameter [SI]; for a count, the effect of one more, or of the last one if there
        cannot be more; NaN if there is none.
    change
        Its kind.
    fewer, more
        For a count, the output with one fewer and one more; NaN if the model refuses it.
    error
        Error estimate of a derivative, from the differences between extrapolation orders.
    """

    value: float
    change: Change = Change.DERIVATIVE
    fewer: float = np.nan
    more: float = np.nan
    error: float = 0.0


@dataclass(frozen=True)
class Sides:
    """An output below and above a point, by step, largest first.

    Parameters
    ----------
    here
        The output at the point.
    steps, low, high
        Steps of the parameter, and the output at that distance below and above; NaN if refused.
    """

    here: float
    steps: FloatArray
    low: FloatArray
    high: FloatArray


def slopes(
    model: Model, names: Sequence[str], outputs: Sequence[str], whole: Collection[str], method: str
) -> dict[str, dict[str, Slope]]:
    """Differentiate outputs with respect to parameters.

    Parameters
    ----------
    model
        At one operating point.
    names, outputs
        Parameters and outputs.
    whole
        Parameters that count something.
    method
        As for `headway.models.Model.solve`.

    Returns
    -------
    By output and parameter.

    Examples
    --------
    >>> from headway.models import ModelGraph
    >>> from headway.queueing import MM1
    >>> one = ModelGraph("one").declare("s").station("cpu", MM1("s")).at(s=0.5, arrival_rate=1)
    >>> round(slopes(one, ["s"], ["response_time"], (), "auto")["response_time"]["s"].value, 9)
    4.0
    """
    smooth = [name for name in names if name not in whole]
    slopes_of = _smooth(model, smooth, outputs, method)
    slopes_of |= _whole(model, [name for name in names if name in whole], outputs, method)
    return {
        output: {name: slopes_of[name][place] for name in names}
        for place, output in enumerate(outputs)
    }


def _whole(
    model: Model, names: Sequence[str], outputs: Sequence[str], method: str
) -> dict[str, list[Slope]]:
    """Effect of one more and one fewer."""
    changes = [{name: float(model.inputs[name]) + by} for name in names for by in (-1, 0, 1)]
    each = outputs_at(model, changes, outputs, method).reshape(len(names), 3, len(outputs))
    return {
        name: [_step(*map(float, ends)) for ends in each[place].T]
        for place, name in enumerate(names)
    }


def _step(fewer: float, here: float, more: float) -> Slope:
    return Slope(here - fewer if np.isnan(more) else more - here, Change.WHOLE_STEP, fewer, more)


def _smooth(
    model: Model, names: Sequence[str], outputs: Sequence[str], method: str
) -> dict[str, list[Slope]]:
    """Derivatives for numbers that may take any value."""
    steps: dict[str, FloatArray] = {name: _size(model, name) * _STEPS for name in names}
    changes = [
        {name: float(model.inputs[name]) + side * step}
        for name in names
        for step in steps[name]
        for side in (-1, 1)
    ]
    here, *others = outputs_at(model, [{}, *changes], outputs, method)
    each = np.reshape(others, (len(names), len(_STEPS), 2, len(outputs)))
    return {
        name: [
            _slope(Sides(float(here[k]), steps[name], *each[place, :, :, k].T), _size(model, name))
            for k in range(len(outputs))
        ]
        for place, name in enumerate(names)
    }


def _size(model: Model, name: str) -> float:
    """Magnitude of a parameter, or its unit if it is zero."""
    return abs(float(model.inputs[name])) or model.parameters[name].unit.scale


def _slope(sides: Sides, size: float) -> Slope:
    """The derivative from both sides, or from the only side that the model accepts."""
    slope, error = _extrapolated(sides)
    scale = max(abs(sides.here), abs(slope) * size)
    if not error * size <= _SURE * scale:
        return Slope(np.nan, Change.NONE)
    change = Change.CORNER if _has_corner(sides) else Change.DERIVATIVE
    return Slope(slope, change, error=error)


def _extrapolated(sides: Sides) -> tuple[float, float]:
    """Slope and its error, from whichever differences suffice."""
    up = (sides.high - sides.here) / sides.steps
    down = (sides.here - sides.low) / sides.steps
    tried = [_limit((up + down) / 2, _CENTRAL), _limit(up, _ONE_SIDED), _limit(down, _ONE_SIDED)]
    known = [(slope, error) for slope, error in tried if np.isfinite(error)]
    return known[0] if known else (np.nan, np.inf)


def _limit(differences: FloatArray, powers: Sequence[int]) -> tuple[float, float]:
    """Ridders' extrapolation to zero step size: the value that agrees best with earlier ones."""
    row = differences[np.isfinite(differences)]
    best, error = np.nan, np.inf
    for power in powers:
        if len(row) < 2:
            break
        factor = _RATIO**power
        better = (factor * row[1:] - row[:-1]) / (factor - 1)
        misses = np.maximum(abs(better - row[1:]), abs(better - row[:-1]))
        place = int(misses.argmin())
        if misses[place] < error:
            best, error = float(better[place]), float(misses[place])
        row = better
    return best, error


def _has_corner(sides: Sides) -> bool:
    """Whether the slopes above and below differ even for the smallest steps."""
    bend = ((sides.high - sides.here) - (sides.here - sides.low)) / sides.steps
    last, before = bend[-1], bend[-2]
    size = sides.steps[0] / _STEPS[0]
    is_visible = abs(last) * size > _FLAT * abs(sides.here)
    return bool(is_visible and abs(last - before) < abs(before) / 2)
