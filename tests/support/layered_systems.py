"""Random layered systems."""

import math
import random
from collections.abc import Mapping
from dataclasses import replace

from headway.queueing.disciplines.discipline import Discipline
from headway.queueing.layers.flow import Choice, Flow, Loop, Reply, Series, Step, Together, steps_of
from headway.queueing.layers.parts import Entry, Processor, Task
from headway.queueing.layers.system import LayeredSystem


def random_system(seed: int, clients: int = 5, layers: int = 3, tasks: int = 5) -> LayeredSystem:
    """One or two kinds of clients, above tasks in layers that share some processors.

    Parameters
    ----------
    seed
        Of what is drawn.
    clients, layers, tasks
        At most; two tasks at least.
    """
    draw = random.Random(seed)
    deep = draw.randint(1, layers)
    count = draw.randint(max(deep, 2), max(deep, tasks))
    level = [n if n < deep else draw.randrange(deep) for n in range(count)]
    processors = {"users": Processor(math.inf)}
    for n in range(draw.randint(1, count)):
        discipline = Discipline(draw.choice(["ps", "ps", "fcfs"]))
        processors[f"cpu{n}"] = Processor(draw.choice([1.0, 1.0, 1.0, 2.0]), discipline)
    users = [f"users{n}" for n in range(draw.choice([1, 1, 2]))]
    offered = {n: [f"e{n}"] + [f"f{n}"] * (draw.random() < 0.25) for n in range(count)}
    calls: dict[str, dict[str, float]] = {name: {} for name in users}
    calls |= {name: {} for names in offered.values() for name in names}
    for n, names in offered.items():
        for name in names:
            for caller in _callers(draw, level, n, users, offered):
                calls[caller][name] = round(draw.uniform(0.3, 2.5), 2)
    entries: dict[str, Entry] = {}
    pools: dict[str, Task] = {}
    for name in users:
        calls[name] = calls[name] or {offered[0][0]: 1.0}
        think = round(draw.choice([0, 1, 1, 2]) * draw.uniform(0.5, 1.5), 2)
        pools[name] = Task("users", draw.randint(1, clients), think, clients=True)
        entries[name] = Entry(name, Step(name, round(draw.uniform(0.2, 2), 2), calls=calls[name]))
    for n, names in offered.items():
        threads = draw.choice([1.0, 1.0, 1.0, 2.0, 3.0, 4.0]) if draw.random() < 0.9 else math.inf
        pools[f"task{n}"] = Task(draw.choice(list(processors)[1:]), threads)
        for name in names:
            entries[name] = Entry(f"task{n}", _flow(draw, name, calls[name], threads))
    return LayeredSystem(f"random {seed}", processors, pools, entries)


def phased_system(seed: int) -> LayeredSystem:
    """A random system, most of whose entries have a second phase that makes calls of theirs."""
    system, draw = random_system(seed, 4, 3, 4), random.Random(10_000_000 + seed)
    entries = dict(system.entries)
    for name, entry in system.entries.items():
        task = system.tasks[entry.task]
        step = next(step for step, _ in steps_of(entry.flow))
        if task.clients or not math.isfinite(float(task.threads)) or draw.random() > 0.6:
            continue
        later = {called for called in step.calls if draw.random() < 0.6}
        first, second = (
            {called: mean for called, mean in step.calls.items() if (called in later) == behind}
            for behind in (False, True)
        )
        after = Step(f"{name}-after", round(draw.uniform(0.1, 1.2), 2), calls=second)
        entries[name] = replace(entry, flow=Series((replace(step, calls=first), Reply(), after)))
    return LayeredSystem(f"phased {seed}", system.processors, system.tasks, entries)


def forked_system(seed: int) -> LayeredSystem:
    """A random system, half of whose entries do work and calls in branches at once."""
    system, draw = random_system(seed, 4, 3, 3), random.Random(20_000_000 + seed)
    entries = dict(system.entries)
    for name, entry in system.entries.items():
        if system.tasks[entry.task].clients or not isinstance(entry.flow, Step):
            continue
        if draw.random() < 0.5:
            continue
        count = draw.choice([2, 2, 3])
        shares: list[dict[str, float]] = [{} for _ in range(count)]
        for called, mean in entry.flow.calls.items():
            draw.choice(shares)[called] = mean
        branches = tuple(
            Step(f"{name}-{n}", round(draw.uniform(0.1, 0.8), 2), calls=calls)
            for n, calls in enumerate(shares)
        )
        first = replace(entry.flow, calls={})
        entries[name] = replace(entry, flow=Series((first, Together(branches, count))))
    return LayeredSystem(f"forked {seed}", system.processors, system.tasks, entries)


def _callers(
    draw: random.Random,
    level: list[int],
    n: int,
    users: list[str],
    offered: Mapping[int, list[str]],
) -> list[str]:
    """Entries of the layer above, or some clients."""
    if level[n] == 0:
        return [draw.choice(users)]
    above = [name for k, names in offered.items() if level[k] == level[n] - 1 for name in names]
    return draw.sample(above, min(len(above), draw.choice([1, 1, 2])))


def _flow(draw: random.Random, name: str, calls: dict[str, float], threads: float) -> Flow:
    step = Step(name, round(draw.uniform(0.1, 1.5), 2), calls=calls)
    if draw.random() < 0.2 and math.isfinite(threads):
        return Series((step, Reply(), Step(f"{name}-after", round(draw.uniform(0.1, 0.8), 2))))
    return step


def closed_system(seed: int) -> LayeredSystem:
    """Two kinds of clients above three tasks, with all that a closed system may have."""
    draw = random.Random(seed)

    def processor() -> Processor:
        name = draw.choice(["ps", "fcfs", "siro", "priority", "preemptive"])
        return Processor(1 if name == "preemptive" else draw.choice([1, 2]), Discipline(name))

    def task(processor: str) -> Task:
        discipline = Discipline(draw.choice(["fcfs", "fcfs", "siro", "priority"]))
        return Task(
            processor, draw.choice([1, 2]), discipline=discipline, priority=draw.choice([1, 2])
        )

    def step(name: str, calls: dict[str, float] | None = None, *, fixed: bool = False) -> Step:
        return Step(name, round(draw.uniform(0.1, 1.0), 2), calls=calls or {}, fixed=fixed)

    def flow(name: str, calls: dict[str, float]) -> Flow:
        parts = [step(f"{name}{n}") for n in range(3)]
        part = draw.choice(
            [
                parts[0],
                Choice(((0.3, parts[0]), (0.7, parts[1]))),
                Loop(parts[0], 0.8),
                Together((parts[0], parts[1]), draw.choice([1, 2])),
                Together((Together((parts[0], parts[1]), 1), parts[2]), 2),
            ]
        )
        behind = (Reply(), step(f"{name}-after")) if draw.random() < 0.3 else ()
        return Series((step(name, calls), part, *behind))

    return LayeredSystem(
        f"closed {seed}",
        {"users": Processor(math.inf), "cpu": processor(), "disk": processor()},
        {
            "people": Task("users", draw.choice([1, 2]), draw.choice([0.0, 1.0]), clients=True),
            "robots": Task("cpu", 1, 0.5, clients=True, priority=2),
            **{"web": task("cpu"), "data": task("disk"), "log": task("disk")},
        },
        {
            "use": Entry("people", step("use", {"page": draw.choice([1.0, 0.6])})),
            "crawl": Entry("robots", step("crawl", {"page": 1.0}, fixed=True)),
            "page": Entry("web", flow("page", {"read": 0.7}), priority=2),
            "read": Entry("data", flow("read", {}), forwards={"keep": 0.4}),
            "keep": Entry("log", step("keep"), priority=3),
        },
    )


def closed_meeting(seed: int) -> LayeredSystem:
    """The same with a thread in which requests of both kinds of clients meet."""
    draw, system = random.Random(seed), closed_system(seed)

    def step(name: str, calls: dict[str, float] | None = None) -> Step:
        return Step(name, round(draw.uniform(0.1, 0.6), 2), calls=calls or {})

    told = draw.choice(
        [
            step("told"),
            Series((step("told"), Reply())),
            Together((Series((step("told"), Reply())), step("beside")), draw.choice([1, 2])),
        ]
    )
    to = draw.choice(["", "shown"])
    flow = draw.choice(
        [step("all"), Series((step("all", {"read": 0.5}), Reply(to), step("after")))]
    )
    pair = Task("cpu", discipline=Discipline(draw.choice(["fcfs", "priority"])))
    ask = {name: Step(f"ask {name}", calls={name: 1.0}) for name in ("told", "shown")}
    use, crawl = (system.entries[name] for name in ("use", "crawl"))
    entries = {
        **system.entries,
        "use": replace(use, flow=Series((use.flow, ask["told"]))),
        "crawl": replace(crawl, flow=Series((crawl.flow, ask["shown"]))),
        "told": Entry("pair", told),
        "shown": Entry("pair", step("shown"), forwards={"keep": 0.4}, priority=2),
        "met": Entry("pair", flow, meets=("shown", "told")),
    }
    tasks = {**system.tasks, "pair": pair}
    return LayeredSystem(f"closed meeting {seed}", system.processors, tasks, entries)
