"""One open class at stations with laws of their own, each solved at its arrival rate."""

import numpy as np

from headway.kinds import FloatArray
from headway.queueing.methods.method import EXACT, Error
from headway.queueing.network.arrays import rows
from headway.queueing.network.names import Method
from headway.queueing.network.network import Network
from headway.queueing.network.result import Result, one_class_result
from headway.queueing.stations.abilities import ServiceKind
from headway.queueing.stations.rows import in_a_row


def by_station(network: Network) -> Result:
    """Solve each station at its arrival rate lambda V: R = W(lambda V) + S."""
    rates, visits, times = network.rates[0], network.visits[0], network.service_times[0]

    def row(value: object) -> FloatArray:
        return np.broadcast_to(np.asarray(value, float), network.shape).reshape(-1)

    laid = [in_a_row(station, row) for station in network.kinds]
    flows = visits * rates
    stay = rows([s.response_time(flow) for s, flow in zip(laid, flows, strict=True)], rates.shape)
    used = rows([s.utilisation(flow) for s, flow in zip(laid, flows, strict=True)], rates.shape)
    queue = rows([s.queue_length(flow) for s, flow in zip(laid, flows, strict=True)], rates.shape)
    stay = np.where(flows > 0, stay, times)
    residence = np.where(visits > 0, visits * np.where(visits > 0, stay, 0.0), 0.0)
    note = "" if is_exact(network) else "flows that are not Poisson are taken as Poisson"
    system = (rates, residence.sum(axis=0))
    return one_class_result(
        network.shape, Method.EXACT, note, system, (used, queue, residence, stay, flows)
    )


def is_exact(network: Network) -> bool:
    """Whether the arrivals of each station are Poisson.

    They are if all stations with waiting have a product form, or if there is a single one, visited
    once.
    """
    queues = [k for k, s in enumerate(network.kinds) if s.can.product_form is not ServiceKind.DELAY]
    once = len(queues) == 1 and bool((network.visits[0, queues] <= 1 + _ROUNDING).all())
    return once or all(network.kinds[k].can.product_form for k in queues)


_ROUNDING = 1e-9  # of visits computed from traffic equations


def error(network: Network) -> Error:
    """Exact if all flows are Poisson; otherwise the error is not known here."""
    return EXACT if is_exact(network) else Error(0.0, np.inf)
