"""Times of many exponential steps of one pace, by the chances of their number.

Source: Jensen, Skandinavisk Aktuarietidskrift 36, 1953 (uniformisation).
"""

from typing import Any

import numpy as np

from headway.kinds import FloatArray
from headway.queueing.times.laws import ComplexArray, Piece, TimeLaw, Transform

LAST = 50
"""Steps that the ratio of the steps beyond is taken from."""

FEW = 1e-6
"""Share of jobs still inside when the steps of a followed job end."""

_LEAST_STEPS = 120
_AT_ONCE = 64  # powers of a transform


def steps_out(moves: Any, inside: FloatArray, share: FloatArray) -> FloatArray:
    """Chance of leaving at each step, until few are inside.

    Parameters
    ----------
    moves
        Chances of going on in a step, a sparse array by state after and before.
    inside
        Chances of the states at the beginning.
    share
        Chance of leaving in a step, by state; above 0 where everybody ends.
    """
    ends, left = np.flatnonzero(share), list[float]()
    while len(left) < _LEAST_STEPS or inside.sum() > FEW:
        left.append(float((share[ends] * inside[ends]).sum()))  # not @: threads cost more
        inside = moves @ inside
    return np.array(left)


def law_of_steps(rate: float, steps: FloatArray) -> TimeLaw:
    """A time of exponential steps, as many as `steps` has chances for, the last ones going on.

    Parameters
    ----------
    rate
        Of the steps [1/s].
    steps
        Chances of 1, 2, 3... steps in proportion, 50 at least; where the last is 0, none go on.

    Examples
    --------
    >>> round(law_of_steps(1.0, 0.5 ** np.arange(1, 60)).mean, 9)
    2.0
    """
    ends = bool(steps[-1] == 0 or steps[-LAST] == 0)  # as where a single step is sure to end it
    falling = 0.0 if ends else float((steps[-1] / steps[-LAST]) ** (1 / (LAST - 1)))
    ratio = min(falling, 1 - 1e-9)
    beyond = float(steps[-1]) * ratio / (1 - ratio)
    total = float(steps.sum()) + beyond
    mean = float(steps @ np.arange(1, len(steps) + 1)) + beyond * (len(steps) + 1 / (1 - ratio))
    law = _stepwise(rate, steps / total, beyond / total, ratio)
    return TimeLaw((Piece(0.0, law),), mean / total / rate)


def _stepwise(rate: float, shares: FloatArray, beyond: float, ratio: float) -> Transform:
    filled = np.zeros(-(-len(shares) // _AT_ONCE) * _AT_ONCE)
    filled[: len(shares)] = shares
    blocks = filled.reshape(-1, _AT_ONCE)

    def law(s: ComplexArray) -> ComplexArray:
        step = rate / (rate + s)
        tail = beyond * step ** len(shares) * (1 - ratio) * step / (1 - ratio * step)
        powers = step ** np.arange(1, _AT_ONCE + 1)[:, None]
        sums = np.einsum("ij,jk->ik", blocks, powers)  # not @: threads cost more than they give
        total = np.zeros_like(s)
        for block in sums[::-1]:
            total = total * powers[-1] + block
        return np.asarray(total + tail)

    return law
