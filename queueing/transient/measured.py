"""How far approximations of a load over time were off, as `tests.campaigns.days` measured them.

The largest errors of any period of 40 random days at one queue, forward equations being exact. Of
their periods 90 of 100 had response times within 0.8% for offered loads, 0.9% pointwise, and 10% as
a fluid. Errors at networks are beside simulated days, whose own spread of some percent is in them
(`tests.campaigns.network_days`); there the three have 90 of 100 within 8%, 9% and 24%.
"""

from headway.queueing.methods.method import Error
from headway.queueing.transient.network import TimedNetwork

_BY = "python -m tests.campaigns.days"
_BELOW = "in 24 periods of days at one queue, at most 90% busy"
_ABOVE = "in 24 periods of days at one queue, up to 130% of its capacity"

OFFERED_LOAD_ERROR = Error(4.0, 20.4, _BELOW, _BY)
"""Of the steady state of the load that infinitely many servers would have."""

POINTWISE_ERROR = Error(6.7, 21.8, _BELOW, _BY)
"""Of the steady state of each rate."""

FLUID_ERROR = Error(9.3, 63.0, _ABOVE, _BY)
"""Of means and covariances as if numbers were normal."""

_BY_NETWORKS = "python -m tests.campaigns.network_days --count 24"
_AT_NETWORKS = "in periods of simulated days of networks, {}"
_BUSY = _AT_NETWORKS.format("at most 90% busy (90 of 100 within {})")

OFFERED_LOAD_NETWORK_ERROR = Error(26.7, 22.1, _BUSY.format("8%"), _BY_NETWORKS)
"""Of offered loads at several queues."""

POINTWISE_NETWORK_ERROR = Error(26.7, 23.3, _BUSY.format("9%"), _BY_NETWORKS)
"""Pointwise at several queues."""

FLUID_NETWORK_ERROR = Error(
    18.9,
    82.2,
    _AT_NETWORKS.format("up to 130% of their capacity (90 of 100 within 24%)"),
    _BY_NETWORKS,
)
"""Of a fluid at several queues."""


def offered_load_error(network: TimedNetwork) -> Error:
    """How far offered loads may be off."""
    return OFFERED_LOAD_ERROR if len(network.queues) < 2 else OFFERED_LOAD_NETWORK_ERROR


def pointwise_error(network: TimedNetwork) -> Error:
    """How far steady states of each rate may be off."""
    return POINTWISE_ERROR if len(network.queues) < 2 else POINTWISE_NETWORK_ERROR


def fluid_error(network: TimedNetwork) -> Error:
    """How far a fluid may be off."""
    return FLUID_ERROR if len(network.queues) < 2 else FLUID_NETWORK_ERROR


AUTOSCALED_ERROR = Error(
    0.0,
    25.0,
    "beside 66 simulated days (90 of 100 within 2%; replicas within 3%, minutes above the "
    "metric's target within 11%)",
    "python -m tests.campaigns.autoscaled",
)
"""Of courses of an autoscaler, with 100 to 2,000 requests in an interval."""
