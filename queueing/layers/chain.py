"""The whole Markov chain of a layered system: what every client and message does; exact."""

from collections import Counter, deque
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from headway.errors import GraphError
from headway.kinds import FloatArray
from headway.queueing.layers.means import EntryMeans, LayeredMeans, visits
from headway.queueing.layers.program import Answer, Branch, Call, Done, Program, Serve, Spawn, Wait
from headway.queueing.layers.system import LayeredSystem
from headway.queueing.layers.trees import Rules, State, Undecided, World
from headway.queueing.markov.space import shares_of_time
from headway.records import dataclass

MOST_STATES = 300_000
"""States that are tried when the chain is asked for."""


def by_chain(system: LayeredSystem, most: int = MOST_STATES) -> LayeredMeans | None:
    """Solve a closed layered system with exponential times state by state.

    Parameters
    ----------
    system
        One operating point, with clients and without arrivals.
    most
        States that are not too many.

    Returns
    -------
    None where there are more states.

    Raises
    ------
    GraphError
        For arrivals from outside, times that are not exponential, and disciplines without states.

    Examples
    --------
    >>> from headway.queueing.layers.flow import Step
    >>> from headway.queueing.layers.parts import Entry, Processor, Task
    >>> one = LayeredSystem(
    ...     "one",
    ...     {"here": Processor()},
    ...     {"users": Task("here", 2, 2.0, clients=True)},
    ...     {"use": Entry("users", Step("use", 0.5))},
    ... )
    >>> round(by_chain(one).throughput("users"), 12)  # two jobs, one server, as a closed network
    0.769230769231
    """
    rules = Rules(system)
    _check(system, rules.program)
    space = _explored(rules, most)
    if space is None:
        return None
    shares = shares_of_time(space.source, space.target, space.rate, len(space.states))
    flows = space.rate * shares[space.source]
    cycles = {name: float(flows @ each) for name, each in space.cycles.items()}
    return _means(system, cycles, _counted(rules, space.states, shares))


def _check(system: LayeredSystem, program: Program) -> None:
    endless = {name for name, task in system.tasks.items() if np.all(np.isinf(task.threads))}
    lasting = (Serve, Wait, Call, Spawn)
    behind = behind_answer(program)
    for at, instruction in enumerate(program.instructions):
        name = program.entries[at]
        leaves = isinstance(instruction, Spawn) and instruction.needed < len(instruction.starts)
        if (leaves or (at in behind and isinstance(instruction, lasting))) and (
            system.entries[name].task in endless
        ):
            msg = (
                f"entry {name}: threads without end work behind the answer and pile up, so its "
                "chain has no end; give the task a number of threads"
            )
            raise GraphError(msg)
    for name, entry in system.entries.items():
        if np.any(entry.arrival_rate):
            msg = f"entry {name}: requests arrive without end, so its chain has no end"
            raise GraphError(msg)
    for _, step, _ in system.steps():
        if any(map(np.any, step.sends.values())):
            msg = (
                f"step {step.name}: messages that nobody waits for pile up, so its chain has no end"
            )
            raise GraphError(msg)
        if np.any(np.not_equal(step.scv, 1)) and np.any(step.demand):
            msg = f"step {step.name}: a chain needs exponential times, an scv of 1"
            raise GraphError(msg)


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
    behind = behind_answer(rules.program)
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
                over = thread.main is None or address in behind
                means[rules.program.entries[address]][1 + over] += share
    return means


def behind_answer(program: Program) -> frozenset[int]:
    """Addresses that are reached only after an answer."""
    found: set[int] = set()
    todo = [n + 1 for n, one in enumerate(program.instructions) if isinstance(one, Answer)]
    while todo:
        address = todo.pop()
        if address in found:
            continue
        found.add(address)
        match program.instructions[address]:
            case Branch(ways):
                todo += [at for _, at in ways]
            case Spawn(starts):
                todo += [*starts, address + 1]
            case Done():
                pass
            case _:
                todo.append(address + 1)
    return frozenset(found)


def _means(
    system: LayeredSystem, cycles: dict[str, float], counted: dict[str, list[float]]
) -> LayeredMeans:
    """Times by Little's law, at the throughputs that follow from those of clients."""
    visited = visits(system)
    entries = {}
    for name, entry in system.entries.items():
        rate = sum(cycles[source] * float(visited[source][name]) for source in visited)
        waiting, before, after = counted[name]
        if system.tasks[entry.task].clients:
            thinking = rate * float(system.tasks[entry.task].think_time)
            before, after = before + after - thinking, 0.0
        per = 1 / rate if rate > 0 else 0.0
        entries[name] = EntryMeans(rate, waiting * per, before * per, after * per)
    return LayeredMeans(system, entries)
