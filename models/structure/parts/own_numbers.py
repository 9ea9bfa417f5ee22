"""Numbers that layered services have of their own, which become parameters on demand.

``threads = 8`` of a task web becomes the parameter ``web_threads`` if it is set, swept, sized or
fitted; otherwise it stays a number.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import inf
from typing import Any

from headway.models.language.formula import Formula, Name, formula
from headway.models.language.parameters import Parameter
from headway.models.language.units import ONE, unit
from headway.models.structure.parts.flows import in_phases, stated
from headway.models.structure.parts.layers import Layers
from headway.queueing.layers.flow import Flow, Step, with_steps
from headway.queueing.layers.parts import Task
from headway.records import dataclass

_UNITS = {"demand": unit("s"), "think_time": unit("s"), "arrival_rate": unit("1/s")}


@dataclass(frozen=True)
class _Number:
    """The place of a number: its part, and its name in that part."""

    value: Any
    kind: str
    part: str
    field: str


def own_numbers(layers: Layers | None) -> dict[str, Parameter]:
    """Numbers of tasks and processors, arrivals, and demands of first phases, by name.

    A number without limit has no value.

    Examples
    --------
    >>> from headway.models import parse_model
    >>> text = '''
    ... name = "one"
    ... [processors.cpu]
    ... [tasks.users]
    ... population = 3
    ... [tasks.users.entries.use]
    ... calls = { page = 1 }
    ... [tasks.web]
    ... processor = "cpu"
    ... [tasks.web.entries.page]
    ... demand = "5 ms"
    ... '''
    >>> found = own_numbers(parse_model(text).graph.layers)
    >>> [f"{name} = {one.value}" for name, one in found.items() if one.value]
    ['users_population = 3.0', 'web_threads = 1.0', 'cpu_servers = 1.0', 'page_demand = 0.005']
    """
    return {
        name: Parameter(name, _limited(one.value.constant), _UNITS.get(one.field, ONE), 0.0)
        for name, one in _found(layers).items()
    }


def with_own_numbers(layers: Layers, names: Sequence[str]) -> Layers:
    """The layers with parameters in place of some of these numbers."""
    found = _found(layers)
    for name in names:
        one = found[name]
        parts: dict[str, Any] = dict(getattr(layers, one.kind))
        parts[one.part] = _put(parts[one.part], one.field, formula(name))
        layers = replace(layers, **{one.kind: parts})
    return layers


def clients_name(layers: Layers) -> str:
    """The name of the number of clients, where they are all of one task; else empty."""
    clients = [name for name, task in layers.tasks.items() if task.clients]
    return _name(layers, "tasks", clients, "threads")


def load_name(layers: Layers) -> str:
    """The name of the number of clients, or of the only arrival rate; else empty."""
    if any(task.clients for task in layers.tasks.values()):
        return clients_name(layers)
    asked = [name for name, one in layers.entries.items() if one.arrival_rate.constant != 0]
    return _name(layers, "entries", asked, "arrival_rate")


def _name(layers: Layers, kind: str, parts: Sequence[str], field: str) -> str:
    """The parameter that a number of the only part is, or becomes; else empty."""
    if len(parts) != 1:
        return ""
    (part,) = parts
    tree = getattr(getattr(layers, kind)[part], field).tree
    if isinstance(tree, Name):
        return tree.name
    named = {(one.kind, one.part, one.field): name for name, one in _found(layers).items()}
    return named.get((kind, part, field), "")


def _limited(value: float | None) -> float | None:
    return None if value == inf else value


def _put(part: Any, field: str, value: Formula) -> Any:
    if field != "demand":
        return replace(part, **{field: value})
    first = _first(part.flow)
    return replace(
        part,
        flow=with_steps(
            part.flow, lambda step: replace(step, demand=value) if step == first else step
        ),
    )


def _found(layers: Layers | None) -> dict[str, _Number]:
    each = {} if layers is None else dict(_numbers(layers))
    return {n: one for n, one in each.items() if n.isidentifier() and _is_number(one)}


def _is_number(one: _Number) -> bool:
    """Whether it is written as a number, and not an arrival rate of none."""
    value = one.value.constant if isinstance(one.value, Formula) else None
    return value is not None and value >= 0 and (value > 0 or one.field != "arrival_rate")


def _numbers(layers: Layers) -> Iterator[tuple[str, _Number]]:
    for name, task in layers.tasks.items():
        for field, said in _of(task).items():
            yield f"{name}_{said}", _Number(getattr(task, field), "tasks", name, field)
    for name in [name for name in layers.processors if name not in layers.lone]:
        one = layers.processors[name]
        yield f"{name}_servers", _Number(one.servers, "processors", name, "servers")
    for name, entry in layers.entries.items():
        rate = _Number(entry.arrival_rate, "entries", name, "arrival_rate")
        yield f"{name}_arrival_rate", rate
        if step := _first(entry.flow):
            yield f"{name}_demand", _Number(step.demand, "entries", name, "demand")


def _of(task: Task) -> Mapping[str, str]:
    """Fields of a task, each with the ending of its parameter's name."""
    if task.clients:
        return {"threads": "population", "think_time": "think_time"}
    return {"threads": "threads"}


def _first(flow: Flow) -> Step | None:
    """The first phase of an entry with phases."""
    phases = in_phases(stated(flow))
    return phases[0] if phases else None
