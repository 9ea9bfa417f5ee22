"""Open classes whose offered load exceeds the capacity of a station."""

from dataclasses import replace
from typing import Any

import numpy as np

from headway.errors import Saturated
from headway.kinds import Amount, FloatArray
from headway.numerals import digits, four_digits
from headway.queueing.network.network import Network, once
from headway.records import dataclass


@dataclass(frozen=True)
class Overload:
    """Saturated stations, and the classes that they delay.

    Parameters
    ----------
    load
        Servers that open classes ask for, shape (stations, points).
    full
        Whether each station cannot serve its open classes, shape (stations, points).
    stuck
        Whether each class visits such a station, shape (classes, stations, points).
    message
        What is wrong at the first such point, in one line; empty if nothing is.
    """

    load: FloatArray
    full: Any
    stuck: Any
    message: str

    @property
    def hit(self) -> Amount:
        """Whether each class visits a full station, shape (classes, points)."""
        return self.stuck.any(axis=1)

    @property
    def saturated(self) -> Amount:
        """Whether each point is saturated, shape (points,)."""
        return self.full.any(axis=0)

    @property
    def sustained(self) -> FloatArray:
        """Servers that open classes hold at stations that are not full."""
        return np.where(self.full, 0.0, self.load)


@once
def find_overload(network: Network) -> Overload:
    """The stations that open classes alone saturate: u >= m.

    Examples
    --------
    >>> from headway.queueing.network.network import JobClass, SharedStation, read_network
    >>> cpu, web = SharedStation("cpu", (0.1,), (1,)), JobClass("web", arrival_rate=12.0)
    >>> find_overload(read_network([cpu], [web])).message
    'cpu: utilisation 1.2 by open classes, web at 12 /s; it saturates at 10 /s'
    """
    busy = network.rates[:, None] * network.demand
    load = np.asarray(busy.sum(axis=0))
    full = ~network.is_delay[:, None] & (load >= network.full)
    if not full.any():
        return Overload(load, full, np.zeros(network.demand.shape, bool), "")
    stuck = (network.demand > 0) & _full_for(network, busy, full)
    return Overload(load, full, stuck, _message(network, busy, load))


def _full_for(network: Network, busy: FloatArray, full: Amount) -> Amount:
    """Stations that cannot serve a class together with those that go before or beside it."""
    ranks = np.array([c.priority for c in network.classes])
    up_to = np.array([busy[ranks <= rank].sum(axis=0) for rank in ranks])
    ordered = np.array([s.discipline.by_priority for s in network.stations])[:, None]
    return full & (~ordered | (up_to >= network.full))


def refuse_overload(overload: Overload) -> None:
    """Raise if any point is saturated.

    Raises
    ------
    Saturated
        With the station, the class that loads it most, and the rate that it could sustain.
    """
    if overload.message:
        raise Saturated(overload.message)


def without(network: Network, overload: Overload) -> Network:
    """The network without the jobs of closed classes that a full station would never release."""
    if not overload.message:
        return network
    return replace(network, population=np.where(overload.hit, 0.0, network.population))


def _message(network: Network, busy_by_class: FloatArray, load: FloatArray) -> str:
    """The first point's fullest station, the class that loads it most, and the rate it sustains."""
    busy = np.where(network.is_delay[:, None], 0.0, load / network.full)
    point = int((busy >= 1).any(axis=0).argmax())
    k = int(busy[:, point].argmax())
    c = int(busy_by_class[:, k, point].argmax())
    others = load[k, point] - busy_by_class[c, k, point]
    limit = max(network.full[k, point] - others, 0) / network.demand[c, k, point]
    ends = f"it saturates at {four_digits(limit)} /s" if limit else "the others alone saturate it"
    return (
        f"{network.stations[k].name}: utilisation {four_digits(busy[k, point])} by open classes, "
        f"{network.classes[c].name} at {digits(network.rates[c, point])} /s; {ends}"
    )
