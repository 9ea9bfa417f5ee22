"""Regions and the autoscaler of a model file."""

from headway.models.files.building.arrivals import parts_of
from headway.models.files.building.entries import Entries
from headway.models.files.building.expressions import FIELD_UNITS, expression
from headway.models.language.units import ONE, unit
from headway.models.structure.graph import ModelGraph


class Regions(Entries):
    """Adds finite-capacity regions to a graph."""

    def regions(self, graph: ModelGraph) -> ModelGraph:
        """Add limits that stations share."""
        for name, region in self.entry.regions.items():
            with self.place("regions", name):
                limit = expression(region.limit, graph, ONE, f"{name}.limit")
                graph = graph.region(name, region.stations, limit)
        return graph

    def autoscaler(self, graph: ModelGraph) -> ModelGraph:
        """Add the autoscaler that sets a parameter over a day."""
        entry = dict(self.entry.autoscaler)
        if not entry:
            return graph
        scales, metric = str(entry.pop("scales")), str(entry.pop("metric", "utilisation"))
        own, numbers = str(entry.pop("asks_for", "")), {}
        for _, key, text in parts_of(entry):
            wanted = FIELD_UNITS.get(key, ONE)
            if key == "target" and metric == "rate":
                wanted = unit("op/s")
            with self.place("autoscaler", key):
                numbers[key] = expression(text, graph, wanted, f"autoscaler: {key}")
        with self.place("autoscaler"):
            return graph.autoscale(scales, numbers, metric, own)
