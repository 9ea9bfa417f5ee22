"""Fan-in and fan-out between replicas of tasks in LQNX files.

R_s F_out = R_d F_in: each of the R_s copies of a caller calls F_out copies of the callee, with the
mean number of calls to each, and each of these R_d copies is called by F_in. If a file states one,
the other follows; if it states neither, all copies use the single copy at the other end, and
otherwise both are 1. Source: Franks and others, *Layered Queueing Network Solver and Simulator User
Manual*, Replication.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Protocol
from xml.etree.ElementTree import Element, SubElement

import numpy as np

from headway.errors import ModelFileError, nearest, quoted
from headway.kinds import Amount
from headway.models.language.formula import Formula, of_number
from headway.models.structure.parts.layers import Layers
from headway.numerals import digits
from headway.queueing.layers.flow import Step, with_steps
from headway.queueing.layers.parts import Entry
from headway.queueing.layers.system import LayeredSystem


class _Reading(Protocol):
    """A reader of a file."""

    def number(self, element: Element, key: str, place: str, default: float) -> float:
        """A number in the file."""

    def wrong(self, place: str, what: str) -> ModelFileError:
        """The error of something in the file."""


def fans_of(reading: _Reading, root: Element, layers: Layers) -> dict[str, dict[str, Formula]]:
    """The fan-out of each task to each of its callees, if one of the two has replicas.

    Parameters
    ----------
    reading, root
        The reader of the file, and the file's root.
    layers
        The layers with numbers.

    Raises
    ------
    ModelFileError
        If fan-in and fan-out do not match the numbers of replicas.
    """
    elements = {task.get("name", ""): task for task in root.iter("task")}
    outs = {
        name: _said(reading, elements, one, "fan-out", "dest") for name, one in elements.items()
    }
    ins = {
        name: _said(reading, elements, one, "fan-in", "source") for name, one in elements.items()
    }
    copies = {name: float(task.replicas) for name, task in layers.tasks.items()}
    fans: dict[str, dict[str, Formula]] = {name: {} for name in layers.tasks}
    for source, target in _callers(layers.entries):
        here, there = copies[source], copies[target]
        if here == there == 1:
            continue
        leaves, enters = _both(outs[source].get(target), ins[target].get(source), here, there)
        if here * leaves != there * enters or enters % 1 or leaves % 1:
            what = (
                f"{digits(here)} replicas with a fan-out of {digits(leaves)} do not match "
                f"{digits(there)} replicas of {target} with a fan-in of {digits(enters)}"
            )
            place = f"task {source}"
            raise reading.wrong(place, what)
        fans[source][target] = of_number(leaves)
    return fans


def _both(
    leaves: float | None, enters: float | None, here: float, there: float
) -> tuple[float, float]:
    """Fan-out and fan-in, one or both of which may not be stated."""
    if leaves is not None:
        return leaves, here * leaves / there if enters is None else enters
    if enters is not None:
        return there * enters / here, enters
    return there if here == 1 else 1.0, here if there == 1 else 1.0


def _said(
    reading: _Reading, tasks: Mapping[str, Element], task: Element, tag: str, key: str
) -> dict[str, float]:
    place = f"task {task.get('name', '')}"
    for one in task.findall(tag):
        if one.get(key) not in tasks:
            what = f"its {tag} has {key} {quoted(one.get(key, ''))}, which is not a task"
            raise reading.wrong(place, what + nearest(one.get(key, ""), tasks))
    return {one.get(key, ""): reading.number(one, "value", place, 1.0) for one in task.findall(tag)}


def _callers(entries: Mapping[str, Entry]) -> Iterator[tuple[str, str]]:
    """Pairs of each task and each of its callees, once."""
    yield from dict.fromkeys(
        (entry.task, entries[other].task)
        for entry in entries.values()
        for other in entry.uses
        if other in entries
    )


def with_fans(system: LayeredSystem) -> LayeredSystem:
    """The system with every fan-out stated, as LQNX has no calls that choose a copy.

    A call with mean m that chooses any of R copies becomes R calls with mean m / R.
    """
    tasks, entries = dict(system.tasks), dict(system.entries)
    for source, target in _callers(system.entries):
        copies = system.tasks[target].replicas
        fans = tasks[source].fan_out
        if target in fans or np.all(np.equal(copies, 1) & np.equal(tasks[source].replicas, 1)):
            continue
        tasks[source] = replace(tasks[source], fan_out={**fans, target: copies})
        thinned = partial(_thinned, called=frozenset(system.entries_of[target]), by=copies)
        for name in system.entries_of[source]:
            flow = with_steps(entries[name].flow, thinned)
            entries[name] = replace(entries[name], flow=flow)
    return replace(system, tasks=tasks, entries=entries)


def _thinned(step: Step, called: frozenset[str], by: Amount) -> Step:
    """A step whose calls to some entries are divided by a number."""

    def divided(calls: Mapping[str, Amount]) -> dict[str, Amount]:
        return {name: mean / by if name in called else mean for name, mean in calls.items()}

    return replace(step, calls=divided(step.calls), sends=divided(step.sends))


def write_fans(element: Element, system: LayeredSystem, name: str) -> None:
    """Add the fan-outs and fan-ins of a task, all of which are stated."""
    for other, fan in system.tasks[name].fan_out.items():
        SubElement(element, "fan-out", {"dest": other, "value": digits(float(fan))})
    for source, task in system.tasks.items():
        if name in task.fan_out:
            enters = float(task.replicas * task.fan_out[name] / system.tasks[name].replicas)
            SubElement(element, "fan-in", {"source": source, "value": digits(enters)})
