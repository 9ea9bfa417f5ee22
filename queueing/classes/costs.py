"""What the methods for closed networks take, of one class or of several."""

from headway.queueing.methods.method import Cost
from headway.queueing.network.network import Network


def walk_cost(network: Network) -> Cost:
    """What exact mean value analysis takes."""
    if network.kinds:
        from headway.queueing.closed import methods as one

        return one.walk_cost(network)
    from headway.queueing.classes import methods as classes

    return classes.walk_cost(network)


def convolution_cost(network: Network) -> Cost:
    """What a convolution takes."""
    if network.kinds:
        from headway.queueing.closed import methods as one

        return one.convolution_cost(network)
    from headway.queueing.classes import methods as classes

    return classes.convolution_cost(network)
