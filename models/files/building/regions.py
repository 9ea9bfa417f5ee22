"""Regions of a model file."""

from headway.models.files.building.entries import Entries
from headway.models.files.building.expressions import expression
from headway.models.language.units import ONE
from headway.models.structure.graph import ModelGraph


class Regions(Entries):
    """Adds finite-capacity regions to a graph."""

    def regions(self, graph: ModelGraph) -> ModelGraph:
        """Add stations' common limits."""
        for name, region in self.entry.regions.items():
            with self.place("regions", name):
                limit = expression(region.limit, graph, ONE, f"{name}.limit")
                graph = graph.region(name, region.stations, limit)
        return graph
