"""Layered queueing networks as text (``.in``, ``.lqn``), the older form of LQNS's files.

A file has sections, each up to its ``-1``: G (general), P (processors), T (tasks), E (entries), and
A for the activities of each task that has any; numbers by phase are in a row that ends with ``-1``.
The text becomes the elements of an LQNX file, which `headway.models.importing.lqn.lqnx` reads and
checks. Source: Franks and others, *Layered Queueing Network Solver and Simulator User Manual*,
Traditional Grammar.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar
from xml.etree.ElementTree import Element, SubElement

from headway.errors import ModelFileError, nearest, quoted
from headway.kinds import number_of

_TOKEN = re.compile(
    r"""(?P<gap>\s+ | \#[^\n]* | %\w+(?:\[\d+\]\s*\$\w+)?\s*\$\w+) | "[^"]*" | -> | \*\*
    | {[^}\n]*} | -?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?(?![\w.]) | [@$]?\w[\w.]* | \S""",
    re.VERBOSE,
)
_END = "-1"
_VALUES = "$", "@", "{"  # begin a variable, or a formula of variables

_PROCESSORS = {
    "f": "fcfs", "h": "hol", "p": "pp", "s": "ps", "i": "inf", "r": "rand", "c": "cfs",
}  # fmt: skip
_TASKS = {
    "r": "ref", "n": "fcfs", "f": "fcfs", "h": "hol", "i": "inf",
    "p": "poll", "b": "burst", "S": "semaphore", "W": "rwlock",
}  # fmt: skip
_STEP = {"s": "host-demand-mean", "c": "host-demand-cvsq", "Z": "think-time"}
_CALL = {"y": "synch-call", "z": "asynch-call"}
_TAKES = {"host-demand-mean", "think-time"}
_OF_ENTRIES = {"a": "open-arrival-rate", "p": "priority"}
_OF_TASKS = {
    "z": "think-time", "m": "multiplicity", "r": "replication", "t": "initially",
}  # fmt: skip
_FANS = {"i": ("fan-in", "source"), "o": ("fan-out", "dest")}
_JOINTS = {"&": "-AND", "+": "-OR"}
_REFUSED = {"P": "semaphores", "V": "semaphores", **dict.fromkeys("RWUQ", "read-write locks")}
_ARE = "; they are"

Found = TypeVar("Found")


@dataclass(frozen=True)
class _Token:
    text: str
    line: int
    begins: bool


@dataclass
class _Entry:
    """The contents of an entry: its element, and the activities of its phases."""

    element: Element
    phases: dict[int, Element] = field(default_factory=dict)
    bound: str = ""

    def phase(self, number: int) -> Element:
        """The element of a phase."""
        if number not in self.phases:
            own = {"name": f"{self.element.get('name')}_{number}", "phase": str(number)}
            self.phases[number] = Element("activity", own)
        return self.phases[number]

    def finish(self) -> None:
        """Put its phases in their order."""
        said = [one for _, one in sorted(self.phases.items()) if len(one) or _TAKES & {*one.keys()}]
        if not (said or self.bound) and (
            self.phases or self.element.find("forwarding") is not None
        ):
            said = [self.phase(1)]
        for one in said:
            one.attrib.setdefault(_STEP["s"], "0")
        self.element.set("type", "PH1PH2" if said or not self.bound else "NONE")
        if said:
            SubElement(self.element, "entry-phase-activities").extend(said)


def read_lqn_text(text: str, source: str) -> Element:
    """The text of a file as the root element of an LQNX file.

    Parameters
    ----------
    text, source
        The contents of the file, and its name for messages.

    Raises
    ------
    ModelFileError
        For text that is not such a file, with the line, and for parts that headway does not
        support.

    Examples
    --------
    >>> text = 'P 1  p here i  -1  T 1  t users r use -1 here z 2 m 3  -1  E 1  s use 0.5 -1  -1'
    >>> root = read_lqn_text(text, "one.in")
    >>> [(task.get("name"), task.get("think-time")) for task in root.iter("task")]
    [('users', '2')]
    """
    return _Reading(text, source).read()


class _Reading:
    """The tokens of a file, read one by one."""

    def __init__(self, text: str, source: str) -> None:
        self.source = source
        self.tokens = list(_tokens(text))
        self.at = 0
        self.root = Element("lqn-model")
        self.processors: dict[str, Element] = {}
        self.tasks: dict[str, Element] = {}
        self.entries: dict[str, _Entry] = {}
        self.variables: Element | None = None

    def read(self) -> Element:
        """The root element."""
        while self.at < len(self.tokens):
            section = self.take()
            if section.startswith("$"):
                self.variable(section)
                continue
            if section not in _SECTIONS:
                msg = f"{quoted(section)} begins no section{_ARE} {', '.join(_SECTIONS)}"
                raise self.wrong(msg)
            _SECTIONS[section](self)
        for entry in self.entries.values():
            entry.finish()
        return self.root

    def wrong(self, what: str) -> ModelFileError:
        """The error of the token that was read last."""
        line = (
            self.tokens[min(max(self.at - 1, 0), len(self.tokens) - 1)].line if self.tokens else 1
        )
        return ModelFileError(f"{self.source}: line {line}: {what}")

    def peek(self, further: int = 0) -> str:
        """The next token, or a later one; empty at the end."""
        at = self.at + further
        return self.tokens[at].text if at < len(self.tokens) else ""

    def take(self) -> str:
        """Take the next token, which may be a variable."""
        if self.at >= len(self.tokens):
            msg = f"the file ends inside a section; close it by {_END}"
            raise self.wrong(msg)
        self.at += 1
        return self.tokens[self.at - 1].text

    def next(self) -> str:
        """Take the next token."""
        token = self.take()
        if token[0] in _VALUES:
            msg = f"found the variable {quoted(token)} where a word is needed; write the word"
            raise self.wrong(msg)
        return token

    def takes(self, token: str) -> bool:
        """Take the next token if it is the given one."""
        taken = self.peek() == token
        self.at += taken
        return taken

    def expect(self, token: str) -> None:
        """Take the next token, which must be the given one."""
        if self.next() != token:
            msg = f"found {quoted(self.tokens[self.at - 1].text)} where {token} is needed"
            raise self.wrong(msg)

    def number(self) -> str:
        """Take a number, or a formula of variables."""
        token = self.take()
        if number_of(token) is None and token[0] not in _VALUES:
            msg = f"found {quoted(token)} where a number is needed"
            raise self.wrong(msg)
        return token.strip("{}")

    def is_number(self, further: int = 0) -> bool:
        """Whether the next token, or a later one, is a number and not the end of a row."""
        token = self.peek(further)
        return token[:1] in _VALUES or (token != _END and number_of(token) is not None)

    def row(self) -> Iterator[str]:
        """Tokens to the end of a row."""
        while not self.takes(_END):
            yield self.next()

    def numbers(self) -> list[str]:
        """Numbers to the end of a row."""
        found = []
        while not self.takes(_END):
            found.append(self.number())
        return found

    def lines(self) -> Iterator[str]:
        """First tokens of the lines of a section, after the number of lines."""
        if self.is_number():
            self.take()
        yield from self.row()

    def known(self, kind: str, known: Mapping[str, Found]) -> Found:
        """Take a name, and find what it refers to."""
        name = self.next()
        if name not in known:
            msg = f"there is no {kind} {quoted(name)}{nearest(name, known)}"
            raise self.wrong(msg)
        return known[name]

    def word(self, words: Mapping[str, str]) -> str:
        """Take the letter of an order of service."""
        letter = self.next()
        if letter not in words:
            msg = f"{quoted(letter)} is not an order of service{_ARE} {', '.join(words)}"
            raise self.wrong(msg)
        return words[letter]

    def general(self) -> None:
        """``G "comment" convergence limit -1``: only the comment is used here."""
        while not self.takes(_END):
            said = self.take()
            if said == '"':
                msg = "a text begins here that does not end; close it with a quotation mark"
                raise self.wrong(msg)
            if said.startswith('"'):
                self.root.set("description", " ".join(said.strip('"').split()))

    def processor_lines(self) -> None:
        """``p NAME order [quantum] [m COPIES] [i] [r REPLICAS] [R SPEED]``."""
        for letter in self.lines():
            if letter != "p":
                msg = f"found {quoted(letter)} where a processor, p, is needed"
                raise self.wrong(msg)
            name = self.once("processor", self.processors)
            own = {"name": name, "scheduling": self.word(_PROCESSORS)}
            element = self.processors[name] = SubElement(self.root, "processor", own)
            if self.is_number():
                element.set("quantum", self.number())
            self.flags(element, {"m": "multiplicity", "r": "replication", "R": "speed-factor"})

    def flags(self, element: Element, attributes: Mapping[str, str]) -> None:
        """Letters, each with a number, in any order."""
        while self.peek() in ("i", "g", *attributes):
            if self.peek() == "t" and not self.is_number(1):  # begins the next task
                return
            letter = self.next()
            if letter == "g":
                self.groups()
            if letter == "i":
                element.set("scheduling", "inf")
            elif self.peek() == _END:
                msg = f"{letter} stands without its number"
                raise self.wrong(msg)
            else:
                element.set(attributes[letter], self.number())

    def once(self, kind: str, known: Mapping[str, object]) -> str:
        """Take a name that has not occurred before."""
        name = self.next()
        if name in known:
            msg = f"{kind} {name} is defined twice; rename one"
            raise self.wrong(msg)
        return name

    def groups(self) -> None:
        raise self.wrong("groups of processors (U, g) are not supported; leave them out")

    def task_lines(self) -> None:
        """``t NAME order ENTRIES -1 [q LENGTH] PROCESSOR [PRIORITY] [z THINK] [m COPIES] ...``."""
        later: list[int] = []
        for letter in self.lines():
            if letter.lower() in _FANS:
                later.append(self.at)
                self.at += 3
            elif letter == "t":
                self.task()
            else:
                msg = f"found {quoted(letter)} where a task, t, is needed"
                raise self.wrong(msg)
        end = self.at
        for self.at in later:
            self.fan(self.tokens[self.at - 1].text.lower(), "task", self.tasks)
        self.at = end

    def task(self) -> None:
        name = self.once("task", self.tasks)
        element = Element("task", {"name": name, "scheduling": self.word(_TASKS)})
        while not self.takes(_END):
            entry = self.once("entry", self.entries)
            self.entries[entry] = _Entry(SubElement(element, "entry", {"name": entry}))
        if self.takes("q"):
            element.set("queue-length", self.number())
        self.known("processor", self.processors).append(element)
        self.tasks[name] = element
        if self.is_number():
            element.set("priority", self.number())
        self.flags(element, _OF_TASKS)

    def fan(self, letter: str, kind: str, tasks: Mapping[str, Element]) -> None:
        """Requests between replicas: I FROM TO NUMBER, or O, by task; i or o by entry."""
        ends = self.known(kind, tasks), self.known(kind, tasks)
        of, other = ends[::-1] if letter == "i" else ends
        tag, key = _FANS[letter]
        SubElement(of, tag, {key: other.get("name", ""), "value": self.number()})

    def entry_lines(self) -> None:
        """Lines about entries, each of a letter and an entry's name."""
        owners = {
            entry.get("name", ""): task
            for task in self.tasks.values()
            for entry in task.findall("entry")
        }
        for letter in self.lines():
            if letter in _REFUSED:
                msg = f"{_REFUSED[letter]} ({letter}) are not supported"
                raise self.wrong(msg)
            if letter in _FANS:
                self.fan(letter, "entry", owners)
                self.takes(_END)
                continue
            if letter not in (*_STEP, *_CALL, *_OF_ENTRIES, "f", "F", "A", "H", "M"):
                msg = f"{quoted(letter)} begins no line on entries"
                raise self.wrong(msg)
            self.entry_line(letter, self.known("entry", self.entries))

    def entry_line(self, letter: str, entry: _Entry) -> None:
        if letter in _OF_ENTRIES:
            entry.element.set(_OF_ENTRIES[letter], self.number())
        elif letter == "A":
            self.bind(entry)
        elif letter == "F":
            target = self.next()
            SubElement(entry.element, "forwarding", {"dest": target, "prob": self.number()})
            self.takes(_END)
        elif letter == "H":
            self.histogram(phases=True)
        elif letter in _CALL:
            target = self.next()
            for number, mean in enumerate(self.numbers(), 1):
                _call(entry.phase(number), letter, target, mean)
        else:
            for number, value in enumerate(self.numbers(), 1):
                _said(entry.phase(number), letter, value)

    def bind(self, entry: _Entry) -> None:
        """Take the first activity of an entry."""
        if entry.bound:
            msg = f"entry {entry.element.get('name')} has two first activities; choose one"
            raise self.wrong(msg)
        entry.bound = self.next()

    def histogram(self, *, phases: bool) -> None:
        """Skip the settings of a histogram: [PHASE] MIN : MAX BINS KIND."""
        for _ in range(2 if phases else 1):
            self.number()
        self.expect(":")
        for _ in range(2):
            self.number()
        if self.peek() in ("log", "linear", "sqrt"):
            self.next()

    def activities(self) -> None:
        """``A TASK``, lines about activities, and after a colon how they follow each other."""
        task = self.known("task", self.tasks)
        graph = SubElement(task, "task-activities")
        known: dict[str, Element] = {}
        while self.peek() not in (":", _END):
            self.activity_line(graph, known)
        replies: list[Element] = []
        if self.takes(":"):
            self.connection(graph, replies)
            while not self.takes(_END):
                self.expect(";")
                if self.peek() != _END:
                    self.connection(graph, replies)
        else:
            self.expect(_END)
        graph.extend(replies)
        for entry in task.findall("entry"):
            bound = self.entries[entry.get("name", "")].bound
            if bound and bound not in known:
                what = f"begins with {quoted(bound)}, which is not an activity"
                msg = f"entry {entry.get('name')} {what}{nearest(bound, known)}"
                raise self.wrong(msg)
            if bound:
                known[bound].set("bound-to-entry", entry.get("name", ""))

    def activity_line(self, graph: Element, known: dict[str, Element]) -> None:
        letter = self.next()
        if letter not in (*_STEP, *_CALL, "f", "H", "M"):
            msg = f"{quoted(letter)} begins no line on activities"
            raise self.wrong(msg)
        name = self.next()
        if name not in known:
            known[name] = SubElement(graph, "activity", {"name": name, _STEP["s"]: "0"})
        if letter == "H":
            self.histogram(phases=False)
        elif letter in _CALL:
            target = self.next()
            _call(known[name], letter, target, self.number())
        else:
            _said(known[name], letter, self.number())
        if self.peek(1) not in ("", *_SECTIONS):  # the end of a row; otherwise that of the section
            self.takes(_END)

    def connection(self, graph: Element, replies: list[Element]) -> None:
        """``a & b -> c``: which activities follow when others are done."""
        names = [self.done(replies)]
        joint = self.peek() if self.peek() in _JOINTS else ""
        while joint and self.takes(joint):
            names.append(self.done(replies))
        before = Element(f"pre{_JOINTS.get(joint, '')}")
        if self.takes("("):
            before.set("quorum", self.number())
            self.expect(")")
        for name in names:
            SubElement(before, "activity", {"name": name})
        if self.takes("->"):
            precedence = SubElement(graph, "precedence")
            precedence.append(before)
            precedence.append(self.follows())
        elif joint:
            SubElement(graph, "precedence").append(before)

    def done(self, replies: list[Element]) -> str:
        """An activity that ends, with the entries to which it replies: ``a[e]``."""
        name = self.next()
        while self.takes("[") or self.takes(","):
            reply = Element("reply-entry", {"name": self.next()})
            SubElement(reply, "reply-activity", {"name": name})
            replies.append(reply)
            self.takes("]")
        return name

    def follows(self) -> Element:
        """What follows an arrow: one activity, several in parallel, a choice, or loops."""
        if self.peek() == "(":
            after = Element("post-OR")
            while self.takes("("):
                chance = self.number()
                self.expect(")")
                SubElement(after, "activity", {"name": self.next(), "prob": chance})
                self.takes("+")
            return after
        if self.is_number() or self.peek(1) == "*":
            count = self.number()
            self.expect("*")
            return self.loops(count)
        first = self.next()
        names = [first]
        while self.takes("&"):
            names.append(self.next())
        after = Element("post-AND" if len(names) > 1 else "post")
        for name in names:
            SubElement(after, "activity", {"name": name})
        return after

    def loops(self, count: str) -> Element:
        """``2 * a, 3 * b, c``: loops, and the activity after them."""
        after = Element("post-LOOP")
        SubElement(after, "activity", {"name": self.next(), "count": count})
        while self.takes(","):
            if self.is_number():
                count = self.number()
                self.expect("*")
                SubElement(after, "activity", {"name": self.next(), "count": count})
            else:
                after.set("end", self.next())
        return after

    def variable(self, name: str) -> None:
        """``$name = ...``, up to the next variable or section: stored until all are known."""
        said, depth = [name], 0
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            leads = token.text.startswith("$") or token.text in _SECTIONS
            if leads and token.begins and depth <= 0:
                break
            depth += (token.text in "[(") - (token.text in "])")
            said.append(self.take())
        if self.variables is None:
            self.variables = SubElement(self.root, "parameters")
            self.variables.text = ""
        self.variables.text = f"{self.variables.text}{' '.join(said)}\n"

    def report(self) -> None:
        """Skip what SPEX prints: up to a ``-1`` at the start of a line, or to the end."""
        while not (self.peek() == _END and (self.is_last() or self.tokens[self.at].begins)):
            self.take()
        self.take()

    def is_last(self) -> bool:
        """Whether the next token is the last one."""
        return self.at == len(self.tokens) - 1

    def searches(self) -> None:
        raise self.wrong("searches of SPEX (C) are not supported; leave them out")


def _tokens(text: str) -> Iterator[_Token]:
    line, last = 1, 0
    for found in _TOKEN.finditer(text):
        if found.lastgroup != "gap":
            yield _Token(found[0], line, line > last)
            last = line
        line += found[0].count("\n")


def _said(activity: Element, letter: str, value: str) -> None:
    """A number of an activity, or whether its numbers of calls are fixed (f)."""
    if letter == "f":
        if number_of(value):
            activity.set("call-order", "DETERMINISTIC")
    elif letter in _STEP and (letter == "c" or number_of(value) != 0):
        activity.set(_STEP[letter], value)


def _call(activity: Element, letter: str, target: str, mean: str) -> None:
    if number_of(mean) != 0:
        SubElement(activity, _CALL[letter], {"dest": target, "calls-mean": mean})


_SECTIONS: dict[str, Callable[[_Reading], None]] = {
    "G": _Reading.general,
    "P": _Reading.processor_lines,
    "U": _Reading.groups,
    "T": _Reading.task_lines,
    "E": _Reading.entry_lines,
    "A": _Reading.activities,
    "R": _Reading.report,
    "C": _Reading.searches,
}
