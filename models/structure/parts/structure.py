"""What a graph holds: components, routes and bindings, as names and formulas without values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from headway.models.language.algorithms import ALGORITHMS
from headway.models.language.formula import Formula
from headway.models.language.frozen import Kept
from headway.models.language.names import check_shown
from headway.models.structure.parts.class_ways import ClassRouting
from headway.models.structure.parts.components import STATION_PARTS, Component
from headway.models.structure.parts.links import LINK_KEYS
from headway.models.structure.parts.regions import REGION_PARTS, Region
from headway.models.structure.parts.routes import Routes, routes_of

RESERVED = frozenset({"arrival_rate", "throughput", "response_time", "saturation_throughput"})
CLASS_KEYS = {
    "arrival_rate": "The arrival rate of an open class [1/s].",
    "population": "The number of jobs of a closed class.",
    "think_time": "The time from a reply to the next request of a closed class.",
    "priority": "The priority at stations that serve by priority; 1 is served first.",
    "arrival_scv": "Squared coefficient of variation of an open class's interarrival times.",
}
"""Numbers of a class of jobs, and what they mean."""

CLASS_PLACES = ("arrives", "reference")


@dataclass(frozen=True, eq=False)
class Structure(Kept):
    """The parts of a model and their connections.

    Parameters
    ----------
    name
        The model's name.
    parameters
        Names that formulas may use and that have values of their own.
    bindings, outputs
        Formulas by name.
    links, stations
        Components by name.
    algorithms
        Components with an algorithm, by name, by the table they stand in.
    routes, arrivals
        Where jobs go, and where they come in at which rate [1/s].
    arrival_scvs
        Squared coefficient of variation of the times between arrivals from outside, by station;
        where there are any, variability is propagated through the whole network.
    classes
        Arrival rate, or population and think time, and priority of each class of jobs.
    class_ways
        Routes of single classes, where they come in, and where rounds begin.
    regions
        Stations that together hold so many jobs.
    """

    name: str
    parameters: tuple[str, ...] = ()
    bindings: Mapping[str, Formula] = field(default_factory=dict)
    links: Mapping[str, Component] = field(default_factory=dict)
    algorithms: Mapping[str, Mapping[str, Component]] = field(default_factory=dict)
    stations: Mapping[str, Component] = field(default_factory=dict)
    routes: Routes = field(default_factory=Routes)
    arrivals: Mapping[str, Formula] = field(default_factory=dict)
    outputs: Mapping[str, Formula] = field(default_factory=dict)
    classes: Mapping[str, Mapping[str, Formula]] = field(default_factory=dict)
    class_ways: ClassRouting = field(default_factory=ClassRouting)
    regions: Mapping[str, Region] = field(default_factory=dict)
    arrival_scvs: Mapping[str, Formula] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "routes", routes_of(self.routes, tuple(self.stations)))
        super().__post_init__()
        check_shown(self.name, "model")

    @cached_property
    def losing(self) -> tuple[str, ...]:
        """Stations that reject jobs when full.

        Examples
        --------
        >>> from headway.models import ModelGraph
        >>> from headway.queueing import MM1, MM1K
        >>> ModelGraph("shop").station("cpu", MM1(0.1)).station("disk", MM1K(0.1, 3)).losing
        ('disk',)
        """
        return tuple(name for name, component in self.stations.items() if component.loses)

    @property
    def needs_arrival_rate(self) -> bool:
        """Whether jobs arrive with the parameter ``arrival_rate``.

        Examples
        --------
        >>> from headway.models import ModelGraph
        >>> from headway.queueing import MM1
        >>> graph = ModelGraph("one").station("cpu", MM1(0.1))
        >>> graph.needs_arrival_rate, graph.arrive("cpu", 5.0).needs_arrival_rate
        (True, False)
        """
        if not self.stations or self.classes:
            return False
        rates = self.arrivals.values()
        return not self.arrivals or any("arrival_rate" in rate.names for rate in rates)

    @property
    def names(self) -> frozenset[str]:
        """Every name that a formula in this graph may use.

        Examples
        --------
        >>> from headway.models import ModelGraph
        >>> from headway.queueing import MM1
        >>> names = ModelGraph("one").declare("s").station("cpu", MM1("s")).names
        >>> {"s", "cpu.utilisation", "throughput"} <= names, "disk.utilisation" in names
        (True, False)
        """
        own = {*self.parameters, *self.bindings, *self.outputs, *RESERVED}
        own |= {f"{link}.{part}" for link in self.links for part in LINK_KEYS}
        for table, components in self.algorithms.items():
            for name, component in components.items():
                parts = (*component.numbers, *ALGORITHMS[table].parts)
                own |= {f"{name}.{part}" for part in parts}
        for name, station in self.stations.items():
            own |= {f"{name}.{part}" for part in (*station.numbers, *STATION_PARTS)}
            own |= {f"{name}.blocked", f"{name}.call_blocking"} if self.blocks else set()
        own |= {f"{name}.{part}" for name in self.regions for part in ("limit", *REGION_PARTS)}
        return frozenset(own)

    @property
    def blocks(self) -> bool:
        """Whether jobs are held up: at full stations that block, or outside a region.

        Examples
        --------
        >>> from headway.models import ModelGraph
        >>> from headway.queueing import MM1
        >>> graph = ModelGraph("one").station("cpu", MM1(0.1))
        >>> graph.blocks, graph.region("threads", ["cpu"], limit=8).blocks
        (False, True)
        """
        return bool(self.regions) or any(each.blocking for each in self.stations.values())

    @property
    def spreads(self) -> bool:
        """Whether arrivals have a given variability, at stations or by class.

        Examples
        --------
        >>> from headway.models import ModelGraph
        >>> from headway.queueing import MM1
        >>> graph = ModelGraph("one").station("cpu", MM1(0.1))
        >>> graph.spreads, graph.job_class("web", 5.0, arrival_scv=4.0).spreads
        (False, True)
        """
        by_class = any("arrival_scv" in numbers for numbers in self.classes.values())
        return bool(self.arrival_scvs) or by_class

    @property
    def components(self) -> frozenset[str]:
        """Names of stations, regions, links and components with an algorithm.

        Examples
        --------
        >>> from headway.models import ModelGraph
        >>> from headway.queueing import MM1
        >>> sorted(ModelGraph("two").station("cpu", MM1(0.1)).station("disk", MM1(0.2)).components)
        ['cpu', 'disk']
        """
        algorithms = (name for table in self.algorithms.values() for name in table)
        return frozenset({*self.stations, *self.regions, *self.links, *algorithms})
