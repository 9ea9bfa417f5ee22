"""Arrays of a class network for approximate mean value analysis, within their capacity."""

import numpy as np

from headway.queueing.disciplines.discipline import Discipline
from headway.queueing.network.network import Network
from headway.queueing.network.product_form import ranked
from headway.queueing.orders.capacity import ClassDemands, longer_waits
from headway.queueing.orders.mva import Rest
from headway.queueing.orders.shared import PriorityNetwork
from headway.queueing.stations.abilities import ServiceKind


def disciplines_at(network: Network) -> tuple[Discipline | None, ...]:
    """Each station's discipline, without priorities if all jobs have the same one."""
    real = ranked(network)
    disciplines: list[Discipline | None] = []
    for station, first in zip(network.stations, real, strict=True):
        discipline = station.discipline if first else station.discipline.unranked
        disciplines.append(None if station.kind is ServiceKind.DELAY else discipline)
    return tuple(disciplines)


def priority_network_of(network: Network) -> PriorityNetwork:
    """The arrays of a network, in the form that `headway.queueing.orders.mva` takes."""
    return PriorityNetwork(
        network.service_times,
        network.visits,
        network.servers / network.queues,
        network.queues,
        network.population,
        network.think_time,
        network.rates,
        network.is_open,
        tuple(c.priority for c in network.classes),
        disciplines_at(network),
    )


def within_capacity(network: Network, rest: Rest) -> Rest:
    """Lengthen waits until no station has a utilisation above 1 (`longer_waits`)."""
    closed = ~network.is_open[:, None]
    slowed = np.array([s.discipline.slows for s in network.stations])[:, None]
    each = np.where(slowed, network.service_times, network.service_times > 0)
    busy = (network.rates[:, None] * network.demand).sum(axis=0)
    demands = ClassDemands(
        np.where(closed, network.population, 0.0),
        network.population / np.where(closed & (rest.rate > 0), rest.rate, 1.0),
        network.demand,
        network.visits * each,
        np.where(network.is_delay[:, None], np.inf, network.servers - busy),
    )
    longer = longer_waits(demands)
    rate = np.where(closed & (longer > 0).any(axis=0), demands.rate(longer), rest.rate)
    return Rest(rate, rest.stay + each * longer)
