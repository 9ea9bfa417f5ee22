"""A model: a graph whose parameters have values, ready to be solved."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

from headway.errors import GraphError, InvalidParameter, UnknownModel, UnknownParameter, nearest
from headway.kinds import Amount, FloatArray, Number
from headway.models.language.formula import formula
from headway.models.language.frozen import Kept
from headway.models.language.parameters import Parameter, Preset
from headway.models.language.units import Unit, done_by, in_words, is_rate, unit
from headway.models.language.verbs import perform
from headway.models.structure.alternatives import (
    Alternative,
    each_changed,
    given_values,
    still_drawn,
)
from headway.models.structure.correlations import (
    Correlations,
    check_correlations,
    still_uncertain,
)
from headway.models.structure.graph import ModelGraph
from headway.models.structure.inputs import (
    ARRIVAL_RATE,
    ARRIVAL_SCV,
    POPULATION,
    THINK_TIME,
    parameters_of,
)
from headway.models.structure.meanings import Better, Meaning
from headway.models.structure.network_kind import NetworkKind
from headway.models.structure.outputs import usual_meaning
from headway.models.structure.parts.finite import in_renewal_room
from headway.models.structure.parts.links import check_links, exposed
from headway.models.structure.replicas import (
    REPLICAS,
    are_copies,
    have_copies,
    one_of_replicas,
    scv_of_share,
)
from headway.models.structure.verbs import End, ModelVerbs
from headway.numerals import digits
from headway.records import dataclass

if TYPE_CHECKING:
    from headway.models.solving.solutions.solution import Solution
    from headway.models.structure.forms import FormTable


@dataclass(frozen=True, eq=False)
class Model(Kept, ModelVerbs):
    """A model graph with values for its parameters.

    Parameters
    ----------
    graph
        The structure.
    parameters
        Value, unit, bounds and source by name.
    presets
        Published sets of values.
    meanings
        Units and explanations of bindings and outputs.
    doc, source, assumptions
        What it models, where it is published, and what it assumes.
    preset
        The preset in force, if any.
    form
        The model as a form that is tried on curves, if it is one.
    correlations
        Correlations of parameters with intervals, by pair of names.
    units
        Units of numbers in its file that are not parameters, if they are in hours or minutes.
    tails
        Ratios of the percentiles of the data to which it was fitted to those of its law, by
        percentage.
    drawn
        Values of uncertain parameters that are plausible together [SI], arrays of one length.
    measured_to
        Highest load to which it was fitted [SI], by its name, such as ``arrival_rate``.
    alternatives
        Other models of the same system, which are asked the same.
    set_aside
        Weights of the models that cannot answer what is asked, by name.

    Examples
    --------
    >>> from headway.queueing import MM1
    >>> one = ModelGraph("one").declare("s").station("cpu", MM1("s")).at(s=0.5)
    >>> one.solve(arrival_rate=1.0).response_time
    1.0
    """

    graph: ModelGraph
    parameters: Mapping[str, Parameter]
    presets: Mapping[str, Preset] = field(default_factory=dict)
    meanings: Mapping[str, Meaning] = field(default_factory=dict)
    doc: str = ""
    source: str = ""
    assumptions: str = ""
    preset: str | None = None
    form: "FormTable | None" = None
    correlations: Correlations = field(default_factory=dict)
    units: tuple[Unit, ...] = ()
    tails: Mapping[float, float] = field(default_factory=dict)
    drawn: Mapping[str, FloatArray] = field(default_factory=dict)
    measured_to: Mapping[str, float] = field(default_factory=dict)
    alternatives: "tuple[Alternative[Model], ...]" = ()
    set_aside: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, graph: ModelGraph) -> "Model":
        """Make a model of a graph whose parameters have no values yet."""
        graph.plan  # noqa: B018 - refuses circles now rather than when it is solved
        return cls(graph, parameters_of(graph))

    @property
    def name(self) -> str:
        """The graph's name."""
        return self.graph.name

    @property
    def title(self) -> str:
        """The graph's name, with the preset in force.

        Examples
        --------
        >>> from headway.models import catalogue_model
        >>> catalogue_model("nfs-server").with_preset("raid").title
        'nfs-server (raid)'
        """
        return f"{self.name} ({self.preset})" if self.preset else self.name

    def __getitem__(self, name: str) -> Number:
        """The value of a parameter [SI], as ``model["delay"]``.

        Raises
        ------
        UnknownParameter
            For a name that the model does not have.
        InvalidParameter
            For a parameter without a value.

        Examples
        --------
        >>> from headway.models import catalogue_model
        >>> model = catalogue_model("server-single").at(delay="1 ms")
        >>> model["delay"], "delay" in model
        (0.001, True)
        """
        value = self.exposing(name).parameters[name].value
        if value is None:
            msg = f"{self.name}: no value for {name}; set {name}=..."
            raise InvalidParameter(msg)
        return value

    def __contains__(self, name: object) -> bool:
        return name in self.parameters

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the parameters."""
        return iter(self.parameters)

    def at(self, values: Mapping[str, Any] | None = None, /, **named: Any) -> "Model":
        """Give parameters values: SI numbers, arrays of operating points, or text with units.

        A parameter that is given another value is then certain.

        Raises
        ------
        UnknownParameter
            For a name that the model does not have.
        InvalidParameter, UnitError
            For a value out of bounds or of the wrong dimension.

        Examples
        --------
        >>> from headway.models import catalogue_model
        >>> catalogue_model("server-single").at(delay="1 ms", service_time=0.002).inputs["delay"]
        0.001
        """
        given = {**(values or {}), **named}
        if self.alternatives:
            return given_values(self, given)
        model = self.exposing(*given)
        changed = {**model.parameters, **{n: model.parameters[n].at(v) for n, v in given.items()}}
        check_links(model.graph.links, changed)
        kept = still_uncertain(self.correlations, changed)
        drawn = still_drawn(self.drawn, changed)
        return replace(model, parameters=changed, correlations=kept, drawn=drawn)

    def exposing(self, *names: str, known: Iterable[str] = ()) -> "Model":
        """The model with these among its parameters.

        ``lan.overhead`` stands for both sides of a link; ``replicas`` are equal copies of an open
        model, of which one is then solved; an ``arrival_rate`` opens a closed model.

        Examples
        --------
        >>> from headway.models import catalogue_model
        >>> model = catalogue_model("server-single").at(delay="1 ms", service_time="1 ms")
        >>> model.at(arrival_rate=2000, replicas=4).solve().response_time
        0.003
        """
        if self.alternatives:
            return each_changed(self, lambda one: one.exposing(*names, known=known))
        if ARRIVAL_RATE in names and self.is_closed and ARRIVAL_RATE not in self.parameters:
            return self._opened().exposing(*names, known=known)
        if REPLICAS.name in names and REPLICAS.name not in self.parameters:
            return self._with_replicas().exposing(*names, known=known)
        if found := self.graph.naming(self.parameters, names):
            return replace(self, graph=found[0], parameters=found[1]).exposing(*names, known=known)
        copies = {REPLICAS.name} if have_copies(self.graph) and not self.is_closed else set()
        offered = {*known, *copies, *self.graph.own_numbers}
        links, parameters = exposed(self.name, self.graph.links, self.parameters, names, offered)
        if parameters is self.parameters:
            return self
        return replace(self, graph=replace(self.graph, links=links), parameters=parameters)

    def _opened(self) -> "Model":
        """The graph with arrivals in place of circulating jobs."""
        circulating, graph = {POPULATION.name, THINK_TIME.name}, self.graph
        parts = (read for one in graph.stations.values() for read in one.formulas().values())
        formulas = (*graph.bindings.values(), *graph.outputs.values(), *chain(*parts))
        if any(circulating & read.names for read in formulas):
            msg = f"{self.name} cannot be opened: its formulas use population or think_time"
            raise GraphError(msg)
        if self.is_closed and self.parameters[POPULATION.name].interval is not None:
            msg = f"{self.name} cannot be opened: how many jobs circulate in it was estimated"
            raise GraphError(msg)
        for name in circulating:
            graph = graph.without(name)
        rate = parameters_of(graph)[ARRIVAL_RATE]
        kept = {n: p for n, p in self.parameters.items() if n not in circulating}
        drawn = {n: values for n, values in self.drawn.items() if n not in circulating}
        return replace(self, graph=graph, parameters={ARRIVAL_RATE: rate, **kept}, drawn=drawn)

    def _with_replicas(self) -> "Model":
        """One of several equal copies of this model, whose number is a parameter."""
        if self.is_closed:
            msg = f"{self.name} has no replicas: jobs circulate in it, and none arrive"
            raise GraphError(msg)
        parameters = {**self.parameters, REPLICAS.name: REPLICAS}
        return replace(self, graph=one_of_replicas(self.graph), parameters=parameters)

    def with_preset(self, name: str) -> "Model":
        """Take the values of a published set.

        Raises
        ------
        UnknownModel
            For a preset that the model does not have.
        """
        if name not in self.presets:
            msg = f"{self.name} has no preset {name!r}{nearest(name, self.presets)}"
            raise UnknownModel(msg)
        values = self.presets[name].values
        taken = self.at(values)
        own = {n: replace(p, own=None) if n in values else p for n, p in taken.parameters.items()}
        return replace(taken, parameters=own, preset=name)

    def plot(self, log: str | None = None, dark: bool = False) -> Amount:  # noqa: FBT001, FBT002
        """Draw the graph, with utilisations if the model can be solved, as a Figure.

        A program has no stations; its closed forms are drawn.
        """
        if not (self.graph.stations or self.graph.layers):
            return self.plot_formulas(dark)
        return super().plot(log, dark)

    def plot_formulas(self, dark: bool = False) -> Amount:  # noqa: FBT001, FBT002
        """Draw the closed forms as typeset mathematics, as a Figure."""
        return perform(perform(self, "plot_formulas"), "finish", None, dark)

    def __repr__(self) -> str:
        preset = f", preset {self.preset}" if self.preset else ""
        return f"Model({self.name}{preset}: {len(self.parameters)} parameters)"

    @property
    def inputs(self) -> dict[str, Number]:
        """The SI value of every parameter.

        Raises
        ------
        InvalidParameter
            If one has no value.
        """
        values = {name: p.value for name, p in self.parameters.items() if p.value is not None}
        missing = [name for name in self.parameters if name not in values]
        if missing:
            msg = f"{self.name}: no value for {', '.join(missing)}; set {missing[0]}=..."
            raise InvalidParameter(msg)
        return values

    @cached_property
    def network(self) -> "Model":
        """The network that is solved; a single class is solved as one without classes.

        For a closed network that nothing leaves, it is the network of one round.
        """
        network = self
        if len(self.graph.classes) == 1:
            from headway.models.structure.one_class import alone, circulation

            network = replace(self, graph=alone(self.graph))
            jobs = circulation(self.graph, self.inputs)
            network = network if jobs is None else network.closed(*jobs)
        if not (network.is_closed and network.graph.stations):
            return network
        from headway.models.structure.closing import in_rounds

        graph = in_rounds(network.graph, network.inputs)
        return network if graph is network.graph else replace(network, graph=graph)

    @cached_property
    def network_kind(self) -> NetworkKind:
        """How its jobs move, as the network that is solved has them.

        Examples
        --------
        >>> from headway.models import ModelGraph
        >>> from headway.queueing import MM1
        >>> one = ModelGraph("one").station("cpu", MM1(0.1)).at()
        >>> one.network_kind.value, one.closed(5).network_kind.value
        ('one open class', 'one closed class')
        """
        network = self.network
        if network.graph.layers:
            return NetworkKind.LAYERED
        if not network.graph.stations:
            return NetworkKind.PROGRAM
        if network.graph.blocks:
            return NetworkKind.BLOCKING
        if network.graph.gives_up:
            return NetworkKind.CLIENTS
        if network.graph.classes:
            return NetworkKind.CLASSES
        return NetworkKind.CLOSED if network.is_closed else NetworkKind.OPEN

    @property
    def is_closed(self) -> bool:
        """Whether a population circulates, rather than jobs arriving from outside."""
        return "population" in self.parameters and not (self.graph.classes or self.graph.layers)

    def closed(self, population: Number, think_time: Number | str | None = None) -> "Model":
        """Close the network: the same graph, with a population instead of arrivals.

        Parameters
        ----------
        population
            Number N of circulating jobs, whole numbers of 0 or more, scalar or array.
        think_time
            Mean time Z between an answer and the next request [s], or text with a unit; by default
            the model's own, or 0 if it has none.

        Raises
        ------
        GraphError
            For a program, several classes, and layered services with clients, or numbers named so.

        Examples
        --------
        >>> from headway.queueing import MM1
        >>> one = ModelGraph("one").declare("s").station("cpu", MM1("s")).at(s=0.5)
        >>> one.closed(population=10).solve().throughput
        2.0
        """
        if self.alternatives:
            return each_changed(self, lambda one: one.closed(population, think_time))
        if self.is_closed or (self.graph.layers and self.graph.layers.circulates):
            own = self.at(population=population)
            return own if think_time is None else own.at(think_time=think_time)
        graph = self.graph.circulating()
        used = graph.layers.names if graph.layers else frozenset()
        arriving = {ARRIVAL_RATE, ARRIVAL_SCV.name} - used
        kept = {n: p for n, p in self.parameters.items() if n not in arriving}
        waits = kept.get("think_time", THINK_TIME.at(0.0))
        waits = waits if think_time is None else waits.at(think_time)
        parameters = {**kept, "population": POPULATION.at(population), "think_time": waits}
        rates = {n: self.meaning(n) for n in ("throughput", "saturation_throughput")}
        if ARRIVAL_SCV.name in self.parameters and graph.arrival_scvs:  # there are no arrivals
            graph = replace(graph, arrival_scvs={}).without(ARRIVAL_SCV.name)
        sets = {name: each.without(arriving) for name, each in self.presets.items()}
        drawn = {n: values for n, values in self.drawn.items() if n in parameters}
        both = still_uncertain(self.correlations, parameters)
        made = replace(self, graph=graph, parameters=parameters, correlations=both, drawn=drawn)
        return replace(made, presets=sets, meanings={**rates, **self.meanings})

    def arriving(self, scv: Number) -> "Model":
        """The network with an scv of its arrivals.

        Parameters
        ----------
        scv
            Squared coefficient of variation of the interarrival times: 0 for equal intervals, as
            from most load generators, 1 for Poisson arrivals. It becomes the parameter
            ``arrival_scv``.

        Raises
        ------
        GraphError
            For a network without arrivals, and one through which headway cannot propagate their
            variability.

        Examples
        --------
        >>> from headway.queueing import MM1
        >>> one = ModelGraph("one").station("cpu", MM1(0.1)).at()
        >>> [round(one.arriving(scv).solve(8.0).response_time, 4) for scv in (0, 1)]
        [0.2693, 0.5]
        """
        if self.alternatives:
            return each_changed(self, lambda one: one.arriving(scv))
        if ARRIVAL_SCV.name in self.parameters:
            return self.at({ARRIVAL_SCV.name: scv})
        graph = self.graph
        if not graph.stations or graph.classes or self.is_closed or len(graph.arrivals) > 1:
            msg = f"{self.name}: an scv of arrivals is for an open network where jobs come in once"
            raise GraphError(msg)
        place = next(iter(graph.arrivals or graph.stations))
        rates = graph.arrivals or {place: formula("arrival_rate")}
        scv_there = formula(ARRIVAL_SCV.name)
        scvs = {place: scv_of_share(scv_there) if are_copies(self.parameters) else scv_there}
        varied = replace(graph.declare(ARRIVAL_SCV.name), arrivals=rates, arrival_courses={})
        varied = (
            in_renewal_room(varied, scvs[place])
            if graph.losing
            else replace(varied, arrival_scvs=scvs)
        )
        varied.plan  # noqa: B018 - refuses stations that do not take it
        parameters = {**self.parameters, ARRIVAL_SCV.name: ARRIVAL_SCV.at(scv)}
        said = f"The times between arrivals have the scv {ARRIVAL_SCV.name}."
        assumptions = f"{self.assumptions.rstrip()} {said}".strip()
        return replace(self, graph=varied, parameters=parameters, assumptions=assumptions)

    def solve(
        self,
        arrival_rate: Number | None = None,
        population: Number | None = None,
        think_time: Number | str | None = None,
        method: str = "auto",
        percentiles: Sequence[float] | float = (),
        **named: Any,
    ) -> "Solution":
        """Solve the network (or the program) at every operating point at once.

        Parameters
        ----------
        arrival_rate
            Arrival rate from outside [1/s], 0 or more, scalar or array: solves the open network. By
            default the parameter's own value.
        population, think_time
            Number of circulating jobs, and their think time [s]: solves the same graph closed.
        method
            For a closed network: auto, exact, convolution, recal, quadrature, schweitzer,
            linearizer. For an open one: auto, or qna, which propagates the variability of arrivals
            and service; auto does so too if arrivals have an scv. `simulate` simulates either.
        percentiles
            Percentiles of the response time to add, in per cent: 99 for p99.
        named
            Further parameters by name, as for `at`.

        Raises
        ------
        UnknownParameter
            For a name that the model does not have.
        InvalidParameter
            For a parameter without a value, shapes that do not match, or an unknown method.
        GraphError
            For stations that a closed network cannot contain.

        Examples
        --------
        >>> from headway.models import catalogue_model
        >>> model = catalogue_model("server-single").at(delay="1 ms", service_time="1 ms")
        >>> model.solve([0.0, 500.0]).response_time.tolist()
        [0.002, 0.003]
        >>> model.solve(population=1).throughput
        500.0
        >>> round(model.solve(0.0, percentiles=[99])["response_time_p99"], 6)  # 1 ms + 1 ms ln 100
        0.005605
        """
        options = "arrival_rate", "population", "think_time", "method", "percentiles"
        self.exposing(*named, known=options)
        rate = {} if arrival_rate is None else {"arrival_rate": arrival_rate}
        model = self.at({**named, **rate})
        if population is not None:
            model = model.closed(population, think_time)
        elif think_time is not None:
            model = model._thinking(think_time)
        percents = checked_percents(percentiles)
        solution: Solution = perform(model, "solve", method)
        return solution.with_percentiles(percents) if percents else solution

    def _thinking(self, think_time: Number | str) -> "Model":
        if "think_time" not in self.parameters:
            msg = f"{self.name}: an open network has no think time; give a population too"
            raise UnknownParameter(msg)
        return self.at(think_time=think_time)

    def meaning(self, name: str) -> Meaning:
        """Unit and explanation of an output or binding."""
        if name in self.meanings:
            return self.meanings[name]
        rate = self.parameters.get("arrival_rate")
        rates = [rate.unit] if rate else [each for each in self.units if is_rate(each)]
        stated = [each for each in rates if each.text]  # not plain numbers
        return usual_meaning(name, in_words(stated[0] if stated else self._done()))

    def _done(self) -> Unit:
        """The throughput of circulating jobs, in the word of the model's file."""
        around = [p.unit for n, p in self.parameters.items() if n.endswith("population")]
        words = set(filter(None, map(done_by, (*around, *self.units))))
        return words.pop() if len(words) == 1 else unit("jobs/s" if words else "1/s")

    @property
    def stated(self) -> tuple[Unit, ...]:
        """The units in which the model states its numbers."""
        return (*(parameter.unit for parameter in self.parameters.values()), *self.units)

    def better(self, output: str) -> Better | None:
        """Whether less or more of an output is better; None if unknown.

        What the model says of its own outputs comes first. By name, less of a time and of a loss is
        better, and more of a throughput, a bandwidth and a saturation load.

        Examples
        --------
        >>> from headway.models import catalogue_model
        >>> pipeline = catalogue_model("pipeline")
        >>> [str(pipeline.better(name)) for name in ("total_time", "bandwidth", "packets")]
        ['less', 'more', 'None']
        """
        stated = self.meanings[output].better if output in self.meanings else None
        return usual_meaning(output, unit("1/s")).better if stated is None else stated


def checked_percents(percentiles: Sequence[float] | float) -> tuple[float, ...]:
    """Percentages of percentiles; a share such as 0.99 is refused, as it would be the 0.99th.

    Raises
    ------
    InvalidParameter
        With what to write instead.
    """
    percents = (percentiles,) if isinstance(percentiles, int | float) else tuple(percentiles)
    for each in percents:
        if 0 < each < 1:
            msg = f"percentile {digits(each)}: write it in per cent, {digits(100 * each)}"
            raise InvalidParameter(msg)
    return percents


def model_at(graph: ModelGraph, values: Mapping[str, Amount]) -> Model:
    """Give the parameters of a graph values."""
    return Model.of(graph).at(values)


def with_intervals(
    model: Model, intervals: Mapping[str, tuple[End, End]], correlations: Correlations
) -> Model:
    """State the uncertainty of parameters; see `ModelVerbs.uncertain`."""
    model = model.exposing(*intervals)
    within = {name: model.parameters[name].within(*ends) for name, ends in intervals.items()}
    parameters = {**model.parameters, **within}
    merged = {**model.correlations, **correlations}
    check_correlations(merged, parameters)
    return replace(model, parameters=parameters, correlations=merged)


def check_model(given: object) -> None:
    """Refuse anything but a model where one is needed.

    Raises
    ------
    InvalidParameter
        With how to get a model of it.

    Examples
    --------
    >>> check_model(7)
    Traceback (most recent call last):
        ...
    headway.errors.InvalidParameter: int is not a model; load one with headway.load
    """
    if isinstance(given, Model):
        return
    if isinstance(given, str):
        msg = f"{given[:99]!r} is a name, not a model; load it with headway.load"
        raise InvalidParameter(msg)
    has_one = isinstance(getattr(given, "model", None), Model)
    remedy = "give its .model" if has_one else "load one with headway.load"
    msg = f"{type(given).__name__} is not a model; {remedy}"
    raise InvalidParameter(msg)
