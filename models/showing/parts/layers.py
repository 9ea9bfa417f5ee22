"""Results of layered services: of clients, entries, tasks and processors."""

from collections.abc import Iterator, Mapping
from math import inf

import numpy as np

from headway.models.language.scales import Scale
from headway.models.language.units import Unit, unit
from headway.models.solving.solutions.solution import Solution
from headway.models.structure.outputs import part_unit
from headway.models.structure.parts.layers import Layers
from headway.models.tables.description import Field
from headway.models.tables.table import Column, Table
from headway.numerals import digits, significant
from headway.queueing.layers.parts import Processor, Task
from headway.records import dataclass

_PARTS = {
    "clients": ("throughput", "response_time"),
    "entries": (
        "throughput",
        "response_time",
        "waiting_time",
        "service_time",
        "second_phase",
        "busy",
    ),
    "tasks": ("throughput", "utilisation", "busy", "waiting_time", "response_time"),
    "processors": ("utilisation", "busy"),
}
"""The results of each kind of part, by its key in JSON."""

_FULL = 0.95  # share of threads in use from which a pool is called full. Chosen
_IDLE = 0.8  # utilisation below which its processor is said to have room. Chosen


_TIMES = ("service_time", "second_phase")  # that layers alone have


def _unit(part: str) -> Unit:
    return unit("s") if part in _TIMES else part_unit(part)


def layer_fields(solution: Solution, layers: Layers) -> Iterator[Field]:
    """Each result of each part, over the operating points."""
    for kind, names in layers.told.items():
        for name in names:
            key = layers.key(kind, name)
            for part in _PARTS[kind]:
                values = np.broadcast_to(solution[f"{key}.{part}"], solution.shape).ravel()
                csv = (f"{key.replace(' ', '_')}_{part}",)
                yield Field((kind, name, part), values.tolist(), _unit(part), csv)


def layer_tables(solution: Solution, layers: Layers, scale: Scale) -> list[Table]:
    """A table for each kind of part, at a single operating point."""
    tables = []
    for kind, names in layers.told.items():
        columns = [Column(_SINGULAR[kind], names)]
        for part in _PARTS[kind]:
            keys = [layers.key(kind, name) for name in names]
            values = [float(np.ravel(solution[f"{key}.{part}"])[0]) for key in keys]
            if part == "second_phase" and not any(values):
                continue
            columns.append(Column.of(part.replace("_", " "), values, _unit(part), scale))
        if names:
            tables.append(Table(kind, tuple(columns)))
    return tables


_SINGULAR = {"clients": "clients", "entries": "entry", "tasks": "task", "processors": "processor"}


def layer_notes(solution: Solution, layers: Layers) -> list[str]:
    """Name the pool of threads that is full while its processor is not, and the busiest part."""
    if np.prod(solution.shape) != 1:
        return []
    pools, devices = _uses(solution, layers)
    notes = list(_of_copies(solution, layers))
    met = {one.task: " and ".join(one.meets) for one in layers.entries.values() if one.meets}
    for name, taken in pools.items():
        processor = layers.tasks[name].processor
        busy = devices.get(processor, 0.0)
        if taken >= _FULL and busy < _IDLE:
            limited = f"is {_percent(busy)} busy" if processor in devices else "has no limit"
            advice = "give it more threads, or make what they wait for faster"
            if name in met:
                advice = f"requests for {met[name]} wait for each other in one of them"
            notes.append(
                f"the threads of {name} are full ({_percent(taken)} taken) while its processor "
                f"{processor} {limited}: {advice}"
            )
    if pools or devices:
        busiest = fullest(solution, layers)
        notes.append(f"busiest: {busiest.name}, {_percent(busiest.share)}")
    return notes


def _of_copies(solution: Solution, layers: Layers) -> Iterator[str]:
    """The owner of these results, if there are copies."""
    parts = layers.numbered(solution.values)
    counts = {**_replicas(parts.processors), **_replicas(parts.tasks)}
    if counts:
        named = ", ".join(f"{name} ({digits(count)})" for name, count in counts.items())
        yield (
            f"numbers of {named} are for one copy each, on average; throughput and response_time "
            "are for all"
        )


def _replicas(parts: Mapping[str, Task] | Mapping[str, Processor]) -> dict[str, float]:
    counts = {name: float(np.ravel(part.replicas)[0]) for name, part in parts.items()}
    return {name: count for name, count in counts.items() if count > 1}


@dataclass(frozen=True)
class Fullest:
    """The pool of threads or processor with the highest utilisation, and its share in use."""

    name: str
    share: float
    is_pool: bool

    @property
    def words(self) -> str:
        """Its kind and name."""
        return f"the {'threads of' if self.is_pool else 'processor'} {self.name}"


def fullest(solution: Solution, layers: Layers) -> Fullest:
    """The fullest part at one operating point; pools come before processors that are as full."""
    pools, devices = _uses(solution, layers)
    shares = [Fullest(name, share, True) for name, share in pools.items()]  # noqa: FBT003
    shares += [Fullest(name, share, False) for name, share in devices.items()]  # noqa: FBT003
    return max(shares, key=lambda each: each.share)


def _uses(solution: Solution, layers: Layers) -> tuple[dict[str, float], dict[str, float]]:
    """The utilisation of each pool of threads, and of each processor that has a limit."""
    names = layers.told
    pools = {name: _use(solution, name) for name in names["tasks"]}
    devices = {
        name: _use(solution, layers.key("processors", name))
        for name in names["processors"]
        if layers.processors[name].servers.constant != inf
    }
    return pools, devices


def _use(solution: Solution, key: str) -> float:
    return float(np.ravel(solution[f"{key}.utilisation"])[0])


def _percent(share: float) -> str:
    return f"{significant(100 * share, 3)}%"
