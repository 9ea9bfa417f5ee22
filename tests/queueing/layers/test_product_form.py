"""Layers whose threads run out at the bottom only, against the whole chain, and the refusals."""

import math
from dataclasses import replace

import numpy as np
import pytest

from headway.kinds import Amount
from headway.queueing.disciplines.discipline import Discipline
from headway.queueing.layers.chain import by_chain
from headway.queueing.layers.flow import Flow, Loop, Reply, Series, Step, Together
from headway.queueing.layers.means import LayeredMeans
from headway.queueing.layers.methods.solve import solve_layers
from headway.queueing.layers.parts import Entry, Processor, Task
from headway.queueing.layers.playing import play_layers
from headway.queueing.layers.product_form import by_product_form, no_product_form
from headway.queueing.layers.system import LayeredSystem
from tests.support.layered_systems import random_system

SUMS = 1e-9  # relative


def sharing(system: LayeredSystem) -> LayeredSystem:
    """The same with threads without end, at processors that share their servers."""
    shared = {
        name: one if math.isinf(float(one.servers)) else replace(one, discipline=Discipline("ps"))
        for name, one in system.processors.items()
    }
    tasks = {
        name: one if one.clients else replace(one, threads=math.inf)
        for name, one in system.tasks.items()
    }
    return LayeredSystem(system.name, shared, tasks, system.entries)


def alone(system: LayeredSystem) -> LayeredSystem:
    """The same with one client of each kind."""
    tasks = {
        name: replace(one, threads=1.0) if one.clients else one
        for name, one in system.tasks.items()
    }
    return LayeredSystem(system.name, system.processors, tasks, system.entries)


@pytest.mark.parametrize("seed", range(40))
def test_closed_networks_say_what_the_whole_chain_says(seed: int) -> None:
    """Times of every entry too, of several kinds of clients."""
    system = random_system(seed)
    if any(isinstance(entry.flow, Series) for entry in system.entries.values()):
        return  # a second phase
    for one in (sharing(system), alone(system)):
        exact = says_what_the_whole_chain_says(one)
        waits = [] if exact is None else [entry.waiting_time for entry in exact.entries.values()]
        assert waits == pytest.approx([0.0] * len(waits), abs=1e-12)


def says_what_the_whole_chain_says(one: LayeredSystem) -> LayeredMeans | None:
    """Compare every entry, and give back what the chain says, if both methods apply."""
    exact = None if no_product_form(one) else by_chain(one, 3_000)
    if exact is None:
        return None
    near = by_product_form(one)
    for name, entry in exact.entries.items():
        other = near.entries[name]
        assert other.throughput == pytest.approx(entry.throughput, rel=SUMS)
        assert other.first_phase == pytest.approx(entry.first_phase, rel=SUMS, abs=1e-12)
        assert other.waiting_time == pytest.approx(entry.waiting_time, rel=SUMS, abs=1e-9)
    return exact


def pool(
    threads: float, processor: Processor, flow: Flow, discipline: Discipline = Discipline.FCFS
) -> LayeredSystem:
    """Two clients above a pool."""
    return LayeredSystem(
        "pool",
        {"users": Processor(math.inf), "cpu": processor},
        {
            "users": Task("users", 2, 1.0, clients=True),
            "pool": Task("cpu", threads, discipline=discipline),
        },
        {
            "use": Entry("users", Step("use", calls={"ask": 1.0}, fixed=True)),
            "ask": Entry("pool", flow),
        },
    )


def test_many_points_are_one_network() -> None:
    """Each is what it is alone."""
    demands = np.linspace(0.1, 2.0, 7)
    whole = by_product_form(pool(math.inf, Processor(), Step("ask", demands)))
    each = [by_product_form(pool(math.inf, Processor(), Step("ask", d))) for d in demands]
    assert whole.throughput("users") == pytest.approx([m.throughput("users") for m in each])


@pytest.mark.parametrize(
    ("system", "why"),
    [
        (pool(1, Processor(), Step("ask", 0.1, 0.5)), "not exponential with one mean"),
        (pool(1, Processor(), Step("ask", 0.1, think_time=0.1)), "not exponential with one mean"),
        (pool(1, Processor(), Loop(Step("ask", 0.1), 2.0)), "not exponential with one mean"),
        (pool(1, Processor(), Step("ask")), "not exponential with one mean"),
        (
            pool(1, Processor(), Step("ask", 0.1), Discipline("priority")),
            "in an order without a product form, priority",
        ),
        (pool(9, Processor(1, Discipline("priority")), Step("ask", 0.1)), "no product form"),
        (pool(9, Processor(1, Discipline("fcfs")), Step("ask", 0.1, 0.5)), "slices of different"),
        (pool(9, Processor(), Together((Step("a", 1.0), Step("b", 1.0)), 2)), "branches at once"),
        (
            pool(9, Processor(), Series((Step("a", 1.0), Reply(), Step("b", 1.0)))),
            "works on after its reply",
        ),
    ],
)
def test_what_has_no_product_form_says_why(system: LayeredSystem, why: str) -> None:
    """In one line, and another method is taken."""
    assert why in no_product_form(system)
    assert solve_layers(system)[1] != "product form"


def test_the_table_takes_the_product_form_first_then_the_chain() -> None:
    """Then the layers, and no simulation unasked."""
    assert solve_layers(pool(9, Processor(), Step("ask", 0.1)))[1] == "product form"
    assert solve_layers(pool(1, Processor(), Step("ask", 0.1)))[1] == "product form"
    assert solve_layers(pool(1, Processor(), Loop(Step("ask", 0.1), 2.0)))[1] == "chain"
    assert solve_layers(pool(1, Processor(), Step("ask", 0.1, 0.5)))[1] == "layers"


def above_pools(system: LayeredSystem) -> LayeredSystem:
    """The same where tasks that call nobody have a processor each, and enough servers there."""
    shared = sharing(system)
    processors, tasks, entries = dict(shared.processors), dict(shared.tasks), dict(shared.entries)
    for name, task in system.tasks.items():
        names = system.entries_of[name]
        if task.clients or any(system.entries[entry].uses for entry in names):
            continue
        processors[f"of {name}"] = Processor(3, Discipline("fcfs"))
        tasks[name] = replace(task, processor=f"of {name}", threads=min(float(task.threads), 3.0))
        for entry in names:
            entries[entry] = replace(entries[entry], flow=Step(entry, 0.2))
    return LayeredSystem(system.name, processors, tasks, entries)


@pytest.mark.parametrize("seed", range(40))
def test_pools_at_the_bottom_say_what_the_whole_chain_says(seed: int) -> None:
    """How long requests wait for a thread too, with several kinds of clients and entries."""
    says_what_the_whole_chain_says(above_pools(random_system(seed)))


def asked(rate: Amount, threads: float, processor: Processor) -> LayeredSystem:
    """A service that calls nobody, asked from outside."""
    return LayeredSystem(
        "asked",
        {"cpu": processor},
        {"web": Task("cpu", threads)},
        {"page": Entry("web", Step("page", 0.1), arrival_rate=rate)},
    )


@pytest.mark.parametrize("threads", [1.0, 2.0, 3.0, 8.0, math.inf])
@pytest.mark.parametrize("discipline", ["fcfs", "ps", "siro"])
def test_requests_from_outside_wait_for_threads_and_servers(
    threads: float, discipline: str
) -> None:
    """Of M/M/2 state by state, n at the queue: max(n - T, 0) wait for a thread of T."""
    most = min(threads, 2.0)
    rate = 7.0 * most
    page = by_product_form(asked(rate, threads, Processor(2, Discipline(discipline)))).entries[
        "page"
    ]
    shares = [1.0]
    for n in range(1, 400):
        shares.append(shares[-1] * rate / (10.0 * min(n, most)))
    total = math.fsum(shares)
    waiting = math.fsum(p * max(n - threads, 0) for n, p in enumerate(shares)) / total
    inside = math.fsum(p * min(n, threads) for n, p in enumerate(shares)) / total
    assert page.waiting_time == pytest.approx(waiting / rate, rel=SUMS, abs=1e-12)
    assert page.first_phase == pytest.approx(inside / rate, rel=SUMS)
    assert page.throughput == rate


def test_where_more_arrive_than_can_be_served_waiting_has_no_end() -> None:
    """At those operating points alone."""
    means, method = solve_layers(asked(np.array([5.0, 20.0]), 1, Processor()))
    assert method == "product form"
    assert means.entries["page"].response_time == pytest.approx([0.2, math.inf])
    assert means.throughput("web") == pytest.approx([5.0, 20.0])


def test_clients_beside_requests_from_outside_are_a_mixed_network() -> None:
    """The event loop agrees, in order of arrival: 9 means within their 99.99% intervals."""
    system = LayeredSystem(
        "mixed",
        {"users": Processor(math.inf), "cpu": Processor(), "disk": Processor(2)},
        {
            "users": Task("users", 3, 0.5, clients=True),
            "web": Task("cpu", math.inf),
            "store": Task("disk", 2),
        },
        {
            "use": Entry("users", Step("use", calls={"page": 1.0}, fixed=True)),
            "page": Entry("web", Step("page", 0.1, calls={"read": 2.0}), arrival_rate=3.0),
            "read": Entry("store", Step("read", 0.08), arrival_rate=4.0),
        },
    )
    means, method = solve_layers(system)
    assert (method, means.approximation) == ("product form", "")
    played = play_layers(system, 1_000_000, seed=3)
    for name, entry in played.entries.items():
        for part in ("throughput", "waiting_time", "first_phase"):
            found = getattr(entry, part)
            assert abs(getattr(means.entries[name], part) - found.mean) <= found.half_width(0.9999)


def test_networks_too_large_for_an_exact_method_say_so() -> None:
    """With six kinds of clients over six processors the closed network is approximated."""
    kinds, processors = range(6), range(6)
    demands = np.random.default_rng(1).uniform(0.001, 0.1, (6, 6))
    system = LayeredSystem(
        "large",
        {"users": Processor(math.inf)} | {f"p{k}": Processor() for k in processors},
        {f"u{c}": Task("users", 40, 1.0, clients=True) for c in kinds}
        | {f"t{k}": Task(f"p{k}", math.inf) for k in processors},
        {
            f"use{c}": Entry(f"u{c}", Step(f"use{c}", calls={f"e{c}{k}": 1.0 for k in processors}))
            for c in kinds
        }
        | {
            f"e{c}{k}": Entry(f"t{k}", Step(f"e{c}{k}", demands[c, k]))
            for c in kinds
            for k in processors
        },
    )
    assert "measured" in by_product_form(system).approximation
