"""Fixed points of several numbers at several points at once, and the smallest cuts."""

import random
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

from headway.queueing.layers.chain import by_chain, fewest_states, states_of
from headway.queueing.layers.decomposed import decomposition
from headway.queueing.layers.decomposed.decomposition import by_layers
from headway.queueing.layers.flow import Step
from headway.queueing.layers.numerics import settling
from headway.queueing.layers.numerics.cuts import smallest_cut
from headway.queueing.layers.numerics.newton import by_newton
from headway.queueing.layers.numerics.settling import Settling
from headway.queueing.layers.parts import Entry, Processor, Task
from headway.queueing.layers.program import program_of
from headway.queueing.layers.system import LayeredSystem
from tests.support.layered_systems import random_system


def test_maps_that_swing_settle():
    """x = 12 / (1 + x)^4 - where plain steps swing ever wider - and a slow map, side by side."""

    def g(x):
        return np.stack([12 / (1 + x[1]) ** 4, 0.98 * x[0] + 0.3])

    x, steps = np.array([[1.0, 5.0, 0.1], [1.0, 5.0, 20.0]]), Settling(1e-9)
    for _ in range(60):
        x = steps.step(x, g(x))
    assert np.allclose(x, g(x), rtol=1e-9)
    assert np.allclose(x, x[:, :1], rtol=1e-8)  # wherever a point began


def test_points_settle_by_themselves():
    """A point that is at rest stays there while others go on."""
    x, steps = np.array([[2.0, 9.0]]), Settling(1e-9)
    for _ in range(30):
        x = steps.step(x, np.sqrt(2 * x))
    assert np.allclose(x, 2.0, rtol=1e-9)
    assert x[0, 0] == 2.0


def test_steps_to_the_side_arrive(monkeypatch):
    """Where g is that of a crowd of 10^4 or none, and the least that makes one the other is 1%."""
    monkeypatch.setattr(settling, "PATIENCE", 0)
    weights = np.array([[1.0], [0.2], [1e-3]])

    def g(x):
        return weights * 1e4 * np.exp(-300 * np.log1p(x.sum(axis=0) / 1000))

    x, steps = np.array([[0.0, 1e4, 3.0], [5.0, 0.0, 1e-6], [0.0, 1e4, 80.0]]), Settling(1e-9)
    for _ in range(200):
        x = steps.step(x, g(x))
    assert np.allclose(x, g(x), rtol=1e-7)
    assert np.allclose(x / x[0], weights, rtol=1e-7)


def test_newton_arrives_from_near():
    """The same crowd, from 30% off."""
    weights = np.array([[1.0], [0.2], [1e-3]])

    def g(x):
        return weights * 1e4 * np.exp(-300 * np.log1p(x.sum(axis=0) / 1000))

    root = by_newton(g, np.array([5.0, 1.0, 5e-3]), 1e-9, 1e-12)
    assert np.allclose(root[:, np.newaxis], g(root[:, np.newaxis]), rtol=1e-9)
    for off in (0.7, 1.3):
        assert np.allclose(by_newton(g, off * root, 1e-9, 1e-12), root, rtol=1e-9)
    assert by_newton(lambda x: x + 1, np.array([1.0]), 1e-9, 1e-12) is None  # there is none


@pytest.mark.parametrize("seed", [3, 8, 11])
def test_layers_settle_in_the_same_place_by_newton(monkeypatch, seed):
    """Points by themselves, each as soon as it is within 30%."""
    system = random_system(seed, clients=30)
    clients = next(name for name, task in system.tasks.items() if task.clients)
    think = replace(system.tasks[clients], think_time=np.array([0.2, 1.0, 5.0]))
    system = replace(system, tasks=dict(system.tasks) | {clients: think})
    usual, calls = by_layers(system), []

    def counted(*given):
        calls.append(by_newton(*given))
        return calls[-1]

    monkeypatch.setattr(decomposition, "PATIENCE", 1)
    monkeypatch.setattr(decomposition, "by_newton", counted)
    found = by_layers(system)
    assert any(each is not None for each in calls)
    for name, entry in usual.entries.items():
        assert np.allclose(found.entries[name].throughput, entry.throughput, rtol=1e-7)
        assert np.allclose(found.entries[name].waiting_time, entry.waiting_time, rtol=1e-6)


def test_cuts_are_those_of_another_program():
    """Random layers of pools against networkx, which takes the cut nearest to the end as well."""
    draw = random.Random(4)
    for _ in range(60):
        network = {"from": {("s", k): draw.randint(0, 4) for k in range(3)}}
        for k in range(3):
            network["s", k] = {("in", draw.randrange(3)): np.inf for _ in range(2)}
        for k in range(6):
            network["in", k] = {("out", k): draw.randint(0, 3)}
            onward = [("in", draw.randrange(3, 6)) if k < 3 else "to" for _ in range(2)]
            network["out", k] = dict.fromkeys(onward, np.inf)
        graph = nx.DiGraph()
        for a, onward in network.items():
            for b, most in onward.items():
                graph.add_edge(a, b, **({} if np.isinf(most) else {"capacity": most}))
        size, (near, far) = nx.minimum_cut(graph, "from", "to")
        wanted = {(a, b) for a in near for b in graph[a] if b in far}
        found = smallest_cut(network, "from", "to")
        assert found == wanted
        assert sum(network[a][b] for a, b in found) == size


def flat(tasks, clients):
    """Clients that call each of many tasks once."""
    names = [f"t{k}" for k in range(tasks)]
    return LayeredSystem(
        "flat",
        {"desk": Processor(np.inf)} | {name: Processor() for name in names},
        {"users": Task("desk", clients, 1.0, clients=True)} | {n: Task(n) for n in names},
        {"use": Entry("users", Step("use", calls=dict.fromkeys(names, 1.0)))}
        | {name: Entry(name, Step(name, 0.01 + 0.001 * k)) for k, name in enumerate(names)},
    )


def test_a_chain_of_few_states_and_many_moves_is_left():
    """Two clients at 80 tasks are in some 3,000 states, with 80 ways out of most."""
    assert by_chain(flat(80, 2), moves=100_000) is None
    assert by_chain(flat(6, 2), moves=100_000) is not None


def test_no_chain_has_fewer_states_than_places():
    """Random systems; and two tasks, where these are all, also where clients wait for a thread."""
    for seed in range(40):
        system = random_system(seed, clients=20 if seed % 2 else 3)
        states = states_of(system, program_of(system), 5000)
        assert states is None or 1 <= fewest_states(system) <= states.count
    free = replace_threads(flat(2, 7), np.inf)
    assert fewest_states(free) == states_of(free, program_of(free), 5000).count == 36
    one = flat(2, 7)  # of one thread each
    assert fewest_states(one) == states_of(one, program_of(one), 5000).count == 36


def replace_threads(system, threads):
    """The same with so many threads in each pool."""
    tasks = {
        name: task if task.clients else replace(task, threads=threads)
        for name, task in system.tasks.items()
    }
    return replace(system, tasks=tasks)


def test_layers_settle_where_a_pool_is_full():
    """600 clients for one thread: the pool gives all it can, and Little's law holds."""
    system = flat(3, 600)
    means = by_layers(system)
    use, rate = means.entries["use"], float(means.throughput("users"))
    assert np.isclose(rate, 1 / 0.012, rtol=1e-3)
    assert np.isclose(rate * (1.0 + float(use.first_phase)), 600, rtol=1e-6)


@pytest.mark.slow
def test_layers_settle_by_newton_from_far():
    """Pools of 5 to 200 threads in four layers, whose waits swing between none and a crowd."""
    draw = random.Random(16)
    system = random_system(16, clients=2000, layers=4, tasks=30)
    tasks = {
        name: task if task.clients else replace(task, threads=float(draw.randint(5, 200)))
        for name, task in system.tasks.items()
    }
    means = by_layers(replace(system, tasks=tasks))
    for name, task in tasks.items():
        if task.clients:
            cycle = task.think_time + float(means.entries[name].first_phase)
            assert np.isclose(float(means.throughput(name)) * cycle, task.threads, rtol=1e-6)


@pytest.mark.slow
def test_layers_that_swing_settle_by_half_steps():
    """Steps that are mixed had become tiny here, and moved by less than was missed."""
    system = random_system(200_094, clients=50, layers=4, tasks=10)
    means = by_layers(system)
    held = means.entries
    for name, task in system.tasks.items():
        if not task.clients:
            offered = [n for n, entry in system.entries.items() if entry.task == name]
            busy = sum(
                held[n].throughput * (held[n].first_phase + held[n].second_phase) for n in offered
            )
            assert busy <= task.threads * (1 + 1e-6)
