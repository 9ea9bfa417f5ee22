"""What a thread does, instruction by instruction: the flow of every entry in one list.

The whole chain and the event loop follow the same instructions. Each goes on to the next one
unless it says where.
"""

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from headway.queueing.layers.flow import (
    Choice,
    Flow,
    Loop,
    Reply,
    Series,
    Step,
    Together,
    replies,
)
from headway.queueing.layers.system import LayeredSystem
from headway.records import dataclass


@dataclass(frozen=True)
class Serve:
    """A slice of work at a processor: its mean there [s] and scv; `step` counts all steps."""

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
    """A request, whose reply the thread waits for."""

    entry: str


@dataclass(frozen=True)
class Send:
    """A message, for which it does not wait."""

    entry: str


@dataclass(frozen=True)
class Branch:
    """Go on at one of some addresses, each with its probability."""

    ways: tuple[tuple[float, int], ...]


@dataclass(frozen=True)
class Spawn:
    """Start branches at addresses, and go on when so many of them are done."""

    starts: tuple[int, ...]
    needed: int


@dataclass(frozen=True)
class Answer:
    """Reply, or forward to other entries, each with its probability."""

    forwards: tuple[tuple[float, str], ...]


@dataclass(frozen=True)
class Done:
    """The end: of a branch, or of all that a thread does; clients begin anew."""


Instruction: TypeAlias = Serve | Wait | Call | Send | Branch | Spawn | Answer | Done


@dataclass(frozen=True)
class Program:
    """Instructions of all entries.

    Parameters
    ----------
    instructions
        In a row.
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
    """Write the program of a system at one operating point.

    Instructions that take no time and lead nowhere are left out.
    """
    writing = _Writing(system)
    starts = {name: writing.entry(name) for name in system.entries}
    return Program(tuple(writing.instructions), starts, tuple(writing.entries))


class _Writing:
    """Instructions as they are written."""

    def __init__(self, system: LayeredSystem) -> None:
        self.system = system
        self.instructions: list[Instruction] = []
        self.entries: list[str] = []
        self.steps = {(name, step.name): n for n, (name, step, _) in enumerate(system.steps())}
        self.at = ""

    def entry(self, name: str) -> int:
        self.at, start = name, len(self.instructions)
        entry = self.system.entries[name]
        task = self.system.tasks[entry.task]
        if task.clients and task.think_time > 0:
            self._put(Wait(float(task.think_time)))
        self._flow(entry.flow)
        if not task.clients and not replies(entry.flow):
            self._reply()
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
            case Reply():
                self._reply()
            case Series(parts):
                for part in parts:
                    self._flow(part)
            case Choice(ways):
                self._choice([(float(chance), way) for chance, way in ways])
            case Together(branches, needed):
                self._together(branches, needed)
            case Loop(body, mean):
                self._loop(body, float(mean))

    def _reply(self) -> None:
        forwards = self.system.entries[self.at].forwards.items()
        self._put(Answer(tuple((float(chance), name) for name, chance in forwards)))

    def _choice(self, ways: list[tuple[float, Flow]]) -> None:
        """Each way leads behind the last one."""
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

    def _together(self, branches: tuple[Flow, ...], needed: int) -> None:
        spawn = self._put(Spawn((), needed))
        over, starts = self._put(Branch(())), []
        for flow in branches:
            starts.append(len(self.instructions))
            self._flow(flow)
            self._put(Done())
        self.instructions[spawn] = Spawn(tuple(starts), needed)
        self.instructions[over] = Branch(((1.0, len(self.instructions)),))

    def _loop(self, body: Flow, mean: float) -> None:
        """Before each round it is drawn whether there is one: m / (1 + m)."""
        again = self._put(Branch(()))
        self._flow(body)
        self._put(Branch(((1.0, again),)))
        more, behind = mean / (1 + mean), len(self.instructions)
        self.instructions[again] = Branch(((more, again + 1), (1 - more, behind)))

    def _step(self, step: Step) -> None:
        if step.think_time > 0:
            self._put(Wait(float(step.think_time)))
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
        slices = float(step.slices)
        ways = [(mean / slices, start) for (mean, _), start in zip(calls, starts, strict=True)]
        behind = len(self.instructions)
        self.instructions[branch] = Branch((*ways, (1 / slices, behind)))

    def _fixed(self, step: Step) -> None:
        self._slice(step)
        for mean, instruction in self._calls(step):
            for _ in range(round(mean)):
                self._put(instruction)
                self._slice(step)

    def _calls(self, step: Step) -> Iterator[tuple[float, Call | Send]]:
        yield from ((float(mean), Call(name)) for name, mean in step.calls.items() if mean > 0)
        yield from ((float(mean), Send(name)) for name, mean in step.sends.items() if mean > 0)

    def _slice(self, step: Step) -> None:
        task = self.system.tasks[self.system.entries[self.at].task]
        speed = float(self.system.processors[task.processor].speed)
        mean = float(step.demand) / float(step.slices) / speed
        if mean > 0:
            number = self.steps[self.at, step.name]
            self._put(Serve(task.processor, mean, float(step.scv), number))
