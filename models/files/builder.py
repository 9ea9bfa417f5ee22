"""A model built from the entries of a model file; each error has its place in the file."""

from collections.abc import Mapping
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

from headway.models.files.building import schema
from headway.models.files.building.algorithms import WORDS, Algorithms
from headway.models.files.building.entries import ARRIVAL_RATE, chosen_units
from headway.models.files.building.expressions import flat, names_in
from headway.models.files.building.forks import branches_of, with_forks
from headway.models.files.building.keys import SHED
from headway.models.files.building.links import Links
from headway.models.files.building.places import KeyLines
from headway.models.files.building.regions import Regions
from headway.models.files.building.sources import with_sources
from headway.models.files.building.stations import Stations
from headway.models.language.algorithms import ALGORITHMS
from headway.models.language.parameters import Preset
from headway.models.language.units import quantity, unit
from headway.models.structure.alternatives import Alternative
from headway.models.structure.graph import ModelGraph
from headway.models.structure.meanings import Better, Meaning
from headway.models.structure.model import Model
from headway.numerals import digits


class Builder(Links, Algorithms, Stations, Regions):
    """Builds a model from the entries of a file, each after those that it needs."""

    def __init__(self, entry: schema.ModelEntry, place: KeyLines) -> None:
        entry = with_sources(entry, place)
        if any(SHED in table for table in entry.stations.values()):
            from headway.models.files.building.shedding import with_shedding

            entry = with_shedding(entry, place)
        entry = with_forks(entry, place)
        super().__init__(entry, place)
        if entry.arrivals:
            from headway.models.files.traces import courses_of

            self.courses = courses_of(entry, place)
        self.valued = {n: p for n, p in entry.parameters.items() if p.formula is None}
        self.bound = {n: p for n, p in entry.parameters.items() if p.formula is not None}

    def miss_curve(self, file: str) -> dict[str, list[float]]:
        """Sizes and miss ratios from a file in the model file's folder."""
        from headway.models.files.curves import miss_curve

        return miss_curve(file, self.place.source)

    def model(self) -> Model:
        """The model that the whole file describes."""
        entry = self.entry
        parameters = {name: self.parameter(name, p) for name, p in self.valued.items()}
        graph = self._graph()
        with self.place():
            bare = self.linked(Model.of(graph))
        unused = set(parameters) - set(bare.parameters)
        if unused:
            name = min(unused)
            msg = f"{name} is not used; delete it, or use it in a station, route or output"
            raise self.place.error(msg, "parameters", name)
        model = replace(
            bare,
            parameters=parameters
            | {n: p for n, p in bare.parameters.items() if n not in parameters},
            meanings=self._meanings(),
            doc=entry.doc,
            source=entry.source,
            assumptions=entry.assumptions,
            units=chosen_units(entry),
        )
        model = self._with_draws(self._with_tables(model))
        presets = {n: self._preset(model, n, p) for n, p in entry.presets.items()}
        return replace(
            model,
            presets=presets,
            measured_to={name: self._highest(model, name) for name in entry.measured},
            alternatives=self._alternatives(),
        )

    def _with_tables(self, model: Model) -> Model:
        """The model with what a fit wrote about it: the form that was tried, and measured tails."""
        entry = self.entry
        if entry.form is not None:
            from headway.models.files.forms import form_of

            model = replace(model, form=form_of(entry.form, model.parameters, self.place))
        if entry.tails:
            from headway.models.files.tails import tails_of

            model = replace(model, tails=tails_of(entry.tails, self.place))
        return model

    def _with_draws(self, model: Model) -> Model:
        """The model with the joint draws of its uncertain parameters."""
        entry = self.entry
        if entry.correlations:
            from headway.models.files.correlations import correlations_of

            pairs = correlations_of(entry.correlations, model.parameters, self.place)
            model = replace(model, correlations=pairs)
        if entry.draws:
            from headway.models.files.draws import draws_of

            model = replace(model, drawn=draws_of(entry.draws.sets, model.parameters, self.place))
        return model

    def _highest(self, model: Model, name: str) -> float:
        """The highest load to which a model was fitted, under the name of a parameter."""
        with self.place("measured", name):
            parameter = model.exposing(name).parameters[name]
            return quantity(self.entry.measured[name], parameter.unit, name)

    def _alternatives(self) -> tuple[Alternative[Model], ...]:
        """Other models of the same system; their weights leave a share for the file's own model."""
        each = self.entry.alternatives
        for one in each:
            if not one.weight > 0:
                msg = f"{one.model.name} has the weight {digits(one.weight)}; it must be above 0"
                raise self.place.error(msg, "alternatives", "weight")
        if not sum(one.weight for one in each) < 1:
            msg = "their weights sum to 1 or more; leave a share to the file's own model"
            raise self.place.error(msg, "alternatives", "weight")
        place = self.place.under("alternatives", "model")
        return tuple(Alternative(Builder(one.model, place).model(), one.weight) for one in each)

    def _graph(self) -> ModelGraph:
        with self.place():
            graph = ModelGraph(self.entry.name or Path(self.place.source).stem)
        for name in self.valued:
            with self.place("parameters", name):
                graph = graph.declare(name)
        for kind, name in self._order():
            with self.place(kind, name):
                adder = _ADDERS.get(kind)
                graph = adder(self, graph, name) if adder else self.algorithm(graph, kind, name)
        graph = self.regions(self.arrivals(self.routes(self._in_file_order(graph))))
        graph = self.autoscaler(self.job_classes(graph))
        if self.entry.tasks or self.entry.processors:
            from headway.models.files.building.layers import LayersOfFile

            graph = LayersOfFile(self.entry, self.place).layers(graph)
        return self._outputs(graph)

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
                texts[kind, name] = [entry for key, entry in table.items() if key not in WORDS]
        needs = {key: self._needs(values) & set(texts) for key, values in texts.items()}
        for name, table in self.entry.stations.items():
            needs["stations", name] |= {("stations", b) for b in branches_of(table)} & set(texts)
        try:
            return list(TopologicalSorter(needs).static_order())
        except CycleError as error:
            circle = " -> ".join(name for _, name in error.args[1])
            msg = f"these depend on each other in a circle: {circle}; break the circle"
            raise self.place.error(msg) from None

    def _needs(self, texts: list[Any]) -> set[tuple[str, str]]:
        parts: set[tuple[str, str]] = set()
        for name in set().union(*(names_in(text) for entry in texts for text in flat(entry))):
            head, dot, _ = name.partition(".")
            kinds = ("links", *ALGORITHMS, "stations") if dot else ("parameters",)
            parts |= {(kind, head) for kind in kinds}
        return parts

    def bind(self, graph: ModelGraph, name: str) -> ModelGraph:
        """Add a number that the file defines by a formula."""
        entry = self.bound[name]
        if any(given is not None for given in (entry.value, entry.min, entry.max, entry.ci95)):
            msg = f"{name} has a formula; delete its value, bounds and ci95"
            raise self.place.error(msg, "parameters", name)
        if name == ARRIVAL_RATE:
            msg = f"{name} is a number that commands set; {self.rate_as_formula}"
            raise self.place.error(msg, "parameters", name)
        return graph.bind(name, str(entry.formula))

    def _outputs(self, graph: ModelGraph) -> ModelGraph:
        if not (graph.stations or graph.layers or self.entry.outputs):
            msg = (
                "a model needs stations, tasks or outputs; add [stations.NAME], [tasks.NAME] or "
                "[outputs.NAME]"
            )
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


_ADDERS = {"parameters": Builder.bind, "links": Builder.link, "stations": Builder.station}
