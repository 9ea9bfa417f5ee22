"""Disciplines and priorities against exact laws, and against chains solved state by state."""

import numpy as np
import pytest

from headway.errors import GraphError, InvalidParameter, Saturated
from headway.models import parse_model
from headway.queueing import (
    Discipline,
    JobClass,
    Method,
    MMm,
    PriorityMG1,
    ServiceKind,
    SharedStation,
    solve_multiclass,
)
from headway.queueing.network.network import Saturation
from headway.queueing.network.routing import Routing
from headway.queueing.orders.measured import ALONE, LAST, OPEN, TURNS
from tests.brute.drawing import LARGE
from tests.brute.kinds import drawn
from tests.campaigns import random_order
from tests.campaigns.order_errors import FAMILIES, errors
from tests.oracles.order_chain import Coming, Served, solve_orders
from tests.support.class_networks import AGREE, shared
from tests.support.pages import accuracy

SLOW = pytest.mark.slow

TIMES = (0.5, 0.7, 0.3)
RATES = (0.4, 0.3, 0.5)


def opened(rates, priorities=(1, 2, 3)):
    return [
        JobClass(f"c{c}", arrival_rate=rate, priority=rank)
        for c, (rate, rank) in enumerate(zip(rates, priorities, strict=False))
    ]


def test_head_of_the_line_is_cobhams_wait():
    station = shared("cpu", TIMES, discipline=Discipline.PRIORITY)

    solution = solve_multiclass([station], opened(RATES))

    exact = PriorityMG1(TIMES, (1.0,) * 3).response_times(RATES)
    assert solution.response_time == pytest.approx(exact, rel=AGREE)
    assert not solution.approximation


@pytest.mark.parametrize("discipline", ["priority", "preemptive"])
@pytest.mark.parametrize(("servers", "times"), [(1, TIMES), (2, (0.5, 0.5, 0.5))])
def test_open_classes_agree_with_their_chain(discipline, servers, times):
    rates = np.array(RATES) * servers / 3  # so that few find no job left to come
    coming = [Coming(11, arrival_rate=rate, priority=1 + c) for c, rate in enumerate(rates)]

    solution = solve_multiclass(
        [shared("cpu", times, servers, discipline=Discipline(discipline))], opened(rates)
    )

    if (discipline, servers) == ("priority", 2):  # whose chain holds who is in service, too
        return
    through, length = solve_orders((Served(discipline, servers, times),), coming)
    assert solution.response_time == pytest.approx(length[:, 0] / through, rel=1e-6)
    assert not solution.approximation


def test_several_servers_head_of_the_line_are_daviss_waits():
    rates, servers = np.array([0.8, 0.9, 0.7]), 2

    solution = solve_multiclass(
        [shared("cpu", (0.5,) * 3, servers, discipline=Discipline.PRIORITY)], opened(rates)
    )

    until = np.array([0, *np.cumsum(rates * 0.5)]) / servers
    wait = MMm(0.5, servers).waiting_time(rates.sum()) * (1 - until[-1])
    exact = 0.5 + wait / ((1 - until[:-1]) * (1 - until[1:]))
    assert solution.response_time == pytest.approx(exact, rel=AGREE)
    assert not solution.approximation


@pytest.mark.parametrize("servers", [1, 3])
@pytest.mark.parametrize("discipline", ["priority", "preemptive"])
def test_equal_priorities_go_in_order_of_arrival(servers, discipline):
    rates, times = (0.4, 0.3), (0.5, 1.5)

    def solved(discipline, priorities):
        station = shared("cpu", times, servers, discipline=Discipline(discipline))
        return solve_multiclass([station], opened(rates, priorities))

    one, fcfs = solved(discipline, (2, 2)), solved("fcfs", (1, 1))
    assert one.response_time == pytest.approx(fcfs.response_time, rel=AGREE)
    assert one.approximation == fcfs.approximation


def test_last_come_first_served_is_what_sharing_is():
    for classes in (opened((0.4, 0.2)), [JobClass("a", population=3), JobClass("b", 0.2)]):
        values = [
            solve_multiclass(
                [shared("cpu", (0.5, 0.7), discipline=d), shared("d", (1, 2))], classes
            )
            for d in (Discipline.LAST, Discipline.SHARING)
        ]
        assert values[0].response_time.tolist() == values[1].response_time.tolist()
        assert not values[0].approximation
    coming = (Coming(3, 0.7), Coming(2, 2.0))
    stations = (Served("lcfs", 1, (0.5, 1.7)), Served("ps", 1, (0.3, 0.2)))
    through, _ = solve_orders(stations, coming)
    closed = [
        JobClass(str(c), population=j.jobs, think_time=j.think_time) for c, j in enumerate(coming)
    ]
    exact = solve_multiclass(
        [
            SharedStation(str(k), s.times, (1, 1), discipline=Discipline(s.discipline))
            for k, s in enumerate(stations)
        ],
        closed,
    )
    assert exact.throughput == pytest.approx(through, rel=AGREE)


def test_random_order_has_the_mean_of_order_of_arrival():
    classes = opened((0.4, 0.3))
    values = [
        solve_multiclass([shared("cpu", (0.5, 1.7), discipline=d)], classes)
        for d in (Discipline.RANDOM, Discipline.FCFS)
    ]
    coming = [Coming(40, arrival_rate=0.2), Coming(40, arrival_rate=0.15)]
    through, length = solve_orders((Served("siro", 1, (0.5, 1.7)),), coming)
    half = solve_multiclass(
        [shared("cpu", (0.5, 1.7), discipline=Discipline.RANDOM)], opened((0.2, 0.15))
    )

    assert values[0].response_time.tolist() == values[1].response_time.tolist()
    assert half.response_time == pytest.approx(length[:, 0] / through, rel=1e-6)
    assert not half.approximation


def test_who_goes_first_does_not_see_that_others_find_a_full_station():
    station = shared("cpu", (0.5, 0.5), discipline=Discipline.PREEMPTIVE)
    classes = opened((1.0, 1.5))
    with pytest.raises(Saturated, match="cpu"):
        solve_multiclass([station], classes)

    marked = solve_multiclass([station], classes, saturation=Saturation.MARK)

    assert marked.response_time == pytest.approx([1.0, np.inf])
    waiting = shared("cpu", (0.5, 0.5), discipline=Discipline.PRIORITY)
    marked = solve_multiclass([waiting], classes, saturation=Saturation.MARK)
    exact = PriorityMG1((0.5, 0.5), (1.0, 1.0)).response_times((1.0, 1.5))
    assert marked.response_time == pytest.approx(exact)


def test_points_by_priority_are_solved_as_one_by_one():
    def solved(jobs, rate):
        station = shared("cpu", (0.5, 0.7), discipline=Discipline.PRIORITY)
        classes = [
            JobClass("web", arrival_rate=rate),
            JobClass("batch", population=jobs, priority=2),
        ]
        return solve_multiclass([station, shared("disk", (0.1, 0.9))], classes)

    table = solved(np.array([1, 4]), np.array([0.5, 1.1]))

    assert "by priority" in table.approximation
    for i, point in enumerate(((1, 0.5), (4, 1.1))):
        one = solved(*point)
        assert table.response_time[:, i] == pytest.approx(one.response_time, rel=1e-7)


def test_what_cannot_be_solved_by_priority_is_refused():
    station = shared("cpu", (0.5, 0.7), discipline=Discipline.PRIORITY)
    batch = JobClass("batch", population=3)
    crowd = [JobClass("a", population=60), JobClass("b", population=70, priority=2)]
    with pytest.raises(
        GraphError, match="cpu: closed classes with priorities have an exact solution only"
    ):
        solve_multiclass([station], crowd, Method.EXACT)
    with pytest.raises(
        Saturated,
        match="cpu: closed classes with higher priority leave too little capacity for class web",
    ):
        solve_multiclass([station], [batch, JobClass("web", 0.4, priority=2)])
    with pytest.raises(Saturated, match="cpu: utilisation 1.4"):
        solve_multiclass([station], [batch, JobClass("web", 2.0, priority=2)])
    for wrong in (0, 1.5, -1):
        with pytest.raises(
            InvalidParameter, match="class web: priority is .*; it must be a whole number"
        ):
            JobClass("web", 0.4, priority=wrong)


@pytest.mark.parametrize("servers", [1, 2])
@pytest.mark.parametrize("discipline", ["priority", "preemptive"])
def test_jobs_that_think_and_go_to_one_queue_are_solved_exactly(discipline, servers):
    times, coming = (
        (0.5, 1.2, 0.3),
        [Coming(2, 2.0), Coming(2, 1.0, None, 2), Coming(1, 0.5, None, 3)],
    )
    classes = [
        JobClass(str(c), population=j.jobs, think_time=j.think_time, priority=j.priority)
        for c, j in enumerate(coming)
    ]

    solution = solve_multiclass(
        [shared("cpu", times, servers, discipline=Discipline(discipline))], classes
    )

    through, length = solve_orders((Served(discipline, servers, times),), coming)
    assert solution.throughput == pytest.approx(through, rel=AGREE)
    assert solution.queue_length[0] == pytest.approx(length[:, 0], rel=AGREE)
    assert solution.method is Method.CHAIN
    assert not solution.approximation


def test_a_starved_class_leaves_the_chain_its_digits():
    """The empty state is as rare as 1e-24; counted over it the shares of all others were lost."""
    times = (1.004, 2.739)
    classes = [JobClass("a", None, 11, 3.766), JobClass("b", None, 15, 4.317, 2)]

    solution = solve_multiclass([shared("cpu", times, discipline=Discipline.PRIORITY)], classes)

    assert solution.method is Method.CHAIN
    assert solution.utilisation[0].sum() == pytest.approx(1.0, rel=1e-9)
    assert solution.throughput[1] == pytest.approx(0.0026, rel=0.01)


def test_last_come_at_several_servers_is_labelled():
    station = shared("cpu", (0.5, 0.7), 2, discipline=Discipline.LAST)
    alike = shared("cpu", (0.5, 0.5), 2, discipline=Discipline.LAST)

    assert (
        "approximated as processor sharing"
        in solve_multiclass([station], opened((0.4, 0.3))).approximation
    )
    assert not solve_multiclass([alike], opened((0.4, 0.3))).approximation


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "most"),
    [
        pytest.param("head of the line, closed, 2 classes of 1 to 4", ALONE, marks=SLOW),
        ("preemptive, closed, 2 classes of 1 to 4", ALONE),
        ("head of the line, open, 2 to 3 servers", (100.0, OPEN)),
        pytest.param("last first at 2 to 3 servers, closed", LAST, marks=SLOW),
        pytest.param("random order, closed", TURNS, marks=SLOW),
        ("in order of arrival, closed", TURNS),
    ],
)
def test_errors_are_those_that_answers_tell(name, most):
    misses = errors(FAMILIES[name], 4)

    assert (misses.max(axis=1) <= most).all()


@pytest.mark.slow
def test_random_order_at_two_queues_misses_what_the_page_says():
    """Median, 95 of 100 and largest errors of sixty networks whose chains are stored."""
    misses = random_order.errors()
    assert random_order.line(misses) in accuracy()
    assert (misses.max(axis=1) <= TURNS).all()


@pytest.mark.parametrize("draw", [3])
def test_the_stored_chain_is_solved_again(draw):
    """Nine digits are stored; 1e-8."""
    stations, classes = dict(random_order.networks(draw + 1))[draw]
    through, length = solve_orders(stations, classes)
    rates, times = random_order.stored()[draw]
    assert through == pytest.approx(rates, rel=1e-8)
    assert length.sum(axis=1) / through == pytest.approx(times, rel=1e-8)


def test_a_job_that_comes_back_at_once_may_not_go_first():
    """Last come first served, it is on top again as soon as it leaves: others are never served."""
    cpu = shared("cpu", (0.1, 0.1), discipline=Discipline.LAST)
    classes = [JobClass("a", arrival_rate=0.2), JobClass("b", population=1)]
    with pytest.raises(GraphError, match="class b returns at once and has priority"):
        solve_multiclass([cpu], classes)
    thinks = [classes[0], JobClass("b", population=1, think_time=1.0)]
    assert not solve_multiclass([cpu], thinks).approximation


def test_a_class_that_is_never_served_stays_for_ever():
    cpu = shared("cpu", (0.05, 0.02), discipline=Discipline.PREEMPTIVE)
    first, second = JobClass("a", population=1), JobClass("b", population=1, priority=2)
    onward = np.zeros((2, 1, 1, 2, 1))
    ways = Routing(np.ones((2, 1, 1)), onward)
    solution = solve_multiclass([cpu], [first, second], ways=ways)
    assert solution.queue_length.tolist() == [[1.0, 1.0]]
    assert solution.throughput.tolist() == [20.0, 0.0]
    assert np.isinf(solution.response_time[1])


def test_ties_of_open_and_closed_classes_are_not_called_exact():
    """Order of arrival in a rank, where state by state it is by chance: 0.06% apart (seed 851)."""
    cpu = shared("cpu", (0.2,) * 3, 2, discipline=Discipline.PRIORITY)
    first = JobClass("a", population=2, think_time=0.5)
    equals = [JobClass("b", population=1, think_time=0.5, priority=2),
              JobClass("c", arrival_rate=0.2, priority=2)]  # fmt: skip
    assert solve_multiclass([cpu], [first, *equals]).approximation
    pair = shared("cpu", (0.2,) * 2, 2, discipline=Discipline.PRIORITY)
    assert not solve_multiclass([pair], [first, equals[0]]).approximation


def test_a_way_of_such_stations_alone_is_no_better():
    """Two of them, one behind the other: the order of jobs never changes (seed 1889)."""
    both = [shared(name, (0.1, 0.1), discipline=Discipline.LAST) for name in ("s0", "s1")]
    with pytest.raises(GraphError, match="class a returns at once and has priority"):
        solve_multiclass(both, [JobClass("a", population=1), JobClass("b", population=2)])
    wait = shared("wait", (0.1, 0.1))
    jobs = [JobClass("a", population=1), JobClass("b", population=2)]
    assert not solve_multiclass([*both, wait], jobs).approximation


@pytest.mark.slow
def test_many_states_at_several_stations_are_left_to_mean_value_analysis():
    """Five stations of 3,960 states each took minutes to settle."""
    solution = parse_model(drawn(92, LARGE).text).solve()

    assert "approximate mean value analysis" in solution.approximation
    assert float(solution.values["s0.utilisation"]) < 1


def test_no_bound_is_stated_of_priorities_by_mean_value_analysis():
    """The page has single networks that are off by any factor, also where none starves."""
    page = accuracy().splitlines()
    place = next(
        k for k, r in enumerate(page) if r.startswith("| preemptive, closed, 2 classes of 1")
    )
    assert "577.2%" in page[place + 1]
    cpu = shared("cpu", (0.02, 0.3), 2, discipline=Discipline.PREEMPTIVE)
    classes = [JobClass("a", population=1), JobClass("b", population=2, priority=2)]
    solution = solve_multiclass([cpu], classes, "linearizer")
    assert solution.response_time[1] / 0.6 - 1 < -0.4  # of 0.6 s by the whole chain
    assert "the largest has no bound" in solution.approximation


def test_a_starved_class_is_named_where_it_is_only_approximated():
    """Eight jobs that come back at once leave the others a share of time that has no digits."""
    cpu = shared("cpu", (0.5, 0.7), discipline=Discipline.PREEMPTIVE)
    disk = shared("disk", (0.01, 0.7), discipline=Discipline.PREEMPTIVE)
    classes = [JobClass("a", population=30), JobClass("b", population=30, priority=2)]
    note = solve_multiclass([cpu, disk], classes, "linearizer").approximation
    assert "the largest has no bound: class b is starved" in note


def test_queues_beside_one_by_priority_are_named_too():
    """What comes from there is not Poisson: the second was 5% off without a word."""
    cpu = shared("cpu", (0.2, 0.5), discipline=Discipline.PRIORITY)
    disk, away = shared("disk", (0.1, 0.9)), shared("away", (1.0, 1.0), kind=ServiceKind.DELAY)
    classes = [JobClass("a", arrival_rate=0.4), JobClass("b", arrival_rate=0.4, priority=2)]
    note = solve_multiclass([cpu, disk, away], classes).approximation
    assert note.startswith("cpu: by priority, and what comes from there to disk; largest error")
    assert not solve_multiclass([cpu, away], classes).approximation
