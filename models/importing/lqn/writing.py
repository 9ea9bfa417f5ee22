"""Write layered services as LQNX files, at one operating point."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import inf
from typing import TypeAlias
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import numpy as np

from headway.errors import ModelFileError
from headway.kinds import Amount
from headway.models.importing.lqn.fans import with_fans, write_fans
from headway.models.importing.lqn.lqnx import AT_PROCESSORS, AT_TASKS
from headway.models.structure.layered import system_of
from headway.models.structure.model import Model
from headway.models.structure.parts.flows import OwnNames, in_phases, parts_of, stated
from headway.queueing.disciplines.discipline import Discipline
from headway.queueing.layers.flow import (
    Choice,
    Flow,
    Loop,
    Reply,
    Series,
    Step,
    Together,
    Waits,
    answered,
)
from headway.queueing.layers.parts import Entry, Processor, Task
from headway.queueing.layers.system import LayeredSystem
from headway.records import dataclass

_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'
_SCHEMA = "{http://www.w3.org/2001/XMLSchema-instance}noNamespaceSchemaLocation"
_MOST_PHASES = 3  # most phases of an entry without a graph of activities in LQNX


def to_lqnx(model: Model) -> str:
    """Write a model of layered services as an LQNX file.

    Parameters
    ----------
    model
        A model with scalar values, that is, one operating point.

    Raises
    ------
    ModelFileError
        For a model of stations, several operating points, and disciplines that LQNX lacks; names
        them.

    Examples
    --------
    >>> from headway.models import parse_model
    >>> text = '''
    ... name = "two"
    ... [processors.cpu]
    ... [tasks.users]
    ... population = 3
    ... [tasks.users.entries.use]
    ... calls = { page = 2 }
    ... [tasks.web]
    ... processor = "cpu"
    ... [tasks.web.entries.page]
    ... demand = "5 ms"
    ... '''
    >>> [line.strip()[:17] for line in to_lqnx(parse_model(text)).splitlines() if "<task" in line]
    ['<task name="web" ', '<task name="users']
    """
    if not model.graph.layers:
        raise _refused(model.name, "it has stations; LQNX files have tasks")
    if any(np.size(value) != 1 for value in model.inputs.values()):
        raise _refused(model.name, "it has several operating points; give one")
    system = with_fans(system_of(model)[0])
    root = Element("lqn-model", {"name": model.name, _SCHEMA: "lqn.xsd"})
    if model.doc:
        root.set("description", model.doc)
    for name, processor in system.processors.items():
        element = SubElement(
            root, "processor", {"name": name, **_processor(system, name, processor)}
        )
        for called, task in system.tasks.items():
            if task.processor == name:
                _write_task(element, system, called, task)
    indent(root)
    return _HEAD + tostring(root, encoding="unicode") + "\n"


def _refused(name: str, why: str) -> ModelFileError:
    return ModelFileError(f"{name}: cannot be written as an LQNX file: {why}")


def _number(value: Amount) -> str:
    """A number in the fewest digits that read back to it."""
    plain = float(np.ravel(np.asarray(value, float))[0])
    return str(int(plain)) if plain.is_integer() and abs(plain) < 1e15 else repr(plain)


def _given(usual: Mapping[str, float], **numbers: Amount) -> dict[str, str]:
    """Attributes that differ from the defaults."""
    names = {name: name.replace("_", "-") for name in numbers}
    return {names[n]: _number(v) for n, v in numbers.items() if float(v) != usual.get(n, 0.0)}


def _word(
    system: LayeredSystem, words: Mapping[str, Discipline], name: str, discipline: Discipline
) -> str:
    for word, meant in words.items():
        if meant == discipline and word not in ("ref", "inf"):
            return word
    why = f"it has no word for the discipline {discipline} of {name}"
    raise _refused(system.name, why)


def _processor(system: LayeredSystem, name: str, one: Processor) -> dict[str, str]:
    usual = {"speed_factor": 1.0, "replication": 1.0}
    speed = _given(usual, speed_factor=one.speed, replication=one.replicas)
    if one.servers == inf:
        return {"scheduling": "inf", **speed}
    word = _word(system, AT_PROCESSORS, name, one.discipline)
    return {"scheduling": word, **_given({"multiplicity": 1.0}, multiplicity=one.servers), **speed}


def _write_task(processor: Element, system: LayeredSystem, name: str, task: Task) -> None:
    attributes = {"scheduling": "ref" if task.clients else "inf"}
    if not task.clients and task.threads != inf:
        attributes["scheduling"] = _word(system, AT_TASKS, name, task.discipline)
    if task.threads != inf:
        attributes |= _given({"multiplicity": 1.0}, multiplicity=task.threads)
    attributes |= _given({}, think_time=task.think_time, priority=task.priority)
    attributes |= _given({"replication": 1.0}, replication=task.replicas)
    element = SubElement(processor, "task", {"name": name, **attributes})
    write_fans(element, system, name)
    drawing = _Drawing(OwnNames(set()), system)
    for each in system.asked[name]:
        _write_entry(element, drawing, each, system.entries[each])
    for each in system.entries_of[name]:
        if system.entries[each].meets:
            drawing.entry(each, stated(system.entries[each].flow))
    if drawing.activities:
        graph = SubElement(element, "task-activities")
        graph.extend([*drawing.activities, *drawing.precedences, *drawing.replies])


def _write_entry(task: Element, drawing: "_Drawing", name: str, entry: Entry) -> None:
    """Write an entry, by phases or by activities."""
    alone = name not in drawing.system.meetings
    parts = stated(entry.flow, early=not alone)
    phases = in_phases(parts) if parts else (Step(name),)
    simple = alone and phases is not None and len(phases) <= _MOST_PHASES
    own = {"name": name, "type": "PH1PH2" if simple else "NONE"}
    own |= _given({}, open_arrival_rate=entry.arrival_rate, priority=entry.priority)
    element = SubElement(task, "entry", own)
    for other, chance in entry.forwards.items():
        SubElement(element, "forwarding", dest=other, prob=_number(chance))
    if phases is not None and simple:
        within = SubElement(element, "entry-phase-activities")
        for number, step in enumerate(phases, 1):
            within.append(
                _activity(drawing.names.free(f"{name}_{number}"), step, phase=str(number))
            )
    else:
        drawing.entry(name, parts)


def _activity(name: str, step: Step, **more: str) -> Element:
    """The element of a step."""
    numbers = {"host_demand_cvsq": step.scv, "think_time": step.think_time}
    order = {"call-order": "DETERMINISTIC"} if step.fixed else {}
    demand = {"host-demand-mean": _number(step.demand)}
    own = {**more, **demand, **_given({"host_demand_cvsq": 1.0}, **numbers), **order}
    element = Element("activity", {"name": name, **own})
    for tag, calls in (("synch-call", step.calls), ("asynch-call", step.sends)):
        for other, mean in calls.items():
            SubElement(element, tag, {"dest": other, "calls-mean": _number(mean)})
    return element


@dataclass(frozen=True)
class _End:
    """An end of a graph of activities, where the next activity can be attached.

    Parameters
    ----------
    tie
        Puts the name of the next activity into its place.
    fork
        The precedence in which a fork, choice or loop can follow; None if an activity must come
        first.
    last
        The activity that has just ended; empty if there is not exactly one.
    open
        Whether an activity must follow.
    """

    tie: Callable[[str], object]
    fork: Callable[[], Element] | None = None
    last: str = ""
    open: bool = False


_Lead: TypeAlias = tuple[str, object]
"""An activity that leads on, and the fork of which it is a branch."""


class _Drawing:
    """The graph of the activities of a task."""

    def __init__(self, names: OwnNames, system: LayeredSystem) -> None:
        self.names, self.system = names, system
        self.ends: dict[str, str] = {}
        self.must = system.answering(outside=False)
        self.may = system.answering(outside=True)
        self.activities: list[Element] = []
        self.precedences: list[Element] = []
        self.replies: list[Element] = []
        self.now = ""

    def entry(self, name: str, parts: tuple[Flow, ...]) -> None:
        """Add the flow of an entry, with a reply where somebody waits for it, and without else.

        A meeting follows the ends of the entries that it meets.
        """
        self.now, said = name, answered(Series(parts))
        owed = () if "" in said else self.system.owed[name]
        parts = (*parts, *(Reply(each) for each in owed if each in self.must and each not in said))
        begin = _End(partial(self._set_last, "bound-to-entry", name))
        if met := self.system.entries[name].meets:
            begin = self._joined("pre-AND", [self.ends[each] for each in met], {})
        end = self._series(begin, parts)
        if end.open or not parts or (name in self.system.meetings and not end.last):
            end = self._pass(end)
        self.ends[name] = end.last

    def _set_last(self, key: str, value: str, _activity: str) -> None:
        self.activities[-1].set(key, value)

    def _series(self, end: _End, parts: tuple[Flow, ...]) -> _End:
        for part in parts:
            end = self._part(end, part)
        return end

    def _part(self, end: _End, part: Flow) -> _End:
        match part:
            case Step():
                return self._step(end, part)
            case Reply(to):
                return self._reply(end, (to,) if to else self.system.owed[self.now])
            case Series(parts):
                return self._series(end, parts)
        end = end if end.fork else self._pass(end)
        assert end.fork is not None  # noqa: S101 - an activity has just been put there
        return self._composed(end.fork(), part)

    def _reply(self, end: _End, to: tuple[str, ...]) -> _End:
        """Reply to the requests for these entries, if anybody may wait for them."""
        for each in filter(self.may.__contains__, to):
            end = end if end.last else self._pass(end)
            said = Element("reply-entry", name=each)
            SubElement(said, "reply-activity", name=end.last)
            self.replies.append(said)
        return end

    def _composed(self, precedence: Element, part: Flow) -> _End:
        """A choice, parallel branches or a loop, in a precedence that has a beginning."""
        if isinstance(part, Loop):
            after = SubElement(precedence, "post-LOOP")
            self._way(after, parts_of(part.body), {"count": _number(part.mean)})
            return _End(partial(after.set, "end"))
        if isinstance(part, Choice):
            after = SubElement(precedence, "post-OR")
            ends = [
                self._way(after, parts_of(way), {"prob": _number(chance)})
                for chance, way in part.ways
            ]
            return self._joined("pre-OR", ends, {})
        assert isinstance(part, Together)  # noqa: S101 - the only part that is left
        if part.behind:
            return self._crossed(precedence, part)
        after = SubElement(precedence, "post-AND")
        ends = [self._way(after, parts_of(branch), {}) for branch in part.branches]
        return self._joined("pre-AND", ends, _quorum(part.needed, ends))

    def _crossed(self, precedence: Element, part: Together) -> _End:
        """Branches that wait for others: those that wait for the same follow one fork or join."""
        groups: dict[Waits, list[int]] = {}
        for number, waits in enumerate(part.behind):
            groups.setdefault(waits, []).append(number)
        leads: dict[int, list[_Lead]] = {}
        while groups:
            waits = next(one for one in groups if leads.keys() >= {*one[0]})
            fork = object()
            if waits[0]:
                before = [leads[number].pop() for number in waits[0]]
                precedence, fork = self._met(before, waits[1])
            members = groups.pop(waits)
            after = SubElement(precedence, "post-AND" if len(members) > 1 else "post")
            for number in members:
                end = self._way(after, parts_of(part.branches[number]), {})
                own = fork if len(members) == 1 else members
                often = sum(number in one for one, _ in groups) + _may_straggle(part, number)
                leads[number] = self._led_on(end, own, often)
        last = self._forks_joined([lead for each in leads.values() for lead in each])
        return self._joined("pre-AND" if len(last) > 1 else "pre", [name for name, _ in last], {})

    def _led_on(self, end: str, fork: object, often: int) -> list[_Lead]:
        """Continue from an end in several ways, through an activity of no time for each."""
        if often <= 1:
            return [(end, fork)]
        after = SubElement(self._precedence("pre", [end], {}), "post-AND")
        return [(self._way(after, (), {}), after) for _ in range(often)]

    def _met(self, leads: list[_Lead], needed: int) -> tuple[Element, object]:
        """The precedence to which some activities lead, and the fork of which it is one branch."""
        quorum = _quorum(needed, leads)
        before = leads if quorum else self._forks_joined(leads)
        names = [name for name, _ in before]
        forks = {id(fork): fork for _, fork in before}
        tag = "pre-AND" if len(names) > 1 else "pre"
        alike = before[0][1] if len(forks) == 1 else object()
        return self._precedence(tag, names, quorum), alike

    def _forks_joined(self, leads: list[_Lead]) -> list[_Lead]:
        """Join branches of one fork, through an activity of no time, before those of others."""
        forks: dict[int, list[_Lead]] = {}
        for lead in leads:
            forks.setdefault(id(lead[1]), []).append(lead)
        if len(forks) == 1:
            return leads
        return [each[0] if len(each) == 1 else self._join(each) for each in forks.values()]

    def _join(self, leads: list[_Lead]) -> _Lead:
        end = self._joined("pre-AND", [name for name, _ in leads], {})
        return self._pass(end).last, leads[0][1]

    def _way(self, after: Element, parts: tuple[Flow, ...], own: dict[str, str]) -> str:
        """Add a way of a choice, a branch or a loop's body; the name of its last activity."""
        end = self._series(_End(partial(_member, after, **own)), parts)
        return end.last or self._pass(end).last

    def _joined(self, tag: str, names: list[str], own: dict[str, str]) -> _End:
        def fork() -> Element:
            return self._precedence(tag, names, own)

        return _End(lambda name: _then(fork(), name), fork, open=tag == "pre-AND")

    def _precedence(self, tag: str, names: list[str], own: dict[str, str]) -> Element:
        precedence = Element("precedence")
        before = SubElement(precedence, tag, own)
        for name in names:
            _member(before, name)
        self.precedences.append(precedence)
        return precedence

    def _pass(self, end: _End) -> _End:
        """An activity that takes no time, where one is required."""
        return self._step(end, Step(self.now))

    def _step(self, end: _End, step: Step) -> _End:
        name = self.names.free(step.name.removeprefix(f"{self.now}: "))
        self.activities.append(_activity(name, step))
        end.tie(name)

        def fork() -> Element:
            return self._precedence("pre", [name], {})

        return _End(lambda after: _then(fork(), after), fork, name)


def _may_straggle(part: Together, number: int) -> bool:
    """Whether a branch may end after those that follow it, so that the flow waits for it too."""
    return any(number in waits and needed < len(waits) for waits, needed in part.behind)


def _quorum(needed: int, ends: Sequence[object]) -> dict[str, str]:
    return {"quorum": str(needed)} if needed < len(ends) else {}


def _member(parent: Element, name: str, **own: str) -> None:
    SubElement(parent, "activity", {"name": name, **own})


def _then(precedence: Element, name: str) -> None:
    _member(SubElement(precedence, "post"), name)
