"""Regions: stations that together hold a limited number of jobs, while others wait outside."""

from collections.abc import Mapping

from headway.errors import GraphError, nearest
from headway.models.language.formula import Formula
from headway.models.structure.parts.components import Component
from headway.queueing.stations.abilities import ServiceKind
from headway.records import dataclass

REGION_PARTS = ("throughput", "utilisation", "full", "queue_length", "waiting_time")
"""Results of a region: rate of jobs entering, share of its places in use, share of time that it is
full, and the number and waiting time of jobs outside."""

REGION_FULL = "{}.saturation_throughput"
"""The name under which a solution stores the throughput at which a region is always full [1/s]."""


@dataclass(frozen=True)
class Region:
    """A finite-capacity region: its stations, and how many jobs they hold together."""

    stations: tuple[str, ...]
    limit: Formula


def check_region(
    name: str, members: tuple[str, ...], stations: Mapping[str, Component], taken: Mapping[str, str]
) -> None:
    """Refuse a region without stations, or with stations unknown, limited or in another region.

    Parameters
    ----------
    name, members
        The region, and its stations.
    stations
        The stations of the graph.
    taken
        The region of each station that is already in one.

    Raises
    ------
    GraphError
        With the station and the remedy.
    """
    if not members or len(set(members)) < len(members):
        msg = f"region {name}: list the stations inside it, each once"
        raise GraphError(msg)
    for member in members:
        if member not in stations:
            msg = f"region {name}: there is no station {member!r}{nearest(member, stations)}"
            raise GraphError(msg)
        if member in taken:
            msg = f"region {name}: {member} is already in region {taken[member]}; keep it in one"
            raise GraphError(msg)
        if stations[member].can.product_form not in set(ServiceKind):
            kind = stations[member].label
            msg = (
                f"region {name}: {member} is {kind}, which has no product form; use MM1, MMm "
                "or Delay"
            )
            raise GraphError(msg)
