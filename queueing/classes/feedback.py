"""Classes at a single server to which some jobs return at once, first come, first served.

Jobs arrive from elsewhere at the rates l_c, take S_c (scv c_c) per visit, and return to the end of
the queue with probability p_c. On arrival a job of class c finds N_j jobs of each class, including
those in service, and the rest of the service in progress. While it waits and is served for the k-th
time, l_j (W_k + S_c) jobs arrive behind it, and a share p_j of those ahead returns behind it. So at
the next pass it finds A_(k+1) = l (W_k + S_c) + p A_k of each class, A_1 = N, and waits W_k = sum
of S_j A_kj, where at the first pass the rest of the service in progress replaces a whole one. With
G_c = sum over k of p_c**(k-1) A_k, the means solve

    (1 - p_c p_j) G_cj - p_c l_j sum of S_i G_ci = N_j + p_c l_j (d + S_c / (1 - p_c)),
    T_c = d + sum of S_j G_cj + S_c / (1 - p_c),  N_c = l_c T_c  (Little),
    d = sum of v_j S_j**2 (1 + c_j) / 2 - sum of v_j S_j**2,  v_j = l_j / (1 - p_j),

which is linear in all of them, and exact for Poisson arrivals. Without returns it is the
Pollaczek-Khinchine formula; a single class has the mean of Takacs.

Source: Takacs, "A single-server queue with feedback", Bell System Technical Journal 42, 1963 (one
class); Simon, "Priority queues with feedback", JACM 31(1), 1984 (means of classes as linear
equations).
"""

import numpy as np

from headway.kinds import FloatArray


def feedback_waits(
    rates: FloatArray, times: FloatArray, scvs: FloatArray, again: FloatArray
) -> FloatArray:
    """Mean wait of a visit of each class, shape (classes, points) [s].

    Parameters
    ----------
    rates
        Visits of each class, including returns [1/s], shape (classes, points).
    times, scvs
        Mean service time of a visit [s] and its squared coefficient of variation.
    again
        Probability of returning at once, below 1.

    Returns
    -------
    Infinite at points where the server is saturated.

    Examples
    --------
    >>> one, two = np.ones((1, 1)), np.ones((2, 1))
    >>> feedback_waits(0.7 * one, one, 4 * one, 0.7 * one).round(6).item()  # 14.611111 in 1 / 0.3
    3.383333
    >>> feedback_waits(0.35 * two, two, 4 * two, 0.7 * two).round(6).ravel().tolist()
    [3.383333, 3.383333]
    """
    each = [np.moveaxis(one, -1, 0) for one in np.broadcast_arrays(rates, times, scvs, again)]
    waits = np.full(each[0].shape, np.inf)
    stable = (each[0] * each[1]).sum(axis=1) < 1
    waits[stable] = _waits(*(one[stable] for one in each))
    return np.moveaxis(waits, 0, -1)


def _waits(rates: FloatArray, times: FloatArray, scvs: FloatArray, again: FloatArray) -> FloatArray:
    """Mean waits below saturation, shape (points, classes)."""
    fresh, whole = rates * (1 - again), times / (1 - again)
    excess = (rates * times**2 * (scvs - 1) / 2).sum(axis=1)
    classes = range(times.shape[1])
    through = [_through(fresh, times, again, c) for c in classes]
    own = np.stack([excess + whole[:, c] for c in classes], axis=1)
    behind = again * own
    back = [behind[:, c, None] * fresh for c in classes]
    stays = np.stack([own[:, c] + (through[c] * back[c]).sum(axis=1) for c in classes], axis=1)
    felt = np.stack([fresh[:, c, None] * through[c] for c in classes], axis=1)
    present = np.linalg.solve(np.eye(len(classes)) - felt, (fresh * stays)[..., None])[..., 0]
    found = np.stack([(through[c] * present).sum(axis=1) for c in classes], axis=1)
    return np.asarray((stays + found - whole) * (1 - again))


def _through(fresh: FloatArray, times: FloatArray, again: FloatArray, c: int) -> FloatArray:
    """Total wait of class c due to each job of a class found, shape (points, classes) [s]."""
    own = again[:, c, None]
    returning = np.eye(times.shape[1]) * (1 - own * again)[:, :, None]
    matrix = returning - (own * fresh)[:, :, None] * times[:, None, :]
    return np.asarray(np.linalg.solve(matrix.swapaxes(1, 2), times[..., None])[..., 0])
