"""LQNX files: layered queueing networks, with phases or graphs of activities."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import inf
from typing import TypeVar
from xml.etree.ElementTree import Element

from headway.errors import GraphError, InvalidParameter, ModelFileError, nearest, quoted
from headway.kinds import number_of
from headway.models.importing.foreign.naming import plain_names
from headway.models.importing.lqn.crossing import Crossing, Join, Met, Split
from headway.models.importing.lqn.fans import fans_of
from headway.models.importing.lqn.parts import check_parts
from headway.models.importing.lqn.replying import check_replies
from headway.models.importing.lqn.variables import Variables
from headway.models.language.formula import Formula, formula, of_number
from headway.models.language.parameters import Parameter
from headway.models.language.units import ONE, unit
from headway.models.structure.graph import ModelGraph
from headway.models.structure.model import Model
from headway.models.structure.parts.flows import parts_of
from headway.models.structure.parts.layers import Layers
from headway.numerals import digits
from headway.queueing.disciplines.discipline import Discipline
from headway.queueing.layers.flow import Choice, Flow, Loop, Reply, Series, Step, Together
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
_MOST_PARTS = 2_000  # most steps of a flow, with its choices written out
_DEEPEST = 150  # most activities in a row, because of Python's own stack

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
        self.graphs: list[_Activities] = []

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
            msg = f"{self.source}: {kind} {name} is there twice; rename one"
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
        activities = None if graph is None else _Activities(self, task, graph, own)
        if activities is not None:
            self.graphs.append(activities)
        clients = element.get("scheduling") == "ref"
        for entry in element.findall("entry"):
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
                flow = self.phases(phases, place, clients=clients)
            elif activities is not None:
                flow = activities.flow(name)
                if not entry.findall("forwarding"):
                    self.drawn.add(name)
            else:
                raise self.wrong(place, "it has no activities; give it some, or leave it out")
            forwards = {
                one.get("dest", ""): self.amount(one, "prob", place, 1.0)
                for one in entry.findall("forwarding")
            }
            rate = self.amount(entry, "open-arrival-rate", place, 0.0)
            rank = self.whole(entry, "priority", place, self.usual_rank)
            yield name, Entry(task, flow, rate, forwards, rank)

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
                what += "there twice" if number in by_phase else "none; phases are 1, 2 and 3"
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


class _Activities:
    """The graph of a task's activities, written out as the flow of each entry."""

    def __init__(self, reading: _Reading, task: str, element: Element, entries: set[str]) -> None:
        self.reading, self.place = reading, f"task {task}"
        self.steps: dict[str, Step] = {}
        self.starts: dict[str, str] = {}
        self.replies: dict[str, set[str]] = {}
        self.onward: dict[str, tuple[Element, Join | None]] = {}
        self.after: dict[int, Element | None] = {}
        self.known: dict[tuple[str, str], tuple[Flow, Met]] = {}
        self.path: list[str] = []
        self.led: set[str] = set()
        self.again: list[str] = []
        for one in element.findall("activity"):
            step = reading.step(one, self.place)
            self._once(step.name in self.steps, step.name, "is there twice; rename one")
            self.steps[step.name] = step
            if bound := one.get("bound-to-entry"):
                if bound in self.starts:
                    what = f"{self.starts[bound]} and {step.name} are both bound to it; choose one"
                    place = f"entry {bound}"
                    raise reading.wrong(place, what)
                self.starts[bound] = step.name
        for one in element.findall("reply-entry"):
            for reply in one.findall("reply-activity"):
                self.replies.setdefault(reply.get("name", ""), set()).add(one.get("name", ""))
        self.led.update(self.starts.values())
        for number, one in enumerate(element.findall("precedence")):
            self._precedence(number, one)
        self._check_names(entries)

    def _once(self, wrong: object, name: str, what: str) -> None:
        if wrong:
            what = f"activity {name} {what}"
            raise self.wrong(what)

    def _check_names(self, entries: set[str]) -> None:
        """Refuse starts and replies of entries that the task lacks, and replies of no entry."""
        for bound in self.starts:
            if bound not in entries:
                what = f"an activity is bound to {quoted(bound)}, which is no entry of it"
                raise self.wrong(what + nearest(bound, entries))
        for name, answered in self.replies.items():
            if name not in self.steps:
                what = f"{quoted(name)}, which replies, is no activity"
                raise self.wrong(what + nearest(name, self.steps))
            if lost := sorted(answered - entries):
                what = f"{name} replies to {quoted(lost[0])}, which is no entry of it"
                raise self.wrong(what)

    def check_use(self) -> None:
        """Refuse activities that follow from no entry."""
        reached = {name for name, _ in self.known}
        for name in self.steps:
            what = "follows from no entry; bind it, lead to it, or leave it out"
            self._once(name not in reached, name, what)

    def check_ways(self) -> None:
        """Refuse activities that follow by two ways that do not join."""
        for name in self.again:
            what = "is led to twice, or bound to an entry too; join the ways"
            self._once(name, name, what)

    def _precedence(self, number: int, element: Element) -> None:
        before = [part for part in element if part.tag.startswith("pre")]
        after = [part for part in element if part.tag.startswith("post")]
        self._check_ends(before, after)
        names = [one.get("name", "") for one in before[0].findall("activity")]
        join = None
        if before[0].tag == "pre-AND":
            place = f"{self.place}: join"
            needed = self.reading.whole(before[0], "quorum", place, 0.0) or len(names)
            join = Join(number, tuple(names), needed)
            self.after[number] = after[0] if after else None
        for name in names:
            if name not in self.steps:
                what = f"a precedence names {quoted(name)}, which is no activity"
                raise self.wrong(what)
            if after or join:
                self._once(name in self.onward, name, "leads on twice; fork, or choose")
                self.onward[name] = (after[0] if after else element, join)

    def _check_ends(self, before: list[Element], after: list[Element]) -> None:
        """Refuse a precedence without a beginning or with two ends; note where it leads."""
        if len(before) != 1 or len(after) > 1:
            raise self.wrong("a precedence needs one <pre> and one <post>")
        for part in (*before, *after):
            if part.find("activity") is None:
                what = f"<{part.tag}> names no activity"
                raise self.wrong(what)
        for one in (each for part in after for each in part.iter()):
            for name in filter(None, (one.get("name"), one.get("end"))):
                self.again += [name] if name in self.led else []
                self.led.add(name)

    def flow(self, entry: str) -> Flow:
        """The flow of an entry, from the activity that is bound to it."""
        place = f"entry {entry}"
        if entry not in self.starts:
            raise self.reading.wrong(place, "no activity is bound to it")
        flow, met = self.follow(self.starts[entry], entry)
        if met is not None:
            self.check_ways()
        if isinstance(met, Split):
            what = f"not all that a join needs follow from the fork to {' and '.join(met.names)}"
            raise self.reading.wrong(place, what)
        if met is not None:
            raise self.reading.wrong(place, self._lone(met, entry))
        return flow

    def _lone(self, join: Join, entry: str) -> str:
        """Why a join is invalid: its activities are of several entries, or follow no fork."""
        others = [e for e, at in self.starts.items() if e != entry and self._meets(at, e, join)]
        if not others:
            return "its activities meet in a join without a fork"
        return (
            f"its activities meet those of {' and '.join(others)} in a join; threads in which "
            "requests for several entries wait for each other are not supported"
        )

    def _meets(self, start: str, entry: str, join: Join) -> bool:
        """Whether the flow from an activity ends in a join."""
        return self.follow(start, entry)[1] == join

    def follow(self, name: str, entry: str) -> tuple[Flow, Met]:
        """The flow from an activity to the end or to a join."""
        if name not in self.steps:
            what = f"{quoted(name)} is no activity"
            raise self.wrong(what)
        if name in self.path:
            what = f"its activities go round: {' -> '.join([*self.path, name])}; use a loop"
            raise self.wrong(what)
        if (name, entry) not in self.known:
            self.path.append(name)
            found = None if len(self.path) > _DEEPEST else self._behind(name, entry)
            if found is None or _size(found[0]) > _MOST_PARTS:
                what = f"its activities have more than {_MOST_PARTS:,} ways, or {_DEEPEST} in a row"
                raise self.wrong(what)
            self.path.pop()
            self.known[name, entry] = found
        return self.known[name, entry]

    def _behind(self, name: str, entry: str) -> tuple[Flow, Met]:
        parts: list[Flow] = [self.steps[name]]
        if entry in self.replies.get(name, ()):
            parts.append(Reply())
        if name not in self.onward:
            return Series(tuple(parts)), None
        after, join = self.onward[name]
        if join is not None:
            return Series(tuple(parts)), join
        rest, met = self._post(after, entry)
        return Series((*parts, *rest)), met

    def _post(self, after: Element | None, entry: str) -> tuple[list[Flow], Met]:
        """What follows: one activity, a choice, parallel branches, or loops."""
        if after is None:
            return [], None
        members = after.findall("activity")
        names = [one.get("name", "") for one in members]
        if after.tag == "post":
            flow, met = self.follow(names[0], entry)
            return [flow], met
        if after.tag == "post-OR":
            return self._choice(members, entry)
        if after.tag == "post-LOOP":
            return self._loops(after, members, entry)
        if after.tag == "post-AND":
            return self._fork(names, entry)
        what = f"<{after.tag}> is not supported"
        raise self.wrong(what)

    def _choice(self, members: list[Element], entry: str) -> tuple[list[Flow], Met]:
        ways: list[tuple[Formula, Flow]] = []
        meets = []
        for one in members:
            chance = self.reading.amount(one, "prob", self.place, 1.0)
            flow, met = self.follow(one.get("name", ""), entry)
            ways.append((chance, flow))
            meets.append(met)
        if len(set(meets)) > 1:
            what = "some ways of a choice lead to a join and others do not"
            raise self.wrong(what)
        ways, behind = _parted(ways)
        return [Choice(tuple(ways)), *behind], meets[0]

    def _loops(self, after: Element, members: list[Element], entry: str) -> tuple[list[Flow], Met]:
        parts: list[Flow] = []
        for one in members:
            count = self.reading.amount(one, "count", self.place, 1.0)
            body, met = self.follow(one.get("name", ""), entry)
            if met is not None:
                raise self.wrong("a loop leads to a join outside it")
            parts.append(Loop(body, count))
        end = after.get("end")
        if not end:
            return parts, None
        flow, met = self.follow(end, entry)
        return [*parts, flow], met

    def _fork(self, names: list[str], entry: str) -> tuple[list[Flow], Met]:
        """Branches that all meet in one join, or end; or those of this fork and of inner forks."""
        each = [self.follow(name, entry) for name in names]
        flows = tuple(flow for flow, _ in each)
        meets = {met for _, met in each}
        join = meets.pop() if len(meets) == 1 else Split(())
        if join is None:
            return [Together(flows, len(flows))], None
        if isinstance(join, Join) and len(join.names) == len(each):
            rest, met = self.behind(join, entry)
            return [Together(flows, join.needed), *rest], met
        crossed = Crossing(self, entry).of(tuple(names))
        return ([], Split(tuple(names))) if crossed is None else ([crossed], None)

    def behind(self, join: Join, entry: str) -> tuple[list[Flow], Met]:
        """The flow after a join."""
        return self._post(self.after[join.number], entry)

    def wrong(self, what: str) -> ModelFileError:
        """The error of something in the graph."""
        return self.reading.wrong(self.place, what)


def _parted(ways: list[tuple[Formula, Flow]]) -> tuple[list[tuple[Formula, Flow]], list[Flow]]:
    """The ways of a choice up to where they all meet, and what follows."""
    each = [list(parts_of(way)) for _, way in ways]
    behind: list[Flow] = []
    while all(each) and all(parts[-1] == each[0][-1] for parts in each):
        behind.insert(0, each[0][-1])
        each = [parts[:-1] for parts in each]
    chances = [chance for chance, _ in ways]
    return [(c, Series(tuple(p))) for c, p in zip(chances, each, strict=True)], behind


def _size(flow: Flow) -> int:
    """The number of parts of a flow, counted up to just above the maximum."""
    match flow:
        case Series(parts) | Together(parts):
            inside = parts
        case Choice(ways):
            inside = tuple(way for _, way in ways)
        case Loop(body, _):
            inside = (body,)
        case _:
            return 1
    count = 1
    for part in inside:
        count += _size(part) if count <= _MOST_PARTS else 0
    return count
