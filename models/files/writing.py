"""Models written as TOML, in the form in which they are read."""

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from headway.errors import ModelFileError, is_hidden
from headway.models.files.building.arrivals import NOTICES, TABLES, gathered
from headway.models.files.building.expressions import written
from headway.models.files.building.keys import FILE_KEYS
from headway.models.files.correlations import correlation_table
from headway.models.files.draws import draws_table
from headway.models.files.editors import SCHEMA_FILE, SCHEMA_LINE
from headway.models.files.forms import form_table
from headway.models.files.layers import layer_tables
from headway.models.files.reading import too_many
from headway.models.files.tails import tail_table
from headway.models.language.algorithms import ALGORITHMS
from headway.models.language.formula import Formula
from headway.models.language.parameters import Parameter
from headway.models.language.units import quantity, si_text
from headway.models.structure.graph import ModelGraph
from headway.models.structure.model import Model
from headway.models.structure.parts.class_ways import EVERY, ClassRouting
from headway.models.structure.parts.components import Component, Route
from headway.models.structure.parts.links import is_published, link_parameters, published_source
from headway.models.structure.parts.regions import Region
from headway.queueing.disciplines.table import DEFAULT
from headway.queueing.flows.courses import Course, Trace
from headway.queueing.stations.abilities import QueueChoice


def to_toml(model: Model) -> str:
    """Write a model file; reading it gives the same numbers to the last bit.

    Parameters
    ----------
    model
        A model with scalar values only.

    Raises
    ------
    ModelFileError
        If a parameter holds several operating points, or there are more routes and other
        entries than a file may have.
    """
    import tomli_w

    tables = document(model)
    if wrong := too_many(tables):
        msg = f"{model.name}: {wrong} in a file; keep it in Python"
        raise ModelFileError(msg)
    text = SCHEMA_LINE + tomli_w.dumps(tables, multiline_strings=True)
    return "".join(c if c == "\n" or not is_hidden(c) else f"\\u{ord(c):04x}" for c in text)


def beside(folder: Path, text: str) -> str:
    """The text of a model file for a folder; it refers to the schema only if that is there.

    Examples
    --------
    >>> beside(Path("no-such-folder"), SCHEMA_LINE + 'name = "shop"')
    'name = "shop"'
    """
    return text if (folder / SCHEMA_FILE).is_file() else text.removeprefix(SCHEMA_LINE)


def document(model: Model) -> dict[str, Any]:
    """The tables of a model file, without empty ones."""
    tables = {key: value for part in _PARTS for key, value in part(model).items()}
    return {key: value for key, value in tables.items() if value}


def _words(model: Model) -> dict[str, Any]:
    return {
        "name": model.name,
        "reference": model.graph.class_ways.references.get(EVERY, ""),
        "doc": model.doc,
        "source": model.source,
        "assumptions": model.assumptions,
    }


def _parameters(model: Model) -> dict[str, Any]:
    linked = link_parameters(model.graph.links)
    own = {n: _parameter(p) for n, p in model.parameters.items() if n not in linked}
    bound = _formulas(model, model.graph.bindings)
    return {"parameters": own | bound}


def _components(model: Model) -> dict[str, Any]:
    """Links, algorithms and stations."""
    graph = model.graph
    links = {name: _link(model, name, link) for name, link in graph.links.items()}
    algorithms = {
        table: {name: _algorithm(table, part) for name, part in parts.items()}
        for table, parts in graph.algorithms.items()
    }
    stations = {
        name: {"kind": station.kind.__name__, **_fields(station)}
        for name, station in graph.stations.items()
    }
    return {"links": links, **algorithms, "stations": stations}


def _ways(model: Model) -> dict[str, Any]:
    """Routes, regions, and arrivals."""
    graph = model.graph
    return {
        "routes": [_route(r) for r in (*graph.routes, *graph.class_ways.routes)],
        "regions": {name: _region(region) for name, region in graph.regions.items()},
        "autoscaler": _autoscaler(graph),
        "arrivals": {name: _arrival(graph, name) for name in graph.arrivals},
    }


def _layers(model: Model) -> dict[str, Any]:
    return layer_tables(model.graph.layers) if model.graph.layers else {}


def _outputs(model: Model) -> dict[str, Any]:
    return {"outputs": _formulas(model, model.graph.outputs)}


def _classes(model: Model) -> dict[str, Any]:
    graph = model.graph
    return {
        "classes": {
            name: {key: written(read) for key, read in numbers.items()}
            | _places(graph.class_ways, name)
            | _clients(graph, name)
            for name, numbers in graph.classes.items()
        }
    }


def _certainty(model: Model) -> dict[str, Any]:
    """What is known about the values: correlations, presets, data, and alternatives."""
    return {
        "correlations": correlation_table(model.correlations),
        "tails": tail_table(model.tails),
        "presets": {name: _preset(model, name) for name in model.presets},
        "form": form_table(model.form) if model.form else {},
        "measured": {
            name: _quantity(model.parameters[name], load)
            for name, load in model.measured_to.items()
        },
        "draws": draws_table(model.drawn),
        "alternatives": [
            {"weight": one.weight, "model": document(one.model)} for one in model.alternatives
        ],
    }


_PARTS = (_words, _parameters, _components, _ways, _layers, _outputs, _classes, _certainty)
"""The parts of a file, in order."""


def _formulas(model: Model, formulas: Mapping[str, Formula]) -> dict[str, Any]:
    return {
        name: {"formula": read.text, **_meaning(model, name)} for name, read in formulas.items()
    }


def _quantity(parameter: Parameter, value: float) -> str | float:
    """Write a value in the parameter's unit, so that it reads back to the last bit.

    A value so small or large that it does not is written in the SI unit.
    """
    if not parameter.unit.text or not math.isfinite(value / parameter.unit.scale):
        return int(value) if value == int(value) and abs(value) < 1e15 else value
    text = f"{parameter.unit.written(value)} {parameter.unit}"
    return text if quantity(text) == value else f"{value!r} {si_text(parameter.unit.dimension)}"


def _parameter(parameter: Parameter) -> dict[str, Any]:
    import numpy as np

    if np.ndim(parameter.value or 0):
        msg = (
            f"{parameter.name} has several operating points, but a model file stores one; "
            "keep one value"
        )
        raise ModelFileError(msg)
    limits = {"value": parameter.value, "min": parameter.minimum, "max": parameter.maximum}
    table: dict[str, Any] = {
        key: _quantity(parameter, float(limit))
        for key, limit in limits.items()
        if limit is not None and math.isfinite(float(limit))
    }
    if parameter.interval is not None:
        table["ci95"] = [_end(parameter, end) for end in parameter.interval]
    if parameter.unit.text:
        table["unit"] = parameter.unit.text
    words = {"doc": parameter.doc, "source": parameter.source}
    return table | {key: word for key, word in words.items() if word}


def _end(parameter: Parameter, end: float) -> str | float:
    """An end of an interval; empty text if it is unknown."""
    return _quantity(parameter, end) if math.isfinite(end) else ""


def _meaning(model: Model, name: str) -> dict[str, str]:
    meaning = model.meaning(name)
    better = meaning.better.value if meaning.better else ""
    words = {"unit": meaning.unit.text, "doc": meaning.doc, "source": meaning.source}
    words["better"] = better
    return {key: word for key, word in words.items() if word}


def _fields(component: Component) -> dict[str, Any]:
    table: dict[str, Any] = {
        FILE_KEYS.get(name, name): list(map(written, read))
        if isinstance(read, tuple)
        else written(read)
        for name, read in component.fields.items()
    }
    numbers = {"visits": component.visits, "service_time": component.service_times}
    for key, by_class in (numbers | {"scv": component.scvs}).items():
        if by_class:
            values = {name: written(read) for name, read in by_class.items()}
            table[key] = values.get("", values)
    if component.branches:
        table["branches"] = list(component.branches)
    if component.discipline != DEFAULT:
        table["discipline"] = str(component.discipline)
    if component.blocking:
        table["blocking"] = component.blocking
    if component.choice is not QueueChoice.RANDOM:
        table["route"] = str(component.choice)
    if component.oldest is not None:
        table["drop_older_than"] = written(component.oldest)
    return table


def _region(region: Region) -> dict[str, Any]:
    return {"stations": list(region.stations), "limit": written(region.limit)}


def _link(model: Model, name: str, link: Component) -> dict[str, Any]:
    """A link's platform, and those numbers that differ from the platform's."""
    table: dict[str, Any] = {"platform": link.platform} if link.platform else {}
    usual = link_parameters({name: link})
    for part, read in link.fields.items():
        given = model.parameters.get(f"{name}.{part}")
        if given is not None:
            written = _link_number(given, usual[given.name], link, part)
            table |= {} if written is None else {part: written}
        elif isinstance(read, Formula) and read.names != {f"{name}.overhead"}:
            table[part] = read.text
    return table


def _link_number(given: Parameter, usual: Parameter, link: Component, part: str) -> Any:
    """A number of a link: its value alone if all else is the default, none if published."""
    sources = (published_source(link, part, given.value), usual.source)
    table = _parameter(given)
    as_usual = {
        "unit": isinstance(table["value"], str) or given.unit == usual.unit,
        "min": given.minimum == usual.minimum,
        "max": given.maximum == usual.maximum,
        "doc": given.doc == usual.doc,
        "source": given.source in sources,
        "ci95": given.interval is None,
    }
    others = {key: table[key] for key, same in as_usual.items() if not same and key in table}
    if others:
        return {"value": table["value"], **others}
    return None if is_published(link, part, given.value) else table["value"]


def _algorithm(table: str, component: Component) -> dict[str, Any]:
    algorithm = ALGORITHMS[table]
    labels: dict[str, Any] = {"stages": list(component.labels)} if component.labels else {}
    if word := algorithm.word_of(component.kind):
        labels[algorithm.word] = word
    return labels | _fields(component)


def _arrival(graph: ModelGraph, name: str) -> str | float | dict[str, Any]:
    if name in graph.arrival_courses:
        return _course(graph.arrival_courses[name]) | _clients(graph, "")
    rate = written(graph.arrivals[name])
    table: dict[str, Any] = {}
    if name in graph.arrival_scvs:
        table["scv"] = written(graph.arrival_scvs[name])
    if name in graph.arrival_batches:
        numbers = {key: written(read) for key, read in graph.arrival_batches[name].numbers}
        table["batch"] = numbers.get("", numbers)
    table |= _clients(graph, "")
    return {"rate": rate, **table} if table else rate


def _course(course: Course) -> dict[str, Any]:
    """Rates by time, or a trace, as a model file has them."""
    if isinstance(course, Trace):
        return {"trace": list(course.gaps)}
    times = {f"{start!r} s": rate for start, rate in zip(course.starts, course.rates, strict=True)}
    return {"rates": times, "period": course.period}


def _clients(graph: ModelGraph, job_class: str) -> dict[str, Any]:
    if job_class not in graph.clients:
        return {}
    terms = graph.clients[job_class]
    numbers = _gathered(terms.numbers, TABLES)
    return {**numbers, **({NOTICES: True} if terms.notices else {})}


def _gathered(
    terms: Iterable[tuple[str, Formula]], tables: Mapping[str, Iterable[str]]
) -> dict[str, Any]:
    """Numbers by key, those of each table together."""
    return gathered(((name, written(read)) for name, read in terms), tables)


def _autoscaler(graph: ModelGraph) -> dict[str, Any]:
    terms = graph.autoscaler
    if terms is None:
        return {}
    own = {} if terms.rule is None else {"asks_for": terms.rule.text}
    numbers = _gathered(terms.numbers, {"start_delay": ("scv",)})
    return {"scales": terms.scales, "metric": terms.metric, **own, **numbers}


def _route(route: Route) -> dict[str, Any]:
    ends = {"from": route.source, "to": route.target}
    of = {"class": route.job_class, "becomes": route.becomes}
    own = {key: name for key, name in of.items() if name}
    return {**ends, "probability": written(route.probability), **own}


def _places(ways: ClassRouting, name: str) -> dict[str, Any]:
    """Where a class enters, or begins its rounds."""
    places: dict[str, Any] = {}
    if name in ways.arrives:
        shares = {station: written(read) for station, read in ways.arrives[name].items()}
        places["arrives"] = next(iter(shares)) if list(shares.values()) == [1.0] else shares
    if name in ways.references:
        places["reference"] = ways.references[name]
    return places


def _preset(model: Model, name: str) -> dict[str, Any]:
    preset = model.presets[name]
    words = {"doc": preset.doc, "source": preset.source}
    known = {key: model.exposing(key).parameters[key] for key in preset.values}
    values = {key: _quantity(known[key], value) for key, value in preset.values.items()}
    return {key: word for key, word in words.items() if word} | values
