"""The utilisation of each server, if a station's servers differ."""

from typing import Any

import numpy as np

from headway.kinds import FloatArray
from headway.models.solving.solutions.solution import Solution
from headway.models.structure.parts.keys import station_at
from headway.models.tables.description import Field
from headway.models.tables.table import Column, Table


def server_utilisations(solution: Solution) -> dict[str, list[FloatArray]]:
    """Utilisation of each server by station, shaped like the operating points; of open networks.

    In closed networks it depends on the distribution of the number of jobs.
    """
    if not solution.is_open:
        return {}
    shares_at = {}
    for name, component in solution.model.network.graph.stations.items():
        if component.can.unequal:
            station: Any = station_at(name).of(solution.values)
            shares = station.server_utilisation(solution[f"{name}.arrival_rate"])
            shares_at[name] = [np.broadcast_to(share, solution.shape) for share in shares]
    return shares_at


def server_fields(solution: Solution) -> dict[str, list[Field]]:
    """Utilisation of each server over the operating points, by station."""
    return {
        name: [_field(name, place, share) for place, share in enumerate(shares, 1)]
        for name, shares in server_utilisations(solution).items()
    }


def _field(name: str, place: int, share: FloatArray) -> Field:
    part = f"server_{place}_utilisation"
    return Field(("components", name, part), share.ravel().tolist(), csv=(f"{name}_{part}",))


def server_tables(solution: Solution) -> list[Table]:
    """A table of the servers at a single point; none if all servers are equal."""
    rows = [
        (f"{name}[{place}]", float(np.ravel(share)[0]))
        for name, shares in server_utilisations(solution).items()
        for place, share in enumerate(shares, 1)
    ]
    if not rows:
        return []
    names, shares = zip(*rows, strict=True)
    return [Table("servers", (Column("server", names), Column("utilisation", shares)))]
