"""Layered systems that are queueing networks, as threads run out at the bottom at most: exact.

If a task has a thread for every request that may ask for one, requests go straight on to its
processor. If a task calls nobody and has its processor to itself, its threads are the servers of
one queue. If each task is one or the other, the system is a queueing network. A source of requests
c, which is a kind of clients or an entry with arrivals, has at station k the demand of all entries
that it visits,

    D_ck = sum over entries e at station k of v_ce D_e.

The network has a product form if each processor shares its servers, is a delay, or serves slices of
one exponential mean in an order that does not depend on them (Baskett, Chandy, Muntz and Palacios,
JACM 22(2), 1975), and if the requests of a pool that runs out take one exponential mean: then the
order in which they get a thread does not matter, nor which threads are served (Kelly, Reversibility
and Stochastic Networks, 1979, theorem 3.1).

If a pool has more threads T than servers s, threads wait as well. With requests from outside only,
P(n + 1) = rho P(n) for n >= s requests there, so the part rho^(T - s) of the waiting is for a
thread, and the rest for a server. A single client never waits, whatever the laws and disciplines.
"""

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
from headway.queueing.layers.meetings import no_lone_requests
from headway.queueing.layers.system import LayeredSystem
from headway.queueing.methods.solve import solve
from headway.queueing.network.network import JobClass, SharedStation, read_network
from headway.queueing.network.result import Result
from headway.queueing.stations.abilities import ServiceKind
from headway.records import dataclass


def no_product_form(system: LayeredSystem) -> str:
    """What is in the way of a product form, in one line; empty where there is one.

    Examples
    --------
    >>> from headway.queueing.layers.parts import Entry, Processor, Task
    >>> one = LayeredSystem(
    ...     "one",
    ...     {"here": Processor(), "there": Processor()},
    ...     {"users": Task("here", 2, clients=True), "pool": Task("there", 1)},
    ...     {
    ...         "use": Entry("users", Step("use", 0.5, calls={"ask": 1.0})),
    ...         "ask": Entry("pool", Step("ask", 0.1, scv=0.0)),
    ...     },
    ... )
    >>> no_product_form(one)
    'requests wait for threads of pool, whose times are not exponential with one mean'
    """
    alone = no_lone_requests(system) or _not_a_chain_of_calls(system)
    return alone or ("" if _is_lone_client(system) else _no_network(system))


def _is_lone_client(system: LayeredSystem) -> bool:
    clients = sum(np.asarray(one.threads, float) for one in system.tasks.values() if one.clients)
    return not system.is_open and bool(np.all(clients <= 1))


def _not_a_chain_of_calls(system: LayeredSystem) -> str:
    """Why a request can be at two places at once; empty if it cannot."""
    for name, entry in system.entries.items():
        if any(isinstance(part, Together) for part in parts_within(entry.flow)):
            return f"entry {name} does work in branches at once"
        if _after(entry.flow):
            return f"entry {name} works on after its reply, when its caller has gone on"
    for _, step, _ in system.steps():
        if any(map(np.any, step.sends.values())):
            return f"step {step.name} sends messages that nobody waits for"
    return ""


def _after(flow: Flow) -> bool:
    """Whether anything may stand behind a reply: one at the very end is none."""
    if isinstance(flow, Series) and flow.parts:
        *first, last = flow.parts
        return any(map(replies, first)) or _after(last)
    return not isinstance(flow, Reply) and replies(flow)


def _no_network(system: LayeredSystem) -> str:
    """Why the system is not a network with a product form; empty if it is."""
    queues = _thread_queues(system)
    own = {system.tasks[name].processor for name in queues}
    shared = (name for name in system.processors if name not in own)
    reasons = [_no_queue(system, name) for name in queues]
    return next(filter(None, [*reasons, *(_no_form(system, name) for name in shared)]), "")


def _most_requests(system: LayeredSystem) -> dict[str, Amount]:
    """How many requests may be at each task at once: those of its clients, or without limit."""
    most: dict[str, Amount] = dict.fromkeys(system.tasks, 0.0)
    for source, counts in visits(system).items():
        entry = system.entries[source]
        clients = system.tasks[entry.task].clients
        from_here = (
            system.tasks[entry.task].threads
            if clients
            else np.where(np.greater(entry.arrival_rate, 0), np.inf, 0.0)
        )
        for task in {system.entries[name].task for name, n in counts.items() if np.any(n)}:
            most[task] = most[task] + from_here
    return most


def _thread_queues(system: LayeredSystem) -> tuple[str, ...]:
    """Tasks where requests may wait for a thread."""
    most = _most_requests(system)
    return tuple(
        name
        for name, task in system.tasks.items()
        if not task.clients and np.any(np.less(task.threads, most[name]))
    )


def _no_queue(system: LayeredSystem, name: str) -> str:
    """Why a task whose threads run out is not one queue with a product form; empty if it is."""
    task = system.tasks[name]
    processor = system.processors[task.processor]
    calls = any(system.entries[entry].uses for entry in system.entries_of[name])
    alone = sum(one.processor == task.processor for one in system.tasks.values()) == 1
    threads_wait = np.any(np.greater(task.threads, processor.servers))
    orders = [task.discipline, *([processor.discipline] if threads_wait else [])]
    ranked = [str(one) for one in orders if one.by_priority or one.by_size]
    reasons = (
        (calls, "which calls others while it holds them"),
        (not alone, f"which shares processor {task.processor}"),
        (not _has_one_mean(system, name), "whose times are not exponential with one mean"),
        (
            threads_wait and _has_clients(system, name),
            "of which there are more than servers, and its clients come back",
        ),
        (bool(ranked), f"in an order without a product form, {', '.join(ranked)}"),
    )
    why = next((why for holds, why in reasons if holds), "")
    return why and f"requests wait for threads of {name}, {why}"


def _has_one_mean(system: LayeredSystem, name: str) -> bool:
    """Whether every request of a task takes an exponential time of the same mean."""
    steps = [_only_step(system.entries[entry].flow) for entry in system.entries_of[name]]
    mean = steps[0].demand if steps[0] else 0.0
    return all(
        step is not None
        and np.all(np.equal(step.scv, 1))
        and not np.any(step.think_time)
        and np.all(np.greater(step.demand, 0))
        and np.allclose(step.demand, mean, rtol=1e-12, atol=0)
        for step in steps
    )


def _has_clients(system: LayeredSystem, name: str) -> bool:
    """Whether requests of clients come to a task."""
    return any(
        system.tasks[system.entries[source].task].clients and np.any(counts[entry])
        for source, counts in visits(system).items()
        for entry in system.entries_of[name]
    )


def _only_step(flow: Flow) -> Step | None:
    """The step that a flow consists of, but for a reply at its end."""
    parts = [part for part in parts_within(flow) if not isinstance(part, Series | Reply)]
    return parts[0] if len(parts) == 1 and isinstance(parts[0], Step) else None


def _no_form(system: LayeredSystem, name: str) -> str:
    """Why a processor has no product form."""
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
    """Steps at a processor: entry, step, mean slices for a request, and the mean of each [s]."""
    speed = system.processors[processor].speed
    return [
        (name, step, times * step.slices, step.demand / step.slices / speed)
        for name, step, times in system.steps_at[processor]
        if np.any(step.demand)
    ]


def _alike(system: LayeredSystem, processor: str) -> bool:
    each = _slices(system, processor)
    same = all(np.allclose(mean, each[0][3], rtol=1e-12, atol=0) for *_, mean in each)
    return same and all(np.all(np.equal(step.scv, 1)) for _, step, _, _ in each)


@dataclass(frozen=True)
class _Stay:
    """How long requests of one source stay at a station, beyond their own demand.

    Parameters
    ----------
    stretch
        Time at the processor with a thread held, over the demand.
    wait
        For a thread, by request [s].
    """

    stretch: Amount = 1.0
    wait: Amount = 0.0


_Stays = dict[str, dict[str, _Stay]]
"""By processor and source."""


def by_product_form(system: LayeredSystem) -> LayeredMeans:
    """Solve layers as a queueing network, all operating points at once.

    Parameters
    ----------
    system
        A system for which `no_product_form` returns nothing.

    Returns
    -------
    The means; approximate where its network is too large for an exact method, and infinite where
    more requests arrive than a station can serve.

    Examples
    --------
    >>> from headway.queueing.layers.parts import Entry, Processor, Task
    >>> one = LayeredSystem(
    ...     "one",
    ...     {"here": Processor()},
    ...     {"web": Task("here", threads=1)},
    ...     {"page": Entry("web", Step("page", 0.1), arrival_rate=5.0)},
    ... )
    >>> round(float(by_product_form(one).entries["page"].response_time), 12)  # M/M/1
    0.2
    """
    visited = visits(system)
    nobody = {k: dict.fromkeys(visited, _Stay()) for k in system.processors}
    if _is_lone_client(system):
        return LayeredMeans(system, _means(system, visited, nobody, None))
    queues = {system.tasks[name].processor: name for name in _thread_queues(system)}
    demands = {
        k: {c: _demand(system, k, counts) for c, counts in visited.items()}
        for k in system.processors
    }
    used = [k for k, row in demands.items() if any(map(np.any, row.values()))]
    classes = [_job_class(system, c, counts) for c, counts in visited.items()]
    network = read_network([_station(system, k, demands[k], queues.get(k)) for k in used], classes)
    result = solve(network)
    over = np.reshape(result.saturated, system.shape)
    stays = nobody | {
        k: _at_queue(system, queues[k], demands[k], result, row)
        if k in queues
        else _at_processor(system, demands[k], result, row)
        for row, k in enumerate(used)
    }
    rates = {
        c: np.reshape(x, system.shape) for c, x in zip(visited, result.throughput, strict=True)
    }
    means = LayeredMeans(system, _means(system, visited, stays, rates), result.approximation)
    return means.endless(over) if np.any(over) else means


def _demand(system: LayeredSystem, processor: str, counts: dict[str, Amount]) -> Amount:
    return sum(counts[name] * n * mean for name, _, n, mean in _slices(system, processor))


def _job_class(system: LayeredSystem, source: str, counts: dict[str, Amount]) -> JobClass:
    """The class of jobs of a source; delays in the steps of clients count as think time."""
    entry = system.entries[source]
    task = system.tasks[entry.task]
    if not task.clients:
        return JobClass(source, arrival_rate=entry.arrival_rate)
    held = sum(counts[name] * times * step.think_time for name, step, times in system.steps())
    return JobClass(source, population=task.threads, think_time=task.think_time + held)


def _station(
    system: LayeredSystem, name: str, demands: dict[str, Amount], pool: str | None
) -> SharedStation:
    """A processor, or the queue for the threads of the only task there, a pool."""
    processor = system.processors[name]
    servers = processor.servers
    if pool is not None:
        servers = np.minimum(servers, system.tasks[pool].threads)
    elif np.all(np.isinf(servers)):
        ones = [1.0] * len(demands)
        return SharedStation(name, list(demands.values()), ones, ServiceKind.DELAY)
    if pool is None and processor.discipline.form is ProductForm.ANY:
        each, visited = list(demands.values()), [1.0] * len(demands)
    else:
        mean = _slices(system, name)[0][3]
        each = [mean] * len(demands)
        visited = [demand / mean for demand in demands.values()]
    return SharedStation(name, each, visited, servers=servers, discipline=Discipline.SHARING)


def _at_processor(
    system: LayeredSystem, demands: dict[str, Amount], result: Result, row: int
) -> dict[str, _Stay]:
    """Stays where all wait for servers, R_ck / D_ck."""
    return {
        source: _Stay(_ratio(_finite(system, result.residence_time[row, column]), demand))
        for column, (source, demand) in enumerate(demands.items())
    }


def _at_queue(
    system: LayeredSystem, name: str, demands: dict[str, Amount], result: Result, row: int
) -> dict[str, _Stay]:
    """Stays where all wait for a thread, and then for a server if threads are more."""
    task = system.tasks[name]
    processor = system.processors[task.processor]
    mean = _slices(system, task.processor)[0][3]
    served = sum(x * demand for x, demand in zip(result.throughput, demands.values(), strict=True))
    more = np.maximum(np.subtract(task.threads, processor.servers), 0)
    rho = np.minimum(np.reshape(served, system.shape) / processor.servers, 1.0)
    for_thread = np.where(more > 0, rho**more, 1.0)
    stays = {}
    for column, source in enumerate(demands):
        time = _finite(system, result.station_response_time[row, column])
        wait = np.maximum(time - mean, 0.0)
        stays[source] = _Stay(_ratio(mean + wait * (1 - for_thread), mean), wait * for_thread)
    return stays


def _finite(system: LayeredSystem, times: FloatArray) -> FloatArray:
    """Times at each operating point; 0 where they are infinite, as `endless` says."""
    return np.reshape(np.where(np.isfinite(times), times, 0.0), system.shape)


def _ratio(time: Amount, demand: Amount) -> Amount:
    """A time over a demand; 1 where there is none."""
    some = np.greater(demand, 0) & np.greater(time, 0)
    return np.where(some, time / np.where(some, demand, 1.0), 1.0)


def _means(
    system: LayeredSystem,
    visited: dict[str, dict[str, Amount]],
    stays: _Stays,
    rates: dict[str, Amount] | None,
) -> dict[str, EntryMeans]:
    """Means of entries over the requests of all sources; lone clients come as fast as they can."""
    held, waits = {}, {}
    for source in visited:
        held[source], waits[source] = _times(system, {k: row[source] for k, row in stays.items()})
    if rates is None:
        think = {c: system.tasks[system.entries[c].task].think_time for c in visited}
        rates = {c: 1 / (held[c][c] + think[c]) for c in visited}
    entries = {}
    zero = np.zeros(system.shape)
    for name in system.entries:
        flows = {c: rates[c] * counts[name] for c, counts in visited.items()}
        rate = sum(flows.values()) + zero
        some = np.where(rate > 0, rate, 1.0)
        wait, first = (
            sum(flow * times[c][name] for c, flow in flows.items()) / some + zero
            for times in (waits, held)
        )
        entries[name] = EntryMeans(rate, wait, first, zero)
    return entries


def _times(
    system: LayeredSystem, stays: dict[str, _Stay]
) -> tuple[dict[str, Amount], dict[str, Amount]]:
    """How long a request for each entry holds a thread, and how long it waits for one."""
    held: dict[str, Amount] = {}
    answered: dict[str, Amount] = {}
    own: dict[str, Amount] = dict.fromkeys(system.entries, 0.0)
    stay = {
        name: stays[system.tasks[entry.task].processor] for name, entry in system.entries.items()
    }
    for name, step, times in system.steps():
        speed = system.processors[system.tasks[system.entries[name].task].processor].speed
        own[name] += times * (step.demand / speed * stay[name].stretch + step.think_time)
    for name in reversed(system.callers_first):
        entry = system.entries[name]
        held[name] = own[name] + sum(mean * answered[called] for called, mean in entry.calls())
        passed = sum(chance * answered[other] for other, chance in entry.forwards.items())
        answered[name] = stay[name].wait + held[name] + passed
    return held, {name: one.wait for name, one in stay.items()}
