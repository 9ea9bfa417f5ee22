"""Layers in which nobody waits for a thread, against the whole chain and against the refusals."""

import math
from dataclasses import replace

import numpy as np
import pytest

from headway.queueing.disciplines.discipline import Discipline
from headway.queueing.layers.chain import by_chain
from headway.queueing.layers.flow import Reply, Series, Step, Together
from headway.queueing.layers.methods.solve import solve_layers
from headway.queueing.layers.parts import Entry, Processor, Task
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
        exact = None if no_product_form(one) else by_chain(one, 3_000)
        if exact is None:
            continue
        near = by_product_form(one)
        for name, entry in exact.entries.items():
            other = near.entries[name]
            assert other.throughput == pytest.approx(entry.throughput, rel=SUMS)
            assert other.first_phase == pytest.approx(entry.first_phase, rel=SUMS, abs=1e-12)
            assert entry.waiting_time == pytest.approx(0.0, abs=1e-12)


def pool(threads: float, processor: Processor, flow: Series | Step | Together) -> LayeredSystem:
    """Two clients above a pool."""
    return LayeredSystem(
        "pool",
        {"users": Processor(math.inf), "cpu": processor},
        {"users": Task("users", 2, 1.0, clients=True), "pool": Task("cpu", threads)},
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
        (pool(1, Processor(), Step("ask", 0.1)), "fewer threads than there are clients"),
        (pool(9, Processor(1, Discipline("priority")), Step("ask", 0.1)), "no product form"),
        (pool(9, Processor(1, Discipline("fcfs")), Step("ask", 0.1, 0.5)), "slices of different"),
        (pool(9, Processor(), Together((Step("a", 1.0), Step("b", 1.0)), 2)), "branches at once"),
        (
            pool(9, Processor(), Series((Step("a", 1.0), Reply(), Step("b", 1.0)))),
            "works on behind its reply",
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
    assert solve_layers(pool(1, Processor(), Step("ask", 0.1)))[1] == "chain"
    assert solve_layers(pool(1, Processor(), Step("ask", 0.1, 0.5)))[1] == "layers"
