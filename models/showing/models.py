"""Models described: parameters, stations, routes, outputs and closed forms, as tables and text."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from headway.errors import HeadwayError
from headway.models.language.digits import ends
from headway.models.language.scales import Scale
from headway.models.language.units import ONE, Unit
from headway.models.showing.parts.alternatives import mixed_note
from headway.models.showing.parts.numbers import (
    LOAD_UNITS,
    RATE,
    constants,
    kind_text,
    known_values,
    number_text,
    number_texts,
    numbers_of,
)
from headway.models.showing.solutions import labels
from headway.models.structure.graph import ModelGraph
from headway.models.structure.model import Model
from headway.models.structure.parts.class_ways import EVERY
from headway.models.structure.parts.components import Component
from headway.models.structure.parts.routes import MOST_SHOWN
from headway.models.structure.parts.structure import CLASS_KEYS
from headway.models.tables.table import Column, Table
from headway.numerals import digits
from headway.queueing.stations.abilities import QueueChoice

_MOST_LISTED = 12


def description_tables(model: Model) -> list[Table]:
    """The parts of a model; empty parts are left out."""
    graph = model.graph
    tables = [_parameter_table(model)] if model.parameters else []
    if graph.own_numbers:
        tables.append(_own_numbers(model))
    derived = {**graph.bindings, **graph.outputs}
    if derived:
        tables.append(_formula_table(model))
    if graph.links:
        tables.append(_link_table(graph))
    for kind, components in graph.algorithms.items():
        notes = () if graph.stations else _doubts_about(components)
        table = _component_table(model, kind, components)
        tables.append(replace(table, notes=notes))
    if graph.stations:
        tables += _station_tables(model)
    if graph.classes:
        tables.append(_class_table(model))
    if model.presets:
        tables.append(_preset_table(model))
    title = f"{model.title}: {model.doc}".rstrip(": ")
    return [*(replace(table, title=title) for table in tables[:1]), *tables[1:]]


def _station_tables(model: Model) -> list[Table]:
    """Stations, routes between them, and regions."""
    graph = model.graph
    stations = _component_table(model, "stations", graph.stations)
    tables = [replace(stations, notes=(*mixed_note(model), *doubts_of(model)))]
    if graph.routes or graph.class_ways.routes or graph.arrivals or not graph.classes:
        tables.append(_route_table(model))
    return tables + ([_region_table(graph)] if graph.regions else [])


def description_scale(model: Model) -> Scale:
    """The units of a model's numbers: those that its parameters use, if they suit."""
    parameters = model.parameters.values()
    shown = [(each, p.unit) for p in parameters for each in (p.value, *(p.interval or ()))]
    shown = [(value, own_unit) for value, own_unit in shown if value is not None]
    for preset in model.presets.values():
        known = model.exposing(*preset.values).parameters
        shown += [(value, known[name].unit) for name, value in preset.values.items()]
    return Scale.of([*shown, *constants(model.graph)], [parameter.unit for parameter in parameters])


def _parameter_table(model: Model) -> Table:
    parameters, scale = model.parameters.values(), description_scale(model)
    units = [_unit(p.value, p.unit, scale) for p in parameters]
    shown = [_value(p.value, unit.scale) for p, unit in zip(parameters, units, strict=True)]
    columns = (
        Column("parameter", tuple(model.parameters)),
        Column("value", tuple(shown)),
        *_intervals(model, units),
        Column("unit", tuple(map(str, units))),
        Column("meaning", tuple(p.doc for p in parameters)),
        Column("source", tuple(p.source for p in parameters)),
    )
    pairs = [f"{a} and {b} {value:+.2f}" for (a, b), value in model.correlations.items()]
    notes = (f"correlations: {', '.join(pairs)}",) if pairs else ()
    return Table("", columns, notes)


def _own_numbers(model: Model) -> Table:
    """Numbers of layered services that are no parameters, but can be set as such."""
    known = {name: one for name, one in model.graph.own_numbers.items() if one.value}
    scale = description_scale(model)
    units = [_unit(one.value, one.unit, scale) for one in known.values()]
    pairs = zip(known.values(), units, strict=True)
    columns = (
        Column("number", tuple(known)),
        Column("value", tuple(_value(one.value, unit.scale) for one, unit in pairs)),
        Column("unit", tuple(map(str, units))),
    )
    note = f"each can be set like a parameter, such as --set {next(iter(known), '')}=..."
    return Table("numbers", columns, (note,) if known else ())


def _unit(value: Any, own_unit: Unit, scale: Scale) -> Unit:
    """The unit of a parameter's row; a parameter without a value keeps its own."""
    return own_unit if value is None else scale.suited(own_unit, float(np.max(np.abs(value))))


def _intervals(model: Model, units: list[Unit]) -> list[Column]:
    """The 95% intervals, if some parameter has one."""
    given = [parameter.interval for parameter in model.parameters.values()]
    if not any(given):
        return []
    pairs = zip(given, units, strict=True)
    cells = tuple(ends(*interval, shown) if interval else "-" for interval, shown in pairs)
    return [Column("95% interval", cells)]


def _value(value: Any, scale: float) -> str:
    if value is None:
        return "-"
    numbers = np.ravel(value) / scale
    return ", ".join(digits(x) for x in numbers[:3]) + (", ..." if numbers.size > 3 else "")


def _formula_table(model: Model) -> Table:
    derived = {**model.graph.bindings, **model.graph.outputs}
    columns = (
        Column("derived", tuple(derived)),
        Column("formula", tuple(read.text for read in derived.values())),
        Column("unit", tuple(model.meaning(name).unit.text for name in derived)),
        Column("meaning", tuple(model.meaning(name).doc for name in derived)),
    )
    return Table("", columns)


def _component_table(model: Model, title: str, components: Mapping[str, Component]) -> Table:
    scale = description_scale(model)
    known = known_values(model, scale)
    numbers = [_numbers(component, scale, known) for component in components.values()]
    columns = (
        Column(title.removesuffix("s"), tuple(components)),
        Column("kind", tuple(_kind(component) for component in components.values())),
        Column("numbers", tuple(numbers)),
    )
    return Table("", columns)


def _numbers(component: Component, scale: Scale, known: Mapping[str, str]) -> str:
    return ", ".join(
        f"{name} = {_listed(number_texts(component, name, reads, scale, known))}"
        for name, reads in numbers_of(component)
    )


def _listed(texts: list[str]) -> str:
    """The numbers of a list; the middle of a long list is left out."""
    if len(texts) <= _MOST_LISTED:
        return ", ".join(texts)
    return f"{texts[0]}, {texts[1]}, ... {texts[-1]} ({len(texts)})"


def _link_table(graph: ModelGraph) -> Table:
    """Links, and their numbers where these are not parameters."""
    texts = [
        ", ".join(f"{part} = {f.text}" for part, (f,) in link.formulas().items() if f.names)
        for link in graph.links.values()
    ]
    columns = (
        Column("link", tuple(graph.links)),
        Column("kind", tuple(_kind(link) for link in graph.links.values())),
        Column("platform", tuple(link.platform or "-" for link in graph.links.values())),
        Column("numbers", tuple(text or "parameters, above" for text in texts)),
    )
    return Table("", columns)


def _kind(component: Component) -> str:
    """A kind with its stages or branches, its order of service, and what it does when full."""
    stages = f" through {', '.join(component.labels)}" if component.labels else ""
    branches = f" to {', '.join(component.branches)}" if component.branches else ""
    blocking = f", blocking {component.blocking}" if component.blocking else ""
    chosen = component.choice is not QueueChoice.RANDOM
    return (
        kind_text(component, stages + branches)
        + blocking
        + (f", route {component.choice}" if chosen else "")
        + (f", drops what is older than {component.oldest.text} s" if component.oldest else "")
    )


def _region_table(graph: ModelGraph) -> Table:
    """Regions: their stations, and how many jobs they hold together."""
    regions = graph.regions.values()
    columns = (
        Column("region", tuple(graph.regions)),
        Column("stations", tuple(", ".join(region.stations) for region in regions)),
        Column("limit", tuple(region.limit.text for region in regions)),
    )
    return Table("", columns)


def _route_table(model: Model) -> Table:
    graph, closed = model.graph, model.is_closed
    source = "(clients)" if closed else "(arrivals)"
    rows = [(source, name, text, "", "") for name, text in _entries(model).items()]
    routes = (*islice(graph.routes, MOST_SHOWN), *graph.class_ways.routes)[:MOST_SHOWN]
    rows += [(r.source, r.target, r.probability.text, r.job_class, r.becomes) for r in routes]
    heads = ("from", "to", "rate or probability", "class", "becomes")
    cells = zip(heads, zip(*rows, strict=True), strict=True)
    columns = tuple(Column(head, each) for head, each in cells if head in heads[:3] or any(each))
    away = "go back to the clients, who think" if closed else "leave the system"
    notes = [f"The remaining jobs {away}."]
    more = len(graph.routes) + len(graph.class_ways.routes) - MOST_SHOWN
    if more > 0:
        notes.append(f"{more} more routes are not shown; `graph.routes` has them all.")
    return Table("", columns, tuple(notes))


def _entries(model: Model) -> dict[str, str]:
    """Stations at which jobs enter, with their rates and what is known of their arrivals."""
    graph = model.graph
    if not graph.arrivals:
        start = graph.class_ways.references.get(EVERY) or next(iter(graph.stations))
        rate = "population" if model.is_closed else "arrival_rate"
        return {} if graph.class_ways.by_class else {start: rate}
    scale = description_scale(model)
    clients = f", {graph.clients[''].text}" if "" in graph.clients else ""
    parts = (
        {n: number_text(f, RATE, scale) for n, f in graph.arrivals.items()},
        {n: f", scv {f.text}" for n, f in graph.arrival_scvs.items()},
        {n: f", batches of {batch.text}" for n, batch in graph.arrival_batches.items()},
        {n: f", {course.words}" for n, course in graph.arrival_courses.items()},
        dict.fromkeys(graph.arrivals, clients),
    )
    return {n: "".join(part.get(n, "") for part in parts) for n in graph.arrivals}


def _class_table(model: Model) -> Table:
    graph = model.graph
    classes, scale = graph.classes, description_scale(model)
    columns = [Column("class", tuple(classes))]
    for key in CLASS_KEYS:
        own_unit = LOAD_UNITS.get(key, ONE)
        texts = [
            number_text(numbers[key], own_unit, scale) if key in numbers else ""
            for numbers in classes.values()
        ]
        if key not in ("priority", "arrival_scv") or any(texts):
            columns.append(Column(key, tuple(texts)))
    ways = graph.class_ways
    if ways.arrives:
        shares = {c: {s: f.text for s, f in by.items()} for c, by in ways.arrives.items()}
        columns.append(Column("arrives", tuple(_places(shares.get(c, {})) for c in classes)))
    if set(ways.references) - {EVERY}:
        columns.append(Column("reference", tuple(ways.references.get(c, "") for c in classes)))
    return Table("", tuple(columns))


def _places(shares: dict[str, str]) -> str:
    """Stations where a class enters, with its shares if there are several."""
    several = (f"{station} {share}" for station, share in shares.items())
    return ", ".join(shares if len(shares) == 1 else several)


def _preset_table(model: Model) -> Table:
    presets, scale = model.presets.values(), description_scale(model)
    texts = [
        ", ".join(
            f"{n} = {model.exposing(n).parameters[n].shown(v, scale)}"
            for n, v in preset.values.items()
        )
        for preset in presets
    ]
    columns = (
        Column("preset", tuple(model.presets)),
        Column("values", tuple(texts)),
        Column("meaning", tuple(preset.doc for preset in presets)),
        Column("source", tuple(preset.source for preset in presets)),
    )
    return Table("", columns)


def closed_forms(model: Model) -> dict[str, str]:
    """The closed form of each output, in the model's own parameter names.

    Parameters
    ----------
    model
        A model; its values do not matter.

    Returns
    -------
    Text by output: the response time, that of each class, and utilisation and residence time of
    each station; for a program, each of its outputs. If there is no closed form, the reason.
    """
    return {output: _closed_form(model, output) for output in formula_names(model.graph)}


def formula_names(graph: ModelGraph) -> list[str]:
    """Outputs, and parts of stations, whose closed forms show what a model computes."""
    outputs = ["response_time"] if graph.stations else []
    outputs += [f"class {name}.response_time" for name in graph.classes]
    outputs += [name for name in graph.outputs if name not in outputs]
    return outputs + [
        f"{name}.{part}" for name in graph.stations for part in ("utilisation", "residence_time")
    ]


def _closed_form(model: Model, output: str) -> str:
    """The closed form, or why there is none."""
    try:
        return str(model.closed_form(output))
    except HeadwayError as error:
        return f"({error})"


def _doubts_about(components: Mapping[str, Component]) -> tuple[str, ...]:
    """What is not exact about components with an algorithm, if there are no stations to say it."""
    about = {name: component.approximation for name, component in components.items()}
    return tuple(f"approximate: {name}: {note}" for name, note in about.items() if note)


def doubts_of(model: Model) -> list[str]:
    """How a model is solved if it is not open, and what is not exact about its answers."""
    if not model.graph.stations:
        return []
    try:
        return labels(model.solve())
    except HeadwayError:  # without values, or with values that cannot be solved
        return []
