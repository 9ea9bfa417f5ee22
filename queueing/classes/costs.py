"""The costs of methods for closed networks, for one class or several."""

from headway.queueing.methods.method import Cost
from headway.queueing.network.network import Network


def walk_cost(network: Network) -> Cost:
    """The cost of exact mean value analysis."""
    if network.kinds:
        from headway.queueing.closed import methods as one

        return one.walk_cost(network)
    from headway.queueing.classes import methods as classes

    return classes.walk_cost(network)


def convolution_cost(network: Network) -> Cost:
    """The cost of a convolution."""
    if network.kinds:
        from headway.queueing.closed import methods as one

        return one.convolution_cost(network)
    from headway.queueing.classes import methods as classes

    return classes.convolution_cost(network)
