"""Refuse systems that cannot run: missing names, missing replies, circles of calls."""

from collections.abc import Iterable, Mapping

import numpy as np

from headway.errors import GraphError, nearest
from headway.kinds import Amount, check_count, check_domain, check_not_negative, check_positive
from headway.numerals import digits
from headway.queueing.layers.flow import (
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
from headway.queueing.layers.parts import Entry, Processor, Task

_MOST = 10**7
"""The largest number of clients accepted: states of a pool for more need over 0.5 GB."""

_SUM = 1e-6  # sums may miss 1 by this much, as files round probabilities to six digits


def check_names(
    processors: Mapping[str, Processor], tasks: Mapping[str, Task], entries: Mapping[str, Entry]
) -> None:
    """Refuse missing names, tasks without entries, and two steps of one name in a task."""
    offered: dict[str, dict[str, Entry]] = {name: {} for name in tasks}
    for name, entry in entries.items():
        if entry.task not in tasks:
            msg = f"entry {name}: there is no task {entry.task!r}"
            raise GraphError(msg + nearest(entry.task, tasks))
        offered[entry.task][name] = entry
    for name, task in tasks.items():
        if task.processor not in processors:
            msg = f"task {name}: there is no processor {task.processor!r}"
            own = {n for n, one in tasks.items() if one.clients and one.processor == n}
            raise GraphError(msg + (nearest(task.processor, processors.keys() - own) or "; add it"))
        _check_offer(name, task, offered[name])
    for name, entry in entries.items():
        for called in entry.uses:
            _check_called(name, called, tasks, entries)


def check_numbers(
    processors: Mapping[str, Processor], tasks: Mapping[str, Task], entries: Mapping[str, Entry]
) -> None:
    """Refuse numbers outside their domain.

    Raises
    ------
    InvalidParameter
        With the name of the number, its value and its domain.
    """
    for name, one in processors.items():
        check_positive(f"speed of {name}", one.speed)
        _check_limit(f"servers of {name}", one.servers)
        _check_copies(f"replicas of {name}", one.replicas)
    for name, task in tasks.items():
        check_not_negative(f"think_time of {name}", task.think_time)
        _check_members(name, task)
        _check_copies(f"replicas of {name}", task.replicas)
        for other, fan in task.fan_out.items():
            _check_copies(f"fan_out of {name} to {other}", fan)
    for name, entry in entries.items():
        check_not_negative(f"arrival_rate of {name}", entry.arrival_rate)
        for step, times in steps_of(entry.flow):
            check_not_negative(f"times that {step.name} is done", times)
            _check_step(step)


def _check_members(name: str, task: Task) -> None:
    """Clients are a finite whole number; threads are whole or unlimited, and have no think time."""
    if not task.clients:
        if np.any(task.think_time):
            msg = f"think_time of {name} is of clients alone; give its steps a think_time"
            raise GraphError(msg)
        _check_limit(f"threads of {name}", task.threads)
        return
    check_count(f"population of {name}", task.threads)
    if np.any(np.greater(task.threads, _MOST)):
        msg = f"population of {name} is {_numeral(task.threads)}; it may be {_MOST:,} at most"
        raise GraphError(msg)


def _check_step(step: Step) -> None:
    for what in ("demand", "scv", "think_time"):
        check_not_negative(f"{what} of {step.name}", getattr(step, what))
    for called, mean in (*step.calls.items(), *step.sends.items()):
        if step.fixed:
            check_count(f"calls from {step.name} to {called}, which are fixed,", mean)
        check_not_negative(f"calls from {step.name} to {called}", mean)


def _check_limit(name: str, number: Amount) -> None:
    """A number of servers, threads or clients must be a whole number from 1, or infinite."""
    must = "a whole number of 1 or more, or unlimited"
    check_domain(name, number, lambda n: (n >= 1) & (n == np.floor(n)), must)


def _check_copies(name: str, number: Amount) -> None:
    check_positive(name, number)
    check_count(name, number)


def check_copies(processors: Mapping[str, Processor], tasks: Mapping[str, Task]) -> None:
    """Refuse copies that do not divide equally among processors, or among their callers."""
    for name, task in tasks.items():
        places = processors[task.processor].replicas
        if np.any(np.mod(task.replicas, places)):
            msg = (
                f"task {name}: its {_numeral(task.replicas)} replicas cannot be dealt equally to "
                f"{_numeral(places)} replicas of processor {task.processor}; give a multiple"
            )
            raise GraphError(msg)
        for other, fan in task.fan_out.items():
            if other not in tasks:
                msg = f"task {name}: its fan_out is to {other!r}, which is not a task"
                raise GraphError(msg + nearest(other, tasks))
            _check_fan(name, task, other, tasks[other], fan)


def _check_fan(name: str, task: Task, other: str, target: Task, fan: Amount) -> None:
    copies = target.replicas
    if np.any(np.greater(fan, copies)):
        msg = (
            f"task {name} calls {_numeral(fan)} replicas of {other}, which has {_numeral(copies)}; "
            "reduce its fan_out"
        )
        raise GraphError(msg)
    if np.any(np.mod(np.multiply(task.replicas, fan), copies)):
        msg = (
            f"task {name}: {_numeral(task.replicas)} replicas that call {_numeral(fan)} each do "
            f"not use the {_numeral(copies)} replicas of {other} equally; change its fan_out"
        )
        raise GraphError(msg)


def _numeral(number: Amount) -> str:
    return digits(float(np.max(number)))


def _check_offer(name: str, task: Task, offered: Mapping[str, Entry]) -> None:
    if not offered:
        msg = f"task {name} has no entry; give it one, or leave it out"
        raise GraphError(msg)
    if task.clients and len(offered) > 1:
        msg = f"clients {name} have {len(offered)} entries; give them one, or split them"
        raise GraphError(msg)
    seen: set[str] = set()
    for entry, each in offered.items():
        own = {step.name for step, _ in steps_of(each.flow)}
        if both := own & seen:
            msg = f"task {name} has two steps {min(both)!r}, one in entry {entry}; rename one"
            raise GraphError(msg)
        seen |= own


def _check_called(
    name: str, called: str, tasks: Mapping[str, Task], entries: Mapping[str, Entry]
) -> None:
    if called not in entries:
        msg = f"entry {name} calls {called!r}, which is not an entry"
        raise GraphError(msg + nearest(called, entries))
    if tasks[entries[called].task].clients:
        msg = f"entry {name} calls {called}, an entry of clients, who serve nobody"
        raise GraphError(msg)


def check_meetings(tasks: Mapping[str, Task], entries: Mapping[str, Entry]) -> None:
    """Refuse meetings of other entries than all of a task that has a single thread."""
    for name, entry in entries.items():
        if not entry.meets:
            continue
        others = [n for n, one in entries.items() if one.task == entry.task and n != name]
        for each in entry.meets:
            if each not in others:
                msg = (
                    f"entry {name} meets {each!r}, which is not another entry of task {entry.task}"
                )
                raise GraphError(msg + nearest(each, others))
        if len(entry.meets) < 2 or sorted(entry.meets) != sorted(others):
            msg = (
                f"entry {name} meets {', '.join(entry.meets)}; it meets every other entry of task "
                f"{entry.task} once, and two or more"
            )
            raise GraphError(msg)
        _check_meeting(name, entry, tasks[entry.task], entries)


def _check_meeting(name: str, entry: Entry, task: Task, entries: Mapping[str, Entry]) -> None:
    asked = np.any(entry.arrival_rate) or any(name in one.uses for one in entries.values())
    if asked or entry.forwards:
        msg = f"entry {name} begins when {' and '.join(entry.meets)} have met; it has no "
        raise GraphError(msg + ("requests of its own" if asked else "request to forward"))
    if task.clients or np.any(np.not_equal(task.threads, 1)):
        msg = (
            f"requests for {' and '.join(entry.meets)} meet in one thread; give task {entry.task} "
            "a single thread"
        )
        raise GraphError(msg)
    if np.any(np.not_equal(task.replicas, 1)):
        msg = f"requests for {' and '.join(entry.meets)} meet; task {entry.task} has no replicas"
        raise GraphError(msg)


def check_flow(name: str, entry: Entry, owed: tuple[str, ...], *, clients: bool) -> None:
    """Refuse probabilities that do not sum to 1, and replies where none is possible.

    Parameters
    ----------
    name, entry
        The entry.
    owed
        Entries whose requests it answers.
    clients
        Whether it is of clients.
    """
    _check_part(name, entry.flow)
    for to in sorted(answered(entry.flow).difference(owed, [""])):
        early = "answers before they meet" if to in entry.meets else "has no request here"
        msg = f"entry {name} replies to {to!r}, which {early}; leave this reply out"
        raise GraphError(msg)
    answers = [whom for whom in owed if _answers(name, entry.flow, whom)]
    if clients and (answers or entry.forwards or np.any(entry.arrival_rate)):
        msg = f"entry {name} is of clients, who neither answer nor forward, nor are called"
        raise GraphError(msg)
    for other, chance in entry.forwards.items():
        check_not_negative(f"entry {name}: its probability to forward to {other}", chance)
    passed = np.asarray(sum(entry.forwards.values()), float)
    if np.any(passed > 1 + _SUM):
        msg = f"entry {name}: its probabilities to forward sum to {digits(passed.max())}, above 1"
        raise GraphError(msg)


def _check_part(name: str, flow: Flow) -> None:
    parts: Iterable[Flow] = ()
    match flow:
        case Series(parts):
            pass
        case Choice(ways):
            _check_chances(name, [chance for chance, _ in ways])
            parts = [way for _, way in ways]
        case Together(branches, needed):
            if not 1 <= needed <= len(branches):
                msg = (
                    f"entry {name} cannot wait for {needed} of {len(branches)} branches; "
                    f"the number needed is from 1 to {len(branches)}"
                )
                raise GraphError(msg)
            _check_behind(name, flow)
            parts = branches
        case Loop(body, _):
            parts = [body]
    for part in parts:
        _check_part(name, part)


def _check_behind(name: str, part: Together) -> None:
    """Refuse branches that wait for others that do not exist, or for each other in a circle."""
    if not part.behind:
        return
    numbers = range(len(part.branches))
    for number, (waits, needed) in zip(numbers, part.behind, strict=True):
        own = _first(part.branches[number])
        if not {*waits} <= {*numbers} or (waits and not 1 <= needed <= len(waits)):
            msg = (
                f"entry {name}: the branch {own} cannot wait for {needed} of {len(waits)} others; "
                f"the number needed is from 1 to {len(waits)}"
            )
            raise GraphError(msg)
    if part.needed < len(part.branches):
        msg = f"entry {name}: where branches wait for each other, all are needed; leave out needed"
        raise GraphError(msg)
    edges = ((k, n) for n, (waits, _) in enumerate(part.behind) for k in waits)
    if circle := _circle((str(a), str(b)) for a, b in edges):
        spots = [_first(part.branches[int(k)]).removeprefix("through ") for k in circle]
        msg = (
            f"entry {name}: branches wait for each other for ever: {' -> '.join(spots)}; "
            "break the circle"
        )
        raise GraphError(msg)


def _check_chances(name: str, chances: list[Amount]) -> None:
    total = np.atleast_1d(np.asarray(sum(chances), float))
    wrong = np.abs(total - 1) > _SUM
    if np.any(wrong) or any(np.any(np.less(chance, 0)) for chance in chances):
        at = float(total[np.argmax(wrong)])
        msg = f"entry {name}: probabilities of a choice sum to {digits(at)}; they must sum to 1"
        raise GraphError(msg)


def _answers(name: str, flow: Flow, whom: str) -> bool:
    """Whether a flow replies to an entry's request.

    Refuse two replies, and replies on some ways of a choice only.
    """
    spots: list[str] = []
    match flow:
        case Reply(to):
            return to in ("", whom)
        case Choice(ways):
            return _answers_alike(name, [way for _, way in ways], whom)
        case Series(parts):
            numbered = enumerate(parts, 1)
            spots = [_last(parts[:k]) for k, part in numbered if _answers(name, part, whom)]
        case Together(branches):
            each = [one for one in branches if _answers(name, one, whom)]
            spots = [f"in the branch {_first(one)}" for one in each]
        case Loop() if replies(flow):
            msg = (
                f"entry {name} replies inside a loop, which may be done twice or never; "
                "reply behind it"
            )
            raise GraphError(msg)
    if len(spots) > 1:
        msg = f"entry {name} replies twice, {spots[0]} and {spots[1]}; leave one reply out"
        raise GraphError(msg)
    return bool(spots)


def _answers_alike(name: str, ways: list[Flow], whom: str) -> bool:
    each = {_answers(name, way, whom): _first(way) for way in ways}
    if len(each) > 1:
        msg = (
            f"entry {name} replies on some ways of a choice only, on that {each[True]} and not "
            f"on that {each[False]}; let all reply, or none"
        )
        raise GraphError(msg)
    return True in each


def _first(flow: Flow) -> str:
    """The first step of a flow, in words for a message."""
    step = next((step.name for step, _ in steps_of(flow)), "")
    return f"through {step}" if step else "without a step"


def _last(parts: tuple[Flow, ...]) -> str:
    """The last step of these parts, in words for a message."""
    *_, step = "", *(step.name for step, _ in steps_of(Series(parts)))
    return f"behind {step}" if step else "at once"


def check_use(name: str, tasks: Mapping[str, Task], entries: Mapping[str, Entry]) -> None:
    """Refuse entries that nobody calls, and systems without clients or arrivals."""
    if not any(np.any(e.arrival_rate) or tasks[e.task].clients for e in entries.values()):
        msg = f"{name} has neither clients nor arrivals; nothing happens in it"
        raise GraphError(msg)
    called = {other for entry in entries.values() for other in entry.uses}
    for each, entry in entries.items():
        begins = np.any(entry.arrival_rate) or tasks[entry.task].clients or entry.meets
        if each not in called and not begins:
            msg = f"nobody calls entry {each}; call it, give it an arrival rate, or leave it out"
            raise GraphError(msg)


def check_time(tasks: Mapping[str, Task], entries: Mapping[str, Entry]) -> None:
    """Refuse clients whose mean cycle takes no time; expects a system without circles."""
    known: dict[str, Amount] = {}
    meetings = {each: name for name, entry in entries.items() for each in entry.meets}

    def takes(name: str) -> Amount:
        if name not in known:
            own = sum(
                n * (step.demand + step.think_time) for step, n in steps_of(entries[name].flow)
            )
            passed = (*entries[name].calls(), *entries[name].forwards.items())
            later = takes(meetings[name]) if name in meetings else 0.0
            known[name] = own + later + sum(mean * takes(other) for other, mean in passed)
        return known[name]

    for name, entry in entries.items():
        task = tasks[entry.task]
        if task.clients and not np.all(np.greater(task.think_time + takes(name), 0)):
            msg = f"clients {entry.task} take no time; give a step a demand, or them a think_time"
            raise GraphError(msg)


def check_circles(tasks: Mapping[str, Task], entries: Mapping[str, Entry]) -> None:
    """Refuse requests that return to an entry, and threads that can wait in a circle."""
    edges = [(name, other) for name, e in entries.items() for other in e.uses]
    edges += [(each, name) for name, e in entries.items() for each in e.meets]
    if circle := _circle(edges):
        msg = f"requests go round without end: {' -> '.join(circle)}; break the circle"
        raise GraphError(msg)
    circle = _circle(
        (entry.task, entries[other].task)
        for entry in entries.values()
        for other, _ in entry.calls()
    )
    if any(np.all(np.isfinite(tasks[name].threads)) for name in circle):
        msg = (
            f"threads can wait for each other for ever: {' -> '.join(circle)}; call a task of "
            "another layer, or send without waiting"
        )
        raise GraphError(msg)


def _circle(edges: Iterable[tuple[str, str]]) -> list[str]:
    """Names along a circle, with the first repeated at the end; empty if there is none."""
    import networkx as nx

    try:
        found = nx.find_cycle(nx.DiGraph(list(edges)))
    except nx.NetworkXNoCycle:
        return []
    return [found[0][0], *(target for _, target in found)]
