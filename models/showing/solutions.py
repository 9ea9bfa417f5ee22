"""Solutions described: every input, output and number of a component by operating point."""

import math
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np

from headway.models.language.digits import ends, in_unit, with_unit
from headway.models.language.scales import Scale
from headway.models.language.units import Unit
from headway.models.showing.parts.alternatives import (
    all_models,
    beyond_note,
    mixed_note,
    models_document,
    times_of_all,
)
from headway.models.showing.parts.servers import server_fields, server_tables
from headway.models.solving.solutions.limits import station_limits
from headway.models.solving.solutions.marks import Marks
from headway.models.solving.solutions.solution import Solution
from headway.models.structure.inputs import ARRIVAL_SCV
from headway.models.structure.model import Model
from headway.models.structure.outputs import part_unit, percent_of
from headway.models.structure.parts.keys import of_class
from headway.models.structure.replicas import are_copies
from headway.models.tables.description import Description, Field, Records, Row, field, only_csv
from headway.models.tables.table import Column, Table
from headway.numerals import ranked

MOST_COLUMNS = 9
"""Most outputs in the table of a sweep."""

_TIE = 1e-9  # relative difference below which two stations saturate together


def describe(solution: Solution) -> Description:
    """One row per operating point, in SI."""
    return Description(
        records=lambda: records_of(solution),
        scale=lambda: Scale.of(_shown(solution), solution.model.stated),
        tables=lambda scale: _tables(solution, scale),
        document=lambda rows: {**head(solution), "points": rows},
    )


def records_of(solution: Solution, *more: Field) -> Records:
    """The fields of a solution, and further fields of an answer based on it."""
    return Records((*_fields(solution), *more), _KEYS, _KEYS[:2])


_KEYS = (
    "inputs",
    "outputs",
    "components",
    "classes",
    "bottleneck",
    "saturated",
    "regions",
    "clients",
    "entries",
    "tasks",
    "processors",
    "bounds",
    "class_bounds",
)
"""Keys of a row in JSON; all have the first two."""


def _fields(solution: Solution) -> Iterator[Field]:
    model, count = solution.model, int(np.prod(solution.shape))
    yield from input_fields(solution)
    for name in solution.outputs:
        values = _spread(solution[name], solution)
        yield Field(("outputs", name), values, model.meaning(name).unit, (name,))
    for name in solution.classes:
        for part in solution.class_parts:
            values = _spread(solution[of_class(name, part)], solution)
            yield Field(("classes", name, part), values, part_unit(part), (f"{name}_{part}",))
    servers = server_fields(solution)
    for name, parts in station_parts(solution).items():
        for part in parts:
            values = _spread(solution[f"{name}.{part}"], solution)
            yield Field(
                ("components", name, part),
                values,
                part_unit(part),
                (f"{name}_{part}",),
            )
        yield from servers.get(name, [])
    yield from _limit_fields(solution)
    if solution.stations:
        yield field("bottleneck", map(str, np.ravel(solution.bottleneck)))
        yield field("saturated", map(bool, np.ravel(solution.saturated)))
        yield only_csv("method", (solution.method,) * count)
    if solution.stations or solution.approximation:
        yield only_csv("approximation", (solution.approximation,) * count)


def _limit_fields(solution: Solution) -> Iterator[Field]:
    """Results of layers and of regions, and bounds."""
    from headway.models.showing.bounds import bound_fields

    if solution.model.graph.layers:
        from headway.models.showing.parts.layers import layer_fields

        yield from layer_fields(solution, solution.model.graph.layers)
        yield only_csv("method", (solution.method,) * int(np.prod(solution.shape)))
    if solution.model.graph.regions:
        from headway.models.showing.parts.regions import region_fields

        yield from region_fields(solution)
    yield from bound_fields(solution)


def input_fields(solution: Solution, rows: Sequence[int] | None = None) -> Iterator[Field]:
    """Inputs in one row per operating point; rows of layers and regions have numbers too."""
    for name, value in solution.model.inputs.items():
        values = _spread(value, solution)
        shown = values if rows is None else [values[k] for k in rows]
        yield Field(("inputs", name), shown, solution.model.parameters[name].unit, (name,))


def _spread(value: Any, solution: Solution) -> list[float]:
    flat: list[float] = np.broadcast_to(np.asarray(value, float), solution.shape).ravel().tolist()
    return flat


def station_parts(solution: Solution) -> dict[str, tuple[str, ...]]:
    """The results of each station: those that are always shown, and those asked for."""
    always = _parts_of_all(solution)
    return {
        name: (*always, *(one.part for one in solution.station_requests if one.owner == name))
        for name in solution.stations
    }


def _parts_of_all(solution: Solution) -> tuple[str, ...]:
    """The results of every station, including the share of blocked servers if some block."""
    if not solution.model.graph.blocks:
        return solution.station_parts
    from headway.models.showing.parts.regions import blocked_parts

    return (*solution.station_parts, *blocked_parts(solution))


def head(solution: Solution) -> Row:
    """What JSON has of a solution besides its points."""
    model = solution.model
    document: Row = {"model": model.name, "preset": model.preset}
    if solution.stations or model.graph.layers:
        document |= {"method": solution.method, "approximation": solution.approximation or None}
        document |= {"unsolved": why} if (why := solution.unsolved_message) else {}
        document |= {"no_bounds": reason} if (reason := solution.no_bounds) else {}
    elif solution.approximation:
        document["approximation"] = solution.approximation
    return document | models_document(model)


def swept(solution: Solution) -> list[str]:
    """Names of the inputs that differ between operating points."""
    inputs = solution.model.inputs
    return [name for name, v in inputs.items() if np.ndim(v) and np.ptp(np.asarray(v)) > 0]


def _tables(solution: Solution, scale: Scale) -> list[Table]:
    """One table over many operating points, or outputs and components of a single one."""
    if np.prod(solution.shape) > 1:
        return [_sweep_table(solution, scale)]
    tables = [_outputs_table(solution, scale)]
    if solution.classes:
        tables.append(_class_table(solution, scale))
    if solution.model.graph.layers:
        from headway.models.showing.parts.layers import layer_tables

        return tables + layer_tables(solution, solution.model.graph.layers, scale)
    if not solution.stations:
        return tables
    tables += [_stations_table(solution, scale), *server_tables(solution)]
    if solution.model.graph.regions:
        from headway.models.showing.parts.regions import region_tables

        tables += region_tables(solution, scale)
    return tables


def _shown(solution: Solution) -> Iterator[tuple[Any, Unit]]:
    """What a table shows of a solution, each with its intended unit."""
    model = solution.model
    for name in swept(solution):
        yield model.inputs[name], model.parameters[name].unit
    for name in solution.outputs:
        yield solution[name], model.meaning(name).unit
    for one in solution.station_requests:
        yield solution[one.name], part_unit(one.part)
    for name in solution.classes:
        for part in solution.class_parts:
            yield solution[of_class(name, part)], model.meaning(part).unit
    for name in solution.stations if np.prod(solution.shape) == 1 else ():
        for part in solution.station_parts:
            yield solution[f"{name}.{part}"], part_unit(part)


def _class_table(solution: Solution, scale: Scale) -> Table:
    columns = [Column("class", solution.classes)]
    for part in solution.class_parts:
        values = [float(np.ravel(solution[of_class(name, part)])[0]) for name in solution.classes]
        own = solution.model.meaning(part).unit
        columns.append(Column.of(part.replace("_", " "), values, own, scale))
    return Table("classes", tuple(columns))


def _sweep_table(solution: Solution, scale: Scale) -> Table:
    model = solution.model
    columns = input_columns(solution, scale)
    names = [n for n in solution.outputs if n not in ("saturation_throughput", "knee_population")]
    if swept(solution) == ["arrival_rate"] and not solution.saturated.any():
        names.remove("throughput")
    hidden = names[MOST_COLUMNS:]
    names = names[:MOST_COLUMNS]
    for name in names:
        columns.append(Column.of(name, solution[name], model.meaning(name).unit, scale))
        columns += times_of_all(solution, name, scale) if _is_time(name) else ()
    columns += [
        Column.of(
            f"{part.replace('_', ' ')} {name}",
            solution[of_class(name, part)],
            model.meaning(part).unit,
            scale,
        )
        for name in solution.classes
        for part in solution.class_parts
    ]
    columns += [
        Column.of(one.name, solution[one.name], part_unit(one.part), scale)
        for one in solution.station_requests
    ]
    if solution.stations:
        busy = [
            n for n in solution.stations if np.any(np.asarray(solution[f"{n}.utilisation"]) > 0)
        ]
        columns += [
            Column(f"U {name}", _cells(solution[f"{name}.utilisation"])) for name in busy[:4]
        ]
        columns.append(Column("bottleneck", tuple(solution.bottleneck.ravel().tolist())))
    more = [f"and {len(hidden)} more outputs, in --csv and --json"] if hidden else []
    more += mixed_note(model) + beyond_note(model)
    keys = max(1, len(swept(solution)))
    return Table(solution.model.title, tuple(columns), (*notes_of(solution, scale), *more), keys)


def _is_time(name: str) -> bool:
    """Whether an output is the response time or a percentile of it."""
    return name == "response_time" or percent_of(name) is not None


def input_columns(solution: Solution, scale: Scale, times: int = 1) -> list[Column]:
    """A column for each input that differs between operating points, in the units of an answer."""
    model = solution.model
    values = {
        name: np.repeat(np.broadcast_to(model.inputs[name], solution.shape), times)
        for name in swept(solution)
    }
    return [Column.of(n, each, model.parameters[n].unit, scale) for n, each in values.items()]


def _cells(values: Any) -> tuple[float, ...]:
    return tuple(np.atleast_1d(np.asarray(values, float)).ravel().tolist())


def labels(solution: Solution) -> list[str]:
    """How it was solved, and what is not exact about it: a line each, for every answer."""
    exact = "" if solution.approximation or solution.method == "exact" else " (exact)"
    layers = solution.model.graph.layers
    usual = not (solution.stations or layers) or solution.method == Marks.method
    notes = [] if usual else [f"method: {solution.method}{exact}"]
    doubt = [f"approximate: {solution.approximation}"] if solution.approximation else []
    return notes + doubt


def set_note(model: Model, shown: Collection[str] = (), scale: Scale | None = None) -> list[str]:
    """Name the inputs that differ from the model's own, except those in a column."""
    changed = [p for n, p in model.parameters.items() if p.changed and n not in shown]
    units = scale or Scale.of((p.value, p.unit) for p in changed)
    texts = [f"{p.name} {units.stated(float(_only(p.value)), p.unit)}" for p in changed]
    stated = [f"set: {', '.join(texts)}"] if texts else []
    return stated + replica_note(model) + arrival_note(model)


def replica_note(model: Model) -> list[str]:
    """Say whose results they are, if the model is one of several replicas."""
    if not are_copies(model.parameters):
        return []
    return ["answers are for one replica; arrivals are split at random among all"]


def arrival_note(model: Model) -> list[str]:
    """Say how requests arrive, if more or less regularly than a Poisson process."""
    parameter = model.parameters.get(ARRIVAL_SCV.name)
    scv = None if parameter is None else parameter.value
    if scv is None or np.ndim(scv):
        return []
    from headway.models.measured.arrivals import POISSON, arrivals_in_words

    if float(scv) == POISSON:
        return []
    words = arrivals_in_words(float(scv))
    return [
        f"requests arrive {words}; for those of users, who come at random, set {ARRIVAL_SCV.name}=1"
    ]


def notes_of(solution: Solution, scale: Scale | None = None) -> list[str]:
    """Notes on what was set, how it was solved, saturated points, and the saturation load."""
    notes = set_note(solution.model, swept(solution), scale) + labels(solution)
    if solution.model.graph.layers:
        from headway.models.showing.parts.layers import layer_notes

        notes += layer_notes(solution, solution.model.graph.layers)
        if solution.saturated.any():
            notes.append(f"saturated: {solution.marks.overload}")
    if solution.marks.unsolved:
        notes.append(f"not solved: {solution.unsolved_message}")
    if not solution.stations:
        return notes
    saturated = [f"saturated: {solution.saturation_message}"] * int(solution.saturated.any())
    if solution.shared:
        return notes + saturated
    limits = np.ravel(solution.saturation_throughput)
    rate = solution.model.meaning("throughput").unit
    if limits.size > 1 and limits.min() == limits.max() < math.inf:
        notes.append(f"saturation throughput: {with_unit(in_unit(limits[0], rate), rate)}")
    return notes + saturated


def _binding_notes(solution: Solution) -> list[str]:
    """Name the bottleneck and the next one, and give bounds of X."""
    if solution.shared:
        return [f"bottleneck: {_only(solution.bottleneck)}"]
    rate = solution.model.meaning("throughput").unit
    limits = station_limits(solution)
    first = str(_only(solution.bottleneck))
    others = ranked([name for name in limits if name != first], limits)
    notes = [f"bottleneck: {first}"]
    if others and limits[first] <= limits[others[0]] * (1 + _TIE) < math.inf:
        name, limit = others[0], limits[others[0]]
        notes[0] += f"; relieve it, and {name} is next, at {with_unit(in_unit(limit, rate), rate)}"
    if not solution.is_open and solution.no_bounds:
        notes.append(f"no bounds: {solution.no_bounds}")
    for name, bounds in ({} if solution.is_open else solution.bounds()).items():
        low, high = (_only(end) for end in (bounds.throughput_lower, bounds.throughput_upper))
        notes.append(f"{name} bounds: throughput {with_unit(ends(low, high, rate), rate)}")
    return notes


def _only(values: Any) -> Any:
    """The value of a solution's only point, even if its inputs were arrays with one entry."""
    return np.ravel(values)[0]


def _outputs_table(solution: Solution, scale: Scale) -> Table:
    each = [(name, solution.model.meaning(name).unit) for name in solution.outputs]
    each += [(one.name, part_unit(one.part)) for one in solution.station_requests]
    columns = [Column.of(name, solution[name], unit, scale) for name, unit in each]
    texts = tuple(with_unit(column.texts[0], column.unit) for column in columns)
    names = Column("output", tuple(name for name, _ in each))
    notes = notes_of(solution, scale) + (_binding_notes(solution) if solution.stations else [])
    notes += mixed_note(solution.model) + beyond_note(solution.model)
    shown = (names, Column("value", texts), *all_models(solution, scale))
    return Table(solution.model.title, shown, tuple(notes))


def _stations_table(solution: Solution, scale: Scale) -> Table:
    columns = [Column("station", solution.stations)]
    for part in _parts_of_all(solution):
        values = [float(np.ravel(solution[f"{name}.{part}"])[0]) for name in solution.stations]
        columns.append(Column.of(part.replace("_", " "), values, part_unit(part), scale))
    return Table("stations", tuple(columns))
