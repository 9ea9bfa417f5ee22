"""Points of one array with other numbers of threads and clients: as if each were solved alone."""

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from headway.errors import GraphError
from headway.kinds import Amount
from headway.queueing.layers.decomposed.decomposition import by_layers
from headway.queueing.layers.decomposed.structures import structures
from headway.queueing.layers.flow import Choice, Loop, Reply, Series, Step
from headway.queueing.layers.means import EntryMeans, LayeredMeans
from headway.queueing.layers.methods.solve import solve_layers
from headway.queueing.layers.parts import Entry, Processor, Task
from headway.queueing.layers.points import points_of
from headway.queueing.layers.system import LayeredSystem
from tests.support.layered_systems import forked_system, phased_system, random_system


def _spread(system: LayeredSystem, seed: int, points: int) -> LayeredSystem:
    """Other numbers of threads, servers and clients at each point, and at times other times."""
    draw = np.random.default_rng(seed)

    def each(count: Amount, most: int) -> Amount:
        if np.isinf(count) or draw.random() < 0.3:
            return count
        return draw.integers(draw.integers(1, 3), most, points).astype(float)

    processors = {
        name: replace(one, servers=each(one.servers, 5)) for name, one in system.processors.items()
    }
    tasks = {}
    for name, task in system.tasks.items():
        most = int(draw.choice([14, 160])) if task.clients else 9
        thinks = task.think_time * draw.uniform(0.5, 2, points)
        tasks[name] = replace(task, threads=each(task.threads, most), think_time=thinks)
    entries = dict(system.entries)
    for name, entry in system.entries.items():
        if not system.tasks[entry.task].clients and draw.random() < 0.2:
            rates = draw.uniform(0, 0.01, points) * draw.integers(0, 2, points)
            entries[name] = replace(entry, arrival_rate=rates)
    return LayeredSystem(system.name, processors, tasks, entries)


def _numbers(means: LayeredMeans, points: int) -> np.ndarray:
    """All means of entries, shape (means, points)."""
    each = (getattr(one, f.name) for one in means.entries.values() for f in fields(EntryMeans))
    return np.stack([np.broadcast_to(np.ravel(one), points) for one in each])


@pytest.mark.parametrize(
    "drawn",
    [
        random_system,
        pytest.param(phased_system, marks=pytest.mark.slow),
        pytest.param(forked_system, marks=pytest.mark.slow),
    ],
)
@settings(max_examples=4, derandomize=True, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_points_do_not_depend_on_those_beside_them(drawn, seed):
    system = _spread(drawn(seed), seed, 3)
    try:
        together = _numbers(by_layers(system), 3)
        alone = [_numbers(by_layers(point), 1) for point in points_of(system)]
    except GraphError:
        assume(False)
    assert together == pytest.approx(np.concatenate(alone, axis=1), rel=1e-7, abs=1e-9)


def _shop(users: Amount, threads: Amount) -> LayeredSystem:
    return LayeredSystem(
        "shop",
        {"users": Processor(np.inf), "cpu": Processor(2), "disk": Processor()},
        {
            "users": Task("users", users, 1.0, clients=True),
            "web": Task("cpu", 4),
            "database": Task("disk", threads),
        },
        {
            "use": Entry("users", Step("use", calls={"page": 1.0})),
            "page": Entry("web", Step("page", 0.01, 2.0, calls={"read": 2.0})),
            "read": Entry("database", Step("read", 0.005, think_time=0.02)),
        },
    )


def test_numbers_of_users_and_threads_are_points_of_one_structure():
    """Where they are above those of the pools that call, and more than one."""
    users, threads = np.meshgrid(np.arange(20.0, 60.0), [2.0, 3.0])
    found = list(structures(_shop(users.ravel(), threads.ravel())))
    assert [points.size for points, *_ in found] == [80]


def test_single_threads_and_few_users_are_structures_of_their_own():
    found = structures(_shop(np.array([3.0, 30.0, 40.0, 30.0]), np.array([2.0, 1.0, 2.0, 2.0])))
    assert sorted(points.tolist() for points, *_ in found) == [[0], [1], [2, 3]]


def test_equal_points_have_equal_answers():
    """Also where all numbers that differ at other points are the same at theirs."""
    means = by_layers(_shop(np.array([9.0, 9.0, 30.0, 9.0]), 2.0))
    found = np.ravel(means.throughput("users"))
    alone = float(by_layers(_shop(9.0, 2.0)).throughput("users"))
    assert found[[0, 1, 3]] == pytest.approx(alone, rel=1e-9)


def test_exact_points_stay_exact_among_others():
    """One client alone is a product form; with more, layers, all in one go."""
    means, method = solve_layers(_shop(np.array([[1.0, 40.0], [50.0, 1.0]]), 2.0))
    assert method == "layers"
    assert means.approximation.startswith("exact at 2 of 4 points; elsewhere")
    alone, exact = solve_layers(_shop(1.0, 2.0))
    assert exact == "product form"
    found = np.asarray(means.throughput("users"))
    assert found.shape == (2, 2)
    assert found[[0, 1], [0, 1]] == pytest.approx(float(alone.throughput("users")), rel=1e-12)


def _chosen(users: Amount, share: Amount, again: Amount) -> LayeredSystem:
    """Clients who write or read, and look several times for a second phase of a lower service."""
    writes, reads = Step("writes", calls={"write": 1.0}), Step("reads", calls={"read": 1.0})
    looks = Loop(Step("look", 0.004, calls={"read": 1.0}), again)
    later = Choice(((share, Step("log", 0.01)), (1 - share, Step("skip"))))
    return LayeredSystem(
        "chosen",
        {"users": Processor(np.inf), "cpu": Processor(2), "disk": Processor()},
        {
            "users": Task("users", users, 0.5, clients=True),
            "web": Task("cpu", 4),
            "database": Task("disk", 2),
        },
        {
            "use": Entry("users", Choice(((share, writes), (1 - share, reads)))),
            "write": Entry("web", Series((Step("page", 0.02), looks, Reply(), later))),
            "read": Entry("database", Step("get", 0.005)),
        },
    )


def test_shares_of_choices_and_rounds_of_loops_are_points() -> None:
    """Each as if it were solved alone, also for members of pools with fewer others."""
    users, share = np.array([5.0, 30.0, 60.0]), np.array([0.0, 0.25, 0.9])
    again = np.array([1.0, 0.0, 2.5])
    together = _numbers(by_layers(_chosen(users, share, again)), 3)
    each = zip(users.tolist(), share.tolist(), again.tolist(), strict=True)
    alone = [_numbers(by_layers(_chosen(*point)), 1) for point in each]
    assert together == pytest.approx(np.concatenate(alone, axis=1), rel=1e-7, abs=1e-9)
    # of two dimensions, and with all else equal
    block = by_layers(_chosen(30.0, np.array([[0.1, 0.25], [0.5, 0.9]]), 0.0))
    assert np.asarray(block.throughput("users")).shape == (2, 2)
    assert np.asarray(block.throughput("users"))[0, 1] == pytest.approx(
        float(by_layers(_chosen(30.0, 0.25, 0.0)).throughput("users")), rel=1e-7
    )


def _either(share: Amount) -> LayeredSystem:
    """Clients who ask one thread for a page or a form."""
    one = Step("one", calls={"page": 1.0}, fixed=True)
    other = Step("other", calls={"form": 1.0}, fixed=True)
    return LayeredSystem(
        "either",
        {"users": Processor(np.inf), "cpu": Processor()},
        {"users": Task("users", 7.0, 0.1, clients=True), "web": Task("cpu")},
        {
            "use": Entry("users", Choice(((1 - share, one), (share, other)))),
            "page": Entry("web", Step("page", 0.02)),
            "form": Entry("web", Step("form", 0.04)),
        },
    )


def test_points_that_differ_only_in_shares_are_searched_one_by_one() -> None:
    """Where a pool of one thread is all but full, a point is solved by itself on the way."""
    shares = np.array([0.0, 0.3, 0.5, 1.0])
    alone = [float(by_layers(_either(share)).throughput("users")) for share in shares.tolist()]
    found = by_layers(_either(shares)).throughput("users")
    assert np.ravel(found).tolist() == pytest.approx(alone, rel=1e-7)
