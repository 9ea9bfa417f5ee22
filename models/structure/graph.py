"""The model graph: components, routes between stations, and bindings between numbers.

A graph is structure only. It holds names and formulas, no values; giving its parameters
values makes a `headway.models.structure.model.Model`, which can be solved.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from headway.errors import GraphError
from headway.kinds import Amount
from headway.models.language.algorithms import ALGORITHMS
from headway.models.language.frozen import adding
from headway.models.language.names import check_shown
from headway.models.language.verbs import perform
from headway.models.structure.building.reading import Expression
from headway.models.structure.building.traffic import TrafficBuilding
from headway.models.structure.parts.components import Component
from headway.models.structure.parts.links import LINK_PARTS, link_machine, platform_of
from headway.models.structure.parts.structure import RESERVED
from headway.models.structure.planning.by_class import needs_chains, visited
from headway.models.structure.planning.plan import Plan
from headway.numerals import counted
from headway.records import dataclass

if TYPE_CHECKING:
    from headway.loggp.machine.parameters import LogGP
    from headway.models.language.parameters import Parameter
    from headway.models.structure.model import Model


@dataclass(frozen=True, eq=False)
class ModelGraph(TrafficBuilding):
    """A model's structure, built step by step; each step gives a new graph.

    Names used in formulas as text must be declared before (`declare`, `bind`, `link`, `station`);
    SymPy symbols declare themselves. ``throughput`` and ``arrival_rate`` are the rate of jobs
    through the whole network [1/s].

    Parameters
    ----------
    name
        The model's name.

    Examples
    --------
    >>> from headway.queueing import Delay, MM1
    >>> server = (
    ...     ModelGraph("server")
    ...     .declare("cpu_time")
    ...     .station("network", Delay(1e-3))
    ...     .station("cpu", MM1("2 * cpu_time"))
    ...     .route("network", "cpu")
    ... )
    >>> server.at(cpu_time=0.002).solve(arrival_rate=125).response_time
    0.009000000000000001
    >>> server
    ModelGraph(server: 2 stations, 1 route, 1 parameter)
    """

    def __repr__(self) -> str:
        sizes = {
            "station": len(self.stations),
            "link": len(self.links),
            "route": len(self.routes) + len(self.class_ways.routes),
            "class": len(self.classes),
            "parameter": len(self.parameters),
        }
        parts = [counted(number, word) for word, number in sizes.items() if number]
        return f"ModelGraph({self.name}: {', '.join(parts) or 'empty'})"

    @property
    def content(self) -> str:
        """Every part as text, unlike the short repr; equal only for equal structures.

        Examples
        --------
        >>> one = ModelGraph("one").declare("size").output("reads", "2 * size")
        >>> one.content == one.output("writes", "size").content
        False
        """
        block = self.routes.block
        matrix = None if block.matrix is None else block.matrix.tolist()
        parts = {part.name: getattr(self, part.name) for part in fields(self)}
        return repr({**parts, "routes": (self.routes.single, block.names, matrix)})

    def _repr_svg_(self) -> str | None:
        """Draw the graph in a notebook; None if there is nothing to draw."""
        drawn: str | None = perform(self, "svg")
        return drawn

    def bind(self, name: str, expression: Expression) -> "ModelGraph":
        """Define a number by a formula of parameters and other components' numbers.

        Examples
        --------
        >>> graph = ModelGraph("one").declare("size").bind("blocks", "ceil(size / 4096)")
        >>> graph.output("reads", "2 * blocks").at(size=10_000).solve()["reads"]
        6.0
        """
        self._check_new(name)
        graph, read = self._read(expression, f"{name}")
        return replace(graph, bindings=adding(graph.bindings, name, read))

    def link(self, name: str, machine: "LogGP") -> "ModelGraph":
        """Add a LogGP link, whose numbers formulas can use: ``lan.overhead``.

        Its latency is converted to the convention of the papers. Numbers other than formulas become
        parameters with these values, such as ``lan.latency``.

        Raises
        ------
        GraphError
            For another convention of latency together with a formula, whose value is not yet known.

        Examples
        --------
        >>> from headway.loggp import LogGP
        >>> time = "lan.send_overhead + lan.latency + lan.receive_overhead"
        >>> graph = ModelGraph("one").link("lan", LogGP(5e-6, 2e-6, 4e-6, 6e-6, 0.0))
        >>> model = graph.output("one_way", time).at()
        >>> slow = model.at({"lan.latency": "50 us"})
        >>> [round(1e6 * m.solve()["one_way"], 9) for m in (model, slow)]
        [11.0, 56.0]
        """
        graph, component = self._component(name, link_machine(name, machine), LINK_PARTS)
        component = replace(component, platform=platform_of(machine))
        return replace(graph, links=adding(graph.links, name, component))

    def pipeline(
        self,
        name: str,
        stages: Mapping[str, tuple[Expression, Expression]],
        transfer: Expression,
        packet: Expression,
    ) -> "ModelGraph":
        """Add a pipeline, whose results formulas can use: ``net.total_time``.

        Parameters
        ----------
        name
            What formulas call it.
        stages
            Occupancy [s] and gap per byte [s/B] of each stage in order, by name.
        transfer, packet
            Bytes to transfer, and bytes in a packet.

        Examples
        --------
        >>> two = {"first": (1.0, 0.0), "second": (3.0, 0.0)}
        >>> graph = ModelGraph("two").pipeline("net", two, transfer=200.0, packet=100.0)
        >>> graph.output("run_time", "net.total_time").at().solve()["run_time"]
        7.0
        """
        occupancy, gaps = zip(*stages.values(), strict=True) if stages else ((), ())
        values: dict[str, Expression | Sequence[Expression]] = {
            "occupancy": occupancy,
            "gap_per_byte": gaps,
            "transfer": transfer,
            "packet": packet,
        }
        return self.algorithm("pipelines", name, values, tuple(stages))

    def algorithm(
        self,
        table: str,
        name: str,
        values: Mapping[str, Expression | Sequence[Expression]],
        labels: tuple[str, ...] = (),
        word: str = "",
    ) -> "ModelGraph":
        """Add a component with an algorithm, by the name of its table.

        Parameters
        ----------
        table
            As in a model file: ``pipelines``, ``contention`` or ``caches``.
        name
            What formulas call it.
        values
            Its numbers, or lists of them.
        labels
            Names of the stages.
        word
            A choice among several, such as the policy of a cache.

        Raises
        ------
        InvalidParameter
            For an unknown word.
        GraphError
            For numbers that are missing, or that the component does not have.

        Examples
        --------
        >>> cache = {"size": "memory", "objects": 1e6, "exponent": 0.9}
        >>> graph = ModelGraph("one").declare("memory").algorithm("caches", "buffer", cache)
        >>> model = graph.output("misses", "buffer.miss_ratio").at(memory=1000)
        >>> round(model.solve()["misses"], 3)
        0.776
        """
        algorithm = ALGORITHMS[table]
        kind = algorithm.kind(word)
        given = {**dict(algorithm.defaults), **values}
        algorithm.check(name, kind, given)
        graph, read = self._fields(name, {k: given[k] for k in algorithm.keys(kind) if k in given})
        for label in labels:
            check_shown(label, f"{name}: stage")
        mine = {**self.algorithms.get(table, {}), name: Component(kind, read, labels=labels)}
        return replace(graph, algorithms={**graph.algorithms, table: mine})

    def output(self, name: str, expression: Expression) -> "ModelGraph":
        """Define a further output by a formula.

        Examples
        --------
        >>> graph = ModelGraph("one").declare("messages", "run_time")
        >>> graph.output("rate", "messages / run_time").at(messages=60, run_time=4).solve()["rate"]
        15.0
        """
        if name not in RESERVED:
            self._check_new(name)
        graph, read = self._read(expression, f"output {name}")
        return replace(graph, outputs=adding(graph.outputs, name, read))

    def at(self, values: Mapping[str, Any] | None = None, /, **named: Any) -> "Model":
        """Set parameter values, by name or as a mapping, to get a model that can be solved."""
        model: Model = perform(self, "at", {**(values or {}), **named})
        return model

    @property
    def response_time(self) -> Amount:
        """The closed form of the mean response time, a SymPy expression of the parameters."""
        return self.closed_form("response_time")

    def closed_form(self, output: str) -> Amount:
        """Write an output of the open network as a SymPy expression of the parameters.

        Parameters
        ----------
        output
            ``response_time``, an output of the model, or a component's part such as
            ``cpu.utilisation``; also a percentile such as ``response_time_p99`` if the response
            time is constants and one exponential time.

        Examples
        --------
        >>> from headway.queueing import MM1
        >>> ModelGraph("one").declare("s").station("cpu", MM1("s")).closed_form("cpu.utilisation")
        arrival_rate*s
        """
        return perform(self, "closed_form", output)

    @cached_property
    def plan(self) -> Plan:
        """The order in which this graph's numbers are calculated."""
        return Plan(self)

    @cached_property
    def own_numbers(self) -> "Mapping[str, Parameter]":
        """Numbers of layered services that are no parameters yet, by the names that they take."""
        if self.layers is None:
            return {}
        from headway.models.structure.parts.own_numbers import own_numbers

        taken = {*self.parameters, *self.bindings, *self.outputs, *RESERVED}
        return {n: one for n, one in own_numbers(self.layers).items() if n not in taken}

    def naming(
        self, parameters: "Mapping[str, Parameter]", names: Sequence[str]
    ) -> "tuple[ModelGraph, Mapping[str, Parameter]] | None":
        """With those of its own numbers that are asked for as parameters; None without any."""
        asked = [name for name in dict.fromkeys(names) if name in self.own_numbers]
        if not asked or self.layers is None:
            return None
        from headway.models.structure.parts.own_numbers import with_own_numbers

        graph = replace(self.declare(*asked), layers=with_own_numbers(self.layers, asked))
        return graph, {**parameters, **{name: self.own_numbers[name] for name in asked}}

    @property
    def worth_naming(self) -> tuple[str, ...]:
        """Its own numbers that a page asks of: all, or beside parameters that of the load."""
        own = self.own_numbers
        if not self.parameters:
            return tuple(name for name, one in own.items() if one.value)
        if self.layers is None:
            return ()
        from headway.models.structure.parts.own_numbers import load_name

        load = load_name(self.layers)
        return (load,) if load in own else ()

    def circulating(self) -> "ModelGraph":
        """The graph as it is with jobs that circulate: clients of layered services are a task.

        Raises
        ------
        GraphError
            For a program, several classes, and layered services that have clients.
        """
        if self.layers is not None:
            from headway.models.structure.parts.reference_task import why_not_closed, with_clients

            if not (why := why_not_closed(self.layers)):
                return replace(self, layers=with_clients(self.layers))
        elif self.stations and not self.classes:
            return self
        else:
            why = "its classes have their own populations" if self.classes else "it has no stations"
        msg = f"{self.name} cannot be closed: {why}"
        raise GraphError(msg)

    @cached_property
    def ways_by_class(self) -> frozenset[tuple[str, str]]:
        """Classes at the stations that they can reach; empty if all have the same routes.

        Examples
        --------
        >>> from headway.queueing import MM1
        >>> two = ModelGraph("two").station("cpu", MM1(0.1)).station("disk", MM1(0.2))
        >>> two = two.job_class("web", 1.0).job_class("batch", 2.0)
        >>> sorted(two.route("cpu", "disk", job_class="web").ways_by_class)
        [('batch', 'cpu'), ('web', 'cpu'), ('web', 'disk')]
        """
        return frozenset(visited(self)) if needs_chains(self) else frozenset()
