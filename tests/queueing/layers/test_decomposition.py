"""Layered systems by decomposition: exact where a product form is, elsewhere near their chain."""

import math

import mpmath
import numpy as np
import pytest
from scipy.stats import binom

from headway.errors import GraphError
from headway.queueing.disciplines.discipline import Discipline
from headway.queueing.layers.chain import by_chain
from headway.queueing.layers.decomposed.decomposition import by_layers
from headway.queueing.layers.flow import Choice, Loop, Reply, Series, Step, Together
from headway.queueing.layers.numerics.finite import ROWS, finite_stations, waits_of_one
from headway.queueing.layers.numerics.moments import Moments, k_th
from headway.queueing.layers.numerics.stations import Stations
from headway.queueing.layers.parts import Entry, Processor, Task
from headway.queueing.layers.system import LayeredSystem
from tests.support.layered_systems import random_system

SUMS = 1e-7  # relative: the fixed point settles to 1e-9 by steps of a half


def over(
    page: Entry, clients: int = 3, threads: float = math.inf, think: object = 1.0
) -> LayeredSystem:
    """Clients on a delay, and one task on a shared processor."""
    return LayeredSystem(
        "over",
        {"users": Processor(math.inf), "cpu": Processor()},
        {"users": Task("users", clients, think, clients=True), "web": Task("cpu", threads)},
        {"use": Entry("users", Step("use", 0.2, calls={"page": 2.0})), "page": page},
    )


@pytest.mark.parametrize("clients", [1, 3, 40])
def test_one_processor_without_limits_is_a_closed_network(clients: int) -> None:
    """Mean value analysis by hand."""
    queue = rate = 0.0
    for n in range(1, clients + 1):
        stay = 0.6 * (1 + queue)
        rate = n / (1.2 + stay)
        queue = rate * stay
    means = by_layers(over(Entry("web", Step("page", 0.3)), clients))
    assert float(means.throughput("users")) == pytest.approx(rate, rel=SUMS)


def test_what_is_done_alone_takes_its_mean() -> None:
    """One client waits for nobody: choices, loops, forwarding and branches at once."""
    flow = Series(
        (
            Choice(((0.3, Step("a", 0.2)), (0.7, Step("b", 0.4)))),
            Loop(Step("c", 0.1), 2.0),
        )
    )
    means = by_layers(over(Entry("web", flow), 1))
    assert float(means.entries["page"].first_phase) == pytest.approx(0.34 + 0.2, rel=SUMS)
    exact = by_chain(over(Entry("web", flow), 1))
    assert exact is not None
    assert float(means.throughput("users")) == pytest.approx(exact.throughput("users"), rel=SUMS)


def test_operating_points_are_solved_together() -> None:
    """An array of think times gives what each gives alone."""
    page = Entry("web", Series((Step("page", 0.3), Reply(), Step("note", 0.1))))
    times = np.array([0.1, 1.0, 10.0])
    together = by_layers(over(page, 4, 2.0, times)).throughput("users")
    alone = [float(by_layers(over(page, 4, 2.0, time)).throughput("users")) for time in times]
    assert together.tolist() == pytest.approx(alone, rel=1e-6)


def test_tasks_below_a_single_thread_do_not_wait_for_each_other() -> None:
    """Interlock: only one is active below a pool of one, whoever shares the processor."""
    system = LayeredSystem(
        "interlock",
        {"users": Processor(math.inf), "cpu": Processor()},
        {"users": Task("users", 6, 1.0, clients=True), "top": Task("cpu"), "low": Task("cpu", 4)},
        {
            "use": Entry("users", Step("use", 0.5, calls={"a": 1.0}, fixed=True)),
            "a": Entry("top", Step("a", 0.4, calls={"b": 2.0})),
            "b": Entry("low", Step("b", 0.3)),
        },
    )
    means = by_layers(system)
    assert float(means.entries["b"].first_phase) == pytest.approx(0.3, rel=SUMS)
    assert float(means.entries["b"].waiting_time) == pytest.approx(0.0, abs=1e-12)
    assert float(means.busy("top")) <= 1.0 + 1e-6


def test_an_entry_called_through_two_pools_counts_once() -> None:
    """The threads of either pool bring their own part of its load; a double load misses 20%."""
    system = LayeredSystem(
        "parted",
        {"users": Processor(math.inf), "cpu": Processor(math.inf), "disk": Processor()},
        {
            "users": Task("users", 6, 1.0, clients=True),
            "left": Task("cpu"),
            "right": Task("cpu"),
            "store": Task("disk", 4),
        },
        {
            "use": Entry("users", Step("use", 0.1, calls={"a": 1.0, "b": 1.0})),
            "a": Entry("left", Step("a", 0.3, calls={"read": 1.0})),
            "b": Entry("right", Step("b", 0.3, calls={"read": 1.0})),
            "read": Entry("store", Step("read", 0.4)),
        },
    )
    exact, near = by_chain(system), by_layers(system)
    assert exact is not None
    assert float(near.throughput("users")) == pytest.approx(exact.throughput("users"), rel=0.03)


def by_both(system: LayeredSystem) -> tuple[float, float]:
    """Throughput of all clients, by layers and by the whole chain."""
    exact, near = by_chain(system), by_layers(system)
    assert exact is not None
    clients = [name for name, task in system.tasks.items() if task.clients]
    return (
        sum(float(near.throughput(name)) for name in clients),
        sum(float(exact.throughput(name)) for name in clients),
    )


def test_a_single_thread_held_for_times_of_two_kinds_is_exact() -> None:
    """M/G/1//N: a law of two exponentials, which an exponential wait misses by 8%."""
    ways = tuple(
        (chance, Step(f"use {name}", calls={name: 1.0}, fixed=True))
        for name, chance in (("short", 0.8), ("long", 0.2))
    )
    system = LayeredSystem(
        "mixed",
        {"users": Processor(math.inf)},
        {"users": Task("users", 5, 1.0, clients=True), "one": Task("users")},
        {
            "use": Entry("users", Choice(ways)),
            "short": Entry("one", Step("short", 0.1)),
            "long": Entry("one", Step("long", 2.0)),
        },
    )
    near, exact = by_both(system)
    assert near == pytest.approx(exact, rel=SUMS)


def test_more_threads_than_clients_are_no_limit() -> None:
    """A closed network of two kinds of clients, one of each, at a shared processor."""
    system = LayeredSystem(
        "two",
        {"users": Processor(math.inf), "cpu": Processor()},
        {
            "left": Task("users", 1, clients=True),
            "right": Task("users", 1, 0.9, clients=True),
            "web": Task("cpu", 4),
        },
        {
            "use": Entry("left", Step("use", 1.7, calls={"a": 2.0})),
            "look": Entry("right", Step("look", 0.4, calls={"b": 0.5})),
            "a": Entry("web", Step("a", 1.3)),
            "b": Entry("web", Step("b", 0.1)),
        },
    )
    near, exact = by_both(system)
    assert near == pytest.approx(exact, rel=SUMS)


def test_one_who_comes_sees_the_others_without_itself_everywhere() -> None:
    """Four clients at three pools of one thread: a closed network, by mean value analysis.

    With times away as they are with all four, pools taken one by one miss it by 6%.
    """
    demands = {"a": 1.9, "b": 0.9, "c": 1.6}
    system = LayeredSystem(
        "row",
        {"users": Processor(math.inf)},
        {"users": Task("users", 4, clients=True), **{name: Task("users") for name in demands}},
        {
            "use": Entry("users", Step("use", 0.3, calls=dict.fromkeys(demands, 1.0))),
            **{name: Entry(name, Step(name, demand)) for name, demand in demands.items()},
        },
    )
    queues, rate = dict.fromkeys(demands, 0.0), 0.0
    for n in range(1, 5):
        stays = {name: demand * (1 + queues[name]) for name, demand in demands.items()}
        rate = n / (0.3 + sum(stays.values()))
        queues = {name: rate * stay for name, stay in stays.items()}
    assert float(by_layers(system).throughput("users")) == pytest.approx(rate, rel=0.02)


def test_who_waits_for_a_thread_does_not_slow_it_down() -> None:
    """Two clients of whom one waits for the other: meanwhile that one is alone below.

    With times as they are when both are at work, waits for each other included, 10% are missed.
    """
    system = LayeredSystem(
        "both",
        {"users": Processor(math.inf)},
        {
            "users": Task("users", 2, 1.0, clients=True),
            **{name: Task("users") for name in ("one", "other", "below")},
        },
        {
            "use": Entry("users", Step("use", 1.0, calls={"a": 0.9, "b": 0.8})),
            "a": Entry("one", Step("a", 0.2, calls={"read": 0.6})),
            "b": Entry("other", Step("b", 1.0, calls={"read": 2.0})),
            "read": Entry("below", Step("read", 3.3)),
        },
    )
    near, exact = by_both(system)
    assert near == pytest.approx(exact, rel=0.03)


def test_nobody_is_where_the_last_thread_is_held() -> None:
    """Who holds the only thread meets the others elsewhere, at the same processor, more often.

    Otherwise 9% are missed.
    """
    system = LayeredSystem(
        "barred",
        {"users": Processor(math.inf), "cpu": Processor()},
        {
            "users": Task("users", 4, clients=True),
            "one": Task("cpu"),
            "many": Task("cpu", math.inf),
        },
        {
            "use": Entry("users", Step("use", 0.3, calls={"a": 2.0, "b": 1.0})),
            "a": Entry("one", Step("a", 0.8)),
            "b": Entry("many", Step("b", 1.4)),
        },
    )
    near, exact = by_both(system)
    assert near == pytest.approx(exact, rel=0.03)


def test_threads_limit_who_is_met_at_the_processor_of_many_clients() -> None:
    """Eight clients look, and read through a single thread, at one processor.

    With all eight as possible readers there, looking would take 26% too long.
    """
    system = LayeredSystem(
        "behind",
        {"users": Processor(math.inf), "cpu": Processor()},
        {
            "users": Task("users", 8, 1.0, clients=True),
            "view": Task("cpu", math.inf),
            "store": Task("cpu"),
        },
        {
            "use": Entry("users", Step("use", 0.2, calls={"look": 1.0, "read": 1.0})),
            "look": Entry("view", Step("look", 0.1)),
            "read": Entry("store", Step("read", 0.5)),
        },
    )
    exact, near = by_chain(system), by_layers(system)
    assert exact is not None
    for name in ("look", "read"):
        expected = exact.entries[name].response_time
        assert near.entries[name].response_time == pytest.approx(expected, rel=0.03)


def test_random_systems_are_near_their_whole_chain() -> None:
    """Throughput of each source; docs/accuracy/layers.md has the errors of more systems."""
    errors = []
    for seed in range(40):
        system = random_system(seed, clients=3, tasks=3)
        exact = by_chain(system, most=400)
        if exact is None:
            continue
        near = by_layers(system)
        errors += [
            abs(float(near.throughput(name)) / exact.throughput(name) - 1)
            for name, task in system.tasks.items()
            if task.clients
        ]
    assert len(errors) > 20
    assert np.median(errors) < 0.03
    assert max(errors) < 0.35


def at_one_station(
    most: tuple[int, ...], odds: tuple[float, ...], servers: int, law: bool
) -> tuple[list[float], list[float], list[float]]:
    """E max(0, k - m + 1), P(k >= m), P(k >= m - 1), and of classes mean members, and ``fewer``.

    Classes by ``law`` are given by the ratios of their coefficients.
    """
    numbers, classes = np.zeros((3, 1, 1)), np.zeros((2, len(most), 1))
    ratios = np.concatenate(
        [(n - np.arange(n)) * a / np.arange(1, n + 1) for n, a in zip(most, odds, strict=True)]
    )
    first = np.cumsum(most) - most if law else np.full(len(most), -1)
    begins, work = np.array([0, len(most)]), np.zeros(ROWS * (sum(most) + 1))
    given = begins, np.array([servers]), np.array(most), first, np.array([-1])
    values = np.array(odds).reshape(-1, 1), ratios.reshape(-1, 1), np.zeros((0, 1))
    finite_stations(*given, *values, *numbers, *classes, work)
    return numbers.ravel().tolist(), *classes[:, :, 0].tolist()


@pytest.mark.parametrize("law", [False, True])
@pytest.mark.parametrize(
    ("most", "odds", "servers"),
    [
        ((2, 1), (0.5, 2.0), 1),
        ((3,), (0.7,), 2),
        pytest.param((200, 200), (1e-3, 1e-3), 1, marks=pytest.mark.slow),
        ((200, 200), (1e-6, 1e-6), 1),
        ((200, 5), (4e-3, 0.5), 1),
        pytest.param((200, 200), (2e-2, 1e-2), 4, marks=pytest.mark.slow),
        ((60, 30, 2), (10.0, 1e-4, 0.3), 50),
        pytest.param((700, 300), (1.4e-3, 1e-5), 1, marks=pytest.mark.slow),
        ((3, 4, 1), (0.4, 1.5, 0.25), 4),
    ],
)
def test_numbers_at_a_station_are_those_of_a_machine_repair_model(
    most: tuple[int, ...], odds: tuple[float, ...], servers: int, law: bool
) -> None:
    """Against sums of 60 digits; numbers of lesser range lose all of the smallest weights."""
    with mpmath.workdps(60):
        own = [_coefficients(n, mpmath.mpf(a)) for n, a in zip(most, odds, strict=True)]
        queue = [mpmath.mpf(1)]
        for k in range(1, sum(most) + 1):
            queue.append(queue[-1] * mpmath.mpf(k) / min(k, servers))
        weights = [b * w for b, w in zip(_product(own), queue, strict=True)]
        total = sum(weights)
        expected = [
            sum(max(0, k - servers + 1) * w for k, w in enumerate(weights)) / total,
            sum(weights[servers:]) / total,
            sum(weights[servers - 1 :]) / total,
        ]
        means, fewer = [], []
        for c, one in enumerate(own):
            counted = [j * b for j, b in enumerate(one)]
            product = _product([*own[:c], counted, *own[c + 1 :]])
            means.append(sum(b * w for b, w in zip(product, queue, strict=True)) / total)
            less = [_coefficients(most[c] - 1, mpmath.mpf(odds[c]))]
            left = _product([*own[:c], *less, *own[c + 1 :]])
            each = [b * w for b, w in zip(left, queue, strict=False)]
            above = sum(max(0, k - servers + 1) * w for k, w in enumerate(each)) / sum(each)
            fewer.append(above)
    numbers, found, without = at_one_station(most, odds, servers, law)
    assert numbers == pytest.approx(list(map(float, expected)), rel=1e-9)
    rest = 1e-8 if law else 1e-9  # ratios of 700 coefficients leave 4e-9
    assert found == pytest.approx(list(map(float, means)), rel=rest)
    assert without == pytest.approx(list(map(float, fewer)), rel=rest)


def _coefficients(n: int, odds: mpmath.mpf) -> list[mpmath.mpf]:
    return [mpmath.binomial(n, k) * odds**k for k in range(n + 1)]


def _product(parts: list[list[mpmath.mpf]]) -> list[mpmath.mpf]:
    product = [mpmath.mpf(1)]
    for one in parts:
        longer = [mpmath.mpf(0)] * (len(product) + len(one) - 1)
        for i, a in enumerate(product):
            for k, b in enumerate(one):
                longer[i + k] += a * b
        product = longer
    return product


@pytest.mark.parametrize("members", [1, 2, 30, 200])
def test_one_server_of_exponential_service_is_a_machine_repair_model(members: int) -> None:
    """M/M/1//N, whose p(0) follows from p(n) ~ N! / (N - n)! (S / Z)^n."""
    away, service = 3.0, 0.5
    weights = np.cumprod([1.0, *(service / away * np.arange(members, 0, -1))])
    cycle = members * service / (1 - weights[0] / weights.sum())
    one, found = np.ones((1, 1)), np.zeros((1, 1))
    kinds = one, service * one, one
    waits_of_one(np.array([0, 1]), np.array([members]), away * one, *kinds, found)
    assert float(found[0, 0]) == pytest.approx(cycle - away - service, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("needed", [1, 2, 3])
def test_branches_follow_order_statistics(needed: int) -> None:
    """Of three exponential times: means 1/3, 5/6, 11/6, and their variances."""
    one = Moments(np.array([1.0]), np.array([1.0]))
    found = k_th([one, one, one], needed)
    parts = [1 / 3, 1 / 2, 1.0][:needed]
    assert float(found.mean[0]) == pytest.approx(sum(parts), rel=1e-4)
    assert float(found.variance[0]) == pytest.approx(sum(p**2 for p in parts), rel=1e-3)


def test_branches_at_once_are_near_their_chain() -> None:
    """On a delay of its own, two of three."""
    flow = Together((Step("a", 0.3), Step("b", 0.3), Step("c", 0.6)), 2)
    system = over(Entry("web", flow), 1, 1.0)
    system = LayeredSystem(
        "branches",
        {**system.processors, "cpu": Processor(math.inf)},
        system.tasks,
        system.entries,
    )
    exact, near = by_chain(system), by_layers(system)
    assert exact is not None
    assert float(near.entries["page"].first_phase) == pytest.approx(
        exact.entries["page"].first_phase, rel=1e-3
    )


def test_disciplines_that_look_at_priorities_are_refused() -> None:
    """With what to do."""
    system = LayeredSystem(
        "ranked",
        {"cpu": Processor(discipline=Discipline.PRIORITY)},
        {"a": Task("cpu", 2, 1.0, clients=True)},
        {"x": Entry("a", Step("x", 0.5))},
    )
    with pytest.raises(GraphError, match="not solved under discipline priority; simulate"):
        by_layers(system)


def left_behind(clients, threads, second):
    """Clients whose requests leave second phases behind, at a processor of their own."""
    flow = Series((Step("ask", 0.4), Reply(), Step("note", second)))
    return LayeredSystem(
        "left behind",
        {"users": Processor(math.inf), "cpu": Processor(math.inf)},
        {"users": Task("users", clients, 0.0, clients=True), "pool": Task("cpu", threads)},
        {"use": Entry("users", Step("use", 0.2, calls={"ask": 2.0})), "ask": Entry("pool", flow)},
    )


@pytest.mark.parametrize(
    ("clients", "threads", "second", "tolerance"),
    [(3, 1, 1.5, 1e-3), (1, 1, 1.5, 0.03), (1, 3, 3.0, 0.03), (2, 3, 2.0, 0.05)],
    ids=["full", "its own", "several of its own", "several of two"],
)
def test_second_phases_that_are_met_again(clients, threads, second, tolerance):
    """A full thread serves 1 / (S1 + S2); others are near the whole chain."""
    system = left_behind(clients, threads, second)
    near, exact = by_layers(system).throughput("pool"), by_chain(system).throughput("pool")
    assert near == pytest.approx(exact, rel=tolerance)
    if clients == 3:
        assert near == pytest.approx(1 / (0.4 + second), rel=0.01)


@pytest.mark.parametrize(
    ("clients", "threads", "think", "first", "second"),
    [(4, 2, 2.0, 0.5, 0.5), (6, 3, 4.0, 0.5, 0.5), (8, 4, 10.0, 1.0, 1.0), (3, 1, 1.0, 1.0, 0.3)],
)
def test_a_forwarded_request_holds_the_thread_no_more(clients, threads, think, first, second):
    """It meets the next request at the processor of both tasks; within 6% of the whole chain.

    Without those that were passed on, a single thread in front would be alone there: 11 to 18%.
    """
    use = Step("use", calls={"ask": 1.0}, fixed=True)
    system = LayeredSystem(
        "passed on",
        {"desk": Processor(math.inf), "cpu": Processor()},
        {
            "users": Task("desk", clients, think, clients=True),
            "front": Task("cpu"),
            "back": Task("cpu", threads),
        },
        {
            "use": Entry("users", use),
            "ask": Entry("front", Step("ask", first), forwards={"work": 1.0}),
            "work": Entry("back", Step("work", second)),
        },
    )
    exact = by_chain(system)
    assert exact is not None
    near = by_layers(system)
    assert near.throughput("users") == pytest.approx(exact.throughput("users"), rel=0.06)


def test_short_requests_go_on_beside_a_long_one():
    """Of two threads one is held twelve times as long; X within 20% of the whole chain.

    With the mean of both times for each that leaves, X would be 41% too low.
    """
    ask = Step("ask", 0.35, calls={"short": 2.29})
    work = Step("work", 1.6, calls={"long": 1.42})
    system = LayeredSystem(
        "unlike",
        {"desk": Processor(math.inf), "cpu": Processor(2.0)},
        {
            "askers": Task("desk", 4, clients=True),
            "workers": Task("desk", 1, 1.41, clients=True),
            "pool": Task("cpu", 2),
        },
        {
            "asking": Entry("askers", ask),
            "working": Entry("workers", work),
            "short": Entry("pool", Step("short", 0.25)),
            "long": Entry("pool", Step("long", think_time=2.9)),
        },
    )
    exact = by_chain(system)
    assert exact is not None
    near = by_layers(system)
    assert near.throughput("askers") == pytest.approx(exact.throughput("askers"), rel=0.2)


def test_the_first_of_several_to_be_free():
    """Of m = 3: classes of four members each, of 1 s and 5 s, of which 3 and 2 are met.

    Of the three in service 1.8 and 1.2 are of each class on average, a member with 0.45 and 0.3; k
    of the first and 3 - k of the second leave at the rate k + (3 - k) / 5.
    """
    nothing = np.full(3, -1)
    servers, most = np.array([[3], [2]]), np.array([[4], [4], [6]])
    stations = Stations(np.array([0, 2, 3]), servers, most, nothing)
    means = np.array([[3.0], [2.0], [2.5]])
    found = stations.first_free(means, np.array([[1.0], [5.0], [4.0]]))
    first, second = (binom(4, share) for share in (0.45, 0.3))
    k = np.arange(4)
    chances = first.pmf(k) * second.pmf(3 - k)
    of = chances @ (1 / (k + (3 - k) / 5)) / chances.sum()
    assert found[0, 0] == pytest.approx(of, rel=1e-4)
    assert found[1, 0] == pytest.approx(2.0, rel=1e-12)
