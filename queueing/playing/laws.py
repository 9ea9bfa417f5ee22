"""Laws of times by their mean and squared coefficient of variation."""

from headway.queueing.playing.rows import Family, Law


def law_of(time: float, scv: float) -> Law:
    """Times with a mean [s] and an scv: constant, exponential or gamma-distributed.

    Examples
    --------
    >>> law_of(2.0, 0.5)
    Law(kind=<Family.GAMMA: 2>, first=2.0, second=1.0, third=0.0, shift=0.0)
    """
    if time == 0 or scv == 0:
        return Law(Family.CONSTANT, time)
    if scv == 1:
        return Law(Family.EXPONENTIAL, time)
    return Law(Family.GAMMA, 1 / scv, time * scv)
