"""Regions: stations that together hold so many jobs, while the others wait outside."""

from collections.abc import Mapping

from headway.errors import GraphError, nearest
from headway.models.language.formula import Formula
from headway.models.structure.parts.components import Component
from headway.queueing.stations.abilities import ServiceKind
from headway.records import dataclass

REGION_PARTS = ("throughput", "utilisation", "full", "queue_length", "waiting_time")
"""What is known of a region: jobs that come in, share of its places taken, share of time that all
are, and of those who wait outside the number and the time."""

REGION_FULL = "{}.saturation_throughput"
"""Under which name a solution holds the throughput at which a region always is full [1/s]."""


@dataclass(frozen=True)
class Region:
    """A finite-capacity region: which stations, and how many jobs they hold together."""

    stations: tuple[str, ...]
    limit: Formula


def check_region(
    name: str, members: tuple[str, ...], stations: Mapping[str, Component], taken: Mapping[str, str]
) -> None:
    """Refuse a region without stations, or with unknown, limited or already included ones.

    Parameters
    ----------
    name, members
        The region, and its stations.
    stations
        Those of the graph.
    taken
        The region of each station that is in one.

    Raises
    ------
    GraphError
        Naming the station and the remedy.
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
