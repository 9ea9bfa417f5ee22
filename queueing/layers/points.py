"""The operating points of a layered system: taken apart, and their answers joined again."""

from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.columns import distinct_columns
from headway.kinds import Amount
from headway.queueing.layers.means import EntryMeans, LayeredMeans
from headway.queueing.layers.parts import Processor, Task
from headway.queueing.layers.system import LayeredSystem


def points_of(system: LayeredSystem) -> Iterator[LayeredSystem]:
    """The operating points of a system, one by one."""
    for k in range(int(np.prod(system.shape))):
        yield at(system, k)


def first_of(system: LayeredSystem) -> LayeredSystem:
    """A system at the first of its operating points; the result is cached."""
    if 0 not in system.points:
        system.points[0] = at(system, 0)
    return system.points[0]


def at(system: LayeredSystem, points: int | NDArray[np.intp]) -> LayeredSystem:
    """A system at some of its operating points, in flat order."""
    if not system.shape:
        return system

    def part_at(part: Any) -> Any:
        if isinstance(part, np.ndarray):
            return np.broadcast_to(part, system.shape).ravel()[points]
        if isinstance(part, dict):
            here = {key: part_at(value) for key, value in part.items()}
            return here if _differ(here.values(), part.values()) else part
        if isinstance(part, tuple):
            each = tuple(map(part_at, part))
            return each if _differ(each, part) else part
        if is_dataclass(part) and not isinstance(part, str | type):
            old = {f.name: getattr(part, f.name) for f in fields(part)}
            new = {name: part_at(value) for name, value in old.items()}
            return replace(part, **new) if _differ(new.values(), old.values()) else part
        return part

    processors = {n: _processor_at(part_at(p)) for n, p in system.processors.items()}
    tasks = {n: _task_at(part_at(t)) for n, t in system.tasks.items()}
    entries = part_at(dict(system.entries)) if system.varies else system.entries
    return system.at_points(processors, tasks, entries)


def _differ(some: Iterable[Any], others: Iterable[Any]) -> bool:
    return any(one is not other for one, other in zip(some, others, strict=True))


def _processor_at(part: Processor) -> Processor:
    return replace(part, servers=_common(part.servers), replicas=_common(part.replicas))


def _task_at(part: Task) -> Task:
    fans = {name: _common(fan) for name, fan in part.fan_out.items()}
    threads, copies = _common(part.threads), _common(part.replicas)
    return replace(part, threads=threads, replicas=copies, fan_out=fans)


def _common(number: Amount) -> Amount:
    """A number of threads, servers or copies as a scalar, if it is the same at all points."""
    each = np.ravel(number)
    return float(each[0]) if (each == each[0]).all() else number


def alike(system: LayeredSystem) -> list[NDArray[np.intp]]:
    """Indices of points of one structure: the same threads, servers, clients and copies."""
    if not system.shape:
        return [np.zeros(1, np.intp)]
    counts = [
        *(n for one in system.processors.values() for n in (one.servers, one.replicas)),
        *(n for one in system.tasks.values() for n in (one.threads, one.replicas)),
        *(n for one in system.tasks.values() for n in one.fan_out.values()),
    ]
    table = [np.broadcast_to(np.asarray(n, float), system.shape).ravel() for n in counts]
    first, kinds = distinct_columns(np.stack(table))
    return [np.flatnonzero(kinds == k) for k in range(first.size)]


def joined(
    system: LayeredSystem,
    found: list[LayeredMeans],
    groups: list[NDArray[np.intp]] | None = None,
) -> LayeredMeans:
    """Join the answers for groups of points; without ``groups``, for single points in order."""
    if not system.shape:
        return found[0]
    groups = groups or [np.array([k]) for k in range(len(found))]
    back = np.argsort(np.concatenate(groups))
    entries = {}
    for name in system.entries:
        columns = []
        for field in fields(EntryMeans):
            each = [
                np.broadcast_to(np.ravel(getattr(one.entries[name], field.name)), points.size)
                for one, points in zip(found, groups, strict=True)
            ]
            columns.append(np.reshape(np.concatenate(each)[back], system.shape))
        entries[name] = EntryMeans(*columns)
    return LayeredMeans(system, entries)
