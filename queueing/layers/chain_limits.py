"""What keeps a layered system from having a chain of finitely many states."""

from collections.abc import Iterable

import numpy as np

from headway.errors import GraphError
from headway.queueing.layers.flow import Choice, Flow, Series, Step, Together
from headway.queueing.layers.program import Answer, Branch, Call, Done, Program, Serve, Spawn, Wait
from headway.queueing.layers.system import LayeredSystem


def check_chain(system: LayeredSystem, program: Program) -> None:
    """Refuse a system that has no finite chain.

    Raises
    ------
    GraphError
        With the reason.
    """
    served = {name: part.discipline for name, part in system.processors.items()}
    served |= {f"task {name}": task.discipline for name, task in system.tasks.items()}
    for name, discipline in served.items():
        if discipline.by_size:
            msg = f"{name}: headway has no states for discipline {discipline} there"
            raise GraphError(msg)
    for name, entry in system.entries.items():
        if np.any(entry.arrival_rate):
            msg = f"entry {name}: requests arrive without limit, so its Markov chain is infinite"
            raise GraphError(msg)
    _check_steps(system)
    _check_time(system)
    _check_endless(system, program)


def _check_steps(system: LayeredSystem) -> None:
    """Refuse messages, and times that are not exponential."""
    for _, step, _ in system.steps():
        if any(map(np.any, step.sends.values())):
            msg = (
                f"step {step.name}: messages that nobody waits for pile up, so its "
                "Markov chain is infinite"
            )
            raise GraphError(msg)
        if np.any(np.not_equal(step.scv, 1)) and np.any(step.demand):
            msg = f"step {step.name}: a chain needs exponential times, an scv of 1"
            raise GraphError(msg)


def _check_time(system: LayeredSystem) -> None:
    """Refuse clients who can complete cycle after cycle in no time."""
    for name, entry in system.entries.items():
        task = system.tasks[entry.task]
        if task.clients and not np.any(task.think_time) and _at_once(system, entry.flow):
            msg = (
                f"entry {name}: its clients can be through at once, without a call, so its chain "
                "has a state that never ends; give it a demand, or its clients a think_time"
            )
            raise GraphError(msg)


def _at_once(system: LayeredSystem, flow: Flow) -> bool:
    """Whether a flow can be done in no time."""
    match flow:
        case Step():
            return not (np.any(flow.demand) or np.any(flow.think_time) or _surely(system, flow))
        case Series(parts):
            return all(_at_once(system, part) for part in parts)
        case Choice(ways):
            return any(np.any(chance) and _at_once(system, way) for chance, way in ways)
        case Together(branches, needed):
            return sum(_at_once(system, each) for each in branches) >= needed
    return True


def _surely(system: LayeredSystem, step: Step) -> bool:
    """Whether a step always makes a call that takes time."""
    asked = [name for name, mean in step.calls.items() if np.any(mean)]
    return step.fixed and any(not _at_once(system, system.entries[n].flow) for n in asked)


def _check_endless(system: LayeredSystem, program: Program) -> None:
    """Refuse tasks without a limit of threads that work on after their answer: threads pile up."""
    endless = {name for name, task in system.tasks.items() if np.all(np.isinf(task.threads))}
    lasting = (Serve, Wait, Call, Spawn)
    behind = behind_answer(program)
    for address, instruction in enumerate(program.instructions):
        name = program.entries[address]
        leaves = isinstance(instruction, Spawn) and instruction.needed < len(instruction.starts)
        if (leaves or (address in behind and isinstance(instruction, lasting))) and (
            system.entries[name].task in endless
        ):
            msg = (
                f"entry {name}: threads without limit work on after the answer and pile up, so its "
                "Markov chain is infinite; give the task a number of threads"
            )
            raise GraphError(msg)


def behind_answer(program: Program) -> frozenset[int]:
    """Addresses that a thread can reach after its answer, in any of its branches."""
    after = [n + 1 for n, one in enumerate(program.instructions) if isinstance(one, Answer)]
    for n, one in enumerate(program.instructions):
        if isinstance(one, Spawn) and any(
            isinstance(program.instructions[at], Answer) for at in _reached(program, one.starts)
        ):
            after += [*one.starts, n + 1]
    return _reached(program, after)


def _reached(program: Program, starts: Iterable[int]) -> frozenset[int]:
    """Addresses that can be reached from the given ones."""
    found: set[int] = set()
    todo = [*starts]
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
