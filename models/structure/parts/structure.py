"""A graph's contents: components, routes and bindings, as names and formulas without values."""

from collections.abc import Callable, Mapping
from dataclasses import field
from functools import cached_property, wraps
from itertools import chain
from typing import TYPE_CHECKING, TypeVar

from headway.models.language.algorithms import ALGORITHMS
from headway.models.language.formula import Formula
from headway.models.language.frozen import Kept
from headway.models.language.names import check_shown
from headway.models.structure.parts.class_ways import ClassRouting
from headway.models.structure.parts.components import STATION_PARTS, Component
from headway.models.structure.parts.links import LINK_KEYS
from headway.models.structure.parts.regions import REGION_PARTS, Region
from headway.models.structure.parts.routes import Routes, routes_of
from headway.records import dataclass

if TYPE_CHECKING:
    from headway.models.structure.parts.autoscaler import AutoscalerTerms
    from headway.models.structure.parts.batches import Batch
    from headway.models.structure.parts.clients import ClientTerms
    from headway.models.structure.parts.layers import Layers
    from headway.queueing.flows.courses import Course

RESERVED = frozenset({"arrival_rate", "throughput", "response_time", "saturation_throughput"})
CLASS_KEYS = {
    "arrival_rate": "The arrival rate of an open class [1/s].",
    "population": "The number of jobs of a closed class.",
    "think_time": "The time from a reply to the next request of a closed class.",
    "priority": "The priority at stations that serve by priority; 1 is served first.",
    "arrival_scv": "Squared coefficient of variation of an open class's interarrival times.",
}
"""Numbers of a class of jobs, and their meaning."""

CLASS_PLACES = ("arrives", "reference")

LAYER_PARTS = ("throughput", "response_time", "utilisation", "waiting_time", "busy")
"""What formulas may use of a processor or a task."""


Found = TypeVar("Found")


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
        Components with an algorithm, by the name of their table, then by their own name.
    routes, arrivals
        Routes of jobs, and arrival rates by station [1/s].
    arrival_scvs
        Squared coefficient of variation of the interarrival times from outside, by station; if
        there are any, variability is propagated through the whole network.
    arrival_batches
        Sizes of batches of arrivals, by station; elsewhere jobs arrive one by one.
    arrival_courses
        Rates that follow time, or gaps of a trace, by station; elsewhere arrivals do not depend on
        the time of day.
    clients
        How clients give up and retry, by class; "" if there are no classes.
    classes
        Arrival rate, or population and think time, and priority of each class of jobs.
    class_ways
        Routes of single classes, where they enter, and where rounds begin.
    regions
        Stations that together hold a limited number of jobs.
    layers
        Tasks that call each other, in place of stations.
    autoscaler
        The autoscaler that sets a parameter over a day.
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
    arrival_batches: "Mapping[str, Batch]" = field(default_factory=dict)
    clients: "Mapping[str, ClientTerms]" = field(default_factory=dict)
    layers: "Layers | None" = None
    arrival_courses: "Mapping[str, Course]" = field(default_factory=dict)
    autoscaler: "AutoscalerTerms | None" = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "routes", routes_of(self.routes, tuple(self.stations)))
        super().__post_init__()
        check_shown(self.name, "model")

    @cached_property
    def losing(self) -> tuple[str, ...]:
        """Stations that lose jobs when full.

        Examples
        --------
        >>> from headway.models import ModelGraph
        >>> from headway.queueing import MM1, MM1K
        >>> ModelGraph("shop").station("cpu", MM1(0.1)).station("disk", MM1K(0.1, 3)).losing
        ('disk',)
        """
        return tuple(name for name, component in self.stations.items() if component.loses)

    @cached_property
    def gives_up(self) -> bool:
        """Whether requests may fail: clients give up, or stations drop requests that are too old.

        Examples
        --------
        >>> from headway.models import ModelGraph
        >>> from headway.queueing import MM1
        >>> graph = ModelGraph("one").station("cpu", MM1(0.1))
        >>> graph.gives_up, graph.impatient({"timeout": 1.0}).gives_up
        (False, True)
        """
        return bool(self.clients) or any(one.oldest for one in self.stations.values())

    @property
    def refuses(self) -> bool:
        """Whether stations refuse jobs, or drop those that are too old."""
        return bool(self.losing) or any(one.oldest for one in self.stations.values())

    @property
    def needs_arrival_rate(self) -> bool:
        """Whether the parameter ``arrival_rate`` is the rate of arrivals.

        Examples
        --------
        >>> from headway.models import ModelGraph
        >>> from headway.queueing import MM1
        >>> graph = ModelGraph("one").station("cpu", MM1(0.1))
        >>> graph.needs_arrival_rate, graph.arrive("cpu", 5.0).needs_arrival_rate
        (True, False)
        """
        if self.layers is not None:
            return "arrival_rate" in self.layers.names
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
        own |= {f"{name}.{part}" for name in self.components for part in self._parts(name)}
        return frozenset(own)

    def has(self, name: str) -> bool:
        """Whether a formula in this graph may use a name; quicker than listing all names.

        Examples
        --------
        >>> from headway.models import ModelGraph
        >>> from headway.queueing import MM1
        >>> one = ModelGraph("one").station("cpu", MM1(0.1))
        >>> one.has("cpu.utilisation"), one.has("cpu.colour"), one.has("s")
        (True, False, False)
        """
        component, dot, part = name.rpartition(".")
        if dot:
            return part in self._parts(component)
        known = (self.parameters, self.bindings, self.outputs, RESERVED)
        return any(name in names for names in known)

    def _parts(self, component: str) -> list[str]:
        """What formulas may use of a component."""
        parts = [*LINK_KEYS] if component in self.links else []
        for table, components in self.algorithms.items():
            if component in components:
                parts += (*components[component].numbers, *ALGORITHMS[table].parts)
        if component in self.stations:
            parts += (*self.stations[component].numbers, *STATION_PARTS)
            parts += ("blocked", "call_blocking") if self.blocks else ()
        if component in self.regions:
            parts += ("limit", *REGION_PARTS)
        if self.layers and (component in self.layers.tasks or component in self.layers.processors):
            parts += LAYER_PARTS
        return parts

    @cached_property
    def blocks(self) -> bool:
        """Whether jobs may be blocked: at full stations, or outside a region.

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
        """Whether arrivals have a given scv, at stations or by class.

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
        return frozenset(chain(*self._components))

    def has_component(self, name: str) -> bool:
        """Whether some component has this name; quicker than listing all.

        Examples
        --------
        >>> from headway.models import ModelGraph
        >>> from headway.queueing import MM1
        >>> one = ModelGraph("one").station("cpu", MM1(0.1))
        >>> one.has_component("cpu"), one.has_component("disk")
        (True, False)
        """
        return any(name in components for components in self._components)

    @property
    def _components(self) -> tuple[Mapping[str, object], ...]:
        layered = (self.layers.tasks, self.layers.processors) if self.layers else ()
        return self.stations, self.regions, self.links, *self.algorithms.values(), *layered


def of_structure(find: Callable[[Structure], Found]) -> Callable[[Structure], Found]:
    """Compute what follows from a graph alone only once, and keep it with the graph.

    Examples
    --------
    >>> from headway.models import ModelGraph
    >>> looked_at = []
    >>> count = of_structure(lambda graph: looked_at.append(graph.name) or len(graph.stations))
    >>> one = ModelGraph("one")
    >>> count(one), count(one), looked_at
    (0, 0, ['one'])
    """
    key = f"{find.__module__}.{find.__qualname__}"

    @wraps(find)
    def kept(graph: Structure) -> Found:
        found = graph.__dict__
        if key not in found:
            found[key] = find(graph)
        known: Found = found[key]
        return known

    return kept
