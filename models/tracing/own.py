"""A request's own time: the length of its span less the union of its calls.

With the calls of a request in the order in which they begin, b_1 <= b_2 <= ..., with ends e_i, and
a span from S to E,

    own = E - S - sum_i max(e_i - max(b_i, c_{i-1}), 0),   c_i = max(S, e_1, ..., e_i),

where each e_i is cut off at E: the request does not wait for what outlives it.
"""

import numpy as np

from headway.kinds import FloatArray
from headway.models.measured.spans.columns import IntArray
from headway.models.tracing.flows import in_turn


def own_times(
    start: FloatArray, end: FloatArray, caller: IntArray, began: FloatArray, ended: FloatArray
) -> FloatArray:
    """Time of each request that none of its calls covers [s].

    Parameters
    ----------
    start, end
        When each request came and was answered [s].
    caller
        The request of each call that is waited for; ordered by caller, and within a caller by time.
    began, ended
        When each call began and ended [s].

    Examples
    --------
    >>> own_times(np.zeros(1), np.ones(1), np.zeros(3, int), np.array([0.1, 0.2, 0.7]),
    ...           np.array([0.5, 0.4, 0.8])).round(12).tolist()
    [0.5]
    """
    covered, latest = np.zeros(len(start)), start.copy()
    for rows in in_turn(caller):
        who = caller[rows]
        until = np.maximum(np.minimum(ended[rows], end[who]), latest[who])
        covered[who] += np.maximum(until - np.maximum(began[rows], latest[who]), 0.0)
        latest[who] = until
    return np.asarray(end - start - covered)


def first_things(
    start: FloatArray, end: FloatArray, caller: IntArray, began: FloatArray
) -> FloatArray:
    """When each request first did something visible: a call, or its answer [s].

    Parameters
    ----------
    start, end
        When each request came and was answered [s].
    caller, began
        For each call, its request, and when it began [s].
    """
    first = end.copy()
    np.minimum.at(first, caller, began)
    return np.asarray(np.clip(first, start, end))
