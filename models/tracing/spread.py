"""Errors of means over requests that may be correlated within traces and loads."""

from math import sqrt

import numpy as np

from headway.kinds import FloatArray
from headway.models.measured.spans.columns import IntArray

_FEW = 2
_SURE = 1.96  # standard errors of a 95% interval
_CLEAR, _APART = 4.0, 0.05  # standard errors, and share of a mean, by which means differ
_ROUNDING = 1e-9  # relative: times are whole nanoseconds


def standard_error(values: FloatArray, trace: IntArray) -> float:
    """Standard error of a mean of n values that may be correlated within traces.

    With S_j the sum of the n_j values of trace j, m the mean, and p_j = n_j / n,

        se^2 = sum_j (S_j - n_j m)^2 / n^2 / (1 - sum_j p_j^2)

    (a ratio estimate of clusters: Cochran, Sampling Techniques, 3rd ed., 1977, eq. 9.36), which is
    unbiased where values are independent, whatever the n_j. One trace shows no spread: its error is
    taken to be as large as its mean, as for exponential times.

    Parameters
    ----------
    values
        One value per request.
    trace
        The number of each request's trace.

    Examples
    --------
    >>> values = np.array([1.0, 2.0, 4.0, 5.0])
    >>> round(standard_error(values, np.arange(4)), 9), round(float(values.std(ddof=1)) / 2, 9)
    (0.912870929, 0.912870929)
    >>> round(standard_error(values, np.array([0, 0, 1, 1])), 9)
    1.5
    >>> standard_error(values, np.zeros(4, int))  # one trace
    3.0
    """
    if not len(values):
        return 0.0
    if (trace == trace[0]).all():
        return abs(float(values.mean()))
    return _error_between_traces(values, trace)


def _error_between_traces(values: FloatArray, trace: IntArray) -> float:
    """Standard error from the spread between traces; 0 for a single trace."""
    off = np.bincount(trace, values - values.mean())
    spread = sqrt(float((off**2).sum()) / len(values))
    same = _powers(trace)[0]
    if same >= 1 or spread <= _ROUNDING * float(np.abs(values).max()):
        return 0.0
    return spread / sqrt(len(values)) / sqrt(1 - same)


def _powers(trace: IntArray) -> tuple[float, float]:
    """Sums of the second and third powers of the traces' shares of all values."""
    share = np.bincount(trace) / len(trace)
    return float((share**2).sum()), float((share**3).sum())


def stated_error(values: FloatArray, trace: IntArray) -> float:
    """The error of which 1.96 to either side of a mean are its 95% interval.

    It is `standard_error`, wider by Student's t with

        f = (1 - q_2)^2 / (q_2 - 2 q_3 + q_2^2),   q_k = sum_j p_j^k,

    degrees of freedom, by which se^2 varies where values are independent: J - 1 for J traces of as
    many values each, and fewer where a few traces have most of them (Bell and McCaffrey, Survey
    Methodology 28, 2002).

    Parameters
    ----------
    values, trace
        As for `standard_error`.

    Examples
    --------
    >>> values = np.array([1.0, 2.0, 4.0, 5.0])
    >>> round(stated_error(values, np.arange(4)) / standard_error(values, np.arange(4)), 4)
    1.6237
    """
    from scipy.special import stdtrit

    alone = standard_error(values, trace)
    if not len(values):
        return alone
    second, third = _powers(trace)
    if second >= 1:
        return alone
    freedom = (1 - second) ** 2 / (second - 2 * third + second**2)
    return alone * float(stdtrit(freedom, 0.975)) / _SURE


def error_over_loads(values: FloatArray, trace: IntArray, load: IntArray) -> float:
    """The stated error of a mean over loads that may differ by more than chance.

    With means m_l, variances s_l^2 and w_l = 1 / s_l^2, Q = sum w_l (m_l - m)^2 is chi squared with
    L - 1 degrees of freedom if the loads differ by chance only. If Q exceeds that by two of its
    standard errors, sqrt(2 (L - 1)), the variance t^2 between loads is included (DerSimonian and
    Laird, Controlled Clinical Trials 7, 1986, eq. 8):

        t^2 = (Q - (L - 1)) / (sum w_l - sum w_l^2 / sum w_l).

    Parameters
    ----------
    values, trace
        As for `stated_error`.
    load
        The number of each request's load.

    Examples
    --------
    >>> values, load = np.array([1.0, 1.2, 2.0, 2.2]), np.array([0, 0, 1, 1])
    >>> one = stated_error(values, np.arange(4))
    >>> error_over_loads(values, np.arange(4), load) > one
    True
    """
    alone = stated_error(values, trace)
    numbers, sizes = np.unique(load, return_counts=True)
    means = np.array([values[load == k].mean() for k in numbers])
    errors = np.array([_error_between_traces(values[load == k], trace[load == k]) for k in numbers])
    if not (errors > 0).all() or len(numbers) < _FEW:
        return alone
    weights = 1 / errors**2
    whole = float(weights.sum())
    apart = float((weights * (means - (weights * means).sum() / whole) ** 2).sum())
    free = len(numbers) - 1
    if apart < free + 2 * sqrt(2 * free):
        return alone
    between = (apart - free) / (whole - float((weights**2).sum()) / whole)
    return sqrt(alone**2 + between * float((sizes**2).sum()) / len(values) ** 2)


def means_apart(values: FloatArray | IntArray, load: IntArray) -> tuple[float, ...]:
    """Means in each load, where one differs from the others beyond doubt and by 5% or more.

    Beyond doubt is a chi squared of 16, four standard errors of one mean, above its degrees of
    freedom. Loads without values have NaN.

    Parameters
    ----------
    values
        Of each request.
    load
        The number of its load.

    Returns
    -------
    Means by number of load; empty where they are alike.

    Examples
    --------
    >>> load = np.repeat([0, 1], 100)
    >>> means_apart(np.arange(200) % 2, load), means_apart(load * (np.arange(200) % 2), load)
    ((), (0.0, 0.5))
    """
    often = np.bincount(load)
    there = often > 0
    if there.sum() < 2:
        return ()
    sums, squares = (np.bincount(load, values**power)[there] for power in (1, 2))
    often = often[there]
    means, free = sums / often, often.sum() - len(often)
    variance = float((squares - sums * means).sum()) / max(free, 1)
    off = means - sums.sum() / often.sum()
    chi = float((often * off**2).sum())
    clear = chi > (_CLEAR**2 + len(often) - 1) * variance
    if not clear or np.abs(off).max() < _APART * means.max():
        return ()
    every = np.full(len(there), np.nan)
    every[there] = means
    return tuple(every.tolist())
