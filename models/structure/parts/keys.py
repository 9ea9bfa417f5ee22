"""Keys under which steps store what they calculate, each with the type of its value.

Numbers that formulas can use are stored under their names, such as ``cpu.utilisation``. Other
values that steps pass on (stations, visits, laws, numbers by class) are stored under a `Key` that
states their type.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar

from headway.kinds import Amount
from headway.queueing.stations.base import Station

if TYPE_CHECKING:
    from headway.queueing.flows.batch_sizes import BatchSizes
    from headway.queueing.flows.clients import Clients
    from headway.queueing.stations.returning import Returning

Given = TypeVar("Given", covariant=True)

Values: TypeAlias = Mapping[str, Amount]
"""Calculated values: an `Amount` under a name, or a value of the key's type under a key."""

Amounts: TypeAlias = dict[str, Amount]
"""Calculated values to which more can be added."""


class Key(str, Generic[Given]):
    """The typed key of a value that a step calculates; messages show its text.

    Examples
    --------
    >>> jobs: Key[float] = Key("class web.population")
    >>> jobs.of({"class web.population": 3.0})
    3.0
    """

    __slots__ = ()

    def of(self, values: Mapping[str, Amount]) -> Given:
        """The value that was calculated under this key."""
        value: Given = values[self]
        return value


VISITS: Key[Mapping[str, Amount]] = Key("visits")
"""Mean visits of a job and of its parts to each station."""

OWN_VISITS: Key[Mapping[str, Amount]] = Key("own visits")
"""Mean visits of a job itself, without its parts."""

ANSWERED: Key[Amount] = Key("answered rate")
"""Rate of jobs that are answered, where some are lost [1/s]."""


def station_at(name: str) -> Key[Station]:
    """The station of a name, with its numbers."""
    return Key(f"station {name}")


def offered_at(name: str) -> Key[Amount]:
    """Work offered to a station over what it can do: 1 or more means overload."""
    return Key(f"offered {name}")


def law_at(name: str) -> "Key[Returning]":
    """The law of a station that returns jobs directly to itself."""
    return Key(f"law {name}")


def component_at(table: str, name: str) -> Key[object]:
    """The component with an algorithm, with its numbers."""
    return Key(f"{table} {name}")


def arrivals_at(name: str) -> Key[Amount]:
    """Rate at which jobs arrive at a station from outside [1/s]."""
    return Key(f"arrivals at {name}")


def scv_at(name: str) -> Key[Amount]:
    """The scv of the times between arrivals from outside at a station."""
    return Key(f"scv of arrivals at {name}")


def batch_at(name: str) -> "Key[BatchSizes]":
    """How many jobs arrive together at a station from outside."""
    return Key(f"batches at {name}")


def clients_at(name: str) -> "Key[Clients]":
    """How the clients of a class give up and retry; "" if there are no classes."""
    return Key(f"clients of {name}")


def oldest_at(name: str) -> Key[Amount]:
    """Age of a request beyond which a station drops it [s]."""
    return Key(f"{name}.drop_older_than")


def share_of(source: str, target: str) -> Key[Amount]:
    """Share of the jobs leaving one station that go to another."""
    return Key(f"{source} -> {target}")


def of_class(name: str, part: str) -> Key[Amount]:
    """A number of a class of jobs: its arrival rate, throughput, response time."""
    return Key(f"class {name}.{part}")


def visits_by(station: str, name: str = "") -> Key[Amount]:
    """Mean visits of a class to a station; those of all classes if none is named."""
    return Key(f"{station}.visits[{name}]")


def time_by(station: str, name: str) -> Key[Amount]:
    """Service time of a class at a station [s]."""
    return Key(f"{station}.service_time[{name}]")


def scv_by(station: str, name: str) -> Key[Amount]:
    """Squared coefficient of variation of a class's service times at a station."""
    return Key(f"{station}.scv[{name}]")
