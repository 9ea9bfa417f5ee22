"""Random layered systems that use all that a layered system has."""

from dataclasses import replace
from math import inf
from random import Random

from headway.queueing.disciplines.discipline import Discipline
from headway.queueing.layers.flow import (
    NOBODY,
    Choice,
    Flow,
    Loop,
    Reply,
    Series,
    Step,
    Together,
    replies,
)
from headway.queueing.layers.parts import Entry, Processor, Task
from headway.queueing.layers.system import LayeredSystem

_SCVS = (0.0, 0.25, 1.0, 1.0, 3.0)
_AT_PROCESSORS = ("ps", "fcfs", "siro", "priority", "preemptive", "lcfs")
_AT_TASKS = ("fcfs", "siro", "priority")


def layered_system(seed: int) -> LayeredSystem:
    """Draw a system: two tasks of clients, arrivals, and four tasks that serve."""
    draw = Random(seed)
    processors = {
        "users": Processor(inf),
        "cpu": _processor(draw, seed),
        "disk": _processor(draw, seed + 1),
    }
    tasks = {
        "people": Task("users", draw.randint(1, 4), draw.choice((0.0, 1.0)), clients=True),
        "robots": Task("cpu", draw.randint(1, 3), 0.5, clients=True, priority=2),
        "web": _task(draw, "cpu"),
        "index": _task(draw, "disk"),
        "data": _task(draw, "disk"),
        "log": _task(draw, "cpu"),
    }
    calls = {"page": draw.uniform(0.3, 2), "find": 1.0}
    entries = {
        "use": Entry("people", Step("use", 0.1, calls=calls)),
        "crawl": Entry("robots", Step("crawl", 0.2, calls={"page": 2.0}, fixed=True)),
        "page": Entry("web", _flow(draw, "page", {"read": 1.5}, {"note": 0.5}), priority=2),
        "find": Entry("web", _flow(draw, "find", {}, {}), 0.1, {"look": 0.4, "read": 0.3}),
        "look": Entry("index", _flow(draw, "look", {"read": 0.7}, {})),
        "read": Entry("data", _flow(draw, "read", {}, {}), 0.2),
        "note": Entry("log", _flow(draw, "note", {}, {}), forwards={"keep": 0.5}),
        "keep": Entry("data", _flow(draw, "keep", {}, {}), priority=3),
    }
    return LayeredSystem(f"drawn {seed}", processors, tasks, entries)


def _processor(draw: Random, number: int) -> Processor:
    discipline = Discipline(_AT_PROCESSORS[number % len(_AT_PROCESSORS)])
    return Processor(draw.randint(1, 2), discipline, draw.choice((1.0, 2.0)))


def _task(draw: Random, processor: str) -> Task:
    threads = draw.choice((1, 2, 3, inf))
    discipline = Discipline(draw.choice(_AT_TASKS))
    return Task(processor, threads, discipline=discipline, priority=draw.randint(1, 3))


def _flow(draw: Random, name: str, calls: dict[str, float], sends: dict[str, float]) -> Flow:
    """A step with calls, a part of some kind, and at times a second phase."""

    def step(number: int, mean: float = 0.05) -> Step:
        return Step(f"{name} {number}", draw.uniform(0.2, 1) * mean, draw.choice(_SCVS))

    first = Step(name, 0.05, draw.choice(_SCVS), draw.choice((0.0, 0.1)), calls, sends)
    part: Flow = draw.choice(
        (
            Choice(((0.3, step(1)), (0.7, step(2)))),
            Loop(Series((step(1), step(2))), 1.5),
            Together((step(1), Series((step(2), step(3))), step(4)), draw.randint(1, 3)),
            Together((Together((step(1), step(2)), 1), step(3)), 2),
        )
    )
    second = (Reply(), step(5)) if draw.random() < 0.5 else ()
    return Series((first, part, *second))


def answered_in_branches(system: LayeredSystem) -> LayeredSystem:
    """The same where every server's thread does all it did in one of two branches at once.

    It replies there; the flow goes on when both are done, or the first.
    """
    entries = {
        name: entry if system.tasks[entry.task].clients else replace(entry, flow=_beside(n, entry))
        for n, (name, entry) in enumerate(system.entries.items())
    }
    return LayeredSystem(system.name, system.processors, system.tasks, entries)


def woven(system: LayeredSystem) -> LayeredSystem:
    """The same where what servers do is one of five branches, of which some wait for others.

    The last waits for one of two; and the reply comes in a branch.
    """

    def flow(number: int, entry: Entry) -> Flow:
        own = entry.flow if replies(entry.flow) else Series((entry.flow, Reply()))
        a, b, c, d = (Step(f"{word} {number}", 0.1 * n) for n, word in enumerate("abcd", 1))
        behind = (NOBODY, NOBODY, ((0,), 1), ((0, 1), 2), ((2, 3), 1))
        return Together((a, b, own, c, d), 5, behind)

    entries = {
        name: entry if system.tasks[entry.task].clients else replace(entry, flow=flow(n, entry))
        for n, (name, entry) in enumerate(system.entries.items())
    }
    return LayeredSystem(system.name, system.processors, system.tasks, entries)


def with_meeting(system: LayeredSystem, seed: int) -> LayeredSystem:
    """The same with a thread in which requests of both kinds of clients meet, and some messages.

    One request is forwarded in the end, one is answered early, and messages are answered first.
    """
    draw = Random(seed)
    order = Discipline(draw.choice(("fcfs", "priority")))
    flow = Series((Step("all", 0.2, calls={"look": 0.5}), Reply("told"), Step("after", 0.1)))
    early = Series((Step("asked", 0.1), Together((Reply(), Step("aside", 0.3)), 1)))
    entries = {
        "told": Entry("pair", Step("told", 0.1)),
        "asked": Entry("pair", early, priority=2),
        "shown": Entry("pair", Step("shown", 0.05, calls={"read": 1.0}), forwards={"keep": 0.5}),
        "met": Entry("pair", flow, meets=("shown", "told", "asked")),
    }
    use, crawl, page = (system.entries[name] for name in ("use", "crawl", "page"))
    asking = {
        "use": replace(use, flow=Series((use.flow, Step("ask", calls={"asked": 2.0})))),
        "crawl": replace(crawl, flow=Series((crawl.flow, Step("show", calls={"shown": 1.0})))),
        "page": replace(page, flow=Series((page.flow, Step("tell", sends={"told": 0.5})))),
    }
    tasks = {**system.tasks, "pair": Task("cpu", 1, discipline=order)}
    entries = {**system.entries, **asking, **entries}
    return LayeredSystem(system.name, system.processors, tasks, entries)


def _beside(number: int, entry: Entry) -> Flow:
    own = entry.flow if replies(entry.flow) else Series((entry.flow, Reply()))
    beside, behind = (Step(f"{word} {number}", 0.3) for word in ("beside", "behind"))
    return Series((Together((own, beside), 1 + number % 2), behind))
