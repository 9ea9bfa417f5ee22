"""The whole chain of a layered system, found the slow way, as trees in plain Python.

A tree is made of whole numbers, so that states are compared and counted; a `World` is the same
state taken apart, in which the program is followed. What is drawn by chance on the way was decided
before (`World.decisions`), so that all outcomes are found by following all decisions.
"""

from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import inf
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from headway.errors import GraphError
from headway.kinds import FloatArray
from headway.queueing.layers.program import (
    Answer,
    Branch,
    Call,
    Done,
    Gate,
    Instruction,
    Send,
    Serve,
    Spawn,
    Tell,
    Wait,
    program_of,
)
from headway.queueing.layers.system import LayeredSystem
from headway.queueing.markov.space import shares_of_time

Tree: TypeAlias = tuple[int, int, int, tuple[Any, ...]]
"""Address, two numbers and what is below: of a token, a thread or a request."""

State: TypeAlias = tuple[Tree, ...]
"""Trees of all clients, messages and second phases, sorted."""

_THREAD, _REQUEST = -1, -2  # in place of an address
_STILL = 100_000  # instructions in time 0 that are taken for a loop without end
_ROUNDING = 1e-9  # of probabilities that sum to 1


class Undecided(Exception):
    """A draw for which no decision was made yet."""

    def __init__(self, chances: list[float]) -> None:
        super().__init__()
        self.chances = chances


@dataclass(eq=False)
class Token:
    """Something that follows the program, of a thread: where it is, and what it waits for."""

    thread: "Thread"
    address: int
    parent: "Token | None" = None
    left: int = 0
    branches: list["Token"] = field(default_factory=list)
    request: "Request | None" = None


@dataclass(eq=False)
class Thread:
    """A thread with its main token, and branches for which that one no longer waits."""

    request: "Request | None" = None
    main: Token | None = None
    loose: list[Token] = field(default_factory=list)


@dataclass(eq=False)
class Request:
    """A request for an entry, the token that waits for its answer, and the thread that serves."""

    entry: str
    caller: Token | None = None
    thread: Thread | None = None


@dataclass(eq=False)
class Line:
    """Who is served, and who waits in which order."""

    served: list[Any] = field(default_factory=list)
    waiting: list[Any] = field(default_factory=list)


class Rules:
    """A system as its worlds need it: its program, and who comes next in its queues.

    Raises
    ------
    GraphError
        For disciplines without states here.
    """

    def __init__(self, system: LayeredSystem) -> None:
        self.system, self.program = system, program_of(system)
        self.numbers = {name: n for n, name in enumerate(system.entries)}
        self.names = tuple(system.entries)
        self.places = {**{f"task {n}": t.discipline for n, t in system.tasks.items()}}
        self.places |= {n: p.discipline for n, p in system.processors.items()}
        for name, discipline in self.places.items():
            at_task = discipline.shares or discipline.interrupts
            odd = at_task if name.startswith("task ") else discipline.newest_first
            if odd or discipline.by_size:
                msg = f"{name}: headway has no states for discipline {discipline} there"
                raise GraphError(msg)

    def task_of(self, token: Token) -> str:
        """The task whose thread a token is of."""
        return self.system.entries[self.program.entries[token.address]].task

    def is_unordered(self, place: str) -> bool:
        """Whether the order of those who wait there makes no difference."""
        return self.places[place].at_random

    def priority(self, place: str, who: Token | Request) -> int:
        """The priority of a token at a processor, or of a request in the queue for a thread."""
        if not self.places[place].by_priority:
            return 0
        if isinstance(who, Request):
            return self.system.entries[who.entry].priority
        return self.system.tasks[self.task_of(who)].priority

    def crew(self, place: str) -> float:
        """Who can be served at once: threads of a task, servers of a processor."""
        if place.startswith("task "):
            return float(self.system.tasks[place.removeprefix("task ")].threads)
        processor = self.system.processors[place]
        return inf if processor.discipline.shares else float(processor.servers)


class World:
    """A state taken apart, in which one event after the other may happen.

    Parameters
    ----------
    rules
        Of its system.
    state
        What it is at first.
    decisions
        Which way to take at each draw.

    Attributes
    ----------
    chance
        Of what was drawn.
    cycles
        Cycles that clients ended, by entry.
    """

    def __init__(self, rules: Rules, state: State, decisions: tuple[int, ...] = ()) -> None:
        self.rules, self.decisions = rules, decisions
        self.chance, self.drawn = 1.0, 0
        self.ready: deque[Token] = deque()
        self.cycles: Counter[str] = Counter()
        self.roots: list[Thread | Request] = []
        self.lines = {place: Line() for place in rules.places}
        waiting: list[tuple[int, str, Token | Request]] = []
        self.roots = [self._root(tree, waiting) for tree in state]
        for _, place, who in sorted(waiting, key=lambda one: one[0]):
            self.lines[place].waiting.append(who)

    # From a tree and back

    def _root(self, tree: Tree, waiting: list[Any]) -> Thread | Request:
        if tree[0] == _THREAD:
            return self._thread(tree, None, waiting)
        return self._request(tree, None, waiting)

    def _thread(self, tree: Tree, request: Request | None, waiting: list[Any]) -> Thread:
        thread = Thread(request)
        tokens = [self._token(each, thread, None, waiting) for each in tree[3]]
        thread.main = tokens[0] if tree[1] else None
        thread.loose = tokens[tree[1] :]
        first = tree[3][0][0]
        task = f"task {self.rules.system.entries[self.rules.program.entries[first]].task}"
        self.lines[task].served.append(thread)
        return thread

    def _request(self, tree: Tree, caller: Token | None, waiting: list[Any]) -> Request:
        request = Request(self.rules.names[tree[1]], caller)
        if tree[3]:
            request.thread = self._thread(tree[3][0], request, waiting)
        else:
            task = f"task {self.rules.system.entries[request.entry].task}"
            waiting.append((tree[2], task, request))
        return request

    def _token(self, tree: Tree, thread: Thread, parent: Token | None, waiting: list[Any]) -> Token:
        token = Token(thread, tree[0], parent)
        match self.rules.program.instructions[token.address]:
            case Serve(processor):
                if tree[1]:
                    waiting.append((tree[1], processor, token))
                else:
                    self.lines[processor].served.append(token)
            case Call():
                token.request = self._request(tree[3][0], token, waiting)
            case Gate():
                token.left = tree[1]
            case Spawn():
                token.left = tree[1]
                token.branches = [self._token(each, thread, token, waiting) for each in tree[3]]
        return token

    @property
    def state(self) -> State:
        """What it is now."""
        places = {
            id(who): 1 if self.rules.is_unordered(place) else n
            for place, line in self.lines.items()
            for n, who in enumerate(line.waiting, 1)
        }
        return tuple(sorted(self._tree(root, places) for root in self.roots))

    def _tree(self, what: Thread | Request | Token, places: dict[int, int]) -> Tree:
        match what:
            case Thread(_, main, loose):
                each = sorted(self._tree(one, places) for one in loose)
                own = [] if main is None else [self._tree(main, places)]
                return _THREAD, len(own), 0, (*own, *each)
            case Request(entry, _, thread):
                below = () if thread is None else (self._tree(thread, places),)
                return _REQUEST, self.rules.numbers[entry], places.get(id(what), 0), below
            case Token(_, address, _, left, branches, request):
                if request is not None:
                    return address, 0, 0, (self._tree(request, places),)
                each = sorted(self._tree(one, places) for one in branches)
                return address, left or places.get(id(what), 0), 0, tuple(each)

    # What may happen

    def begin(self) -> None:
        """Let all clients begin."""
        for name, entry in self.rules.system.entries.items():
            task = self.rules.system.tasks[entry.task]
            for _ in range(int(task.threads) if task.clients else 0):
                thread = Thread()
                thread.main = Token(thread, self.rules.program.starts[name])
                self.roots.append(thread)
                self.ready.append(thread.main)
        self._settle()

    @property
    def active(self) -> list[tuple[Token, float, int]]:
        """Tokens that take time now, the rate at which each ends [1/s], and its tree by number."""
        return [
            (token, self._rate(token), at)
            for at, root in enumerate(self.roots)
            for token in self._timed(root)
        ]

    def _timed(self, root: Thread | Request | Token) -> Iterator[Token]:
        todo = [root]
        while todo:
            match todo.pop(0):
                case Thread(_, main, loose):
                    todo += [*([] if main is None else [main]), *loose]
                case Request(_, _, thread):
                    todo += [] if thread is None else [thread]
                case Token() as token:
                    instruction = self.rules.program.instructions[token.address]
                    todo += [*token.branches, *([token.request] if token.request else [])]
                    if isinstance(instruction, Wait) or (
                        isinstance(instruction, Serve)
                        and token in self.lines[instruction.processor].served
                    ):
                        yield token

    def _rate(self, token: Token) -> float:
        instruction = self.rules.program.instructions[token.address]
        if isinstance(instruction, Serve):
            processor = self.rules.system.processors[instruction.processor]
            jobs = len(self.lines[instruction.processor].served)
            share = min(1.0, processor.servers / jobs) if processor.discipline.shares else 1.0
            return float(share / instruction.mean)
        return 1 / instruction.mean if isinstance(instruction, Wait) else 0.0

    def end(self, token: Token) -> None:
        """Let a token be done with what took time."""
        instruction = self.rules.program.instructions[token.address]
        if isinstance(instruction, Serve):
            line = self.lines[instruction.processor]
            line.served.remove(token)
            self._next(instruction.processor)
        token.address += 1
        self.ready.append(token)
        self._settle()

    # Queues

    def _join(self, place: str, who: Token | Request) -> bool:
        """Join a queue; whether service begins at once."""
        line, rules = self.lines[place], self.rules
        if len(line.served) < rules.crew(place):
            return True
        line.waiting.append(who)
        if rules.places[place].interrupts:
            lowest = min(line.served, key=lambda one: rules.priority(place, one))
            if rules.priority(place, lowest) < rules.priority(place, who):
                line.waiting.remove(who)
                line.served.remove(lowest)
                line.waiting.insert(0, lowest)
                return True
        return False

    def _next(self, place: str) -> None:
        """Serve the next of those who wait."""
        line, rules = self.lines[place], self.rules
        if not line.waiting or len(line.served) >= rules.crew(place):
            return
        best = max(rules.priority(place, who) for who in line.waiting)
        apt = [who for who in line.waiting if rules.priority(place, who) == best]
        equal = len(apt) if rules.is_unordered(place) else 1
        who = apt[self._draw([1 / equal] * equal)]
        line.waiting.remove(who)
        self._serve(place, who)

    def _serve(self, place: str, who: Token | Request) -> None:
        if isinstance(who, Token):
            self.lines[place].served.append(who)
            return
        thread = Thread(who)
        who.thread = thread
        thread.main = Token(thread, self.rules.program.starts[who.entry])
        self.lines[place].served.append(thread)
        self.ready.append(thread.main)

    def _ask(self, request: Request) -> None:
        place = f"task {self.rules.system.entries[request.entry].task}"
        if self._join(place, request):
            self._serve(place, request)

    # What instructions do

    def _draw(self, chances: list[float]) -> int:
        if len(chances) == 1:
            return 0
        if self.drawn == len(self.decisions):
            raise Undecided(chances)
        which = self.decisions[self.drawn]
        self.drawn += 1
        self.chance *= chances[which]
        return which

    def _settle(self) -> None:
        """Follow those that are ready, in order, to where they take time, wait or end.

        Raises
        ------
        GraphError
            For a loop that takes no time.
        """
        still = 0
        while self.ready:
            going: Token | None = self.ready.popleft()
            while going is not None:
                still += 1
                if still > _STILL:
                    msg = (
                        f"{self.rules.system.name}: its clients take no time; give a step a demand"
                    )
                    raise GraphError(msg)
                going = self._follow(going)

    def _follow(self, token: Token) -> Token | None:
        """Do an instruction; the token that goes on at once."""
        match self.rules.program.instructions[token.address]:
            case Send(entry):
                token.address += 1
                self._send(Request(entry))
            case Branch(ways):
                token.address = ways[self._draw([chance for chance, _ in ways])][1]
            case Answer(forwards, drawn):
                self._answer(token, forwards)
                if drawn and self._draw([0.5, 0.5]) == 0:
                    self.ready.append(token)
                    return None
            case Tell(gates, drawn):
                token.address += 1
                self._tell(token, self._shuffled(gates, drawn))
            case Done():
                self._done(token)
                return None
            case instruction:
                self._stop(token, instruction)
                return None
        return token

    def _stop(self, token: Token, instruction: Instruction) -> None:
        """Begin what takes time, or what a token waits for."""
        match instruction:
            case Serve(processor):
                if self._join(processor, token):
                    self._serve(processor, token)
            case Call(entry):
                token.request = Request(entry, token)
                self._ask(token.request)
            case Spawn(starts, needed, drawn):
                token.left = needed
                token.branches = [
                    Token(token.thread, start, token) for start in self._shuffled(starts, drawn)
                ]
                for branch in token.branches:
                    match self.rules.program.instructions[branch.address]:
                        case Gate(needed):
                            branch.left = needed
                        case _:
                            self.ready.append(branch)

    def _tell(self, token: Token, gates: tuple[int, ...]) -> None:
        assert token.parent is not None
        for gate in gates:
            for other in [each for each in token.parent.branches if each.address == gate]:
                other.left -= 1
                if other.left == 0:
                    other.address += 1
                    self.ready.append(other)

    def _shuffled(self, addresses: tuple[int, ...], drawn: bool) -> tuple[int, ...]:
        """Any of them first, and then the others around, forwards or backwards."""
        if not drawn:
            return addresses
        ways = list(
            dict.fromkeys(
                (each, each[:1] + each[:0:-1])[turn]
                for turn in (0, 1)
                for n in range(len(addresses))
                for each in (addresses[n:] + addresses[:n],)
            )
        )
        return ways[self._draw([1 / len(ways)] * len(ways))]

    def _send(self, message: Request) -> None:
        self.roots.append(message)
        self._ask(message)

    def _answer(self, token: Token, forwards: tuple[tuple[float, str], ...]) -> None:
        thread = token.thread
        request, thread.request = thread.request, None
        token.address += 1
        self.roots.append(thread)
        caller = request.caller if request else None
        if request in self.roots:
            self.roots.remove(request)
        chances = [chance for chance, _ in forwards]
        left = 1 - sum(chances)
        which = self._draw([*chances, left] if left > _ROUNDING or not chances else chances)
        if which < len(forwards):
            onward = Request(forwards[which][1], caller)
            if caller is None:
                self._send(onward)
            else:
                caller.request = onward
                self._ask(onward)
        elif caller is not None:
            caller.request = None
            caller.address += 1
            self.ready.append(caller)

    def _done(self, token: Token) -> None:
        thread = token.thread
        if token is thread.main:
            thread.main = None
        elif token.parent is None:
            thread.loose.remove(token)
        else:
            self._branch_done(token, token.parent)
        if thread.main is not None or thread.loose:
            return
        entry = self.rules.program.entries[token.address]
        task = self.rules.system.entries[entry].task
        if self.rules.system.tasks[task].clients:
            self.cycles[entry] += 1
            thread.main = Token(thread, self.rules.program.starts[entry])
            self.ready.append(thread.main)
            return
        self.roots.remove(thread)
        self.lines[f"task {task}"].served.remove(thread)
        self._next(f"task {task}")

    def _branch_done(self, token: Token, parent: Token) -> None:
        """The parent goes on behind the last branch that it needs; others become loose."""
        parent.branches.remove(token)
        parent.left -= 1
        if parent.left > 0:
            return
        for branch in parent.branches:
            branch.parent = None
        parent.thread.loose += parent.branches
        parent.branches = []
        parent.address += 1
        self.ready.append(parent)


@dataclass(frozen=True)
class _Space:
    """States, the moves between them with their rates, and cycles that clients end in each."""

    states: tuple[State, ...]
    source: NDArray[np.intp]
    target: NDArray[np.intp]
    rate: FloatArray
    cycles: dict[str, FloatArray]


def _explored(rules: Rules, most: int) -> _Space | None:
    """Find all states, from that in which everybody has just begun."""
    start = next(_outcomes(rules, (), None))[0]
    number, todo = {start: 0}, deque([start])  # near ones first: far ones may grow without end
    moves: list[tuple[int, int, float, Counter[str]]] = []
    while todo:
        state = todo.popleft()
        for k, rate in _unlike(World(rules, state), state):
            for after, chance, cycles in _outcomes(rules, state, k):
                if after not in number:
                    number[after] = len(number)
                    todo.append(after)
                    if len(number) > most:
                        return None
                moves.append((number[state], number[after], rate * chance, cycles))
    source, target, rates, cycled = zip(*moves, strict=True)
    clients = [n for n, e in rules.system.entries.items() if rules.system.tasks[e.task].clients]
    counts = {name: np.array([each[name] for each in cycled], float) for name in clients}
    ends = np.array(source, np.intp), np.array(target, np.intp)
    return _Space(tuple(number), *ends, np.array(rates), counts)


def _unlike(world: World, state: State) -> Iterator[tuple[int, float]]:
    """Active tokens by number, those of equal trees once, with the rate of all of them."""
    alike = Counter(state)
    for k, (_, rate, at) in enumerate(world.active):
        if at == 0 or state[at] != state[at - 1]:
            yield k, rate * alike[state[at]]


def _outcomes(
    rules: Rules, state: State, active: int | None
) -> Iterator[tuple[State, float, Counter[str]]]:
    """Where a state leads when its k-th active token is done, or when all begin, by chance."""
    todo: list[tuple[int, ...]] = [()]
    while todo:
        decisions = todo.pop()
        world = World(rules, state, decisions)
        try:
            if active is None:
                world.begin()
            else:
                world.end(world.active[active][0])
        except Undecided as draw:
            todo += [(*decisions, n) for n, chance in enumerate(draw.chances) if chance > 0]
            continue
        yield world.state, world.chance, world.cycles


def _counted(rules: Rules, states: tuple[State, ...], shares: FloatArray) -> dict[str, list[float]]:
    """Mean requests of each entry that wait, and threads before and after the answer."""
    means = {name: [0.0, 0.0, 0.0] for name in rules.names}
    for state, share in zip(states, shares, strict=True):
        world = World(rules, state)
        for name in rules.system.tasks:
            line = world.lines[f"task {name}"]
            for request in line.waiting:
                means[request.entry][0] += share
            for thread in line.served:
                tokens = [*([thread.main] if thread.main else []), *thread.loose]
                address = tokens[0].address
                over = thread.request is None
                means[rules.program.entries[address]][1 + over] += share
    return means


def slow_chain(
    system: LayeredSystem, most: int
) -> tuple[dict[str, float], dict[str, list[float]], int] | None:
    """Cycles of clients [1/s], and of each entry its requests that wait and its threads.

    Threads before and after the answer; and the number of states.
    """
    rules = Rules(system)
    space = _explored(rules, most)
    if space is None:
        return None
    shares = shares_of_time(space.source, space.target, space.rate, len(space.states))
    flows = space.rate * shares[space.source]
    cycles = {name: float(flows @ each) for name, each in space.cycles.items()}
    return cycles, _counted(rules, space.states, shares), len(space.states)
