"""Requests for several entries that meet in one thread, against a small chain worked by hand.

Clients of two kinds think, and each kind asks one entry of a task with a single thread. The chain
is written by hand below, from what a meeting is. Each simulated mean is held to it with 99.9%, of
fixed seeds.
"""

from dataclasses import replace
from math import inf

import numpy as np
import pytest

from headway.errors import GraphError
from headway.queueing.compiled.library import LIBRARY, TWINS
from headway.queueing.disciplines.discipline import Discipline
from headway.queueing.layers.chain import Room, by_chain, program_arguments
from headway.queueing.layers.flow import Flow, Reply, Series, Step
from headway.queueing.layers.methods.solve import solve_layers
from headway.queueing.layers.parts import Entry, Processor, Task
from headway.queueing.layers.playing import play_layers
from headway.queueing.layers.program import program_of
from headway.queueing.layers.score import score_of
from headway.queueing.layers.system import LayeredSystem
from tests.queueing.layers.test_playing import EVENTS, SURE, built, holds, state_after
from tests.support.cases import mostly_slow
from tests.support.layered_systems import closed_meeting
from tests.support.layers import layered_system, with_meeting

THINKS = {"left": 1.0, "right": 0.7}
OWN = {"left": 0.2, "right": 0.1}
TOGETHER = 0.3
TWO = Entry("meet", Step("all", TOGETHER), meets=("left", "right"))


def meeting(
    flows: dict[str, Flow],
    together: Flow,
    counts: dict[str, int],
    thinks: dict[str, float],
    task: Task,
) -> LayeredSystem:
    """Clients that each ask one entry of a task, and what its thread does when all have come."""
    clients = {f"{n} users": Task("far", counts[n], thinks[n], clients=True) for n in flows}
    uses = {f"use {n}": Entry(f"{n} users", Step("use", calls={n: 1.0}, fixed=True)) for n in flows}
    served = {n: Entry("meet", flow) for n, flow in flows.items()}
    served["all"] = Entry("meet", together, meets=tuple(flows))
    return LayeredSystem(
        "met",
        {"far": Processor(inf), "cpu": Processor()},
        {**clients, "meet": task},
        {**uses, **served},
    )


def two_kinds(
    count: int = 1, early: bool = False, together: Flow | None = None, order: str = "fcfs"
) -> LayeredSystem:
    """Some clients on the left, who may be answered early, and one on the right."""
    left, right = (Step(name, mean) for name, mean in OWN.items())
    flows = {"left": Series((left, Reply())) if early else left, "right": right}
    counts = {"left": count, "right": 1}
    task = Task("cpu", discipline=Discipline(order))
    return meeting(flows, together or Step("all", TOGETHER), counts, THINKS, task)


State = tuple[str, str, int]
"""Where the requests are that have a thread, left and right, and how many wait on the left.

A request is none (-), in the queue (q), done by the thread (r), waiting for the other (m), or done
together with it (t).
"""


def moves(state: State, count: int, early: bool) -> list[tuple[float, State]]:
    """The moves from a state, each with its rate [1/s]."""
    left, right, waiting = state
    free = "r" not in (left, right) and left != "t"
    asked = left == "r" or (left in ("m", "t") and not early)
    found: list[tuple[float, State]] = []
    if thinking := count - waiting - asked:
        after = ("r", right, waiting) if free and left == "-" else (left, right, waiting + 1)
        found.append((thinking / THINKS["left"], after))
    if right == "-":
        found.append((1 / THINKS["right"], (left, "r" if free else "q", waiting)))
    following = ("r", waiting - 1) if waiting else ("-", 0)
    if left == "r" and right == "m":
        found.append((1 / OWN["left"], ("t", "t", waiting)))
    elif left == "r":
        found.append((1 / OWN["left"], ("m", "r" if right == "q" else right, waiting)))
    if right == "r" and left == "m":
        found.append((1 / OWN["right"], ("t", "t", waiting)))
    elif right == "r":
        found.append((1 / OWN["right"], (following[0], "m", following[1])))
    if left == "t":
        found.append((1 / TOGETHER, (following[0], "-", following[1])))
    return found


def shares(count: int, early: bool) -> dict[State, float]:
    """The share of time in each state."""
    states: list[State] = [("-", "-", 0)]
    for state in states:
        states += dict.fromkeys(to for _, to in moves(state, count, early) if to not in states)
    rates = np.zeros((len(states), len(states)))
    for n, state in enumerate(states):
        for rate, to in moves(state, count, early):
            rates[n, states.index(to)] += rate
            rates[n, n] -= rate
    balance = np.vstack((rates.T, np.ones(len(states))))
    solved = np.linalg.lstsq(balance, np.eye(len(balance))[-1], rcond=None)[0]
    return dict(zip(states, solved.tolist(), strict=True))


@pytest.mark.parametrize(("count", "early"), [(1, False), (1, True), (3, False), (3, True)])
def test_clients_that_meet_are_a_small_chain(count: int, early: bool) -> None:
    """Throughput, the thread's use, waiting, and the time that the requests take."""
    known, system = shares(count, early), two_kinds(count, early)
    played, means = play_layers(system, EVENTS, seed=1), by_chain(system)
    assert means is not None
    rate = sum(share for (left, *_), share in known.items() if left == "t") / TOGETHER
    busy = sum(share for (*each, _), share in known.items() if {*each} & {*"rmt"})
    inside = sum(share for (left, *_), share in known.items() if left in "rmt")
    queue = sum(share * waiting for (*_, waiting), share in known.items())
    for name in ("left", "right", "all"):
        assert holds(played.entries[name].throughput, rate)
        assert means.entries[name].throughput == pytest.approx(rate, rel=1e-9)
    assert means.throughput("meet") == pytest.approx(rate, rel=1e-9)
    assert means.busy("meet") == pytest.approx(busy, rel=1e-9)
    assert means.use("cpu") == pytest.approx(rate * (sum(OWN.values()) + TOGETHER), rel=1e-9)
    assert means.entries["left"].busy == pytest.approx(inside, rel=1e-9)
    assert means.entries["left"].queue_length == pytest.approx(queue, rel=1e-9, abs=1e-12)
    assert holds(played.tasks["meet"].throughput, rate)
    assert holds(played.tasks["meet"].busy, busy)
    assert holds(played.entries["all"].first_phase, busy / rate)
    assert holds(played.entries["left"].busy, inside)
    assert holds(played.entries["left"].queue_length, queue)
    assert holds(played.processors["cpu"].busy, rate * (sum(OWN.values()) + TOGETHER))
    answered = OWN["left"] if early else inside / rate
    assert holds(played.entries["left"].first_phase, answered)
    assert played.entries["left"].second_phase.holds(inside / rate - answered, 0.999)
    assert means.entries["left"].first_phase == pytest.approx(answered, rel=1e-9)


def test_the_last_of_three_comes_after_a_harmonic_sum() -> None:
    """With T = 1 s for each and D together, X = 1 / (1 + 1/2 + 1/3 + D) [1/s]."""
    names = ("one", "two", "three")
    system = meeting(
        {name: Step(name) for name in names},
        Step("all", 0.5),
        dict.fromkeys(names, 1),
        dict.fromkeys(names, 1.0),
        Task("cpu", discipline=Discipline.PRIORITY),
    )
    played, rate = play_layers(system, EVENTS, seed=1), 1 / (11 / 6 + 0.5)
    assert all(holds(played.entries[name].throughput, rate) for name in names)
    means, method = solve_layers(system)
    assert (method, means.approximation) == ("chain", "")
    assert means.throughput("meet") == pytest.approx(rate, rel=1e-9)


def test_each_request_is_answered_where_the_flow_says() -> None:
    """What the thread does behind an answer is the second phase of the entry that it answers."""
    flow = Series((Step("first", 0.2), Reply("right"), Step("second", 0.1)))
    played = play_layers(two_kinds(together=flow), EVENTS, seed=1)
    assert holds(played.entries["right"].second_phase, 0.1)
    assert played.entries["left"].second_phase.mean == 0


@built
@pytest.mark.parametrize("seed", mostly_slow(range(12), 2))
def test_kernel_and_twin_let_requests_meet_alike(seed: int) -> None:
    """Where some are forwarded, answered early, or messages that nobody waits for."""
    system = with_meeting(layered_system(seed), seed)
    one, other = (state_after(system, by) for by in (LIBRARY.play_program, TWINS["play_program"]))
    assert one.tallies["answered"][list(system.entries).index("met")] > 0
    assert [n for n in vars(one) if not (vars(one)[n] == vars(other)[n]).all()] == []


@pytest.mark.parametrize("seed", mostly_slow((3, 8, 11, 0, 5, 6, 7, 9, 12, 13, 15, 16), 3))
def test_a_chain_and_the_event_loop_let_requests_meet_alike(seed: int) -> None:
    """Beside other calls, with second phases, answers in a branch, and forwarding.

    Of the first seeds whose chain has fewer than 1,000 states.
    """
    system = closed_meeting(seed)
    means, played = by_chain(system), play_layers(system, EVENTS, seed=1)
    assert means is not None
    for name, one in played.entries.items():
        exact = means.entries[name]
        assert holds(one.throughput, exact.throughput)
        assert holds(one.busy, exact.busy)
        assert one.second_phase.holds(exact.second_phase, SURE)
        assert one.queue_length.holds(exact.queue_length, SURE)
    assert holds(played.tasks["pair"].busy, means.busy("pair"))


@built
@pytest.mark.parametrize("seed", mostly_slow(range(12), 2))
def test_kernel_and_twin_find_the_same_states(seed: int) -> None:
    system = closed_meeting(seed)
    program, score = program_of(system), score_of(system)
    given, found = program_arguments(score, program), []
    for explore in (LIBRARY.explore_program, TWINS["explore_program"]):
        room = Room(300, score, 40)
        explore(*given, *room.arrays(), 60)
        found.append(room.found())
    one, other = found
    assert one.count > 60
    assert [n for n in vars(one) if not np.array_equal(vars(one)[n], vars(other)[n])] == []


def test_other_methods_say_which_do_answer() -> None:
    """In one line; where the chain is too large, a simulation answers unasked."""
    with pytest.raises(GraphError, match="requests for left and .* use method chain, or simula"):
        solve_layers(two_kinds(), "layers")
    assert solve_layers(two_kinds(), "product form")[1] == "chain"
    means, method = solve_layers(two_kinds(together=Step("all", TOGETHER, scv=2.0)))
    assert method == "simulation"
    assert "simulated" in means.approximation


def test_a_thread_that_lets_requests_meet_takes_them_in_order() -> None:
    """As those that must wait return to their turns."""
    with pytest.raises(GraphError, match="cannot get its thread in random order; take discipline"):
        play_layers(two_kinds(order="siro"), 1000, seed=1)


def test_who_waits_for_nobody_that_comes_waits_for_ever() -> None:
    """One client who asks one entry after the other, and is not answered by the first."""
    system = two_kinds()
    both = Entry("left users", Step("use", calls={"left": 1.0, "right": 1.0}, fixed=True))
    tasks = {name: task for name, task in system.tasks.items() if name != "right users"}
    entries = {name: entry for name, entry in system.entries.items() if name != "use right"}
    stuck = LayeredSystem("stuck", system.processors, tasks, {**entries, "use left": both})
    with pytest.raises(GraphError, match="all threads wait for each other, for ever"):
        play_layers(stuck, 1000, seed=1)
    with pytest.raises(GraphError, match="all threads can wait for each other, for ever"):
        solve_layers(stuck)


REFUSED: dict[str, tuple[dict[str, object], Entry, str]] = {
    "nobody": ({}, Entry("meet", Step("all"), meets=("left", "write")), "meets 'write', which is"),
    "itself": (
        {},
        Entry("meet", Step("all"), meets=("left", "all")),
        "meets 'all', which is not an",
    ),
    "one": (
        {},
        Entry("meet", Step("all"), meets=("left",)),
        "meets every other entry of task meet",
    ),
    "twice": ({}, Entry("meet", Step("all"), meets=("left", "left")), "every other entry of task"),
    "threads": ({"threads": 2}, TWO, "give task meet a single thread"),
    "replicas": ({"replicas": 2}, TWO, "meet; task meet has no replicas"),
    "arrivals": ({}, replace(TWO, arrival_rate=1.0), "have met; it has no requests of its own"),
    "forwards": ({}, replace(TWO, forwards={"left": 1.0}), "it has no request to forward"),
    "a stranger": ({}, replace(TWO, flow=Reply("use left")), "'use left', which has no request"),
    "two replies": (
        {},
        replace(TWO, flow=Series((Reply("left"), Step("all"), Reply()))),
        "replies twice, at once and behind all",
    ),
    "a circle": (
        {},
        replace(TWO, flow=Step("all", sends={"left": 1.0})),
        "go round without end: all -> left -> all|left -> all -> left",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_meetings_that_cannot_be_are_refused_in_one_line(case: str) -> None:
    """With what is wrong."""
    task, entry, words = REFUSED[case]
    system = two_kinds()
    tasks = {**system.tasks, "meet": replace(system.tasks["meet"], **task)}  # type: ignore[arg-type]
    with pytest.raises(GraphError, match=words) as refused:
        LayeredSystem("met", system.processors, tasks, {**system.entries, "all": entry})
    assert "\n" not in str(refused.value)
