"""A model made of the entries of a model file, each error with its place in the file."""

from collections.abc import Mapping
from dataclasses import MISSING, fields, replace
from functools import partial
from graphlib import CycleError, TopologicalSorter
from math import inf
from typing import Any

from headway.errors import (
    nearest,
)
from headway.loggp.machine.parameters import Convention, LogGP
from headway.loggp.machine.platforms import PLATFORMS
from headway.models.files import schema
from headway.models.files.correlations import correlations_of
from headway.models.files.expressions import (
    FIELD_UNITS,
    MEANT_NUMBER,
    expression,
    flat,
    names_in,
    units_of,
)
from headway.models.files.forms import form_of
from headway.models.files.places import Place
from headway.models.language.algorithms import ALGORITHMS
from headway.models.language.parameters import Parameter, Preset
from headway.models.language.units import LEADING_NUMBER, ONE, Unit, quantity, unit
from headway.models.structure.graph import ModelGraph
from headway.models.structure.meanings import Better, Meaning
from headway.models.structure.model import Model
from headway.models.structure.parts.links import (
    LINK_KEYS,
    LINK_PARTS,
    LINK_UNITS,
    by_sides,
    settable,
)
from headway.models.structure.parts.structure import CLASS_KEYS
from headway.queueing.stations.abilities import Discipline
from headway.queueing.stations.listed.kinds import station_kind

FILE_KEYS = {"places": "capacity"}
"""Numbers of stations that model files call otherwise than Python does."""

_PYTHON_KEYS = {file: python for python, file in FILE_KEYS.items()}


class Builder:
    """Puts the entries of a model file together, each after those it needs."""

    def __init__(self, entry: schema.ModelEntry, place: Place) -> None:
        self.entry = entry
        self.place = place
        self.valued = {n: p for n, p in entry.parameters.items() if p.formula is None}
        self.bound = {n: p for n, p in entry.parameters.items() if p.formula is not None}
        self.links = {n: _texts(table) for n, table in entry.links.items()}

    def model(self) -> Model:
        """The model that the whole file describes."""
        entry = self.entry
        parameters = {name: self._parameter(name, p) for name, p in self.valued.items()}
        graph = self._graph()
        with self.place():
            bare = self._linked(Model.of(graph))
        unused = set(parameters) - set(bare.parameters)
        if unused:
            name = min(unused)
            msg = f"nothing uses {name}"
            raise self.place.error(msg, "parameters", name)
        model = replace(
            bare,
            parameters=parameters
            | {n: p for n, p in bare.parameters.items() if n not in parameters},
            meanings=self._meanings(),
            doc=entry.doc,
            source=entry.source,
            assumptions=entry.assumptions,
            form=form_of(entry.form, bare.parameters, self.place),
        )
        told = correlations_of(entry.correlations, model.parameters, self.place)
        model = replace(model, correlations=told)
        return replace(
            model, presets={n: self._preset(model, n, p) for n, p in entry.presets.items()}
        )

    def _parameter(self, name: str, entry: schema.ParameterEntry) -> Parameter:
        with self.place("parameters", name):
            shown = _shown_unit(entry)
            limits = ((entry.min, -inf, "minimum"), (entry.max, inf, "maximum"))
            low, high = (
                none if limit is None else quantity(limit, shown, f"{name}: {side}")
                for limit, none, side in limits
            )
            value = None if entry.value is None else quantity(entry.value, shown, name)
            found = Parameter(name, value, shown, low, high, entry.doc, entry.source)
        if entry.ci95 is None:
            return found
        with self.place("parameters", name, "ci95"):
            return found.within(*entry.ci95)

    def _graph(self) -> ModelGraph:
        with self.place():
            graph = ModelGraph(self.entry.name)
        for name in self.valued:
            with self.place("parameters", name):
                graph = graph.declare(name)
        for kind, name in self._order():
            with self.place(kind, name):
                adder = _ADDERS.get(kind)
                graph = adder(self, graph, name) if adder else self.algorithm(graph, kind, name)
        graph = self._in_file_order(graph)
        return self._outputs(self._job_classes(self._routes(graph)))

    def _in_file_order(self, graph: ModelGraph) -> ModelGraph:
        entry = self.entry
        return replace(
            graph,
            bindings={name: graph.bindings[name] for name in self.bound},
            links={name: graph.links[name] for name in entry.links},
            stations={name: graph.stations[name] for name in entry.stations},
        )

    def _order(self) -> list[tuple[str, str]]:
        """Sort bindings, links and stations so that each comes after what it uses."""
        texts: dict[tuple[str, str], list[Any]] = {
            ("parameters", name): [entry.formula] for name, entry in self.bound.items()
        }
        for kind in ("links", *ALGORITHMS, "stations"):
            tables = self.links if kind == "links" else getattr(self.entry, kind)
            for name, table in tables.items():
                texts[kind, name] = [entry for key, entry in table.items() if key != "stages"]
        needs = {key: self._needs(values) & set(texts) for key, values in texts.items()}
        try:
            return list(TopologicalSorter(needs).static_order())
        except CycleError as error:
            circle = " -> ".join(name for _, name in error.args[1])
            msg = f"these need each other in a circle: {circle}"
            raise self.place.error(msg) from None

    def _needs(self, texts: list[Any]) -> set[tuple[str, str]]:
        found: set[tuple[str, str]] = set()
        for name in set().union(*(names_in(text) for entry in texts for text in flat(entry))):
            head, dot, _ = name.partition(".")
            kinds = ("links", *ALGORITHMS, "stations") if dot else ("parameters",)
            found |= {(kind, head) for kind in kinds}
        return found

    def bind(self, graph: ModelGraph, name: str) -> ModelGraph:
        """Add a number that the file defines by a formula."""
        entry = self.bound[name]
        if any(given is not None for given in (entry.value, entry.min, entry.max, entry.ci95)):
            msg = f"{name} has a formula; it cannot have a value, bounds or ci95 too"
            raise self.place.error(msg, "parameters", name)
        return graph.bind(name, str(entry.formula))

    def link(self, graph: ModelGraph, name: str) -> ModelGraph:
        """Add a LogGP link."""
        table = dict(self.links[name])
        platform = table.pop("platform", None)
        if platform is not None and platform not in PLATFORMS:
            msg = f"there is no platform {platform!r}{nearest(str(platform), PLATFORMS)}"
            raise self.place.error(msg, "links", name, "platform")
        convention = self._convention(name, table.pop("convention", None), platform)
        self._check_keys("links", name, table, LINK_KEYS)
        with self.place("links", name):
            values = by_sides(self._fields(graph, "links", name, table, LINK_UNITS))
        if platform is not None:
            graph = graph.link(name, replace(PLATFORMS[str(platform)], **values))
            link = replace(graph.links[name], platform=str(platform))
            return replace(graph, links={**graph.links, name: link})
        missing = [part for part in LINK_PARTS[:-1] if part not in values]
        if missing:
            msg = f"{missing[0]} is missing; give all five numbers or a platform"
            raise self.place.error(msg, "links", name)
        return graph.link(name, LogGP(**values, convention=convention))

    def _linked(self, model: Model) -> Model:
        """Say of the numbers of links what the file says; one overhead for both sides stays one."""
        both = [f"{name}.overhead" for name, table in self.links.items() if "overhead" in table]
        model = model.exposing(*(name for name in both if name in settable(model.graph.links, {})))
        parameters = dict(model.parameters)
        for link, table in self.entry.links.items():
            for part, entry in table.items():
                name = f"{link}.{part}"
                if name in parameters:
                    parameters[name] = self._described(link, part, parameters[name], entry)
                elif any(given is not None for given in (entry.min, entry.max, entry.ci95)):
                    msg = f"{name} has a formula; it cannot have bounds or ci95 too"
                    raise self.place.error(msg, "links", link, part)
        return replace(model, parameters=parameters)

    def _described(
        self, link: str, part: str, known: Parameter, entry: schema.ParameterEntry
    ) -> Parameter:
        """A number of a link in its own unit, with its own bounds and words."""
        with self.place("links", link, part):
            said = self._parameter(known.name, entry)
        return replace(
            known,
            unit=said.unit if said.unit.text else known.unit,
            minimum=max(known.minimum, said.minimum),
            maximum=said.maximum,
            doc=said.doc or known.doc,
            source=said.source or known.source,
            interval=said.interval,
        )

    def _convention(self, name: str, text: Any, platform: Any) -> Convention:
        """Whose meaning of latency a link's numbers have."""
        place = ("links", name, "convention")
        if text is None:
            return Convention.PAPERS
        if text not in set(Convention):
            msg = f"there is no convention {text!r}; it must be one of {', '.join(Convention)}"
            raise self.place.error(msg, *place)
        if platform is not None:
            msg = f"{platform} is known in convention papers; leave convention out"
            raise self.place.error(msg, *place)
        return Convention(text)

    def algorithm(self, graph: ModelGraph, table: str, name: str) -> ModelGraph:
        """Add a component with an algorithm."""
        kind, numbers = ALGORITHMS[table], dict(getattr(self.entry, table)[name])
        labels: Any = numbers.pop("stages", None) if kind.lists else None
        self._check_keys(table, name, numbers, (*kind.lists, *kind.fields))
        numbers = {**dict(kind.defaults), **numbers}
        for key in (*kind.lists, *kind.fields):
            wanted = list if key in kind.lists else (str, int, float)
            if not isinstance(numbers.get(key), wanted):
                what = "a list, one entry a stage" if key in kind.lists else "a number"
                msg = f"{name} needs {key}, {what}"
                raise self.place.error(msg, table, name)
        values = self._fields(graph, table, name, numbers)
        return graph.algorithm(table, name, values, self._stages(table, name, values, labels))

    def _stages(
        self, table: str, name: str, values: Mapping[str, Any], labels: Any
    ) -> tuple[str, ...]:
        """Names of a pipeline's stages, or their numbers; refuses lists of different length."""
        lengths = {key: len(values[key]) for key in ALGORITHMS[table].lists}
        count = max(lengths.values(), default=0)
        stages = labels if isinstance(labels, list) else list(range(1, count + 1))
        if set(lengths.values()) - {len(stages)} or (lengths and not count):
            counts = ", ".join(f"{length} {key}" for key, length in lengths.items())
            msg = f"{name} has {len(stages)} stages, {counts}; give one of each a stage"
            raise self.place.error(msg, table, name)
        return tuple(map(str, stages))

    def station(self, graph: ModelGraph, name: str) -> ModelGraph:
        """Add a station."""
        table = {_PYTHON_KEYS.get(k, k): v for k, v in self.entry.stations[name].items()}
        kind, visits = str(table.pop("kind", "")), table.pop("visits", None)
        with self.place("stations", name, "kind"):
            made = station_kind(kind)
        discipline = str(table.pop("discipline", Discipline.FCFS.value))
        numbers = {field.name: field for field in fields(made)}  # type: ignore[arg-type]
        keys = list(numbers)
        self._check_keys("stations", name, table, [*keys, "discipline"])
        needed = [key for key in keys if numbers[key].default is MISSING]
        missing = [FILE_KEYS.get(key, key) for key in needed if key not in table]
        if missing:
            msg = f"{kind} needs {missing[0]}"
            raise self.place.error(msg, "stations", name)
        values = self._fields(graph, "stations", name, table, units_of(made))
        by_class = values["service_time"] if isinstance(table.get("service_time"), dict) else None
        if by_class is not None:
            values["service_time"] = next(iter(by_class.values()), 0.0)
        read = self._fields(graph, "stations", name, {} if visits is None else {"visits": visits})
        station = made(**values)
        return graph.station(name, station, read.get("visits"), by_class, discipline)

    def _check_keys(self, kind: str, name: str, table: Mapping[str, Any], known: Any) -> None:
        for key in table:
            if key not in known:
                msg = f"{name} has no {key!r}{nearest(key, known)}"
                raise self.place.error(msg, kind, name, key)

    def _fields(
        self,
        graph: ModelGraph,
        kind: str,
        name: str,
        table: Mapping[str, Any],
        units: Mapping[str, Unit] = FIELD_UNITS,
    ) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for key, entry in table.items():
            with self.place(kind, name, FILE_KEYS.get(key, key)):
                read = partial(
                    expression, graph=graph, wanted=units.get(key, ONE), name=f"{name}.{key}"
                )
                if isinstance(entry, dict):
                    values[key] = {c: read(text) for c, text in entry.items()}
                elif isinstance(entry, list):
                    values[key] = [read(text) for text in entry]
                else:
                    values[key] = read(entry)
        return values

    def _routes(self, graph: ModelGraph) -> ModelGraph:
        for entry in self.entry.routes:
            with self.place("routes"):
                place = f"route {entry.source} -> {entry.target}: probability"
                share = expression(entry.probability, graph, ONE, place)
                graph = graph.route(entry.source, entry.target, share)
        for name, rate in self.entry.arrivals.items():
            with self.place("arrivals", name):
                graph = graph.arrive(
                    name, expression(rate, graph, unit("op/s"), f"arrivals at {name}")
                )
        return graph

    def _job_classes(self, graph: ModelGraph) -> ModelGraph:
        for name, table in self.entry.classes.items():
            self._check_keys("classes", name, table, CLASS_KEYS)
            values = self._fields(graph, "classes", name, table)
            with self.place("classes", name):
                graph = graph.job_class(name, *(values.get(key) for key in CLASS_KEYS))
        return graph

    def _outputs(self, graph: ModelGraph) -> ModelGraph:
        if not graph.stations and not self.entry.outputs:
            msg = "a model needs [stations] or [outputs]"
            raise self.place.error(msg)
        for name, entry in self.entry.outputs.items():
            with self.place("outputs", name):
                graph = graph.output(name, entry.formula)
        return graph

    def _meanings(self) -> dict[str, Meaning]:
        meanings = {}
        for kind, entries in (("parameters", self.bound), ("outputs", self.entry.outputs)):
            for name, entry in entries.items():
                with self.place(kind, name, "unit"):
                    meanings[name] = Meaning(unit(entry.unit or ""), entry.doc, entry.source)
        for name, output in self.entry.outputs.items():
            if output.better:
                meanings[name] = replace(meanings[name], better=self._better(name, output.better))
        return meanings

    def _better(self, name: str, text: str) -> Better:
        if text not in set(Better):
            msg = f"better is {text!r}; it must be one of {', '.join(Better)}"
            raise self.place.error(msg, "outputs", name, "better")
        return Better(text)

    def _preset(self, model: Model, name: str, table: Mapping[str, schema.Scalar]) -> Preset:
        words = {key: str(table[key]) for key in ("doc", "source") if key in table}
        values = {}
        for key in table.keys() - words.keys():
            with self.place("presets", name, key):
                text = table[key]
                value = text if isinstance(text, str) else quantity(text, None, key)
                values[key] = model.at({key: value}).parameters[key].value
        ordered = {key: values[key] for key in table if key in values}
        with self.place("presets", name):
            return Preset(name, ordered, **words)  # type: ignore[arg-type]


def _texts(table: Mapping[str, schema.ParameterEntry]) -> dict[str, Any]:
    """What the numbers of a link are: quantities, formulas, or words."""
    return {key: e.value if e.formula is None else e.formula for key, e in table.items()}


_ADDERS = {"parameters": Builder.bind, "links": Builder.link, "stations": Builder.station}


def _shown_unit(entry: schema.ParameterEntry) -> Unit:
    """The unit a parameter is shown in: its own, or that of its value or a bound."""
    if entry.unit is not None:
        return unit(entry.unit)
    for text in (entry.value, entry.min, entry.max):
        if isinstance(text, str) and MEANT_NUMBER.match(text):
            found = LEADING_NUMBER.sub("", text)
            if found:
                return unit(found)
    return ONE
