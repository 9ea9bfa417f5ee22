"""Forks job by job, held to exact laws and to other simulations."""

import math

import pytest

from headway.models import ModelGraph
from headway.queueing import MG1, MM1, ForkJoin, Parallel
from tests.campaigns.closed_forks import Case, stored
from tests.campaigns.unlike_forks import case
from tests.campaigns.unlike_forks import stored as open_ones


def simulated(model, half_width=0.06):
    return model.simulate(half_width=half_width, seed=17, at_most=math.inf)


def within(estimate, value):
    """In the interval of 99%; one fixed seed."""
    assert estimate.holds(value, 0.99)


def test_two_exponential_branches_take_what_nelson_and_tantawi_say():
    """(12 - U) / 8 of M/M/1, for unlike stations of a route and for a fork of its own."""
    exact = (12 - 0.5) / 8 * MM1(1.0).response_time(0.5)
    pair = ModelGraph("g").station("cpu", MM1(0.01)).station("a", MM1(1.0)).station("b", MM1(1.0))
    pair = pair.fork("both", ["a", "b"]).route("cpu", "both").at(arrival_rate=0.5)
    simulation = simulated(pair)
    within(simulation["both.response_time"], exact)
    within(simulation["a.utilisation"], 0.5)
    within(simulation["response_time"], exact + MM1(0.01).response_time(0.5))
    alike = ModelGraph("g").station("disks", ForkJoin(1.0, 2, 2)).at(arrival_rate=0.5)
    simulation = simulated(alike)
    within(simulation["disks.response_time"], exact)
    within(simulation["disks.utilisation"], 0.5)


@pytest.mark.parametrize("number", [23, 90])
def test_unlike_branches_take_what_all_queues_at_once_do(number):
    """Two cases of the table, with further arrivals of branches' own."""
    fork, rate = case(number)
    graph = ModelGraph("g").station("door", MM1(0.0)).arrive("door", rate)
    names = [f"b{k}" for k in range(len(fork.branches))]
    for name, branch, other in zip(names, fork.branches, fork.others, strict=True):
        graph = graph.station(name, branch)
        graph = graph.arrive(name, other * rate) if other else graph
    graph = graph.fork("fork", names, float(fork.needed)).route("door", "fork")
    row = next(row for row in open_ones() if row[0] == number)
    within(simulated(graph.at())["fork.response_time"], row[2])


def test_the_first_of_three_leaves_the_others_behind():
    """A part that nobody waits for is done all the same, and joins no later round of its job."""
    model = ModelGraph("g").station("disks", ForkJoin(1.0, 3, 1)).at().closed(1, 50.0)
    simulation = simulated(model)
    within(simulation["disks.response_time"], 1 / 3)
    within(simulation["disks.utilisation"], 1.0 / (50 + 1 / 3))


@pytest.mark.parametrize("number", [40, 57])
def test_jobs_that_circulate_do_what_another_simulation_says(number):
    """Two like branches among two jobs, two unlike ones among three."""
    row = next(row for row in stored() if row[0] == number)
    within(simulated(Case(number).model())["throughput"], row[1])


def test_two_parts_go_to_different_queues_side_by_side():
    """So that each queue has Poisson arrivals."""
    graph = ModelGraph("g").station("cpu", MM1(0.01)).station("disks", Parallel(1.0, 4))
    graph = graph.station("log", MG1(0.5, 0.5)).fork("w", ["disks", "disks", "log"])
    simulation = simulated(graph.route("cpu", "w").at(arrival_rate=0.6))
    within(simulation["disks.utilisation"], 0.6 * 2 / 4)
    within(simulation["log.utilisation"], 0.3)
    within(simulation["disks.response_time"], MM1(1.0).response_time(0.3))
