"""Layered services of a model file: processors, tasks and their entries."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from math import inf
from typing import Any

from headway.errors import nearest
from headway.models.files.building import schema
from headway.models.files.building.entries import Entries
from headway.models.files.building.expressions import FIELD_UNITS, expression, is_unlimited
from headway.models.files.building.services import (
    REPLY,
    ProcessorEntry,
    ServiceEntry,
    StepEntry,
    TaskEntry,
)
from headway.models.language.formula import Formula, of_number
from headway.models.language.units import ONE, unit
from headway.models.structure.graph import ModelGraph
from headway.models.structure.parts.layers import LONE, Layers
from headway.queueing.disciplines.table import find_discipline
from headway.queueing.layers.flow import (
    NOBODY,
    Choice,
    Flow,
    Loop,
    Reply,
    Series,
    Step,
    Together,
    Waits,
    parts_within,
)
from headway.queueing.layers.parts import Entry, Processor, Task

_UNITS = {**FIELD_UNITS, "demand": unit("s")}


class LayersOfFile(Entries):
    """Adds layered services to a graph."""

    def layers(self, graph: ModelGraph) -> ModelGraph:
        """Add processors, tasks and entries."""
        if not self.entry.tasks:
            msg = "processors run tasks; add [tasks.NAME], or use stations"
            raise self.place.error(msg, "processors")
        if self.entry.stations:
            msg = "a model has stations or tasks, not both; move one of them to another file"
            raise self.place.error(msg, "tasks")
        self.graph = graph
        processors = {n: self._processor(n, p) for n, p in self.entry.processors.items()}
        tasks, entries = {}, {}
        for name, task in self.entry.tasks.items():
            if not task.processor and task.population is None:
                msg = f"task {name} has no processor; name one, or give it a population"
                raise self.place.error(msg, "tasks", name)
            if not task.processor:
                processors[name] = LONE
            tasks[name] = self._task(name, task)
            for called, entry in task.entries.items():
                if called in entries:
                    msg = f"there are two entries {called}; rename one"
                    raise self.place.error(msg, "tasks", name, "entries", called)
                entries[called] = self._entry(name, called, entry)
        return replace(graph, layers=Layers(processors, tasks, entries))

    def _number(self, value: schema.Scalar, *keys: str) -> Formula:
        """A number as a formula, in the unit of its key."""
        with self.place(*keys):
            if keys[-1] in ("servers", "threads") and is_unlimited(value):
                return of_number(inf)
            name = ".".join(keys[1:])
            text = expression(value, self.graph, _UNITS.get(keys[-1], ONE), name)
            _, read = self.graph._read(text, name)
            return read

    def _processor(self, name: str, entry: ProcessorEntry) -> Processor:
        keys = "processors", name
        with self.place(*keys, "discipline"):
            discipline = find_discipline(entry.discipline)
        servers = self._number(entry.servers, *keys, "servers")
        speed = self._number(entry.speed, *keys, "speed")
        return Processor(
            servers, discipline, speed, self._number(entry.replicas, *keys, "replicas")
        )

    def _task(self, name: str, entry: TaskEntry) -> Task:
        keys = "tasks", name
        clients = entry.population is not None
        if clients and entry.threads != 1:
            msg = f"task {name} has a population and threads; delete one"
            raise self.place.error(msg, *keys, "threads")
        with self.place(*keys, "discipline"):
            discipline = find_discipline(entry.discipline)
        members = entry.population if entry.population is not None else entry.threads
        return Task(
            entry.processor or name,
            self._number(members, *keys, "population" if clients else "threads"),
            self._number(entry.think_time, *keys, "think_time"),
            clients,
            discipline,
            entry.priority,
            self._number(entry.replicas, *keys, "replicas"),
            self._numbers(entry.fan_out, *keys, "fan_out"),
        )

    def _entry(self, task: str, name: str, entry: ServiceEntry) -> Entry:
        keys = "tasks", task, "entries", name
        return Entry(
            task,
            self._flow(entry, name, keys),
            self._number(entry.arrival_rate, *keys, "arrival_rate"),
            self._calls(entry.forwards, *keys, "forwards"),
            entry.priority,
            tuple(entry.meets),
        )

    @cached_property
    def known(self) -> frozenset[str]:
        """The names of all entries."""
        return frozenset(entry for each in self.entry.tasks.values() for entry in each.entries)

    def _calls(self, table: Mapping[str, schema.Scalar], *keys: str) -> dict[str, Formula]:
        """Numbers by entry, each named ENTRY, or TASK.ENTRY for the tables of the file."""
        tasks = self.entry.tasks
        called: dict[str, Formula] = {}
        for name, number in self._numbers(table, *keys).items():
            task, _, entry = name.partition(".")
            if name in self.known or task not in tasks:
                entry = name
            elif entry not in tasks[task].entries:
                msg = f"task {task} has no entry {entry!r}{nearest(entry, tasks[task].entries)}"
                raise self.place.error(msg, *keys, name)
            if entry in called:
                msg = f"entry {entry} is listed twice; delete one"
                raise self.place.error(msg, *keys, name)
            called[entry] = number
        return called

    def _numbers(self, table: Mapping[str, schema.Scalar], *keys: str) -> dict[str, Formula]:
        return {name: self._number(value, *keys, name) for name, value in table.items()}

    def _flow(self, entry: ServiceEntry, name: str, keys: tuple[str, ...]) -> Flow:
        own = self._step(name, entry, keys)
        after = entry.second_phase
        if not entry.activities and entry.flow:
            msg = f"entry {name} has a flow without activities; add [... .activities.NAME]"
            raise self.place.error(msg, *keys, "flow")
        if not entry.activities:
            if after is None:
                return own
            second = self._step(f"{name}, second phase", after, (*keys, "second_phase"))
            return Series((own, Reply(), second))
        if after is not None or entry.demand or entry.calls or entry.sends:
            msg = f"entry {name} has activities; give them its demand, calls and second phase"
            raise self.place.error(msg, *keys)
        steps = {
            each: self._step(f"{name}: {each}", activity, (*keys, "activities", each))
            for each, activity in entry.activities.items()
        }
        used: list[str] = []
        flow = self._part(entry.flow or list(steps), steps, used, (*keys, "flow"))
        for each in steps:
            if used.count(each) != 1:
                often = "twice" if each in used else "nowhere"
                msg = f"activity {each} appears {often} in the flow of {name}; list it once"
                raise self.place.error(msg, *keys, "flow")
        return flow

    def _step(self, name: str, entry: ServiceEntry | StepEntry, keys: tuple[str, ...]) -> Step:
        return Step(
            name,
            self._number(entry.demand, *keys, "demand"),
            self._number(entry.scv, *keys, "scv"),
            self._number(entry.think_time, *keys, "think_time"),
            self._calls(entry.calls, *keys, "calls"),
            self._calls(entry.sends, *keys, "sends"),
            entry.fixed,
        )

    def _part(
        self, part: Any, steps: Mapping[str, Step], used: list[str], keys: tuple[str, ...]
    ) -> Flow:
        """A part of a flow: the name of an activity, a list in series, or a table."""
        if part == REPLY:
            return Reply()
        if isinstance(part, str):
            if part not in steps:
                msg = f"there is no activity {part!r}{nearest(part, [*steps, REPLY])}"
                raise self.place.error(msg, *keys)
            used.append(part)
            return steps[part]
        if isinstance(part, list):
            return Series(tuple(self._part(each, steps, used, keys) for each in part))
        kinds = [key for key in _PARTS if isinstance(part, dict) and key in part]
        if len(kinds) != 1 or set(part) - {kinds[0], *_PARTS[kinds[0]]}:
            msg = (
                "a part of a flow is the name of an activity, 'reply', a list of parts, or a table "
                "with together (and needed), choice, loop (and times), or reply"
            )
            raise self.place.error(msg, *keys)
        return self._composed(kinds[0], part, steps, used, keys)

    def _composed(
        self,
        kind: str,
        part: Mapping[str, Any],
        steps: Mapping[str, Step],
        used: list[str],
        keys: tuple[str, ...],
    ) -> Flow:
        if kind == REPLY and isinstance(part[REPLY], str):
            return Reply(part[REPLY])
        if kind == "loop":
            body = self._part(part["loop"], steps, used, keys)
            return Loop(body, self._number(part.get("times", 1.0), *keys, "times"))
        inside = part[kind]
        if not isinstance(inside, list) or not inside:
            msg = f"{kind} is {'an entry' if kind == REPLY else 'a list of parts'}"
            raise self.place.error(msg, *keys)
        if kind == "together":
            branches = tuple(self._part(each, steps, used, keys) for each in inside)
            needed = part.get("needed", len(branches))
            if not isinstance(needed, int):
                msg = "needed is a whole number of branches"
                raise self.place.error(msg, *keys)
            return Together(branches, needed, self._after(part, branches, steps, keys))
        ways = []
        for way in inside:
            if not isinstance(way, list) or len(way) != 2:
                msg = 'choice is a list of pairs: [[0.3, "one"], [0.7, "other"]]'
                raise self.place.error(msg, *keys)
            ways.append(
                (self._number(way[0], *keys, "probability"), self._part(way[1], steps, used, keys))
            )
        return Choice(tuple(ways))

    def _after(
        self,
        part: Mapping[str, Any],
        branches: tuple[Flow, ...],
        steps: Mapping[str, Step],
        keys: tuple[str, ...],
    ) -> tuple[Waits, ...]:
        """The branches that each branch waits for; each is named by one of its activities."""
        places = {
            name: number
            for number, branch in enumerate(branches)
            for name, step in steps.items()
            if any(each is step for each in parts_within(branch))
        }
        after = part.get("after", {})
        behind = [NOBODY] * len(branches)
        for name, said in after.items() if isinstance(after, dict) else [("", None)]:
            others, needed = _waits(said)
            if others is None or not isinstance(needed, int):
                msg = (
                    'after says for which branches one waits: { d = "a" }, { d = ["a", "b"] } or '
                    '{ d = { of = ["a", "b"], needed = 1 } }'
                )
                raise self.place.error(msg, *keys)
            for each in (name, *others):
                if each not in places:
                    msg = f"after: {each!r} is an activity of no branch"
                    raise self.place.error(msg + nearest(each, places), *keys, "after")
            behind[places[name]] = tuple(places[each] for each in others), needed
        return tuple(behind) if after else ()


def _waits(said: Any) -> tuple[list[str] | None, Any]:
    """The branches that a branch waits for, as stated, and how many of them it needs."""
    others = said.get("of") if isinstance(said, dict) else said
    others = [others] if isinstance(others, str) else others
    if not isinstance(others, list) or not all(isinstance(each, str) for each in others):
        return None, None
    return others, said.get("needed", len(others)) if isinstance(said, dict) else len(others)


_PARTS = {"together": {"needed", "after"}, "choice": set(), "loop": {"times"}, REPLY: set()}
"""Tables in a flow, and what else each may contain."""
