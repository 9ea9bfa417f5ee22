"""The whole chain of layered systems, against laws worked out another way."""

import math

import numpy as np
import pytest

from headway.errors import GraphError
from headway.queueing.disciplines.discipline import Discipline
from headway.queueing.layers.chain import by_chain
from headway.queueing.layers.flow import NOBODY, Choice, Flow, Loop, Reply, Series, Step, Together
from headway.queueing.layers.means import LayeredMeans
from headway.queueing.layers.methods.solve import solve_layers
from headway.queueing.layers.parts import Entry, Processor, Task
from headway.queueing.layers.playing import play_layers
from headway.queueing.layers.system import LayeredSystem
from headway.queueing.markov.space import shares_of_time
from tests.oracles.layered_chain import slow_chain
from tests.support.layered_systems import closed_system, random_system
from tests.support.layers import answered_in_branches, woven

SUMS = 1e-9  # relative
FEW = 400  # states that trees in plain Python find in a second or two


def solved(
    flow: Flow,
    below: dict[str, tuple[Task, Entry]],
    clients: int = 1,
    processors: dict[str, Processor] | None = None,
    think_time: float = 0.0,
) -> LayeredMeans:
    """Clients whose cycle is a flow, on a delay, and tasks below."""
    system = LayeredSystem(
        "tried",
        {"users": Processor(math.inf), "cpu": Processor(), **(processors or {})},
        {
            "users": Task("users", clients, think_time, clients=True),
            **{f"task-{name}": task for name, (task, _) in below.items()},
        },
        {"use": Entry("users", flow), **{name: entry for name, (_, entry) in below.items()}},
    )
    means = by_chain(system)
    assert means is not None
    return means


def task(name: str, flow: Flow) -> tuple[Task, Entry]:
    """A task of one thread on the processor, with its entry."""
    return Task("cpu"), Entry(f"task-{name}", flow)


def test_one_client_waits_for_nobody() -> None:
    """A cycle takes the sum of all demands: X = 1 / (1 + 2.5 x (0.8 + 3 x 0.2))."""
    means = solved(
        Step("use", 1.0, calls={"page": 2.5}),
        {
            "page": task("page", Step("page", 0.8, calls={"read": 3.0})),
            "read": task("read", Step("read", 0.2)),
        },
    )
    assert means.throughput("users") == pytest.approx(1 / 4.5, rel=SUMS)
    assert means.entries["page"].first_phase == pytest.approx(1.4, rel=SUMS)
    assert means.entries["page"].waiting_time == pytest.approx(0.0, abs=1e-12)
    assert means.busy("task-read") == pytest.approx(2.5 * 0.6 / 4.5, rel=SUMS)


def test_forwarding_lets_the_first_thread_go() -> None:
    """The client waits for both in turn: X = 1 / 3; the first thread is held for 1 s of the 2."""
    first = Entry("task-first", Step("first", 1.0), forwards={"second": 1.0})
    means = solved(
        Step("use", 1.0, calls={"first": 1.0}),
        {"first": (Task("cpu"), first), "second": task("second", Step("second", 1.0))},
    )
    assert means.throughput("users") == pytest.approx(1 / 3, rel=SUMS)
    assert means.busy("task-first") == pytest.approx(1 / 3, rel=SUMS)
    assert means.entries["second"].throughput == pytest.approx(1 / 3, rel=SUMS)


@pytest.mark.parametrize("clients", [1, 4])
def test_threads_without_end_are_a_closed_network(clients: int) -> None:
    """Nobody waits for a thread, and servers are shared: mean value analysis by hand."""
    means = solved(
        Step("use", 0.3, calls={"page": 2.0}),
        {"page": (Task("cpu", math.inf), Entry("task-page", Step("page", 0.5)))},
        clients,
        think_time=1.0,
    )
    queue = rate = 0.0
    for n in range(1, clients + 1):
        stay = 1.0 * (1 + queue)  # two calls of 0.5 s
        rate = n / (1.3 + stay)
        queue = rate * stay
    assert means.throughput("users") == pytest.approx(rate, rel=SUMS)


def test_a_single_thread_serialises_its_callers() -> None:
    """With its own delay the thread is a server of 0.3 + 0.2 s, but of a variance of its own.

    Two clients think for 1 s: the chain of (waiting or not, where the served one is) by hand.
    """
    means = solved(
        Step("use", calls={"page": 1.0}),
        {"page": (Task("far"), Entry("task-page", Series((Step("p", 0.3), Step("q", 0.2)))))},
        2,
        {"far": Processor(math.inf)},
        think_time=1.0,
    )
    # calls are geometric with mean 1: a client calls with 1/2, first and after each answer
    states = ["free", "p", "q", "p1", "q1"]  # the 1: the other client waits
    rates = {
        ("free", "p"): 2 * 0.5,
        ("p", "q"): 1 / 0.3,
        ("q", "free"): 0.5 / 0.2,
        ("q", "p"): 0.5 / 0.2,
        ("p", "p1"): 0.5,
        ("q", "q1"): 0.5,
        ("p1", "q1"): 1 / 0.3,
    }
    moves = [(states.index(a), states.index(b), rate) for (a, b), rate in rates.items()]
    # from q1 the other is served: the one that leaves thinks, or waits again
    moves += [(4, 1, 0.5 / 0.2), (4, 3, 0.5 / 0.2)]
    source, target, flow = map(np.array, zip(*moves, strict=True))
    shares = shares_of_time(source, target, flow, 5)
    ended = (shares[2] + shares[4]) / 0.2
    assert means.entries["page"].throughput == pytest.approx(ended, rel=SUMS)


def test_branches_at_once_take_as_long_as_the_last_that_is_needed() -> None:
    """Of three exponential branches the mean of the k-th is S (1/3 + 1/2 + ...)."""
    means: dict[int, float] = {}
    for needed in (1, 2, 3):
        flow = Together((Step("a", 1.0), Step("b", 1.0), Step("c", 1.0)), needed)
        found = solved(
            Step("use", 0.5, calls={"page": 1.0}, fixed=True),
            {"page": (Task("far"), Entry("task-page", flow))},
            1,
            {"far": Processor(math.inf)},
        )
        means[needed] = found.entries["page"].first_phase
    assert list(means.values()) == pytest.approx([1 / 3, 5 / 6, 11 / 6], rel=SUMS)


def test_stragglers_hold_the_thread_behind_its_answer() -> None:
    """A thread of one is free when its last branch is: the second phase is what is left."""
    flow = Series((Together((Step("a", 1.0), Step("b", 1.0)), 1), Reply()))
    found = solved(
        Step("use", 100.0, calls={"page": 1.0}, fixed=True),
        {"page": (Task("far"), Entry("task-page", flow))},
        1,
        {"far": Processor(math.inf)},
    )
    entry = found.entries["page"]
    assert entry.first_phase == pytest.approx(0.5, rel=SUMS)
    assert entry.second_phase == pytest.approx(1.0, rel=SUMS)


def test_a_reply_in_a_branch_comes_while_the_others_go_on() -> None:
    """One client above one thread: the chain of what thread and client do, by hand."""
    replying = Series((Step("a", 0.4), Reply()))
    page = Series((Together((replying, Step("b", 0.6)), 2), Step("c", 0.25)))
    found = solved(
        Step("use", calls={"page": 1.0}, fixed=True),
        {"page": (Task("far"), Entry("task-page", page))},
        1,
        {"far": Processor(math.inf)},
        think_time=1.0,
    )
    # what runs; w: the client waits for the thread; before a has ended, it waits for its reply
    states = ["none", "ab", "a", "b", "bw", "c", "cw"]
    rates = {
        **{("none", "ab"): 1.0, ("b", "bw"): 1.0, ("c", "cw"): 1.0},
        **{("ab", "b"): 1 / 0.4, ("a", "c"): 1 / 0.4},
        **{("ab", "a"): 1 / 0.6, ("b", "c"): 1 / 0.6, ("bw", "cw"): 1 / 0.6},
        **{("c", "none"): 1 / 0.25, ("cw", "ab"): 1 / 0.25},
    }
    moves = [(states.index(a), states.index(b), rate) for (a, b), rate in rates.items()]
    share = dict(
        zip(states, shares_of_time(*map(np.array, zip(*moves, strict=True)), 7), strict=True)
    )
    rate = (share["ab"] + share["a"]) / 0.4
    entry = found.entries["page"]
    assert entry.throughput == pytest.approx(rate, rel=SUMS)
    assert entry.first_phase == pytest.approx(0.4, rel=SUMS)
    behind = sum(share[name] for name in ("b", "bw", "c", "cw"))
    assert entry.second_phase == pytest.approx(behind / rate, rel=SUMS)
    assert entry.waiting_time == pytest.approx((share["bw"] + share["cw"]) / rate, rel=SUMS)


MEANS = (0.3, 0.5, 0.7, 0.2, 0.4, 0.6)
CROSSED = (NOBODY, NOBODY, ((0,), 1), ((0,), 1), ((1, 3), 2), ((2, 4), 2))
"""b1 and b2 at once; c1 and c2 behind b1, d behind b2 and c2, e behind c1 and d."""


def mean_of_order(behind: tuple[tuple[tuple[int, ...], int], ...], done: frozenset[int]) -> float:
    """Mean time until all of some exponential times are over, each of which may wait for others."""
    left = [
        k
        for k, (waits, needed) in enumerate(behind)
        if k not in done and len(done & {*waits}) >= needed
    ]
    rate = sum(1 / MEANS[k] for k in left)
    onward = sum(mean_of_order(behind, done | {k}) / MEANS[k] for k in left)
    return (1 + onward) / rate if left else 0.0


@pytest.mark.parametrize("needed", [1, 2])
def test_branches_that_wait_for_others_take_as_long_as_their_order_says(needed: int) -> None:
    """Forks and joins that are not nested, of a client, and of a server with more behind them."""
    behind = (*CROSSED[:-1], ((2, 4), needed))
    branches = tuple(Step(f"s{n}", mean) for n, mean in enumerate(MEANS))
    crossed = Together(branches, 6, behind)
    whole = mean_of_order(behind, frozenset())
    assert solved(crossed, {}).throughput("users") == pytest.approx(1 / whole, rel=SUMS)
    found = solved(
        Step("use", 1.0, calls={"page": 1.0}, fixed=True),
        {"page": (Task("far"), Entry("task-page", Series((crossed, Step("z", 0.25)))))},
        1,
        {"far": Processor(math.inf)},
    )
    assert found.entries["page"].first_phase == pytest.approx(whole + 0.25, rel=SUMS)


@pytest.mark.parametrize("others", [1, 2, 3])
def test_who_of_branches_that_begin_at_once_is_served_first_is_drawn(others: int) -> None:
    """In order of arrival each of the others is ahead of the one that replies half of the time."""
    beside = tuple(Step(f"s{n}", 0.2 * n) for n in range(1, others + 1))
    replying = Series((Step("a", 0.4), Reply()))
    found = solved(
        Step("use", 1.0, calls={"page": 1.0}, fixed=True),
        {"page": (Task("cpu"), Entry("task-page", Together((*beside, replying), others + 1)))},
        1,
        {"cpu": Processor(discipline=Discipline.FCFS)},
    )
    ahead = sum(step.demand for step in beside) / 2
    assert found.entries["page"].first_phase == pytest.approx(0.4 + ahead, rel=SUMS)


def test_each_way_of_a_choice_has_a_second_phase_of_its_own() -> None:
    """What follows the reply there, 0.3 x 1 s; before it are 0.3 x 0.2 s + 0.7 x 0.5 s."""
    ways = (
        (0.3, Series((Step("a", 0.2), Reply(), Step("b", 1.0)))),
        (0.7, Series((Step("c", 0.5), Reply()))),
    )
    found = solved(
        Step("use", calls={"page": 1.0}, fixed=True),
        {"page": (Task("far", 2), Entry("task-page", Choice(ways)))},
        1,
        {"far": Processor(math.inf)},
        think_time=1.0,
    )
    entry = found.entries["page"]
    assert entry.first_phase == pytest.approx(0.41, rel=SUMS)
    assert entry.second_phase == pytest.approx(0.3, rel=SUMS)


def test_a_second_phase_delays_the_next_request_only() -> None:
    """One client that comes back after 2 s: it waits where the second phase is longer.

    W = P(exp(1) > exp(2)) x 1 s, as what is left is exponential: 1/3 s.
    """
    flow = Series((Step("first", 0.5), Reply(), Step("second", 1.0)))
    means = solved(
        Step("use", 2.0, calls={"page": 1.0}, fixed=True),
        {"page": (Task("far"), Entry("task-page", flow))},
        1,
        {"far": Processor(math.inf)},
    )
    # slices of 1 s before and after the call: the second slice and the next first one: Erlang-2
    waits = (1 / (1 + 1)) ** 2  # the second phase outlives both
    entry = means.entries["page"]
    assert entry.waiting_time == pytest.approx(waits, rel=SUMS)
    assert entry.first_phase == pytest.approx(0.5, rel=SUMS)
    assert means.throughput("users") == pytest.approx(1 / (2.5 + waits), rel=SUMS)


def test_loops_and_choices_do_as_their_means_say() -> None:
    """A loop of mean 1.5 around a choice, for one client."""
    body = Choice(((0.25, Step("a", 0.4)), (0.75, Step("b", 0.8))))
    means = solved(Series((Step("use", 0.1), Loop(body, 1.5))), {})
    assert means.throughput("users") == pytest.approx(1 / (0.1 + 1.5 * 0.7), rel=SUMS)


@pytest.mark.parametrize("name", ["fcfs", "ps", "siro", "priority", "preemptive"])
def test_equal_times_serve_as_many_under_every_discipline(name: str) -> None:
    """Work is conserved: two clients at one processor, by the closed chain of M/M/1//2."""
    system = LayeredSystem(
        "equal",
        {"cpu": Processor(discipline=Discipline(name))},
        {"a": Task("cpu", 1, 1.0, clients=True), "b": Task("cpu", 1, 1.0, clients=True)},
        {"x": Entry("a", Step("x", 0.5)), "y": Entry("b", Step("y", 0.5))},
    )
    means = by_chain(system)
    assert means is not None
    busy = 1 - 1 / (1 + 2 * 0.5 + 2 * 0.5**2)
    assert means.use("cpu") == pytest.approx(busy, rel=SUMS)


def test_a_chain_refuses_what_it_cannot_hold() -> None:
    """Arrivals, messages, times of another spread, and clients that take no time."""
    with pytest.raises(GraphError, match="exponential times"):
        solved(Step("use", 1.0, 0.5), {})
    with pytest.raises(GraphError, match="pile up"):
        solved(Step("use", 1.0, sends={"log": 1.0}), {"log": task("log", Step("log", 0.5))})
    with pytest.raises(GraphError, match="take no time"):
        solved(Step("use"), {})
    system = LayeredSystem(
        "open", {"cpu": Processor()}, {"a": Task("cpu")}, {"x": Entry("a", Step("x", 0.1), 1.0)}
    )
    with pytest.raises(GraphError, match="arrive without limit"):
        by_chain(system)
    assert by_chain(solved(Step("use", 1.0), {}, 3, think_time=1.0).system, 2) is None


def test_clients_without_work_of_their_own_are_answered() -> None:
    """Their calls may be none, so the chain has no states; one server is always busy, to 1%."""
    ask = Step("use", calls={"serve": 1.0})
    system = LayeredSystem(
        "idle",
        {"desk": Processor(math.inf), "cpu": Processor(discipline=Discipline.FCFS)},
        {"users": Task("desk", 3, clients=True), "server": Task("cpu")},
        {"use": Entry("users", ask), "serve": Entry("server", Step("serve", 1.0))},
    )
    with pytest.raises(GraphError, match="clients can be through at once, without a call"):
        by_chain(system)
    means, _ = solve_layers(system)
    assert means.throughput("users") == pytest.approx(1.0, rel=0.01)


def agree(system: LayeredSystem, most: int) -> bool:
    """Whether the chain says what trees in plain Python do; False where there are more states."""
    slow = slow_chain(system, most)
    if slow is None:
        return False
    cycles, counted, states = slow
    means = by_chain(system, states)  # equal priorities stand in one order, so it may have fewer
    assert means is not None
    for name, rate in cycles.items():
        assert means.entries[name].throughput == pytest.approx(rate, rel=SUMS)
    for name, (waiting, before, after) in counted.items():
        entry = means.entries[name]
        assert entry.queue_length == pytest.approx(waiting, rel=SUMS, abs=1e-12)
        if name not in cycles:
            found = [entry.throughput * part for part in (entry.first_phase, entry.second_phase)]
            assert found == pytest.approx([before, after], rel=SUMS, abs=1e-12)
    return True


@pytest.mark.parametrize("seed", range(12))
def test_the_chain_is_that_of_trees_in_plain_python(seed: int) -> None:
    """Random systems with second phases and several tasks at a processor."""
    agree(random_system(seed), 200)


@pytest.mark.parametrize("seed", range(16))
def test_every_instruction_and_discipline_has_its_states(seed: int) -> None:
    """Forks, quorums, loops, forwarding, priorities, random order: all that closed systems have."""
    agree(closed_system(seed), FEW)


@pytest.mark.parametrize("seed", [3, 8, 12, 18, 20])
def test_threads_that_answer_in_a_branch_have_their_states(seed: int) -> None:
    """Random systems that do all they do in one of two branches at once."""
    assert agree(answered_in_branches(random_system(seed, 2, 2, 2)), FEW)


@pytest.mark.parametrize("seed", [3, 12])
def test_branches_that_wait_for_others_have_their_states(seed: int) -> None:
    """Random systems that do all they do in one of five branches."""
    assert agree(woven(random_system(seed, 2, 2, 2)), 2 * FEW)


def test_most_random_systems_are_small_enough_to_be_compared() -> None:
    """Of those above, some of whose chains are found in full."""
    small = [by_chain(closed_system(seed), FEW) is not None for seed in range(16)]
    assert sum(small) >= 8


def test_many_servers_that_interrupt_let_the_last_of_equals_wait() -> None:
    """Two servers, three priorities: against the event loop, which orders by turn."""
    system = LayeredSystem(
        "ranks",
        {"cpu": Processor(2, Discipline("preemptive"))},
        {
            "a": Task("cpu", 2, 1.0, clients=True, priority=1),
            "b": Task("cpu", 2, 1.0, clients=True, priority=1),
            "c": Task("cpu", 1, 0.5, clients=True, priority=2),
        },
        {name: Entry(name, Step(name, mean)) for name, mean in (("a", 0.2), ("b", 2.0), ("c", 1))},
    )
    means, played = by_chain(system), play_layers(system, 400_000, 3)
    assert means is not None
    for name, task in played.tasks.items():
        assert task.throughput.holds(float(means.throughput(name)), 0.9999)


def test_large_chains_hold_the_laws_of_a_closed_network() -> None:
    """Threads without end share servers: mean value analysis, at 10,000 states, which are swept."""
    system = LayeredSystem(
        "large",
        {"users": Processor(math.inf), **{f"cpu{n}": Processor() for n in range(4)}},
        {"users": Task("users", 12, 1.0, clients=True)}
        | {f"task{n}": Task(f"cpu{n}", math.inf) for n in range(4)},
        {"use": Entry("users", Step("use", calls={f"e{n}": 1.0 for n in range(4)}, fixed=True))}
        | {f"e{n}": Entry(f"task{n}", Step(f"e{n}", 0.05 + 0.02 * n)) for n in range(4)},
    )
    means = by_chain(system)
    assert means is not None
    queues, rate = np.zeros(4), 0.0
    for n in range(1, 13):
        stay = (0.05 + 0.02 * np.arange(4)) * (1 + queues)
        rate = n / (1.0 + stay.sum())
        queues = rate * stay
    assert means.throughput("users") == pytest.approx(rate, rel=SUMS)


@pytest.mark.parametrize("way", ["chain", "loop"])
def test_who_is_answered_and_the_second_phase_come_in_an_order_that_is_drawn(way):
    """One client and its server share a processor in order of arrival, which never idles.

    A cycle is two slices a of the client, and both phases, in whichever order: X = 1 / (2 a + S1 +
    S2). The second phase begins when the client goes on: one time of two it waits for a slice.
    """
    system = LayeredSystem(
        "both",
        {"cpu": Processor(1.0, Discipline.FCFS)},
        {"user": Task("cpu", 1, clients=True), "server": Task("cpu")},
        {
            "ask": Entry("user", Step("ask", 1.4, calls={"serve": 1.0}, fixed=True)),
            "serve": Entry("server", Series((Step("before", 0.3), Reply(), Step("behind", 2.0)))),
        },
    )
    rate, second = 1 / 3.7, 2 + 0.7 / 2
    if way == "chain":
        means = by_chain(system)
        assert means.throughput("user") == pytest.approx(rate, rel=SUMS)
        assert means.entries["serve"].second_phase == pytest.approx(second, rel=SUMS)
        return
    played = play_layers(system, 100_000, seed=4)
    assert played.tasks["user"].throughput.holds(rate, 0.999)
    assert played.entries["serve"].second_phase.holds(second, 0.999)
