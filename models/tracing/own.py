"""A request's own time: its span without the union of its calls.

With the calls of a request in the order in which they begin, b_1 <= b_2 <= ..., and its answer E,

    own = E - S - sum_i max(e_i - max(b_i, c_{i-1}), 0),   c_i = max(S, e_1, ..., e_i),

each e_i no later than E: what outlives the request is not waited for.
"""

import numpy as np

from headway.kinds import FloatArray
from headway.models.measured.spans.columns import IntArray
from headway.models.tracing.flows import in_turn


def own_times(
    start: FloatArray, end: FloatArray, caller: IntArray, began: FloatArray, ended: FloatArray
) -> FloatArray:
    """Time of each request that no call of its covers [s].

    Parameters
    ----------
    start, end
        Of each request [s].
    caller
        A request for each call that it waits for; in order of callers, and of time for each.
    began, ended
        Of each call [s].

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
    """When each request first did something that its spans show: a call, or its answer [s].

    Parameters
    ----------
    start, end
        Of each request [s].
    caller, began
        Of each call: a request, and a time [s].
    """
    first = end.copy()
    np.minimum.at(first, caller, began)
    return np.asarray(np.clip(first, start, end))
