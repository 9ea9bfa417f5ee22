"""Layered services of a graph: processors, tasks and entries, with a formula for each number."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cached_property
from math import inf, nan
from typing import Any

import numpy as np

from headway.errors import GraphError
from headway.kinds import Amount
from headway.models.language.formula import Formula, of_number
from headway.queueing.layers.flow import Choice, Flow, parts_within
from headway.queueing.layers.parts import Entry, Processor, Task
from headway.queueing.layers.system import LayeredSystem
from headway.records import dataclass

LONE = Processor(of_number(inf), speed=of_number(1.0), replicas=of_number(1.0))
"""The processor of clients that name none: a delay."""
_NEAR = 1e-9  # probabilities are sums of numbers with rounding errors


@dataclass(frozen=True)
class Layers:
    """The parts of a `headway.queueing.layers.system.LayeredSystem`, with formulas for numbers.

    Parameters
    ----------
    processors, tasks, entries
        The parts by name.
    """

    processors: Mapping[str, Processor]
    tasks: Mapping[str, Task]
    entries: Mapping[str, Entry]

    def key(self, kind: str, name: str) -> str:
        """Prefix of the names of a part's numbers: its own name, unless a task or processor has it.

        Parameters
        ----------
        kind
            ``tasks``, ``processors`` or ``entries``.
        name
            The part's name.

        Examples
        --------
        >>> from headway.queueing.layers.flow import Reply
        >>> cpu = Entry("cpu", Reply())
        >>> own = Layers({"cpu": Processor()}, {"cpu": Task("cpu")}, {"cpu": cpu})
        >>> [own.key(kind, "cpu") for kind in ("tasks", "processors", "entries")]
        ['cpu', 'processor cpu', 'entry cpu']
        """
        if kind == "processors" and name in self.tasks:
            return f"processor {name}"
        if kind == "entries" and (name in self.tasks or name in self.processors):
            return f"entry {name}"
        return name

    @cached_property
    def lone(self) -> frozenset[str]:
        """Clients whose processor is a delay of their own with the same name."""
        return frozenset(
            name
            for name, task in self.tasks.items()
            if task.clients
            and [n for n, one in self.tasks.items() if one.processor == name] == [name]
            and name in self.processors
            and self.processors[name] == LONE
        )

    @property
    def circulates(self) -> bool:
        """Whether the parameter ``population`` is a number of clients."""
        clients = (task for task in self.tasks.values() if task.clients)
        return any("population" in task.threads.names for task in clients)

    @property
    def met(self) -> frozenset[str]:
        """Entries whose requests meet those of others."""
        return frozenset(each for entry in self.entries.values() for each in entry.meets)

    @property
    def told(self) -> dict[str, tuple[str, ...]]:
        """Names of the parts whose results are shown, by the key of their kind in JSON."""
        clients = tuple(name for name, task in self.tasks.items() if task.clients)
        return {
            "clients": clients,
            "entries": tuple(n for n, e in self.entries.items() if e.task not in clients),
            "tasks": tuple(name for name in self.tasks if name not in clients),
            "processors": tuple(name for name in self.processors if name not in self.lone),
        }

    @cached_property
    def names(self) -> frozenset[str]:
        """Names that its formulas use."""
        return frozenset().union(*(each.names for each in _formulas(self)))

    def numbered(self, values: Mapping[str, Amount]) -> "Layers":
        """The parts with numbers in place of formulas, without checks.

        Parameters
        ----------
        values
            Values of names that its formulas use; missing ones are NaN.
        """
        known = {**dict.fromkeys(self.names, nan), **values}
        numbered: Layers = _evaluated(self, known)
        return numbered

    def at(self, name: str, values: Mapping[str, Amount]) -> LayeredSystem:
        """The system with numbers.

        Parameters
        ----------
        name
            The model's name.
        values
            Values of all names that its formulas use, scalars or arrays of operating points.

        Raises
        ------
        GraphError, InvalidParameter
            For systems that cannot run, and numbers outside their domain.
        """
        parts = _evaluated(self, values)
        for entry, one in self.entries.items():
            chances = map(_chances, (one.flow, parts.entries[entry].flow))
            _check_chances(entry, zip(*chances, strict=True))
        return LayeredSystem(name, parts.processors, parts.tasks, parts.entries)


def _chances(flow: Flow) -> list[Any]:
    """Probabilities of all choices in a flow, in the order in which they stand."""
    choices = (part for part in parts_within(flow) if isinstance(part, Choice))
    return [chance for part in choices for chance, _ in part.ways]


def _check_chances(entry: str, both: Iterable[tuple[Formula, Amount]]) -> None:
    """Refuse probabilities that are none, as 0 / 0 is where no entry is asked for."""
    for read, chance in both:
        if not np.all((np.asarray(chance) >= -_NEAR) & (np.asarray(chance) <= 1 + _NEAR)):
            names = " or ".join(sorted(read.names))
            cure = f"; set {names}" if names else ""
            msg = f"entry {entry}: {read.text} is no probability from 0 to 1{cure}"
            raise GraphError(msg)


def _formulas(part: Any) -> Iterator[Formula]:
    if isinstance(part, Formula):
        yield part
    elif isinstance(part, Mapping):
        yield from (each for value in part.values() for each in _formulas(value))
    elif isinstance(part, tuple):
        yield from (each for value in part for each in _formulas(value))
    elif is_dataclass(part) and not isinstance(part, str):
        yield from (e for field in fields(part) for e in _formulas(getattr(part, field.name)))


def _evaluated(part: Any, values: Mapping[str, Amount]) -> Any:
    if isinstance(part, Formula):
        return part.evaluate(values)
    if isinstance(part, Mapping):
        return {key: _evaluated(value, values) for key, value in part.items()}
    if isinstance(part, tuple):
        return tuple(_evaluated(value, values) for value in part)
    if is_dataclass(part) and not isinstance(part, str | type):
        made = {f.name: _evaluated(getattr(part, f.name), values) for f in fields(part)}
        return replace(part, **made)
    return part
