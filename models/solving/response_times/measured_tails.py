"""Percentiles of a model fitted to data with percentiles, refused if its law is far off them.

If a model was fitted to the means of a test that also has percentiles, its file has the ratio of
each measured percentile to that of the law. The ratio nearest in log(1 - p) is applied to other
percentiles.
"""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from headway.errors import GraphError
from headway.numerals import digits, significant

if TYPE_CHECKING:
    from headway.models.structure.model import Model

FAR = 1.25
"""Ratio of a measured percentile to the law's, or its inverse, from which it is refused."""


def check_tail(model: "Model", percent: float) -> None:
    """Refuse a percentile whose law is far from the measurements.

    Raises
    ------
    GraphError
        With the ratio, and what to do about it.
    """
    nearest = _nearest(model.tails, percent)
    if nearest is None or 1 / FAR <= model.tails[nearest] <= FAR:
        return
    off, own = significant(model.tails[nearest], 3), digits(nearest)
    msg = (
        f"{model.name}: the p{own} in the data that it was fitted to is {off} times what the "
        "model predicts; headway fit --at LOAD --percentile predicts it as measured"
    )
    raise GraphError(msg)


def tail_notes(model: "Model", percents: Sequence[float]) -> tuple[str, ...]:
    """Notes on how far measured percentiles are off those of the law, one per ratio applied."""
    nearest = dict.fromkeys(_nearest(model.tails, percent) for percent in percents)
    known = [(digits(p), significant(model.tails[p], 3)) for p in nearest if p is not None]
    return tuple(
        f"the p{p} of the data is {ratio} times what the model predicts" for p, ratio in known
    )


def _nearest(tails: Mapping[float, float], percent: float) -> float | None:
    """The measured percentage whose ratio applies to another percentage."""

    def apart(each: float) -> float:
        return abs(math.log((100 - each) / (100 - percent)))

    known = [each for each in tails if 0 < each < 100]
    return min(known, key=apart) if known and 0 < percent < 100 else None
