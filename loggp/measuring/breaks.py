"""Breaks between straight lines through times by message size: exact, by dynamic programming.

Lines are fitted to relative residuals (a + b s) / t - 1, so that small messages count as much as
large ones, and need not meet at the breaks.
"""

import numpy as np

from headway.kinds import Amount, FloatArray

LEAST_POINTS = 3
"""Fewest sizes on one line: any line fits two exactly."""


def _residual_sum(slanted: FloatArray, level: FloatArray, target: Amount) -> FloatArray:
    """Sum of squared residuals of the best line, relative to their scales, over ever more points.

    ``slanted`` is (s - s_0) over the scale, ``level`` 1 over the scale and ``target`` t over the
    scale; the first two are zero for excluded points. Sums run along the last axis.
    """
    target = np.where(level > 0, target, 0.0)
    level_level = np.cumsum(level**2, -1)
    level_slanted = np.cumsum(level * slanted, -1)
    ones_level = np.cumsum(target * level, -1)
    safe = np.where(level_level > 0, level_level, 1.0)
    # the slanted and target columns, with the level column projected out
    slanted_left = np.cumsum(slanted**2, -1) - level_slanted**2 / safe
    ones_left = np.cumsum(target * slanted, -1) - level_slanted * ones_level / safe
    count = np.cumsum(level > 0, -1)
    flat = np.cumsum(target**2, -1) - ones_level**2 / safe
    usable = (count > 2) & (slanted_left > 0)
    gain = np.where(usable, ones_left**2 / np.where(usable, slanted_left, 1.0), 0.0)
    return np.where(count > 2, np.maximum(flat - gain, 0.0), 0.0)


def line_costs(size: FloatArray, time: FloatArray, scale: FloatArray | None = None) -> FloatArray:
    """Sum of squared scaled residuals of a line through points i to j, for all i and j.

    Parameters
    ----------
    size, time
        Sizes [B], rising, and their times [s], positive, shape (n,).
    scale
        Scale of each residual [s], positive; the time itself by default.

    Returns
    -------
    Shape (n, n), dimensionless; infinite where j - i + 1 is less than `LEAST_POINTS`.

    Examples
    --------
    >>> import numpy as np
    >>> costs = line_costs(np.arange(1.0, 5.0), np.array([1.0, 2.0, 3.0, 5.0]))
    >>> bool(costs[0, 2] < 1e-15), bool(costs[0, 3] > 0.001), float(costs[0, 1])
    (True, True, inf)
    """
    scale = time if scale is None else scale
    level = np.triu(np.broadcast_to(1 / scale, (size.size, size.size)))
    slanted = (size - size[:, None]) * level
    costs = _residual_sum(slanted, level, time / scale)
    return np.where(np.triu(np.ones_like(costs), LEAST_POINTS - 1) > 0, costs, np.inf)


def best_breaks(costs: FloatArray, penalty: float) -> tuple[int, ...]:
    """Choose the breaks that minimise the sum of costs and a penalty for each break.

    best[j] = min over i of best[i - 1] + penalty + cost[i, j]

    Parameters
    ----------
    costs
        Cost of a line through points i to j, shape (n, n).
    penalty
        Cost of one break, in the units of the costs.

    Returns
    -------
    First point of each line except the first, rising.

    Examples
    --------
    >>> import numpy as np
    >>> size = np.arange(1.0, 9.0)
    >>> best_breaks(line_costs(size, np.where(size < 5, size, 10 * size)), 0.01)
    (4,)
    """
    count = len(costs)
    best, origin = np.empty(count + 1), np.zeros(count, int)
    best[0] = -penalty
    for end in range(count):
        totals = best[: end + 1] + penalty + costs[: end + 1, end]
        origin[end] = int(totals.argmin())
        best[end + 1] = totals[origin[end]]
    breaks: list[int] = []
    start = int(origin[-1])
    while start > 0:
        breaks.append(start)
        start = int(origin[start - 1])
    return tuple(reversed(breaks))


def breaks_between(costs: FloatArray, penalty: float, pinned: tuple[int, ...]) -> tuple[int, ...]:
    """Choose the best breaks, given that some are pinned.

    Examples
    --------
    >>> import numpy as np
    >>> size = np.arange(1.0, 9.0)
    >>> breaks_between(line_costs(size, size), 0.01, (3,))
    (3,)
    """
    breaks = set(pinned)
    for start, stop in zip((0, *pinned), (*pinned, len(costs)), strict=True):
        inner = best_breaks(costs[start:stop, start:stop], penalty)
        breaks.update(start + place for place in inner)
    return tuple(sorted(breaks))


def best_single_break(size: FloatArray, times: Amount, scales: Amount | None = None) -> Amount:
    """Place one break optimally between the ends of a series, for many series at once.

    Parameters
    ----------
    size
        Sizes [B], rising, shape (n,), n at least twice `LEAST_POINTS`.
    times
        Times [s], shape (series, samples, n): the costs of the series are added up.
    scales
        Scale of each residual [s], of a matching shape; the times by default.

    Returns
    -------
    First point after the break, shape (samples,).

    Examples
    --------
    >>> import numpy as np
    >>> size = np.arange(1.0, 9.0)
    >>> best_single_break(size, np.where(size < 5, size, 10 * size)[None, None]).tolist()
    [4]
    """
    level = 1 / (times if scales is None else np.broadcast_to(scales, times.shape))
    before = _residual_sum((size - size[0]) * level, level, times * level)
    backwards = level[..., ::-1]
    slanted = (size[::-1] - size[-1]) * backwards
    after = _residual_sum(slanted, backwards, (times * level)[..., ::-1])[..., ::-1]
    total = (before[..., :-1] + after[..., 1:]).sum(axis=0)
    inside = slice(LEAST_POINTS - 1, size.size - LEAST_POINTS)
    return total[:, inside].argmin(axis=1) + LEAST_POINTS
