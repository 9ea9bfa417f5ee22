"""Layered systems event by event: kernel and twin alike, and means against exact laws.

Each mean is held to the exact one with 99.9%, of fixed seeds.
"""

from collections.abc import Callable
from copy import copy
from dataclasses import fields
from math import factorial, inf, log

import numpy as np
import pytest

from headway.errors import GraphError, InvalidParameter
from headway.kinds import FloatArray
from headway.queueing.compiled.library import LIBRARY, TWINS
from headway.queueing.disciplines.discipline import Discipline
from headway.queueing.layers.chain import by_chain
from headway.queueing.layers.flow import Choice, Flow, Loop, Reply, Series, Step, Together
from headway.queueing.layers.parts import Entry, Processor, Task
from headway.queueing.layers.playing import Played, play_layers
from headway.queueing.layers.score import LayeredState, arguments, opening, score_of
from headway.queueing.layers.states.rows import Kind, Order, Reason
from headway.queueing.layers.system import LayeredSystem
from headway.queueing.playing.estimates import Estimate, together
from tests.support.cases import mostly_slow
from tests.support.layered_systems import random_system
from tests.support.layers import answered_in_branches, layered_system, woven

built = pytest.mark.skipif(LIBRARY is None, reason="needs the kernels, which were not built")

SURE = 0.999
EVENTS = 400_000 if LIBRARY else 40_000


def holds(estimate: Estimate, exact: float) -> bool:
    """Whether an estimate with a width holds the exact value."""
    return estimate.error < 0.1 * exact and estimate.holds(exact, SURE)


def clients(
    flow: Flow,
    below: dict[str, tuple[Task, Entry]],
    number: int = 1,
    think_time: float = 0.0,
    processors: dict[str, Processor] | None = None,
) -> LayeredSystem:
    """Clients whose cycle is a flow, on a delay, and tasks below."""
    return LayeredSystem(
        "tried",
        {"far": Processor(inf), "cpu": Processor(), **(processors or {})},
        {
            "users": Task("far", number, think_time, clients=True),
            **{f"task-{name}": task for name, (task, _) in below.items()},
        },
        {"use": Entry("users", flow), **{name: entry for name, (_, entry) in below.items()}},
    )


def opened(rate: float, task: Task, flow: Flow) -> LayeredSystem:
    """Requests from outside for one entry."""
    return LayeredSystem(
        "opened",
        {"far": Processor(inf), "cpu": Processor()},
        {"server": task},
        {"serve": Entry("server", flow, rate)},
    )


def played(system: LayeredSystem, events: int = EVENTS, seed: int = 1) -> Played:
    return play_layers(system, events, seed)


# Kernel and twin


def state_after(
    system: LayeredSystem, by: Callable[..., None], slices: int = 4, events: int = 300
) -> LayeredState:
    """The state after some slices; its arrays grow where they are full."""
    score = score_of(system)
    state = opening(score, 7, 3)
    for _ in range(slices):
        by(*arguments(score, state, 1e9, events))
        if state.clock["reason"][0] == Reason.CROWDED:
            state.grow(len(state.jobs))
    return state


@built
@pytest.mark.parametrize("seed", mostly_slow(range(24), 1))
def test_kernel_and_twin_leave_the_same_state(seed: int) -> None:
    system = layered_system(seed)
    one, other = (state_after(system, by) for by in (LIBRARY.play_program, TWINS["play_program"]))
    assert one.clock["events"][0] > 500
    assert [n for n in vars(one) if not (vars(one)[n] == vars(other)[n]).all()] == []


@built
@pytest.mark.parametrize("seed", mostly_slow(range(8), 1))
def test_kernel_and_twin_answer_in_branches_alike(seed: int) -> None:
    system = (answered_in_branches, woven)[seed % 2](layered_system(seed))
    one, other = (state_after(system, by) for by in (LIBRARY.play_program, TWINS["play_program"]))
    assert one.clock["events"][0] > 500
    assert [n for n in vars(one) if not (vars(one)[n] == vars(other)[n]).all()] == []


def test_all_that_a_system_has_is_drawn() -> None:
    scores = [score_of(each(layered_system(seed))) for each in (copy, woven) for seed in range(24)]
    assert {kind for score in scores for kind in score.instructions["kind"]} == set(Kind)
    assert {order for score in scores for order in score.places["order"]} == set(Order)
    assert any(score.places["interrupts"].any() for score in scores)


@built
def test_slices_do_not_show() -> None:
    system = layered_system(2)
    one = state_after(system, LIBRARY.play_program, 1, 600)
    other = state_after(system, LIBRARY.play_program, 60, 10)
    for name, array in vars(one).items():
        if name != "clock" and len(array) == len(vars(other)[name]):
            assert (array == vars(other)[name]).all(), name


# Exact laws


def test_one_client_alone_waits_for_nobody() -> None:
    """A cycle takes the sum of all demands: 1 + 2.5 x (0.8 + 3 x 0.2) = 4.5 s."""
    page = Step("page", 0.8, calls={"read": 3.0})
    system = clients(
        Step("use", 1.0, calls={"page": 2.5}),
        {
            "page": (Task("cpu"), Entry("task-page", page)),
            "read": (Task("cpu"), Entry("task-read", Step("read", 0.2))),
        },
    )
    found = played(system)
    assert holds(found.tasks["users"].throughput, 1 / 4.5)
    assert holds(found.clients["users"].response_time, 4.5)
    assert found.entries["page"].waiting_time.mean == 0
    assert holds(found.entries["page"].first_phase, 1.4)
    assert holds(found.processors["cpu"].by_task["task-read"], 2.5 * 0.6 / 4.5)


def recursion(demands: list[float], think_time: float, number: int) -> float:
    """Throughput of a closed network in product form, by mean value analysis."""
    queue, rate = [0.0] * len(demands), 0.0
    for n in range(1, number + 1):
        stay = [d * (1 + q) for d, q in zip(demands, queue, strict=True)]
        rate = n / (think_time + sum(stay))
        queue = [rate * s for s in stay]
    return rate


@pytest.mark.parametrize("number", [3, 12])
@pytest.mark.parametrize("scv", [0.0, 1.0, 4.0])
def test_threads_without_end_are_a_closed_network(number: int, scv: float) -> None:
    """Whatever the variance of slices: shared processors have a product form."""
    page = Step("page", 0.3, scv, calls={"read": 1.0})
    system = clients(
        Step("use", calls={"page": 1.0}, fixed=True),
        {
            "page": (Task("cpu", inf), Entry("task-page", page)),
            "read": (Task("disk", inf), Entry("task-read", Step("read", 0.2, scv))),
        },
        number,
        2.0,
        {"disk": Processor()},
    )
    found = played(system)
    rate = recursion([0.3, 0.2], 2.0, number)
    assert holds(found.tasks["users"].throughput, rate)
    assert holds(found.processors["cpu"].utilisation, 0.3 * rate)
    assert holds(found.clients["users"].response_time, number / rate - 2.0)


@pytest.mark.parametrize("servers", [1, 3])
def test_threads_at_a_delay_are_servers(servers: int) -> None:
    """M/M/m: a request waits C / (m mu - lambda), by Erlang's C."""
    load = 0.7 * servers
    full = load**servers / factorial(servers) / (1 - 0.7)
    waits = full / (sum(load**n / factorial(n) for n in range(servers)) + full)
    found = played(opened(load, Task("far", servers), Step("serve", 1.0)))
    entry = found.entries["serve"]
    assert holds(entry.waiting_time, waits / (servers - load))
    assert holds(entry.queue_length, load * waits / (servers - load))
    assert holds(found.tasks["server"].utilisation, 0.7)
    assert holds(found.arrivals["serve"].response_time, 1 + waits / (servers - load))
    if servers == 1:  # exponential, of mean 1 / 0.3
        for percent, estimate in found.arrivals["serve"].percentiles.items():
            assert holds(estimate, -log(1 - percent / 100) / 0.3)


@pytest.mark.parametrize("scv", [0.0, 0.25, 3.0])
def test_waits_follow_the_variance(scv: float) -> None:
    """M/G/1: W = rho S (1 + scv) / 2 / (1 - rho), Pollaczek and Khinchine."""
    found = played(opened(0.6, Task("cpu"), Step("serve", 1.0, scv)))
    assert holds(found.entries["serve"].waiting_time, 0.6 * (1 + scv) / 2 / 0.4)


def test_branches_that_need_nobody_join_by_the_last() -> None:
    """Two exponential branches: S H_2; the thread is the client's own."""
    flow = Together((Step("a", 1.0), Step("b", 1.0)), 2)
    assert holds(played(clients(flow, {})).clients["users"].response_time, 1.5)


@pytest.mark.parametrize("needed", [1, 2])
def test_a_quorum_answers_before_its_thread_is_free(needed: int) -> None:
    """Of three branches: the answer after 1/3 + ... , the thread until the last, H_3."""
    branches = Together((Step("a", 1.0), Step("b", 1.0), Step("c", 1.0)), needed)
    system = clients(
        Step("use", calls={"ask": 1.0}, fixed=True),
        {"ask": (Task("far", inf), Entry("task-ask", branches))},
    )
    found = played(system)
    first = sum(1 / (3 - n) for n in range(needed))
    assert holds(found.entries["ask"].first_phase, first)
    assert holds(found.entries["ask"].second_phase, 11 / 6 - first)
    assert holds(found.tasks["users"].throughput, 1 / first)


def test_numbers_of_calls_are_geometric() -> None:
    """Of constant calls of 1 s with mean 2: k of them in a cycle with probability 1/3 (2/3)**k."""
    system = clients(
        Step("use", calls={"ask": 2.0}),
        {"ask": (Task("far"), Entry("task-ask", Step("ask", 1.0, 0.0)))},
    )
    times = played(system).clients["users"].times
    numbers = np.round(times.sums / times.counts)
    for k in range(5):
        chance = (2 / 3) ** k / 3
        count = int(times.counts[numbers == k].sum())
        spread = (times.count * chance * (1 - chance)) ** 0.5
        assert abs(count - times.count * chance) < 3.3 * spread + 1  # normal, 99.9%


def test_fixed_numbers_of_calls_do_not_vary() -> None:
    system = clients(
        Step("use", calls={"ask": 2.0}, fixed=True),
        {"ask": (Task("far"), Entry("task-ask", Step("ask", 1.0, 0.0)))},
    )
    response = played(system).clients["users"]
    assert response.percentiles[50.0].mean == pytest.approx(2.0, rel=1e-9)
    assert response.times.bins.size <= 2  # rounding may fall on both sides of a bin's edge


def test_forwarding_lets_the_first_thread_go() -> None:
    """The client waits for both in turn; the first thread is held for 1 s of the 3."""
    first = Entry("task-first", Step("first", 1.0), forwards={"second": 1.0})
    system = clients(
        Step("use", 1.0, calls={"first": 1.0}, fixed=True),
        {
            "first": (Task("cpu"), first),
            "second": (Task("cpu"), Entry("task-second", Step("second", 1.0))),
        },
    )
    found = played(system)
    assert holds(found.tasks["users"].throughput, 1 / 3)
    assert holds(found.tasks["task-first"].busy, 1 / 3)
    assert holds(found.entries["second"].throughput, 1 / 3)


def test_requests_from_outside_respond_where_they_end() -> None:
    """Half are forwarded: from arrival to the last answer, 1 + 0.5 x 2 s where nobody waits."""
    system = LayeredSystem(
        "passed on",
        {"far": Processor(inf)},
        {"a": Task("far", inf), "b": Task("far", inf)},
        {
            "ask": Entry("a", Step("ask", 1.0), 3.0, {"on": 0.5}),
            "on": Entry("b", Step("on", 2.0)),
        },
    )
    found = played(system)
    assert holds(found.arrivals["ask"].response_time, 2.0)
    assert holds(found.entries["on"].throughput, 1.5)


def test_a_second_phase_counts_at_a_saturated_server() -> None:
    """Six clients without think time keep it busy: X = 1 / (0.1 + 0.2)."""
    flow = Series((Step("first", 0.1), Reply(), Step("second", 0.2)))
    system = clients(
        Step("use", 0.01, calls={"ask": 1.0}, fixed=True),
        {"ask": (Task("cpu"), Entry("task-ask", flow))},
        6,
    )
    found = played(system)
    assert holds(found.entries["ask"].throughput, 1 / 0.3)
    assert found.tasks["task-ask"].utilisation.mean == pytest.approx(1.0, abs=1e-3)
    assert holds(found.entries["ask"].second_phase, 0.2)


def test_messages_are_not_waited_for() -> None:
    """A cycle takes 1 s; two messages each are served behind it."""
    system = clients(
        Step("use", 1.0, sends={"note": 2.0}),
        {"note": (Task("cpu", inf), Entry("task-note", Step("note", 0.3)))},
    )
    found = played(system)
    assert holds(found.tasks["users"].throughput, 1.0)
    assert holds(found.processors["cpu"].utilisation, 0.6)


def everything(at_processor: str, at_task: str, needed: int = 1) -> LayeredSystem:
    """Two kinds of clients, threads that they contend for, a choice, a loop and a fork."""
    page = Series(
        (
            Step("page", 0.2, calls={"read": 1.0}),
            Choice(((0.4, Step("short", 0.1)), (0.6, Loop(Step("long", 0.2), 0.5)))),
            Reply(),
            Step("after", 0.1),
        )
    )
    return LayeredSystem(
        "everything",
        {"far": Processor(inf), "cpu": Processor(1, Discipline(at_processor))},
        {
            "people": Task("far", 2, 0.5, clients=True),
            "robots": Task("cpu", 1, 0.3, clients=True, priority=3),
            "web": Task("cpu", 1, discipline=Discipline(at_task)),
            "data": Task("cpu", 1, priority=2),
        },
        {
            "use": Entry("people", Step("use", 0.1, calls={"page": 1.0}, fixed=True)),
            "crawl": Entry("robots", Step("crawl", 0.1, calls={"find": 1.0}, fixed=True)),
            "page": Entry("web", page),
            "find": Entry("web", Step("find", 0.1), forwards={"read": 0.5}, priority=2),
            "read": Entry("data", Together((Step("r", 0.1), Step("s", 0.2)), needed)),
        },
    )


@pytest.mark.parametrize(
    ("at_processor", "at_task", "needed"),
    [
        ("ps", "fcfs", 1),
        ("preemptive", "siro", 1),
        ("fcfs", "fcfs", 1),
        ("fcfs", "siro", 2),
        ("priority", "priority", 2),
        ("siro", "fcfs", 1),
    ],
)
def test_means_are_those_of_the_whole_chain(at_processor: str, at_task: str, needed: int) -> None:
    """Every mean of every entry, jointly with 99.9%."""
    system = everything(at_processor, at_task, needed)
    exact = by_chain(system)
    assert exact is not None
    found = played(system)
    parts = [field.name for field in fields(next(iter(exact.entries.values())))]
    each = together(SURE, len(parts) * len(system.entries))
    for name, means in exact.entries.items():
        for part in parts:
            estimate: Estimate = getattr(found.entries[name], part)
            assert estimate.holds(float(getattr(means, part)), each), (name, part)


@pytest.mark.parametrize("needed", [1, 2])
def test_a_branch_that_replies_does_not_wait_for_the_others(needed: int) -> None:
    """Every mean of every entry is that of the whole chain, with half of the answers forwarded."""
    replying = Series((Step("a", 0.2, calls={"read": 1.0}), Reply(), Step("d", 0.1)))
    page = Series((Together((replying, Step("b", 0.6)), needed), Step("c", 0.2)))
    system = clients(
        Step("use", 0.5, calls={"page": 1.0}),
        {
            "page": (Task("cpu", 2), Entry("task-page", page, forwards={"look": 0.5})),
            "read": (Task("far"), Entry("task-read", Step("read", 0.1))),
            "look": (Task("cpu"), Entry("task-look", Step("look", 0.3))),
        },
        3,
    )
    exact, found = by_chain(system), played(system)
    assert exact is not None
    each = together(SURE, 4 * len(system.entries))
    for name, means in exact.entries.items():
        for part in (field.name for field in fields(means)):
            estimate: Estimate = getattr(found.entries[name], part)
            assert estimate.holds(float(getattr(means, part)), each), (name, part)


@pytest.mark.parametrize("seed", [3, 12])
def test_branches_wait_for_each_other_as_in_the_whole_chain(seed: int) -> None:
    system = woven(random_system(seed, 2, 2, 2))
    exact, found = by_chain(system), played(system)
    assert exact is not None
    each = together(SURE, 4 * len(system.entries))
    for name, means in exact.entries.items():
        for part in (field.name for field in fields(means)):
            estimate: Estimate = getattr(found.entries[name], part)
            assert estimate.holds(float(getattr(means, part)), each), (name, part)


# Limits


def test_a_seed_gives_the_same_answer_again() -> None:
    system = everything("ps", "fcfs")
    one, other, third = (played(system, 5000, seed).entries for seed in (1, 1, 2))
    assert one == other != third


def test_a_million_clients_are_played_and_more_refused() -> None:
    crowd = clients(Step("use", 1.0), {}, 10**6)
    with pytest.raises(InvalidParameter, match="simulates up to 1,000,000 clients, not 1,000,001"):
        played(clients(Step("use", 1.0), {}, 10**6 + 1))
    if LIBRARY:
        assert holds(played(crowd, 1_100_000).tasks["users"].throughput, 1e6)


@built
def test_clients_that_take_no_time_are_refused() -> None:
    with pytest.raises(GraphError, match="clients users take no time; give a step a demand"):
        played(clients(Step("use"), {}))


@pytest.mark.slow
@built
def test_requests_that_pile_up_are_refused() -> None:
    system = opened(300.0, Task("cpu"), Step("serve", 1.0))
    with pytest.raises(GraphError, match=r"opened: [\d,]+ requests wait for entry serve, and more"):
        played(system, 20_000_000)


def noted(often: float) -> LayeredSystem:
    """A client who sends so many messages in a cycle of 1 s, each a second of work."""
    log = Task("cpu"), Entry("task-log", Step("log", 1.0))
    return clients(Step("use", 1.0, sends={"log": often}), {"log": log})


@built
@pytest.mark.parametrize(
    ("system", "name"),
    [
        (noted(1.5), "log"),
        (noted(0.9), ""),
        (opened(1.1, Task("cpu"), Step("serve", 1.0)), "serve"),
        (opened(0.9, Task("cpu"), Step("serve", 1.0)), ""),
        (
            clients(
                Step("use", 1.0, calls={"page": 1.0}),
                {"page": (Task("cpu"), Entry("task-page", Step("page", 10.0)))},
                20_000,
                think_time=1e6,
            ),
            "",
        ),
    ],
)
def test_queues_that_grow_without_limit_are_named(system: LayeredSystem, name: str) -> None:
    """Above a load of 1, not below it; callers wait, so clients who still come do not count."""
    assert played(system).piling_up == name


@pytest.mark.parametrize(
    ("task", "message"),
    [
        (Task("cpu", discipline=Discipline.SHARING), "task server: requests cannot get threads by"),
        (Task("cpu", 1.5), r"threads of server is 1\.5; it must be a whole number"),
        (Task("cpu", 0.0), "threads of server is 0; it must be a whole number of 1 or more, or un"),
    ],
)
def test_what_cannot_be_played_is_refused(task: Task, message: str) -> None:
    with pytest.raises((GraphError, InvalidParameter), match=message):
        played(opened(0.1, task, Step("serve", 1.0)))


def test_several_operating_points_are_refused() -> None:
    demand: FloatArray = np.array([1.0, 2.0])
    with pytest.raises(InvalidParameter, match="several operating points; simulate them"):
        played(clients(Step("use", demand), {}))


# Spoilt arrays


@built
@pytest.mark.parametrize("value", mostly_slow([-(2**40), -7, 10**6, 2**60], {-7}))
def test_a_spoilt_call_touches_no_other_memory(value: int) -> None:
    """Each whole number of the last row of each array: refused, or played to the end of a slice."""
    refused = 0
    for seed in range(3):
        system = layered_system(seed)
        for part in (*_WRITTEN, "instructions", "ways", "laws", "entries", "places"):
            for field in _fields(system, part):
                refused += _spoilt(system, part, field, value)
    assert refused > 60


_WRITTEN = ("clock", "queues", "tallies", "jobs", "at", "events", "streams")


def _fields(system: LayeredSystem, part: str) -> list[str]:
    score = score_of(system)
    array = vars(opening(score, 1, 0) if part in _WRITTEN else score)[part]
    names = array.dtype.names or ("",)
    return [n for n in names if (array[n] if n else array).dtype.kind == "i"]


def _spoilt(system: LayeredSystem, part: str, field: str, value: int) -> bool:
    score = score_of(system)
    state = opening(score, 1, 0)
    LIBRARY.play_program(*arguments(score, state, 1e3, 100))
    array = vars(state if part in _WRITTEN else score)[part]
    row = 0 if part in _WRITTEN else -1
    if field in ("most_still", "still"):
        return False  # how long a loop without end may be
    if field:
        array[field][row] = value
    else:
        array[row] = value
    try:
        LIBRARY.play_program(*arguments(score, state, 1e3, 1000))
    except ValueError as error:
        return str(error).startswith("play_program: ")
    return False
