"""Stations and regions that no job comes to, and estimates of cost beyond all numbers."""

import numpy as np
import pytest

from headway.errors import GraphError
from headway.models import ModelGraph, parse_model
from headway.queueing import (
    MM1,
    MM1K,
    Discipline,
    JobClass,
    LoadDependent,
    MMm,
    MMmK,
    SharedStation,
    solve_multiclass,
)
from headway.queueing.blocking.solve_blocking import BlockingMethod as Way
from headway.queueing.blocking.solve_blocking import solve_blocking
from headway.queueing.network.blocking import Blocking, BlockingNetwork, Room

REGION = """
name = "reg"
[parameters]
population = 20
think_time = "50 ms"
miss = 0.0
[stations.web]
kind = "MM1"
service_time = "1 ms"
[stations.db]
kind = "MMm"
service_time = "8 ms"
servers = 4
[regions.pool]
stations = ["db"]
limit = 8
[[routes]]
from = "web"
to = "db"
probability = "miss"
"""


@pytest.mark.parametrize("jobs", [20, 3000])
def test_a_region_that_no_job_comes_to_is_empty(jobs):
    """As the network without it; with many jobs, which a chain does not hold, too."""
    held = parse_model(REGION).solve(population=jobs)
    web = ModelGraph("web").station("web", MM1(0.001)).at().closed(jobs, 0.05).solve()
    assert held.throughput == pytest.approx(web.throughput, rel=1e-9)
    assert held["pool.full"] == held["pool.utilisation"] == held["db.queue_length"] == 0
    assert held.saturation_throughput == pytest.approx(1000, rel=1e-9)


def test_open_networks_beside_a_region_without_jobs_are_product_forms():
    graph = ModelGraph("open").station("a", MM1(0.1)).station("b", MM1(0.1))
    graph = graph.station("c", MM1(0.05)).station("d", MMm(0.1, 2)).region("pool", ["d"], limit=3)
    held = graph.route("a", "b").route("b", "c").route("b", "d", 0.0).at().solve(5.0)
    alone = ModelGraph("open").station("a", MM1(0.1)).station("b", MM1(0.1))
    plain = alone.station("c", MM1(0.05)).route("a", "b").route("b", "c").at().solve(5.0)
    assert held.response_time == pytest.approx(plain.response_time, rel=1e-12)
    assert not plain.approximation
    assert held.saturation_throughput == pytest.approx(10, rel=1e-12)


@pytest.mark.parametrize("way", [Way.CHAIN, Way.DECOMPOSITION])
def test_jobs_do_not_begin_where_no_job_comes(way):
    """Two of them circulate at one server, as they do without the station that has more room."""
    rooms = Room(0.6, 1, 3, Blocking.AFTER_SERVICE), Room(1.7, 3)
    back = np.array([[0.0, 0.0], [1.0, 0.0]])
    network = BlockingNetwork(rooms, back, np.array([1.0, 0.0]), population=2)
    stations = [MM1K(0.6, 3), MMm(1.7, 3)]
    solution = solve_blocking(network, stations, way)
    assert solution.throughput == pytest.approx(1 / 0.6, rel=1e-9)
    assert solution.queue_length == pytest.approx([2, 0], rel=1e-7, abs=1e-9)


def test_more_jobs_than_the_visited_stations_hold_are_refused_by_name():
    graph = ModelGraph("t").station("s0", MM1K(0.6, 2), blocking="after service")
    graph = graph.station("s1", MMm(1.7, 3)).route("s1", "s0", 0.142).route("s0", "s1", 0.0)
    held = r"s0 .* 2 places for 4 jobs, and no job comes to another station"
    with pytest.raises(GraphError, match=held):
        graph.at().closed(4, 0.0).solve()
    assert graph.at().closed(2, 0.0).solve().throughput == pytest.approx(1 / 0.6, rel=1e-9)


@pytest.mark.parametrize("kind", ["open or closed", "several classes"])
def test_a_station_without_a_route_is_refused_by_name(kind):
    graph = ModelGraph("m").station("q", MM1(0.1)).station("d", MMm(0.2, 2))
    if kind == "several classes":
        graph = graph.job_class("a", population=3, think_time=0.5).job_class("b", arrival_rate=1)
    with pytest.raises(GraphError, match="m: no job comes to d; add a route to it, or remove it"):
        graph.at()


def test_a_pool_that_serves_the_last_first_may_have_no_jobs():
    times = (0.1, 0.3)
    q = SharedStation("q", times, (1, 1))
    pool = SharedStation("d", (0.2, 0.1), (0, 0), servers=2, discipline=Discipline.LAST)
    two = [JobClass("a", population=3, think_time=0.5), JobClass("b", population=2, think_time=1.0)]
    both, one = solve_multiclass([q, pool], two), solve_multiclass([q], two)
    assert both.throughput == pytest.approx(one.throughput, rel=1e-9)
    assert not both.approximation


def test_many_classes_at_many_stations_are_solved():
    """Estimates of what exact methods cost are beyond all numbers."""
    random = np.random.default_rng(1)
    for classes, jobs in ((10, 500), (20, 10_000)):
        times = random.random((100, classes))
        stations = [SharedStation(f"s{k}", tuple(row), (1,) * classes) for k, row in
                    enumerate(times)]  # fmt: skip
        many = [JobClass(f"c{c}", population=jobs // classes) for c in range(classes)]
        solution = solve_multiclass(stations, many, "schweitzer" if jobs > 500 else "auto")
        assert "approximate" in solution.approximation
        assert solution.queue_length.sum() == pytest.approx(jobs, rel=1e-6)


@pytest.mark.parametrize(("sources", "think"), [(4, 2.0), (4, 1.0), (9, 3.0)])
def test_sources_that_are_turned_away_think_again(sources, think):
    """Engset: chances binom(N, n) a**n up to m, who comes meets N - 1 sources, m / S saturates."""
    servers, time = 2, 2.0
    graph = ModelGraph("engset").station("s", MMmK(time, servers, servers), blocking="repetitive")
    solution = graph.at().closed(sources, think).solve()

    def chances(many):
        weights = [1.0]
        for n in range(1, servers + 1):
            weights.append(weights[-1] * (many - n + 1) / n * time / think)
        return np.array(weights) / sum(weights)

    busy = float(chances(sources) @ [0, 1, 2])
    assert solution.throughput == pytest.approx(busy / time, rel=1e-9)
    assert solution["s.call_blocking"] == pytest.approx(chances(sources - 1)[-1], rel=1e-9)
    assert solution.saturation_throughput == pytest.approx(servers / time, rel=1e-8)
    assert solution.knee_population == pytest.approx((think + time) * servers / time, rel=1e-8)
    assert "call blocking" in " ".join(str(solution).split()) or "call" in str(solution)


def test_what_works_in_a_region_is_what_its_jobs_keep_working():
    """By flow equivalence too: a station that slows down is as busy as its number law says.

    One that holds two jobs at most, before which the others wait: a chain of the number there.
    """
    slow = LoadDependent((1.0, 0.7))
    graph = ModelGraph("g").station("web", MM1(0.3)).station("db", slow).region("pool", ["db"], 2)
    solution = graph.route("web", "db").at().closed(4, 0.0).solve()
    rates = [1.0, 0.7, 0.7, 0.7]
    weights = np.cumprod([1.0, *(1 / 0.3 / np.array(rates))])
    assert solution["db.utilisation"] == pytest.approx(1 - weights[0] / weights.sum(), rel=1e-9)
    assert solution.throughput == pytest.approx((1 - weights[-1] / weights.sum()) / 0.3, rel=1e-9)
