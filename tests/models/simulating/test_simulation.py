"""Solutions against a discrete-event simulation of the same graphs, which knows no formulas.

Each graph's numbers are drawn from a fixed seed. All answers of a graph must lie together in
their 99% confidence intervals (Bonferroni over the answers, batch means), and the intervals
must be narrow enough to mean something.

With another seed or length of run, one graph in a hundred misses by chance.
Before suspecting a law, see whether runs with ten other seeds err on the same side.
"""

import math

import numpy as np
import pytest

from headway.models import ModelGraph
from headway.models.simulating.jobs import blueprint
from headway.models.simulating.playing.loop import play
from headway.models.simulating.playing.run import arguments
from headway.models.simulating.playing.state import opening
from headway.models.simulating.scoring import score_of
from headway.queueing import MD1, MG1, MM1, MM1K, Delay, MMm, Parallel
from tests.oracles.simulation import intervals, simulate

CONFIDENCE = 0.99
STAYS = 100_000
"""Stays at queues in a run: a second, and intervals of a few per cent."""

LONGER = {
    "two_open_classes": 4,
    "an_open_and_a_closed_class": 4,
    "open_pools_fed_at_two_places": 2,
    "closed_with_every_kind": 2,
}
"""Graphs that take some times as many stays for intervals as narrow."""

NARROW = {
    "throughput": 0.05,
    "utilisation": 0.1,
    "loss_probability": 0.1,
    "response_time": 0.15,
    "queue_length": 0.2,
}
"""Widest half width of an interval, relative; they are wide where a queue is long."""


def random_routes(graph, random, stay):
    """Routes from every station to every other; a share `stay` of jobs is routed on."""
    for source in graph.stations:
        shares = random.dirichlet(np.ones(len(graph.stations))) * stay
        for target, share in zip(graph.stations, shares, strict=True):
            graph = graph.route(source, target, share)
    return graph


def loaded(graph, random):
    """Open, at 60 to 75% of what its bottleneck carries."""
    most = graph.at().solve(arrival_rate=1e-9).saturation_throughput
    return graph.at(arrival_rate=most * random.uniform(0.6, 0.75))


def open_tandem_with_feedback(random):
    first, second, third = random.uniform(0.5, 1.5, 3)
    graph = (
        ModelGraph("tandem")
        .station("a", MM1(first))
        .station("b", MM1(second))
        .station("c", MM1(third))
        .route("a", "b")
        .route("b", "c")
        .route("c", "a", random.uniform(0.2, 0.5))
    )
    return loaded(graph, random)


def open_pools_fed_at_two_places(random):
    graph = (
        ModelGraph("pools")
        .station("wire", Delay(random.uniform(1, 5)))
        .station("cpus", MMm(random.uniform(0.5, 1.5), int(random.integers(2, 6))))
        .station("disks", MMm(random.uniform(2, 6), int(random.integers(4, 12))))
        .station("log", MM1(random.uniform(0.2, 0.6)))
    )
    share = random.uniform(0.2, 0.8)
    graph = random_routes(graph, random, stay=0.6)
    graph = graph.arrive("cpus", f"{share} * arrival_rate")
    return loaded(graph.arrive("disks", f"(1 - {share}) * arrival_rate"), random)


def open_parallel_queues(random):
    graph = (
        ModelGraph("striped")
        .station("cpu", MM1(random.uniform(0.2, 0.5)))
        .station("disks", Parallel(random.uniform(1, 2), int(random.integers(3, 6))))
        .route("cpu", "disks")
        .route("disks", "cpu", random.uniform(0.1, 0.4))
    )
    return loaded(graph, random)


def closed_with_a_pool(random):
    graph = (
        ModelGraph("interactive")
        .station("wire", Delay(random.uniform(1, 3)))
        .station("cpu", MM1(random.uniform(0.4, 0.8)))
        .station("disks", MMm(random.uniform(1, 3), int(random.integers(2, 5))))
        .route("wire", "cpu")
        .route("cpu", "disks")
    )
    return graph.at().closed(int(random.integers(6, 16)), random.uniform(1, 4))


def closed_with_feedback(random):
    graph = ModelGraph("circle")
    for name in "abcd":
        graph = graph.station(name, MM1(random.uniform(0.5, 1.5)))
    return random_routes(graph, random, stay=0.8).at().closed(int(random.integers(4, 9)))


def closed_with_every_kind(random):
    graph = (
        ModelGraph("every")
        .station("striped", Parallel(random.uniform(1, 2), int(random.integers(2, 4))))
        .station("pool", MMm(random.uniform(1, 2), int(random.integers(2, 4))))
        .station("cpu", MM1(random.uniform(0.3, 0.6)))
        .station("wire", Delay(random.uniform(0.5, 1)))
    )
    graph = random_routes(graph, random, stay=0.7)
    return graph.at().closed(int(random.integers(8, 15)), random.uniform(0, 2))


def two_classes(random, numbers):
    """A processor shared by unlike jobs, disks served in order, a wire; visits by class."""
    graph = (
        ModelGraph("classes")
        .job_class("web", **numbers["web"])
        .job_class("batch", **numbers["batch"])
    )
    once, often = random.uniform(1, 2, 2), random.uniform(2, 5, 2)
    times = {"web": random.uniform(0.2, 0.4), "batch": random.uniform(0.4, 0.8)}
    return (
        graph.station(
            "cpu",
            MM1(1.0),
            visits=dict(zip(times, often, strict=True)),
            service_times=times,
            discipline="ps",
        )
        .station("disk", MM1(random.uniform(0.3, 0.6)), visits=dict(zip(times, once, strict=True)))
        .station("wire", Delay(random.uniform(0.5, 1)), visits=1.0)
        .at()
    )


def two_open_classes(random):
    web, batch = random.uniform(0.1, 0.25, 2)
    return two_classes(random, {"web": {"arrival_rate": web}, "batch": {"arrival_rate": batch}})


def two_closed_classes(random):
    web = {"population": int(random.integers(3, 8)), "think_time": random.uniform(3, 9)}
    return two_classes(random, {"web": web, "batch": {"population": int(random.integers(1, 4))}})


def an_open_and_a_closed_class(random):
    web = {"arrival_rate": random.uniform(0.1, 0.3)}
    batch = {"population": int(random.integers(2, 6)), "think_time": random.uniform(0, 5)}
    return two_classes(random, {"web": web, "batch": batch})


def loss_station(random):
    places = int(random.integers(3, 8))
    graph = ModelGraph("loss").station("door", MM1K(random.uniform(0.5, 1.5), places))
    return graph.at(arrival_rate=random.uniform(0.6, 1.6))


def constant_service(random):
    return loaded(ModelGraph("constant").station("cpu", MD1(random.uniform(0.5, 1.5))), random)


def general_service(random):
    station = MG1(random.uniform(0.5, 1.5), random.uniform(0.3, 3))
    return loaded(ModelGraph("general").station("cpu", station), random)


GRAPHS = (
    open_tandem_with_feedback,
    open_pools_fed_at_two_places,
    open_parallel_queues,
    closed_with_a_pool,
    closed_with_feedback,
    closed_with_every_kind,
    two_open_classes,
    two_closed_classes,
    an_open_and_a_closed_class,
    loss_station,
    constant_service,
    general_service,
)


def run(model, stays, seed):
    """Simulate until about so many stays; the solution only says how long that takes."""
    solution = model.solve()
    rate = sum(solution[f"{name}.throughput"] for name in solution.stations)
    return solution, simulate(model, stays / rate, seed)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(GRAPHS)), ids=[g.__name__ for g in GRAPHS])
def test_every_answer_is_in_the_interval_of_the_simulation(number):
    graph = GRAPHS[number]
    model = graph(np.random.default_rng([3, number]))

    solution, batches = run(model, STAYS * LONGER.get(graph.__name__, 1), seed=number + 1)

    estimates = intervals(batches, CONFIDENCE)
    outside = {n: (solution[n], i) for n, i in estimates.items() if not i.holds(solution[n])}
    assert outside == {}
    for name, interval in estimates.items():
        assert interval.half_width <= NARROW[name.rsplit(".")[-1]] * interval.mean, name
    assert solution.approximation == ""


@pytest.mark.slow
def test_the_simulation_can_tell_a_wrong_model():
    """A station that is 5% slower than the one simulated is found out."""
    slow = ModelGraph("a").declare("s").station("cpu", MM1("s")).at(arrival_rate=0.5)

    _, batches = run(slow.at(s=1.0), 2 * STAYS, seed=1)

    wrong = slow.at(s=1.05).solve()
    estimates = intervals(batches, CONFIDENCE)
    assert not estimates["cpu.response_time"].holds(wrong["cpu.response_time"])
    assert not estimates["cpu.queue_length"].holds(wrong["cpu.queue_length"])


def test_rounds_make_the_visits_that_are_given():
    """Of 2.4 visits two are sure; of the third 10,000 jobs make 4000 +- 4.9 x 49."""
    graph = ModelGraph("rounds").station("a", Delay(1.0), 2.4).station("b", Delay(1.0), 0.5)

    paths = list(paths_of(score_of(blueprint(graph.at().closed(1, 1.0))), 10_000))

    assert set(paths) == {(0, 0), (0, 1, 0), (0, 0, 0), (0, 1, 0, 0)}
    assert abs(sum(p.count(0) for p in paths) - 24_000) < 240
    assert abs(sum(p.count(1) for p in paths) - 5000) < 250


def paths_of(score, count):
    """The stations to which the only job goes, journey by journey: an event at a time."""
    state, path = opening(score, 1, 0, kept=False), []
    while count:
        play(*arguments(score, state), math.inf, 1)
        queue = int(state.jobs["queue"][0])
        if queue >= 0:
            path.append(queue)
        elif path:
            yield tuple(path)
            count, path = count - 1, []


def test_intervals_hold_together():
    """Of 500 sets of five means about 5 miss one; 14 or more would be four deviations off."""
    random = np.random.default_rng(4)
    missed = 0
    for _ in range(500):
        sample = {str(name): random.normal(5.0, 1.0, 30) for name in range(5)}
        missed += not all(i.holds(5.0) for i in intervals(sample, 0.99).values())

    assert 0 < missed < 14
