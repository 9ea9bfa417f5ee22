"""What threads do as programs: the flow of every entry, as a list of instructions.

The whole chain and the event loop follow the same instructions. Each is followed by the next one in
the list, unless it names another.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from headway.kinds import Amount, FloatArray
from headway.queueing.layers.flow import (
    NOBODY,
    Choice,
    Flow,
    Loop,
    Reply,
    Series,
    Step,
    Together,
    answered,
    replies,
    steps_of,
)
from headway.queueing.layers.system import LayeredSystem
from headway.records import dataclass


@dataclass(frozen=True)
class Serve:
    """A slice of work at a processor: its mean time there [s] and scv; `step` numbers all steps."""

    processor: str
    mean: float
    scv: float
    step: int


@dataclass(frozen=True)
class Wait:
    """An exponential delay with a mean [s]."""

    mean: float


@dataclass(frozen=True)
class Call:
    """A request whose reply the thread waits for."""

    entry: str


@dataclass(frozen=True)
class Send:
    """A message, which the thread does not wait for."""

    entry: str


@dataclass(frozen=True)
class Branch:
    """Go on at one of several addresses, each with its probability."""

    ways: tuple[tuple[float, int], ...]


@dataclass(frozen=True)
class Spawn:
    """Start branches at these addresses, and go on when ``needed`` of them are done.

    Branches start one after the other, in an order that is random where it matters.
    """

    starts: tuple[int, ...]
    needed: int
    drawn: bool = False


@dataclass(frozen=True)
class Answer:
    """Reply, or forward to other entries, each with its probability.

    The caller and the thread go on at the same time: if both may arrive at a queue in order of
    arrival, it is random which of them is first. In a meeting it answers the request for ``entry``.
    """

    forwards: tuple[tuple[float, str], ...]
    drawn: bool = False
    entry: str = ""


@dataclass(frozen=True)
class Gate:
    """Where a branch waits until it has been told that so many others are done."""

    needed: int


@dataclass(frozen=True)
class Tell:
    """Tell the gates of other branches that this one is done; in an order as for `Spawn`."""

    gates: tuple[int, ...]
    drawn: bool = False


@dataclass(frozen=True)
class Done:
    """The end of a branch, or of all that an entry does.

    Clients then start a new cycle, and a request that meets others waits for them.
    """


Instruction: TypeAlias = Serve | Wait | Call | Send | Branch | Spawn | Answer | Gate | Tell | Done


@dataclass(frozen=True)
class Program:
    """The instructions of all entries.

    Parameters
    ----------
    instructions
        All instructions, as a list.
    starts
        Address of the first instruction of each entry.
    entries
        The entry of each instruction.

    Examples
    --------
    >>> from headway.queueing.layers.parts import Entry, Processor, Task
    >>> one = LayeredSystem(
    ...     "one",
    ...     {"here": Processor()},
    ...     {"users": Task("here", 3, 2.0, clients=True)},
    ...     {"use": Entry("users", Step("use", 0.5))},
    ... )
    >>> program_of(one).instructions
    (Wait(mean=2.0), Serve(processor='here', mean=0.5, scv=1.0, step=0), Done())
    """

    instructions: tuple[Instruction, ...]
    starts: Mapping[str, int]
    entries: tuple[str, ...]


def program_of(system: LayeredSystem) -> Program:
    """The program of a system at one operating point.

    Instructions without an effect are left out.
    """
    return _Writing(system, float).program()


def times_of(system: LayeredSystem) -> FloatArray | None:
    """Mean times of all instructions at all operating points, shape (instructions, points) [s].

    Infinite for instructions that take no time; None if programs differ in more than times.
    """
    program = _Writing(system, np.asarray).program()
    points = int(np.prod(system.shape))
    times = np.full((len(program.instructions), points), np.inf)
    for row, one in zip(times, program.instructions, strict=True):
        match one:
            case Serve() | Wait():
                row[:] = np.ravel(np.broadcast_to(one.mean, system.shape))
                alike = np.all(row > 0) and not np.ptp(getattr(one, "scv", 1.0))
            case Branch(ways) | Answer(ways):
                alike = not any(np.ptp(chance) for chance, _ in ways)
            case _:
                alike = True
        if not alike:
            return None
    whole = (mean for _, step, _ in system.steps() if step.fixed for _, mean in _requests(step))
    return None if any(np.ptp(mean) for mean in whole) else times


def _requests(step: Step) -> Iterator[tuple[str, Amount]]:
    yield from step.calls.items()
    yield from step.sends.items()


def _ever_positive(number: Amount) -> bool:
    """Whether a number is above 0 at any point."""
    return bool(np.any(np.greater(number, 0)))


class _Writing:
    """A program as it is written, with numbers of one kind."""

    def __init__(self, system: LayeredSystem, number: Callable[[Amount], Any]) -> None:
        self.system, self.number = system, number
        self.instructions: list[Instruction] = []
        self.entries: list[str] = []
        self.steps = {(name, step.name): n for n, (name, step, _) in enumerate(system.steps())}
        self.at = ""

    def program(self) -> Program:
        """The finished program."""
        starts = {name: self.entry(name) for name in self.system.entries}
        for at, one in enumerate(self.instructions):
            if isinstance(one, Answer) and self._comes_to_queues(at + 1):
                self.instructions[at] = replace(one, drawn=True)
        return Program(tuple(self.instructions), starts, tuple(self.entries))

    def entry(self, name: str) -> int:
        self.at, start = name, len(self.instructions)
        entry = self.system.entries[name]
        task = self.system.tasks[entry.task]
        if task.clients and _ever_positive(task.think_time):
            self._put(Wait(self.number(task.think_time)))
        self._flow(entry.flow)
        if not task.clients:
            self._late_replies(name, entry.flow)
        self._put(Done())
        return start

    def _put(self, instruction: Instruction) -> int:
        self.instructions.append(instruction)
        self.entries.append(self.at)
        return len(self.instructions) - 1

    def _flow(self, flow: Flow) -> None:
        match flow:
            case Step():
                self._step(flow)
            case Reply(to):
                self._reply((to,) if to else self.system.owed[self.at])
            case Series(parts):
                for part in parts:
                    self._flow(part)
            case Choice(ways):
                self._choice([(self.number(chance), way) for chance, way in ways])
            case Together():
                self._together(flow)
            case Loop(body, mean):
                self._loop(body, self.number(mean))

    def _late_replies(self, name: str, flow: Flow) -> None:
        """Replies at the end, to all whom the flow itself does not answer."""
        before = answered(flow)
        late = () if "" in before else tuple(e for e in self.system.owed[name] if e not in before)
        self._reply(late)

    def _reply(self, to: tuple[str, ...]) -> None:
        """Reply to requests for these entries, in an order that is random."""
        if len(to) > 1:
            self._together(Together(tuple(map(Reply, to)), len(to)))
            return
        for each in to:
            forwards = self.system.entries[each].forwards.items()
            ways = tuple((self.number(chance), name) for name, chance in forwards)
            self._put(Answer(ways, entry="" if each == self.at else each))

    def _choice(self, ways: list[tuple[float, Flow]]) -> None:
        """All ways lead to the instruction after the last of them."""
        branch, starts, ends = self._put(Branch(())), [], []
        for _, way in ways:
            starts.append(len(self.instructions))
            self._flow(way)
            ends.append(self._put(Branch(())))
        behind = len(self.instructions)
        chances = (chance for chance, _ in ways)
        self.instructions[branch] = Branch(tuple(zip(chances, starts, strict=True)))
        for end in ends:
            self.instructions[end] = Branch(((1.0, behind),))

    def _together(self, part: Together) -> None:
        drawn = self._meet_in_queues(part)
        spawn = self._put(Spawn((), part.needed))
        over, starts, ends = self._put(Branch(())), [], {}
        for number, flow in enumerate(part.branches):
            starts.append(len(self.instructions))
            if part.behind and part.behind[number] != NOBODY:
                self._put(Gate(part.behind[number][1]))
            self._flow(flow)
            if part.followers(number):
                ends[number] = self._put(Tell(()))
            self._put(Done())
        for number, end in ends.items():
            gates = tuple(starts[k] for k in part.followers(number))
            self.instructions[end] = Tell(gates, drawn and len(gates) > 1)
        self.instructions[spawn] = Spawn(tuple(starts), part.needed, drawn)
        self.instructions[over] = Branch(((1.0, len(self.instructions)),))

    def _meet_in_queues(self, part: Together) -> bool:
        """Whether branches that start together may be served in order of arrival."""
        task = self.system.tasks[self.system.entries[self.at].task]
        asks = any(step.calls or step.sends for step, _ in steps_of(part))
        several = sum(map(replies, part.branches)) > 1
        return asks or several or self._is_ordered(task.processor)

    def _is_ordered(self, processor: str) -> bool:
        """Whether a processor serves jobs from a queue."""
        one = self.system.processors[processor]
        return not (np.all(np.isinf(one.servers)) or one.discipline.shares)

    def _comes_to_queues(self, address: int) -> bool:
        """Whether a token may arrive at a queue before it takes any time or ends."""
        found, todo = False, [address]
        seen: set[int] = set()
        while todo and not found:
            at = todo.pop()
            match self.instructions[at]:
                case _ if at in seen:
                    continue
                case Serve(processor):
                    found = self._is_ordered(processor)
                case Call() | Send():
                    found = True
                case Branch(ways):
                    todo += [way for _, way in ways]
                case Spawn(starts):
                    todo += starts
                case Tell():
                    todo.append(at + 1)
            seen.add(at)
        return found

    def _loop(self, body: Flow, mean: float) -> None:
        """Before each round it is drawn whether there is another: with probability m / (1 + m)."""
        again = self._put(Branch(()))
        self._flow(body)
        self._put(Branch(((1.0, again),)))
        more, behind = mean / (1 + mean), len(self.instructions)
        self.instructions[again] = Branch(((more, again + 1), (1 - more, behind)))

    def _step(self, step: Step) -> None:
        if _ever_positive(step.think_time):
            self._put(Wait(self.number(step.think_time)))
        if step.fixed:
            self._fixed(step)
            return
        again = len(self.instructions)
        self._slice(step)
        calls = list(self._calls(step))
        if not calls:
            return
        branch, starts = self._put(Branch(())), []
        for _, instruction in calls:
            starts.append(self._put(instruction))
            self._put(Branch(((1.0, again),)))
        slices = self.number(step.slices)
        ways = [(mean / slices, start) for (mean, _), start in zip(calls, starts, strict=True)]
        behind = len(self.instructions)
        self.instructions[branch] = Branch((*ways, (1 / slices, behind)))

    def _fixed(self, step: Step) -> None:
        self._slice(step)
        for mean, instruction in self._calls(step):
            for _ in range(round(float(np.ravel(mean)[0]))):
                self._put(instruction)
                self._slice(step)

    def _calls(self, step: Step) -> Iterator[tuple[float, Call | Send]]:
        yield from (
            (self.number(mean), Call(n)) for n, mean in step.calls.items() if _ever_positive(mean)
        )
        yield from (
            (self.number(mean), Send(n)) for n, mean in step.sends.items() if _ever_positive(mean)
        )

    def _slice(self, step: Step) -> None:
        task = self.system.tasks[self.system.entries[self.at].task]
        speed = self.number(self.system.processors[task.processor].speed)
        mean = self.number(step.demand) / self.number(step.slices) / speed
        if _ever_positive(mean):
            number = self.steps[self.at, step.name]
            self._put(Serve(task.processor, mean, self.number(step.scv), number))
