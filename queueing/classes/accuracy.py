"""The errors of methods for closed and open classes, by network."""

from math import inf

from headway.queueing.classes import opened
from headway.queueing.classes.fcfs import apart, is_exact, open_region
from headway.queueing.closed.measured import CLOSED_IN_ORDER, MEASURED
from headway.queueing.methods.method import EXACT, Error
from headway.queueing.methods.needs import exact_by_priority
from headway.queueing.network.names import Method
from headway.queueing.network.network import Network
from headway.queueing.network.overload import find_overload
from headway.queueing.network.product_form import last_in_pools, ranked, unequal
from headway.queueing.orders.measured import ALONE, LAST, OPEN, TURNS, UNBOUNDED

_ORDERS, _SHARED, _ROWS = (
    "python -m tests.campaigns.order_errors",
    "python -m tests.campaigns.approximation_errors",
    "python -m tests.brute.rows",
)


def open_error(network: Network) -> Error:
    """The error for open classes, with each station solved by its own law."""
    if network.kinds:
        return opened.error(network)
    if ranked(network).any():
        return EXACT if exact_by_priority(network) else Error(0.0, OPEN, "", _ORDERS)
    unlike = unequal(network)
    if not unlike.any() or is_exact(network, unlike):
        return product_error(network)
    region = open_region(network, find_overload(network).load / network.full)
    return Error(0.0, region.error, str(region), "python -m tests.campaigns.open_class_errors")


def product_error(network: Network) -> Error:
    """The error of methods for product forms: last-come-first-served pools are taken as shared."""
    if network.kinds:
        return EXACT
    return Error(*LAST, "", _ORDERS) if last_in_pools(network) else EXACT


def aggregation_error(network: Network) -> Error:
    """The error of isolated stations in order of arrival or random order."""
    return Error(*(ALONE if ranked(network).any() else TURNS), "", _ROWS)


def linearizer_error(network: Network) -> Error:
    """The error of approximate mean value analysis with Linearizer's correction."""
    return _approximate(network, Method.LINEARIZER)


def schweitzer_error(network: Network) -> Error:
    """The error of approximate mean value analysis with Bard and Schweitzer's estimate."""
    return _approximate(network, Method.SCHWEITZER)


def _approximate(network: Network, method: Method) -> Error:
    if not network.kinds and ranked(network).any():
        return Error(inf, inf, f"stated as a median of the cases measured: {UNBOUNDED}", _ORDERS)
    if network.kinds or not unequal(network).any():
        pools = bool(network.is_crowd.any())
        return Error(*MEASURED[method, "pools" if pools else "single"], "", _SHARED)
    far = apart(network)
    if far is None:
        return Error(*CLOSED_IN_ORDER[method], "", _ROWS)
    return Error(*far.errors(method), str(far), "python -m tests.campaigns.spread_regions")
