"""Plays messages under LogGP one by one: an oracle for the laws of collective operations.

Each processor works through its own list of tasks in order. A send keeps it busy for o_s; the first
byte enters the network when that is done, and g after the last byte of its message before. The last
byte follows (s - 1) G later, and each byte is in flight for L. At the receiver, the first byte of a
message comes no earlier than g after the last byte of the one before. A receive waits for the last
byte, and keeps the processor busy for o_r, and for a time per byte where it combines.

All numbers may be whole, so that times are exact.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Send:
    """A message of ``size`` bytes to a processor; ``tag`` tells it from others to the same one.

    It goes by one of the networks, and into one of the lanes of the receiver: messages of different
    lanes come in at once.
    """

    to: int
    size: int
    tag: object = 0
    net: int = 0
    lane: object = 0


@dataclass(frozen=True)
class Receive:
    """Waits for a message from a processor; ``combine`` is whether its bytes are combined."""

    source: int
    tag: object = 0
    combine: bool = False


@dataclass(frozen=True)
class Net:
    """L, o_s, o_r, g, G, and the time to combine a byte."""

    latency: int
    send: int
    receive: int
    gap: int
    per_byte: int
    combine: int = 0


@dataclass
class _Processor:
    tasks: list
    done: int = 0
    free: int = 0
    out: dict = field(default_factory=dict)
    inside: dict = field(default_factory=dict)


def play(programs: Iterable[list], *nets: Net) -> int:
    """Time at which the last task of all is done."""
    processors = [_Processor(list(tasks)) for tasks in programs]
    arrived: dict = {}
    while waiting := [
        p for p in range(len(processors)) if processors[p].done < len(processors[p].tasks)
    ]:
        keys = {p: key for p in waiting if (key := _key(p, processors, arrived, nets)) is not None}
        assert keys, "nobody can go on"
        who = min(keys, key=lambda p: (keys[p], p))
        _perform(who, keys[who], processors, arrived, nets)
    return max(one.free for one in processors)


def _key(who, processors, arrived, nets):
    """When the next task shows outside: its message enters, or its receive begins."""
    one = processors[who]
    task = one.tasks[one.done]
    if isinstance(task, Send):
        entry = one.free + nets[task.net].send
        last = one.out.get(task.net)
        return entry if last is None else max(entry, last + nets[task.net].gap)
    there = arrived.get((task.source, who, task.tag))
    return None if there is None else max(one.free, there[0])


def _perform(who, key, processors, arrived, nets):
    one = processors[who]
    task = one.tasks[one.done]
    one.done += 1
    if isinstance(task, Receive):
        _, size, which = arrived.pop((task.source, who, task.tag))
        net = nets[which]
        one.free = key + net.receive + (net.combine * size if task.combine else 0)
        return
    net, other = nets[task.net], processors[task.to]
    length = (task.size - 1) * net.per_byte
    one.free, one.out[task.net] = key, key + length
    lane = (task.net, task.lane)
    first, last = key + net.latency, other.inside.get(lane)
    first = first if last is None else max(first, last + net.gap)
    other.inside[lane] = first + length
    label = (who, task.to, task.tag)
    assert label not in arrived, "a tag is used twice"
    arrived[label] = (first + length, task.size, task.net)


def schedule(n: int, steps: Iterable[tuple]) -> list[list]:
    """Programs of n processors from messages in rounds: (from, to, size), and maybe combine.

    In a round each processor first sends, then receives.
    """
    programs = [[] for _ in range(n)]
    for tag, messages in enumerate(steps):
        receives = defaultdict(list)
        for source, to, size, *combine in messages:
            programs[source].append(Send(to, size, tag))
            receives[to].append(Receive(source, tag, bool(combine and combine[0])))
        for to, several in receives.items():
            programs[to] += several
    return programs
