"""Where an open network saturates, on the axis of its load."""

import numpy as np

from headway.models.solving.solutions.solution import Solution


def saturating_load(solution: Solution, load: str) -> float:
    """Find the load at which the throughput reaches the saturation throughput [SI].

    The throughput of a network that loses no jobs is a straight line over its load: the load
    itself, or more if other jobs arrive too.

    Parameters
    ----------
    solution
        A solution of an open network at two or more loads, of which it sustains the first two.
    load
        The parameter that is the load.

    Examples
    --------
    >>> from headway.models import ModelGraph
    >>> from headway.queueing import MM1
    >>> disk = ModelGraph("disk").station("disk", MM1(0.01)).arrive("disk", "arrival_rate + 20")
    >>> round(saturating_load(disk.at(arrival_rate=[10.0, 20.0]).solve(), "arrival_rate"), 6)
    80.0
    """
    limit = float(np.min(np.asarray(solution.saturation_throughput)))
    if not np.isfinite(limit):
        return limit
    loads = np.asarray(solution.model.inputs[load], float)
    done = np.broadcast_to(np.asarray(solution.throughput, float), loads.shape)
    slope = (done[1] - done[0]) / (loads[1] - loads[0])
    return float(loads[0] + (limit - done[0]) / slope)
