"""Layered services as tables of a model file, in the form in which they are read."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, NamedTuple

from headway.models.files.building.expressions import written
from headway.models.files.building.services import (
    REPLY,
    ProcessorEntry,
    ServiceEntry,
    StepEntry,
    TaskEntry,
)
from headway.models.language.formula import Formula
from headway.models.structure.parts.flows import OwnNames, in_phases, parts_of, stated, steps
from headway.models.structure.parts.layers import Layers
from headway.queueing.disciplines.discipline import Discipline
from headway.queueing.layers.flow import Choice, Flow, Loop, Reply, Series, Step, Together
from headway.queueing.layers.parts import Entry, Processor, Task


def layer_tables(layers: Layers) -> dict[str, Any]:
    """The tables ``[processors]`` and ``[tasks]``, without keys that have their default values."""
    return {
        "processors": {
            name: _keys(ProcessorEntry, one)
            for name, one in layers.processors.items()
            if name not in layers.lone
        },
        "tasks": {name: _task(layers, name) for name in layers.tasks},
    }


def _keys(shape: type[NamedTuple], *parts: Processor | Task | Entry | Step) -> dict[str, Any]:
    """The values of parts by the keys of a table, if they are not the table's defaults."""
    table: dict[str, Any] = {}
    for part in parts:
        for field in fields(part):
            value = _value(getattr(part, field.name))
            if field.name != "flow" and value != shape._field_defaults.get(field.name, value):
                table[field.name] = value
    return table


def _value(value: Any) -> Any:
    if isinstance(value, Formula):
        return written(value)
    if isinstance(value, Mapping):
        return {name: written(read) for name, read in value.items()}
    if isinstance(value, tuple) and value:
        return list(value)
    return str(value) if isinstance(value, Discipline) else value


def _task(layers: Layers, name: str) -> dict[str, Any]:
    task = layers.tasks[name]
    table = _keys(TaskEntry, task)
    if name in layers.lone:
        del table["processor"]
    if task.clients:
        table.pop("threads", None)
        table["population"] = _value(task.threads)
    offered = {n: one for n, one in layers.entries.items() if one.task == name}
    entries = {n: _entry(n, one, early=n in layers.met) for n, one in offered.items()}
    return {**table, "entries": entries}


def _entry(name: str, entry: Entry, *, early: bool) -> dict[str, Any]:
    """An entry's keys: for one step, perhaps with a second phase, or a flow of activities."""
    parts = stated(entry.flow, early=early)
    phases = in_phases(parts) if any(steps(Series(parts))) else (Step(name),)
    if phases is None or len(phases) > 2:
        return {**_keys(ServiceEntry, entry), **_activities(name, parts)}
    table = _keys(ServiceEntry, entry, phases[0])
    if len(phases) > 1:
        table["second_phase"] = _keys(StepEntry, phases[1])
    return table


def _activities(name: str, parts: tuple[Flow, ...]) -> dict[str, Any]:
    named = OwnNames({REPLY}).named(Series(parts), f"{name}: ")
    return {
        "activities": {each: _keys(StepEntry, step) for each, step in steps(named)},
        "flow": [_part(part) for part in parts_of(named)],
    }


def _after(part: Together) -> dict[str, Any]:
    """The branches that some branches wait for, each named by its first activity."""
    names = [next(steps(branch), ("", None))[0] for branch in part.branches]
    waits: dict[str, Any] = {}
    for number, (others, needed) in enumerate(part.behind):
        of = [names[k] for k in others]
        if len(of) == 1:
            waits[names[number]] = of[0]
        elif of:
            waits[names[number]] = of if needed == len(of) else {"of": of, "needed": needed}
    return {"after": waits} if waits else {}


def _part(part: Flow) -> Any:
    """A part of a flow: the name of an activity, a list in series, or a table."""
    match part:
        case Step():
            return part.name
        case Reply(to):
            return {REPLY: to} if to else REPLY
        case Choice(ways):
            return {"choice": [[_value(chance), _part(way)] for chance, way in ways]}
        case Together(branches, needed):
            needs = {} if needed == len(branches) else {"needed": needed}
            return {"together": [_part(branch) for branch in branches], **needs, **_after(part)}
        case Loop(body, mean):
            return {"loop": _part(body), "times": _value(mean)}
    return [_part(each) for each in parts_of(part)]
