"""Where one queue reaches a limit, from too few runs for a fit.

The law is that of one queue and a delay, R = D + A / (1 - x / C). Source: Kleinrock, *Queueing
Systems*, volume 1, 1975, section 3.2, for M/M/1; A is free here, as several servers and other
service times change it (section 5.7 of that volume for general times).
"""

import numpy as np

from headway.kinds import FloatArray

MOST_STEP = 4.0
"""Largest next load, in multiples of the highest, before a fit says more.

`headway.models.inference.forecasting.next_load` looks as far beyond what was measured."""


def by_saturation(loads: FloatArray, times: FloatArray, limit: float, saturation: float) -> float:
    r"""The load at which one queue of known saturation throughput reaches a limit [SI].

    D and A follow from the runs by least squares of relative errors. D is taken as 0 if there is
    only one run, or if the fit makes no sense: the resulting load is then too low rather than too
    high.

    Parameters
    ----------
    loads, times
        Runs at rising loads [1/s, s].
    limit
        The limit [s].
    saturation
        Throughput of the server when it fell behind [1/s].

    Examples
    --------
    R = 1 ms + 1 ms / (1 - x / 1000) reaches 6 ms at 800/s.

    >>> times = np.array([1e-3 + 1e-3 / 0.9, 3e-3])
    >>> round(by_saturation(np.array([100.0, 500.0]), times, 6e-3, 1000.0), 6)
    800.0
    """
    longer = 1 / (1 - np.minimum(loads / saturation, 1 - 1e-9))
    delay, light = 0.0, float(times[-1] / longer[-1])
    if loads[0] < loads[-1]:
        slope, rest = np.polyfit(longer, times, 1, w=1 / times)
        if slope > 0 and 0 <= rest < limit:
            delay, light = float(rest), float(slope)
    return saturation * (1 - light / (limit - delay))


def without_delay(loads: FloatArray, times: FloatArray, limit: float) -> float:
    r"""The load at which one queue without delay through two runs reaches a limit [SI].

    Of all such queues through two runs, the one without delay bends least: beyond both runs no
    other reaches the limit later, and between them no other reaches it earlier.

    Parameters
    ----------
    loads, times
        Runs at rising loads [1/s, s]; the first and the last are used.
    limit
        The limit [s].

    Returns
    -------
    The load; infinite if the times do not rise.

    Examples
    --------
    R = 1 ms / (1 - x / 1000) reaches 5 ms at 800/s.

    >>> round(without_delay(np.array([200.0, 500.0]), np.array([1.25e-3, 2e-3]), 5e-3), 6)
    800.0
    """
    rise = float(times[-1] / times[0])
    if rise <= 1 or loads[0] == loads[-1]:
        return np.inf
    saturation = float((rise * loads[-1] - loads[0]) / (rise - 1))
    return saturation - float(times[0]) * (saturation - float(loads[0])) / limit
