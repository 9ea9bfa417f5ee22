"""Forks in closed networks: exact for one job, near simulations of more."""

import csv
import io

import numpy as np
import pytest

from headway.errors import GraphError, InvalidParameter, Saturated
from headway.models import ModelGraph
from headway.queueing import MG1, MM1, Delay, Fork, ForkJoin, MMm, Parallel, Quota
from headway.queueing.forks.closed import APPROXIMATION, SOME
from tests.campaigns.closed_forks import Case, stored, summary_rows, table
from tests.support.command import headway
from tests.support.pages import accuracy


def closed(fork, population, think=0.0, needed=None, **numbers):
    """A processor, and a fork to two disks or the like of it."""
    graph = ModelGraph("g")
    for name in numbers:
        graph = graph.declare(name)
    graph = graph.station("cpu", MM1(0.3))
    if fork is None:
        graph = graph.station("disk", MM1(1.0)).station("log", MG1(0.5, 0.5))
        graph = graph.fork("fork", ["disk", "log"], needed)
    else:
        graph = graph.station("fork", fork)
    return graph.route("cpu", "fork").at(numbers).closed(population, think)


@pytest.mark.slow
def test_the_table_of_the_page_is_that_of_the_simulation():
    rows = summary_rows(stored())
    assert table(rows) in accuracy()
    for needed, label in (("all", APPROXIMATION), ("some", SOME)):
        parts = [parts.max(axis=1) for which, *_, parts in rows if which == needed]
        rate, time = np.max(parts, axis=0)
        assert f"throughput within {np.ceil(rate):.0f}% of simulations" in label
        assert f"response time within {np.ceil(time):.0f}%" in label


def test_one_job_takes_the_slowest_of_its_services():
    """Exact: mean of the longer of two exponential ones 3/2, of unlike ones by `Fork` at rest."""
    solution = closed(ForkJoin(1.0, 2, 2), 1, think=0.2).solve()
    assert solution.throughput == pytest.approx(1 / (0.3 + 1.5 + 0.2), rel=1e-9)
    alone = Fork((MM1(1.0), MG1(0.5, 0.5)), 2).response_time(0.0)
    assert closed(None, 1).solve().response_time == pytest.approx(0.3 + alone, rel=1e-9)


@pytest.mark.parametrize("jobs", [1, 2, 7, 30])
def test_where_nothing_is_waited_for_it_is_the_exact_network(jobs):
    """One branch is a queue; pools, delays and queues side by side are as without a fork."""
    graph = ModelGraph("g").station("cpu", MM1(0.3)).station("pool", MMm(1.2, 4))
    graph = graph.station("rest", Delay(0.5)).station("many", Parallel(0.8, 3))
    values = [
        g.route("cpu", "pool").route("pool", "rest").route("rest", "many").route("many", "disk")
        .at().closed(jobs, 1.0).solve()
        for g in (graph.station("disk", MM1(0.4)), graph.station("disk", ForkJoin(0.4, 1, 1)))
    ]  # fmt: skip
    assert values[0].method == "exact" or values[0].approximation == ""
    assert values[1].throughput == pytest.approx(values[0].throughput, rel=1e-9)
    for name in ("cpu", "pool", "many", "disk"):
        part = f"{name}.queue_length"
        assert values[1][part] == pytest.approx(values[0][part], rel=1e-8)


@pytest.mark.parametrize(("branches", "needed"), [(2, 1), (5, 3), (8, 7)])
@pytest.mark.parametrize("jobs", [1, 4])
def test_like_stations_are_a_fork_of_like_branches(branches, needed, jobs):
    """By name one by one, or as many of a kind: within 1e-6, as they are integrated apart."""
    one = closed(ForkJoin(1.0, branches, needed), jobs, 2.0).solve()
    graph = ModelGraph("g").station("cpu", MM1(0.3))
    names = [f"disk{k}" for k in range(branches)]
    for name in names:
        graph = graph.station(name, MM1(1.0))
    graph = graph.fork("fork", names, needed).route("cpu", "fork")
    many = graph.at().closed(jobs, 2.0).solve()
    assert many.throughput == pytest.approx(one.throughput, rel=1e-6)
    assert SOME in one.approximation
    assert SOME in many.approximation


def test_whoever_goes_first_leaves_parts_behind():
    """One job, the first of n exponential ones, nothing else: at rest n / S, in truth 1 / S.

    Its own leftover parts wait before the next, so that no branch ever rests.
    """
    for branches in (2, 3, 8):
        solution = (
            ModelGraph("g").station("fork", ForkJoin(0.5, branches, 1)).at().closed(1).solve()
        )
        assert solution.throughput == pytest.approx(2.0, rel=1e-6)


def test_few_are_needed_among_many_who_think():
    """So many that think so long are as good as an open network: within 1%, of 400 jobs."""
    fork = ForkJoin(1.0, 4, 2)
    solution = ModelGraph("g").station("fork", fork).at().closed(400, 800.0).solve()
    opened = fork.response_time(solution.throughput)
    assert solution.response_time == pytest.approx(opened, rel=0.01)


def test_more_are_needed_and_it_takes_longer():
    times = [closed(ForkJoin(1.0, 6, k), 5, 1.0).solve().response_time for k in range(1, 7)]
    assert (np.diff(times) > 0).all()
    model = closed(ForkJoin(1.0, 6, "enough"), 5, 1.0, enough=np.array([1, 4, 6]))
    swept = model.solve().response_time
    assert list(swept) == pytest.approx([times[0], times[3], times[5]], rel=1e-7)


def test_more_jobs_bring_more_up_to_the_busiest_branch():
    for fork in (None, ForkJoin(1.0, 8, 8), ForkJoin(1.0, 3, 3, 0.2)):
        solution = closed(fork, np.arange(0, 60)).solve()
        assert solution.throughput[0] == 0
        assert (np.diff(solution.throughput) > -1e-12).all()
        assert 0.98 < solution.throughput[-1] <= 1.0 + 1e-9
        few = closed(fork, 7).solve()
        assert few.throughput == pytest.approx(solution.throughput[7], rel=1e-12)


def test_it_says_that_it_is_approximate_and_where_jobs_are():
    solution = closed(None, 5, think=2.0).solve()
    assert APPROXIMATION in solution.approximation
    assert APPROXIMATION in solution.to_json()
    assert solution["disk.residence_time"] == 0
    assert solution["disk.utilisation"] == pytest.approx(solution.throughput)
    times = solution["cpu.residence_time"] + solution["fork.residence_time"]
    assert solution.response_time == pytest.approx(times)
    assert solution.throughput * (solution.response_time + 2.0) == pytest.approx(5)
    limits = solution.bounds()["asymptotic"]
    assert limits.throughput_lower < solution.throughput < limits.throughput_upper


def test_a_simulation_anew_finds_the_same():
    """Case 5 with a tenth of the rounds, within 3%."""
    number, rate, time = next(row for row in stored() if row[0] == 5)
    again = Case(int(number)).simulated(6_000)
    assert again == pytest.approx((rate, time), rel=0.03)


def test_what_is_not_known_is_refused():
    with pytest.raises(Saturated, match="disk: fork sends .* times what it can serve"):
        closed(None, 5, needed=1).solve()
    with pytest.raises(GraphError, match="do not set method exact"):
        closed(None, 5).solve(method="exact")
    with pytest.raises(InvalidParameter, match="supports at most 10,000"):
        closed(ForkJoin(1.0, 2, 2), 20_000).solve()
    with pytest.raises(GraphError, match="percentiles|its response time distribution"):
        closed(None, 5).solve().with_percentile(99)
    graph = ModelGraph("g").station("cpu", Quota(0.1, 0.5, 1.0)).station("d", ForkJoin(1.0, 2, 2))
    with pytest.raises(GraphError, match="Quota is not supported in a closed network with a fork"):
        graph.route("cpu", "d").at().closed(3, 0.0).solve()


def test_a_delay_takes_its_time_however_long_the_queues():
    """Two seconds at a delay are two where the branches are always busy, too."""
    graph = ModelGraph("g").station("rest", Delay(2.0)).station("disk", MM1(1.0))
    graph = graph.station("log", MM1(0.5)).fork("fork", ["disk", "log"]).route("rest", "fork")
    solution = graph.at().closed(10, 0.0).solve()
    assert solution["rest.residence_time"] == pytest.approx(2, rel=1e-12)
    assert solution["rest.queue_length"] == pytest.approx(2 * solution.throughput, rel=1e-12)
    assert solution.response_time == pytest.approx(10 / solution.throughput, rel=1e-9)


def test_what_no_job_reaches_beside_a_fork_is_named():
    graph = ModelGraph("x").station("rest", Delay(2.0)).station("disk", MM1(1.0))
    graph = graph.station("log", MM1(0.5)).station("tape", MM1(1.0))
    graph = graph.fork("fork", ["disk", "log"]).route("rest", "fork")
    with pytest.raises(GraphError, match=r"no job comes to tape; add a route to it, or remove it"):
        graph.at().closed(10, 0.0).solve()
    ends = r"no job comes to tape; the parts of fork end at its branch log, so that log -> tape is"
    with pytest.raises(GraphError, match=ends):
        graph.route("log", "tape").at().closed(10, 0.0).solve()


def test_the_knee_holds_what_a_fork_takes():
    """Of three exponential branches the slowest takes 11/6 of one; the busiest serves one a second.

    Bounds by the least time among all and the busiest one: one job, and as many as one likes.
    """
    solution = closed(ForkJoin(1.0, 3, 3), 1, think=0.2).solve()
    assert solution.knee_population == pytest.approx(0.2 + 0.3 + 11 / 6, rel=1e-9)
    assert solution.saturation_throughput == pytest.approx(1.0)
    assert solution.knee_population == pytest.approx(1 / solution.throughput, rel=1e-9)
    unlike = closed(None, 1, think=0.2).solve()
    assert unlike.knee_population == pytest.approx(0.2 + unlike.response_time, rel=1e-9)


def test_kinds_lists_what_only_files_write():
    rows = csv.DictReader(io.StringIO(headway("kinds", "--csv").out))
    listed = {row["kind"]: (row["numbers"], row["closed"]) for row in rows}
    assert listed["Fork"] == ("branches, needed", "nearly")
    assert listed["Join"] == ("fork, needed", "nearly")
    assert listed["ForkJoin"][1] == "nearly"
    assert listed["FiniteSource"] == ("service_time, servers, sources, think_time", "yes")
