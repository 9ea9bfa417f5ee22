"""Layered systems where nobody waits for a thread, as closed networks of processors: exact.

If every task has a thread for each client, a request goes straight on to its processor, and the
layers are a closed network of processors. Clients c have at processor k the demand of all entries
that they visit,

    D_ck = sum over entries e at processor k of v_ce D_e,

which has a product form if each processor shares its servers, is a delay, or serves slices of one
exponential mean in an order that does not depend on them (Baskett, Chandy, Muntz and Palacios, JACM
22(2), 1975). A single client never waits, whatever the laws and disciplines.
"""

from collections.abc import Iterable

import numpy as np

from headway.kinds import Amount, FloatArray
from headway.queueing.disciplines.discipline import Discipline, ProductForm
from headway.queueing.layers.flow import (
    Flow,
    Reply,
    Series,
    Step,
    Together,
    parts_within,
    replies,
)
from headway.queueing.layers.means import EntryMeans, LayeredMeans, visits
from headway.queueing.layers.system import LayeredSystem
from headway.queueing.methods.solve import solve
from headway.queueing.network.network import JobClass, SharedStation, read_network
from headway.queueing.stations.abilities import ServiceKind


def no_product_form(system: LayeredSystem) -> str:
    """Why a system has no product form, in one line; empty if it has one.

    Examples
    --------
    >>> from headway.queueing.layers.parts import Entry, Processor, Task
    >>> one = LayeredSystem(
    ...     "one",
    ...     {"here": Processor(), "there": Processor()},
    ...     {"users": Task("here", 2, clients=True), "pool": Task("there")},
    ...     {
    ...         "use": Entry("users", Step("use", 0.5, calls={"ask": 1.0})),
    ...         "ask": Entry("pool", Step("ask", 0.1)),
    ...     },
    ... )
    >>> no_product_form(one)
    'task pool has fewer threads than there are clients, so requests wait for them'
    """
    return _not_a_chain_of_calls(system) or (
        "" if np.all(_clients(system) <= 1) else _waits(system)
    )


def _clients(system: LayeredSystem) -> FloatArray:
    counts = [np.asarray(task.threads, float) for task in system.tasks.values() if task.clients]
    return np.asarray(sum(counts), float)


def _not_a_chain_of_calls(system: LayeredSystem) -> str:
    """Why a client can be at two places at once, or requests are not of clients; else empty."""
    for name, entry in system.entries.items():
        if np.any(entry.arrival_rate):
            return f"entry {name}: requests come from outside; product forms here are of clients"
        if any(isinstance(part, Together) for part in parts_within(entry.flow)):
            return f"entry {name} does work in branches at once"
        if _after(entry.flow):
            return f"entry {name} works on behind its reply, when its caller has gone on"
    for _, step, _ in system.steps():
        if any(map(np.any, step.sends.values())):
            return f"step {step.name} sends messages that nobody waits for"
    return ""


def _after(flow: Flow) -> bool:
    """Whether work may follow a reply; a reply at the very end has none after it."""
    if isinstance(flow, Series) and flow.parts:
        *first, last = flow.parts
        return any(map(replies, first)) or _after(last)
    return not isinstance(flow, Reply) and replies(flow)


def _waits(system: LayeredSystem) -> str:
    clients = _clients(system)
    for name, task in system.tasks.items():
        if not task.clients and np.any(np.less(task.threads, clients)):
            return (
                f"task {name} has fewer threads than there are clients, so requests wait for them"
            )
    return next(filter(None, (_no_form(system, name) for name in system.processors)), "")


def _no_form(system: LayeredSystem, name: str) -> str:
    """Why a processor has no product form; empty if it has one."""
    processor, discipline = system.processors[name], system.processors[name].discipline
    if np.all(np.isinf(processor.servers)):
        return ""
    single = not np.any(np.not_equal(processor.servers, 1))
    form = discipline.form if single else discipline.pool_form
    if form is ProductForm.ANY:
        return ""
    if form is not ProductForm.ALIKE or discipline.by_priority:
        return f"{name}: discipline {discipline} has no product form"
    if _alike(system, name):
        return ""
    return (
        f"{name}: slices of different times, {discipline.how}, have no product form; "
        'use discipline "ps"'
    )


def _slices(system: LayeredSystem, processor: str) -> list[tuple[str, Step, Amount, Amount]]:
    """Steps at a processor: entry, step, mean slices per request, and mean time of a slice [s]."""
    speed = system.processors[processor].speed
    return [
        (name, step, times * step.slices, step.demand / step.slices / speed)
        for name, step, times in system.steps()
        if system.tasks[system.entries[name].task].processor == processor and np.any(step.demand)
    ]


def _alike(system: LayeredSystem, processor: str) -> bool:
    each = _slices(system, processor)
    same = all(np.allclose(mean, each[0][3], rtol=1e-12, atol=0) for *_, mean in each)
    return same and all(np.all(np.equal(step.scv, 1)) for _, step, _, _ in each)


def by_product_form(system: LayeredSystem) -> LayeredMeans:
    """Solve layers as a closed network, all operating points at once.

    Parameters
    ----------
    system
        A system for which `no_product_form` returns nothing.

    Examples
    --------
    >>> from headway.queueing.layers.parts import Entry, Processor, Task
    >>> one = LayeredSystem(
    ...     "one",
    ...     {"here": Processor()},
    ...     {"users": Task("here", 2, 2.0, clients=True)},
    ...     {"use": Entry("users", Step("use", 0.5))},
    ... )
    >>> round(float(by_product_form(one).throughput("users")), 12)
    0.769230769231
    """
    visited = visits(system)
    if np.all(_clients(system) <= 1):
        return _means(system, visited, _alone(system, visited), None)
    demands = {
        k: {c: _demand(system, k, counts) for c, counts in visited.items()}
        for k in system.processors
    }
    used = [k for k, row in demands.items() if any(map(np.any, row.values()))]
    classes = [_job_class(system, c) for c in visited]
    network = read_network([_station(system, k, demands[k]) for k in used], classes)
    result = solve(network)
    times = np.reshape(result.residence_time, (len(used), len(visited), *(system.shape or ())))
    stretch = _alone(system, visited)
    for row, k in enumerate(used):
        for column, c in enumerate(visited):
            demand = np.asarray(demands[k][c], float)
            some = np.broadcast_to(demand > 0, times[row, column].shape)
            ratio = times[row, column] / np.where(demand > 0, demand, 1.0)
            stretch[k][c] = np.where(some, ratio, 1.0)
    rates = dict(zip(visited, result.throughput, strict=True))
    return _means(
        system, visited, stretch, {c: np.reshape(x, system.shape) for c, x in rates.items()}
    )


def _alone(system: LayeredSystem, sources: Iterable[str]) -> dict[str, dict[str, Amount]]:
    """The stretch of work without waiting, which is 1, by processor and source."""
    return {k: dict.fromkeys(sources, 1.0) for k in system.processors}


def _demand(system: LayeredSystem, processor: str, counts: dict[str, Amount]) -> Amount:
    return sum(counts[name] * n * mean for name, _, n, mean in _slices(system, processor))


def _job_class(system: LayeredSystem, entry: str) -> JobClass:
    """The class of jobs of some clients; delays in their steps count as think time."""
    task = system.tasks[system.entries[entry].task]
    held = sum(
        visits(system)[entry][name] * times * step.think_time
        for name, step, times in system.steps()
    )
    return JobClass(entry, population=task.threads, think_time=task.think_time + held)


def _station(system: LayeredSystem, name: str, demands: dict[str, Amount]) -> SharedStation:
    processor = system.processors[name]
    if np.all(np.isinf(processor.servers)):
        ones = [1.0] * len(demands)
        return SharedStation(name, list(demands.values()), ones, ServiceKind.DELAY)
    if processor.discipline.form is ProductForm.ANY:
        each, visited = list(demands.values()), [1.0] * len(demands)
    else:
        mean = _slices(system, name)[0][3]
        each = [mean] * len(demands)
        visited = [demand / mean for demand in demands.values()]
    return SharedStation(
        name, each, visited, servers=processor.servers, discipline=Discipline.SHARING
    )


def _means(
    system: LayeredSystem,
    visited: dict[str, dict[str, Amount]],
    stretch: dict[str, dict[str, Amount]],
    rates: dict[str, Amount] | None,
) -> LayeredMeans:
    """Mean times of entries over the requests of all classes of clients."""
    times = {c: _times(system, {k: row[c] for k, row in stretch.items()}) for c in visited}
    cycles = {
        c: 1 / (times[c][c] + system.tasks[system.entries[c].task].think_time) for c in visited
    }
    cycles = cycles if rates is None else rates
    entries = {}
    for name in system.entries:
        flows = {c: cycles[c] * counts[name] for c, counts in visited.items()}
        total = sum(flows.values())
        held = sum(flow * times[c][name] for c, flow in flows.items())
        zero = np.zeros(system.shape)
        rate = total + zero
        first = held / np.where(rate > 0, rate, 1.0)
        entries[name] = EntryMeans(rate, zero, first + zero, zero)
    return LayeredMeans(system, entries)


def _times(system: LayeredSystem, stretch: dict[str, Amount]) -> dict[str, Amount]:
    """How long a request holds a thread, by entry, with work stretched at each processor."""
    held: dict[str, Amount] = {}
    answered: dict[str, Amount] = {}
    own: dict[str, Amount] = dict.fromkeys(system.entries, 0.0)
    for name, step, times in system.steps():
        processor = system.tasks[system.entries[name].task].processor
        speed = system.processors[processor].speed
        own[name] += times * (step.demand / speed * stretch[processor] + step.think_time)
    for name in reversed(system.callers_first):
        entry = system.entries[name]
        held[name] = own[name] + sum(mean * answered[called] for called, mean in entry.calls())
        passed = sum(chance * answered[other] for other, chance in entry.forwards.items())
        answered[name] = held[name] + passed
    return held
