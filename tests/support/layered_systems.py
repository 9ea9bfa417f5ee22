"""Random layered systems."""

import math
import random
from collections.abc import Mapping

from headway.queueing.disciplines.discipline import Discipline
from headway.queueing.layers.flow import Flow, Reply, Series, Step
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
