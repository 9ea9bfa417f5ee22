"""The model graph: components, routes between stations, and bindings between numbers.

A graph is structure only. It holds names and formulas, no values; giving its parameters
values makes a `headway.models.structure.model.Model`, which can be solved.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from numpy.typing import ArrayLike

from headway.errors import GraphError, UnknownParameter, nearest
from headway.kinds import FUNCTIONS, Amount, Quantity, is_symbolic
from headway.loggp.machine.parameters import LogGP
from headway.models.language.algorithms import ALGORITHMS
from headway.models.language.formula import Formula, formula_at, of_number
from headway.models.language.names import check_name, check_shown
from headway.models.language.verbs import perform
from headway.models.structure.parts.components import Component, Route
from headway.models.structure.parts.links import LINK_PARTS, link_machine, platform_of
from headway.models.structure.parts.routes import check_ends
from headway.models.structure.parts.structure import CLASS_KEYS, RESERVED, Structure
from headway.models.structure.planning.plan import Plan
from headway.queueing.stations.abilities import Discipline
from headway.queueing.stations.base import Station

if TYPE_CHECKING:
    from headway.models.structure.model import Model

Expression: TypeAlias = Quantity | str
"""A number, a formula as text, or a SymPy expression."""


@dataclass(frozen=True, eq=False)
class ModelGraph(Structure):
    """A model's structure, built step by step; each step gives a new graph.

    Names used in text formulas must be declared (`declare`, `bind`, `link`, `station`)
    before; SymPy symbols declare themselves. ``throughput`` and ``arrival_rate`` are the
    rate of jobs through the whole network [1/s].

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
    """

    def declare(self, *names: str) -> "ModelGraph":
        """Name parameters that formulas may use and `at` gives values."""
        new = tuple(name for name in names if name not in (*self.parameters, "arrival_rate"))
        for name in new:
            self._check_new(name)
        return replace(self, parameters=self.parameters + new)

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
        return replace(graph, bindings={**graph.bindings, name: read})

    def link(self, name: str, machine: LogGP) -> "ModelGraph":
        """Bring in a LogGP link, whose parts formulas can use: ``lan.overhead``.

        Its latency is turned into that of the papers. Numbers, formulas apart, are parameters
        with these values, such as ``lan.latency``.

        Raises
        ------
        GraphError
            For another convention with a formula in it, whose numbers are not yet known.

        Examples
        --------
        >>> time = "lan.send_overhead + lan.latency + lan.receive_overhead"
        >>> graph = ModelGraph("one").link("lan", LogGP(5e-6, 2e-6, 4e-6, 6e-6, 0.0))
        >>> model = graph.output("one_way", time).at()
        >>> slow = model.at({"lan.latency": "50 us"})
        >>> [round(1e6 * m.solve()["one_way"], 9) for m in (model, slow)]
        [11.0, 56.0]
        """
        graph, component = self._component(name, link_machine(name, machine), LINK_PARTS)
        component = replace(component, platform=platform_of(machine))
        return replace(graph, links={**graph.links, name: component})

    def pipeline(
        self,
        name: str,
        stages: Mapping[str, tuple[Expression, Expression]],
        transfer: Expression,
        packet: Expression,
    ) -> "ModelGraph":
        """Bring in a pipeline, whose answers formulas can use: ``net.total_time``.

        Parameters
        ----------
        name
            What formulas call it.
        stages
            Occupancy [s] and gap per byte [s/B] of each stage in order, by name.
        transfer, packet
            Bytes to transfer, and in a packet.

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
    ) -> "ModelGraph":
        """Bring in a component with an algorithm, by the table that it stands in."""
        kind = ALGORITHMS[table]
        given = {**dict(kind.defaults), **values}
        graph, read = self._fields(name, {k: given[k] for k in (*kind.lists, *kind.fields)})
        for label in labels:
            check_shown(label, f"{name}: stage")
        mine = {**self.algorithms.get(table, {}), name: Component(kind.kind, read, labels=labels)}
        return replace(graph, algorithms={**graph.algorithms, table: mine})

    def station(
        self,
        name: str,
        station: Station,
        visits: Expression | Mapping[str, Expression] | None = None,
        service_times: Mapping[str, Expression] | None = None,
        discipline: str = Discipline.FCFS.value,
    ) -> "ModelGraph":
        """Add a station; the first one is where jobs arrive unless `arrive` says otherwise.

        Parameters
        ----------
        name, station
            What formulas and tables call it, and its kind with its numbers.
        visits
            Mean visits of a job, for all classes or by class, in place of routes.
        service_times
            Service time by class, of every class that comes, where it is not that of `station`
            for all.
        discipline
            ``fcfs`` serves in order of arrival, ``ps`` shares the servers among all present; it
            matters where service times differ by class.

        Examples
        --------
        >>> from headway.queueing import MM1
        >>> graph = ModelGraph("one").station("disk", MM1(0.02), visits=0.5)
        >>> graph.at().solve(arrival_rate=10)["disk.utilisation"]  # 10 * 0.5 * 0.02
        0.1
        """
        if discipline not in set(Discipline):
            msg = f"{name}: there is no discipline {discipline!r}; it must be fcfs or ps"
            raise GraphError(msg)
        graph, component = self._component(name, station, [f.name for f in fields(station)])  # type: ignore[arg-type]
        by_class = visits if isinstance(visits, Mapping) else {"": visits}
        graph, read = graph._read_all(by_class, f"{name}.visits")
        graph, times = graph._read_all(service_times or {}, f"{name}.service_time")
        component = replace(component, visits=read, service_times=times, discipline=str(discipline))
        return replace(graph, stations={**graph.stations, name: component})

    def job_class(
        self,
        name: str,
        arrival_rate: Expression | None = None,
        population: Expression | None = None,
        think_time: Expression | None = None,
    ) -> "ModelGraph":
        """Add a class of jobs: open with an arrival rate, or closed with a population.

        Examples
        --------
        >>> from headway.queueing import MM1
        >>> graph = ModelGraph("g").job_class("web", 2.0).job_class("batch", 3.0)
        >>> times = {"web": 0.1, "batch": 0.2}
        >>> graph = graph.station("cpu", MM1(0.1), service_times=times, discipline="ps")
        >>> round(graph.at().solve()["cpu.utilisation"], 12)  # 2 * 0.1 + 3 * 0.2
        0.8
        """
        if name in self.classes or not name.isidentifier():
            msg = f"class {name!r} is defined twice or is not a name"
            raise GraphError(msg)
        if (arrival_rate is None) == (population is None):
            msg = f"class {name}: give either an arrival_rate or a population"
            raise GraphError(msg)
        values = dict(zip(CLASS_KEYS, (arrival_rate, population, think_time), strict=True))
        graph, read = self._read_all(values, f"class {name}")
        return replace(graph, classes={**graph.classes, name: read})

    def route(self, source: str, target: str, probability: Expression = 1.0) -> "ModelGraph":
        """Send a share of the jobs that leave one station to another.

        What is not routed on leaves the system.

        Raises
        ------
        GraphError
            For a station that does not exist, or a route given twice.

        Examples
        --------
        >>> from headway.queueing import MM1
        >>> graph = ModelGraph("two").station("cpu", MM1(0.1)).station("disk", MM1(0.1))
        >>> graph = graph.route("cpu", "disk", 0.5).route("disk", "cpu")
        >>> graph.at().solve(arrival_rate=3)["cpu.visits"]  # 1 / (1 - 0.5)
        2.0
        """
        check_ends(self.stations, source, target)
        graph, read = self._read(probability, f"route {source} -> {target}: probability")
        return replace(graph, routes=graph.routes.adding(Route(source, target, read)))

    def route_all(self, matrix: ArrayLike) -> "ModelGraph":
        """Send jobs between all stations by a matrix of probabilities, taken as it is.

        Parameters
        ----------
        matrix
            Probability to go from each station (row) to each (column), in the order in which
            the stations were added; a row sums to 1 at most, what is left leaves the system.
            Routes with a formula go by `route`, where the matrix has 0.

        Raises
        ------
        GraphError
            For a matrix of another shape, probabilities outside 0 to 1, a row that sums to
            more than 1, stations that nothing leaves, or a route given twice.

        Examples
        --------
        >>> from headway.queueing import MM1
        >>> two = ModelGraph("two").station("cpu", MM1(0.1)).station("disk", MM1(0.1))
        >>> two.route_all([[0.0, 0.5], [1.0, 0.0]]).at().solve(arrival_rate=1.0)["cpu.visits"]
        2.0
        """
        return replace(self, routes=self.routes.with_matrix(tuple(self.stations), matrix))

    def arrive(self, station: str, rate: Expression) -> "ModelGraph":
        """Let jobs arrive at a station with a rate [1/s]; may be called for several."""
        if station not in self.stations:
            msg = f"arrivals: there is no station {station!r}{nearest(station, self.stations)}"
            raise GraphError(msg)
        graph, read = self._read(rate, f"arrivals at {station}")
        return replace(graph, arrivals={**graph.arrivals, station: read})

    def output(self, name: str, expression: Expression) -> "ModelGraph":
        """Name a further result by a formula.

        Examples
        --------
        >>> graph = ModelGraph("one").declare("messages", "run_time")
        >>> graph.output("rate", "messages / run_time").at(messages=60, run_time=4).solve()["rate"]
        15.0
        """
        if name not in RESERVED:
            self._check_new(name)
        graph, read = self._read(expression, f"output {name}")
        return replace(graph, outputs={**graph.outputs, name: read})

    def at(self, values: Mapping[str, Any] | None = None, /, **named: Any) -> "Model":
        """Give parameters values, by name or as a mapping: a model that can be solved."""
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
            ``cpu.utilisation``; of percentiles such as ``response_time_p99`` where it is one
            exponential time and constant ones.

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

    def _check_new(self, name: str) -> None:
        check_name(name, (*RESERVED, *FUNCTIONS))
        if name in {*self.parameters, *self.bindings, *self.outputs}:
            msg = f"{name} is defined twice"
            raise GraphError(msg)

    def _component(
        self, name: str, component: object, parts: Sequence[str]
    ) -> "tuple[ModelGraph, Component]":
        graph, read = self._fields(name, {part: getattr(component, part) for part in parts})
        return graph, Component(type(component), read)

    def _fields(
        self, name: str, values: Mapping[str, Amount]
    ) -> "tuple[ModelGraph, dict[str, Formula | tuple[Formula, ...]]]":
        """Read the numbers of a component, lists as several formulas."""
        if not name.isidentifier() or name in self.components:
            why = "is there already" if name.isidentifier() else "is not a name"
            msg = f"component {name!r} {why}; use another name of letters, digits and _"
            raise GraphError(msg)
        graph = self
        read: dict[str, Formula | tuple[Formula, ...]] = {}
        for part, value in values.items():
            place = f"{name}.{part}"
            if isinstance(value, list | tuple):
                graph, several = graph._read_all(dict(enumerate(value)), place)
                read[part] = tuple(several.values())
            else:
                graph, read[part] = graph._read(value, place)
        return graph, read

    def _read_all(
        self, expressions: Mapping[Any, Expression | None], place: str
    ) -> "tuple[ModelGraph, dict[Any, Formula]]":
        """Read several expressions; those that are None are left out."""
        graph: ModelGraph = self
        read = {}
        for key, expression in expressions.items():
            if expression is not None:
                graph, read[key] = graph._read(expression, place)
        return graph, read

    def _read(self, expression: Expression, place: str) -> "tuple[ModelGraph, Formula]":
        """Make a formula of an expression; declare the symbols of a SymPy one."""
        if isinstance(expression, str):
            read = formula_at(expression, place)
            self.check_known(read, place)
            return self, read
        if not is_symbolic(expression):
            return self, of_number(float(expression))  # type: ignore[arg-type]
        from headway.models.language.from_sympy import from_sympy

        read = from_sympy(expression)
        return self.declare(*sorted(read.names - self.names)), read

    def check_known(self, read: Formula, place: str) -> None:
        """Refuse a formula with a name that nothing in this graph bears."""
        for name in sorted(read.names - self.names):
            if "." in name and name.split(".")[0] not in self.components:
                msg = (
                    f"{place}: attribute access {name!r} is not allowed; no component is so called"
                )
                raise UnknownParameter(msg)
            msg = f"{place}: {name!r} in {read.text!r} is not known{nearest(name, self.names)}"
            raise UnknownParameter(msg)
