"""Results of regions and of blocked servers, beyond those that all stations have."""

from collections.abc import Iterator

import numpy as np

from headway.models.language.scales import Scale
from headway.models.solving.solutions.solution import Solution
from headway.models.structure.outputs import part_unit
from headway.models.structure.parts.regions import REGION_PARTS
from headway.models.tables.description import Field
from headway.models.tables.table import Column, Table
from headway.queueing.network.blocking import Blocking

_PARTS = ("limit", *REGION_PARTS)


def blocked_parts(solution: Solution) -> tuple[str, ...]:
    """Further results of every station: the share of blocked servers, if some station blocks.

    If jobs that find no place are served again, also how often they find none, if that is known.
    """
    stations = solution.model.graph.stations
    kinds = {station.blocking for station in stations.values()} - {Blocking.LOST}
    known = all(np.isfinite(solution[f"{name}.call_blocking"]).all() for name in stations if kinds)
    again = ("call_blocking",) if Blocking.REPETITIVE in kinds and known else ()
    return ("blocked", *again) if kinds else ()


def region_tables(solution: Solution, scale: Scale) -> list[Table]:
    """A table of the regions at a single point; none without regions."""
    names = tuple(solution.model.graph.regions)
    columns = [Column("region", names)]
    for part in _PARTS:
        values = [float(np.ravel(solution[f"{name}.{part}"])[0]) for name in names]
        columns.append(Column.of(part.replace("_", " "), values, part_unit(part), scale))
    return [Table("regions", tuple(columns))] if names else []


def region_fields(solution: Solution) -> Iterator[Field]:
    """Each result of each region, over the operating points."""
    for name in solution.model.graph.regions:
        for part in _PARTS:
            values = np.ravel(solution[f"{name}.{part}"]).tolist()
            yield Field(("regions", name, part), values, part_unit(part), (f"{name}_{part}",))
