"""LQNX files: layered queueing networks, with phases or graphs of activities."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import inf
from typing import TypeVar
from xml.etree.ElementTree import Element

from headway.errors import GraphError, InvalidParameter, ModelFileError, nearest, quoted
from headway.kinds import number_of
from headway.models.importing.foreign.naming import plain_names
from headway.models.importing.lqn.activities import ActivityGraph
from headway.models.importing.lqn.fans import fans_of
from headway.models.importing.lqn.parts import check_parts
from headway.models.importing.lqn.replying import check_replies
from headway.models.importing.lqn.variables import Variables
from headway.models.language.formula import Formula, formula, of_number
from headway.models.language.parameters import Parameter
from headway.models.language.units import ONE, unit
from headway.models.structure.graph import ModelGraph
from headway.models.structure.model import Model
from headway.models.structure.parts.layers import Layers
from headway.numerals import digits
from headway.queueing.disciplines.discipline import Discipline
from headway.queueing.layers.flow import Flow, Reply, Series, Step
from headway.queueing.layers.parts import Entry, Processor, Task

AT_PROCESSORS = {
    "fcfs": Discipline.FCFS,
    "ps": Discipline.SHARING,
    "inf": Discipline.SHARING,
    "rand": Discipline.RANDOM,
    "hol": Discipline.PRIORITY,
    "pp": Discipline.PREEMPTIVE,
    "pri": Discipline.PREEMPTIVE,
}
AT_TASKS = {
    "ref": Discipline.FCFS,
    "fcfs": Discipline.FCFS,
    "inf": Discipline.FCFS,
    "rand": Discipline.RANDOM,
    "hol": Discipline.PRIORITY,
    "pri": Discipline.PRIORITY,
}
_PHASED, _DRAWN = ("PH1PH2",), ("NONE", "GRAPH")
_SECONDS = "host-demand-mean", "think-time"
_CALLS = {"synch-call": True, "asynch-call": False}
_ORDERS = {"STOCHASTIC": False, "DETERMINISTIC": True}
_PHASES = 1, 2, 3

Known = TypeVar("Known")


def read_lqnx(root: Element, name: str, source: str) -> Model:
    """Read the root of an LQNX file.

    Populations, threads, servers and think times are parameters.

    Parameters
    ----------
    root, name
        Its element ``lqn-model``, and what to call the model.
    source
        The file's name, for messages.

    Raises
    ------
    ModelFileError
        For missing parts, and those that headway does not support.

    Examples
    --------
    >>> from headway.models.importing.safe_xml import parse_xml
    >>> text = b'''<lqn-model name="one"><processor name="here" scheduling="inf">
    ... <task name="users" scheduling="ref" multiplicity="3" think-time="2">
    ... <entry name="use" type="PH1PH2"><entry-phase-activities>
    ... <activity name="use" phase="1" host-demand-mean="0.5"/>
    ... </entry-phase-activities></entry></task></processor></lqn-model>'''
    >>> model = read_lqnx(parse_xml(text, "one.lqnx"), "one", "one.lqnx")
    >>> round(float(model.solve().throughput), 12), list(model.parameters)
    (1.2, ['users_population', 'users_think_time'])
    """
    reading = _Reading(source)
    try:
        layers = reading.layers(root)
        graph = ModelGraph(name)
        for each in reading.parameters:
            graph = graph.declare(each)
        model = Model.of(replace(graph, layers=layers)).at(reading.values)
        for drawn in reading.graphs:
            drawn.check_ways()
        system = layers.at(name, reading.values)
        check_replies(root, reading.drawn, system, reading.wrong)
        for drawn in reading.graphs:
            drawn.check_use()
    except (GraphError, InvalidParameter) as error:
        msg = f"{source}: {error}"
        raise ModelFileError(msg) from None
    own = {n: reading.parameters[n].at(reading.values[n]) for n in reading.parameters}
    doc = root.get("description", "") or "a layered queueing network"
    return replace(model, parameters=own, doc=doc)


class _Reading:
    """The parts of a file as they are read."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.parameters: dict[str, Parameter] = {}
        self.values: dict[str, float] = {}
        self.variables = Variables("", (), self.wrong)
        self.drawn: set[str] = set()
        self.graphs: list[ActivityGraph] = []

    def wrong(self, place: str, what: str) -> ModelFileError:
        return ModelFileError(f"{self.source}: {place}: {what}")

    def layers(self, root: Element) -> Layers:
        """Processors, tasks and entries of the whole file."""
        processors: dict[str, Processor] = {}
        tasks: dict[str, Task] = {}
        entries: dict[str, Entry] = {}
        found = [one.get("name", "") for part in ("processor", "task") for one in root.iter(part)]
        self.plain = plain_names(found)
        said = " ".join(one.text or "" for one in root.findall("parameters"))
        self.variables = Variables(said, found, self.wrong)
        ranked = any("priority" in one.attrib for one in root.iter())
        self.usual_rank = 0.0 if ranked else 1.0
        for task in root.findall("task"):
            place = f"task {task.get('name', '')}"
            raise self.wrong(place, "it has no processor; put it into one")
        check_parts(root, self.wrong)
        for processor in root.findall("processor"):
            name = self.name_of(processor)
            self.once("processor", name, processors)
            processors[name] = self.processor(name, processor)
            for task in processor.findall("task"):
                called = self.name_of(task)
                self.once("task", called, tasks)
                tasks[called] = self.task(called, name, task)
                for each, entry in self.entries(called, task):
                    self.once("entry", each, entries)
                    entries[each] = entry
        if not tasks:
            raise self.wrong("lqn-model", "it has no task")
        self.declare_variables()
        fans = fans_of(self, root, Layers(processors, tasks, entries).numbered(self.values))
        tasks = {name: replace(task, fan_out=fans[name]) for name, task in tasks.items()}
        return Layers(processors, tasks, entries)

    def once(self, kind: str, name: str, known: Mapping[str, object]) -> None:
        """Refuse a name that has occurred before."""
        if name in known:
            msg = f"{self.source}: {kind} {name} is defined twice; rename one"
            raise ModelFileError(msg)

    def name_of(self, element: Element) -> str:
        name = element.get("name", "")
        if not name:
            raise self.wrong(element.tag, "it has no name")
        return name

    def number(self, element: Element, key: str, place: str, default: float) -> float:
        text = element.get(key)
        if text is None:
            return default
        value = number_of(text)
        if value is None and "$" in text:
            return self.variables.value_of(text, f"{place}: {key}")
        if value is None:
            raise self.wrong(place, f"{key} is {quoted(text)}; it must be a number")
        return value

    def whole(self, element: Element, key: str, place: str, default: float) -> int:
        """A whole number."""
        value = self.number(element, key, place, default)
        if not value.is_integer():
            raise self.wrong(place, f"{key} is {digits(value)}; it must be a whole number")
        return int(value)

    def amount(self, element: Element, key: str, place: str, default: float) -> Formula:
        """A number, or a formula of variables."""
        text = element.get(key, "")
        if "$" not in text:
            return of_number(self.number(element, key, place, default))
        return self.variables.formula_of(text, f"{place}: {key}", seconds=key in _SECONDS)

    def members(self, element: Element, place: str, what: str) -> Formula:
        """Servers, threads or clients: a parameter, except for a single server."""
        text = element.get("multiplicity", "1")
        if "$" in text and element.get("scheduling") != "inf":
            return self.variables.formula_of(text, f"{place}: multiplicity")
        number = self.number(element, "multiplicity", place, 1.0)
        if element.get("scheduling") == "inf" and number not in (1.0, inf):
            what = f"it is without limit (scheduling inf) and {digits(number)}-fold; delete one"
            raise self.wrong(place, what)
        if number == inf or element.get("scheduling") == "inf":
            return of_number(inf)
        if what == "servers" and number <= 1:
            return of_number(number)
        return formula(self.parameter(f"{self.plain[self.name_of(element)]}_{what}", number))

    def declare_variables(self) -> None:
        """Make parameters of the variables that are used."""
        self.parameters |= {each.name: each for each in self.variables.parameters()}
        self.values |= self.variables.values

    def known(
        self, words: Mapping[str, Known], element: Element, default: str, place: str
    ) -> Known:
        word = element.get("scheduling", default)
        if word not in words:
            what = f"scheduling {quoted(word)} is not supported{nearest(word, words)}"
            raise self.wrong(place, what)
        return words[word]

    def parameter(self, name: str, value: float, seconds: bool = False) -> str:  # noqa: FBT001, FBT002
        """A number that becomes a parameter of its own."""
        while name in self.variables.names:
            name = f"{name}_2"
        self.parameters[name] = Parameter(name, None, unit("s") if seconds else ONE, 0.0)
        self.values[name] = value
        return name

    def processor(self, name: str, element: Element) -> Processor:
        place = f"processor {name}"
        discipline = self.known(AT_PROCESSORS, element, "fcfs", place)
        servers = self.members(element, place, "servers")
        if not self.number(element, "quantum", place, 0.0) >= 0:
            raise self.wrong(place, f"quantum is {element.get('quantum')}; it must be zero or more")
        speed, copies = (
            self.amount(element, key, place, 1.0) for key in ("speed-factor", "replication")
        )
        if servers.constant == inf:
            discipline = Discipline.SHARING
        return Processor(servers, discipline, speed, copies)

    def refuse(self, element: Element, place: str, usual: Mapping[str, str]) -> None:
        """Refuse attributes with other values than the defaults."""
        for name, value in usual.items():
            if element.get(name, value) != value:
                raise self.wrong(place, f"{name} {quoted(element.get(name, ''))} is not supported")

    def task(self, name: str, processor: str, element: Element) -> Task:
        place = f"task {name}"
        discipline = self.known(AT_TASKS, element, "fcfs", place)
        self.refuse(element, place, {"queue-length": "0", "initially": ""})
        clients = element.get("scheduling") == "ref"
        members = self.members(element, place, "population" if clients else "threads")
        thinks = self.amount(element, "think-time", place, 0.0)
        if thinks.constant:
            own = self.parameter(f"{self.plain[name]}_think_time", thinks.constant, seconds=True)
            thinks = formula(own)
        rank = self.whole(element, "priority", place, self.usual_rank)
        copies = self.amount(element, "replication", place, 1.0)
        return Task(processor, members, thinks, clients, discipline, rank, copies)

    def entries(self, task: str, element: Element) -> Iterator[tuple[str, Entry]]:
        graph = element.find("task-activities")
        own = {entry.get("name", "") for entry in element.findall("entry")}
        activities = None if graph is None else ActivityGraph(self, task, graph, own)
        clients = element.get("scheduling") == "ref"
        for entry in element.findall("entry"):
            flow = self.flow(entry, activities, clients=clients)
            name = self.name_of(entry)
            place = f"entry {name}"
            forwards = {
                one.get("dest", ""): self.amount(one, "prob", place, 1.0)
                for one in entry.findall("forwarding")
            }
            rate = self.amount(entry, "open-arrival-rate", place, 0.0)
            rank = self.whole(entry, "priority", place, self.usual_rank)
            yield name, Entry(task, flow, rate, forwards, rank)
        if activities is not None:
            self.graphs.append(activities)
            yield from activities.meetings(task)

    def flow(self, entry: Element, activities: ActivityGraph | None, *, clients: bool) -> Flow:
        """The flow of an entry, by phases or by activities."""
        name = self.name_of(entry)
        place = f"entry {name}"
        self.refuse(entry, place, {"semaphore": "", "rwlock": ""})
        phases = entry.findall("entry-phase-activities/activity")
        drawn = activities is not None and name in activities.starts
        if phases and drawn:
            raise self.wrong(place, "it has phases and a graph of activities; delete one")
        if phases or drawn:
            self.check_type(entry, place, phased=bool(phases))
        if phases:
            return self.phases(phases, place, clients=clients)
        if activities is None:
            raise self.wrong(place, "it has no activities; give it some, or leave it out")
        if not entry.findall("forwarding"):
            self.drawn.add(name)
        return activities.flow(name)

    def check_type(self, entry: Element, place: str, *, phased: bool) -> None:
        """Refuse unknown types of entry, and types that contradict the entry's contents."""
        kind = entry.get("type", "")
        if kind.upper() not in (*_PHASED, *_DRAWN):
            what = f"type {quoted(kind)} is none; it is PH1PH2 with phases, and NONE without"
            raise self.wrong(place, what)
        if phased != (kind.upper() in _PHASED):
            has = "has phases" if phased else "has no phases"
            raise self.wrong(place, f"it {has}, but its type is {kind}; change one of them")

    def phases(self, activities: list[Element], place: str, *, clients: bool) -> Flow:
        """The first phase, the reply, and the other phases after it; for clients, all in series."""
        by_phase: dict[int, Step] = {}
        for one in activities:
            number = self.number(one, "phase", place, 1.0)
            if number not in _PHASES or number in by_phase:
                what = f"phase {one.get('phase')} is "
                what += "given twice" if number in by_phase else "none; phases are 1, 2 and 3"
                raise self.wrong(place, what)
            by_phase[int(number)] = self.step(one, place)
        nothing = Step(f"{place}, first phase", of_number(0.0), of_number(1.0), of_number(0.0))
        first = by_phase.pop(1, nothing)
        later = [by_phase[k] for k in sorted(by_phase)]
        reply = () if clients else (Reply(),)
        return Series((first, *reply, *later)) if later else first

    def step(self, element: Element, place: str) -> Step:
        name = self.name_of(element)
        where = f"{place}: activity {name}"
        calls: dict[bool, dict[str, object]] = {True: {}, False: {}}
        for part in element:
            if part.tag in _CALLS:
                known, dest = calls[_CALLS[part.tag]], part.get("dest", "")
                if dest in known:
                    raise self.wrong(where, f"it calls {dest} twice; add up the calls")
                known[dest] = self.amount(part, "calls-mean", where, 1.0)
        demand, scv, think = (
            self.amount(element, key, where, default)
            for key, default in (
                ("host-demand-mean", 0.0),
                ("host-demand-cvsq", 1.0),
                ("think-time", 0.0),
            )
        )
        order = element.get("call-order", "STOCHASTIC")
        if order.upper() not in _ORDERS:
            raise self.wrong(where, f"call-order {quoted(order)} is not supported")
        fixed = _ORDERS[order.upper()]
        return Step(name, demand, scv, think, calls[True], calls[False], fixed)
