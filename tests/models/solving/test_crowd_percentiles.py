"""Percentiles of several classes of which some circulate."""

import numpy as np
import pytest

from headway.models import ModelGraph, parse_model
from headway.models.solving.response_times import closed_classes
from headway.models.solving.response_times.closed_classes import closed_class_laws
from headway.queueing import MM1, Delay
from tests.campaigns.percentile_errors import CROWDS, crowd_errors
from tests.queueing.sojourn.test_closed_percentiles import stated


def line():
    stations = (
        ModelGraph("g").station("a", MM1(1.0)).station("b", MM1(0.7)).station("c", Delay(2.0))
    )
    return stations.route("a", "b").route("b", "c")


@pytest.mark.parametrize("percent", [50, 95, 99.9])
def test_classes_that_do_the_same_are_one(percent):
    """Up to the slope by which times are stretched to the mean, 1e-7."""
    both = (
        line().job_class("x", population=3, think_time=5).job_class("y", population=4, think_time=5)
    )
    name = f"response_time_p{percent:g}"
    one = line().at().closed(7, 5.0).solve()[name]
    solution = both.at().solve().with_percentile(percent)
    for result in (solution[f"class x.{name}"], solution[f"class y.{name}"], solution[name]):
        assert result == pytest.approx(one, rel=1e-6)
    assert not solution.approximation


def test_several_percentiles_of_classes_take_laws_once_a_point(monkeypatch):
    """Alone they are the same numbers."""
    rows = []

    def counting(point):
        rows.append(point)
        return closed_class_laws(point)

    monkeypatch.setattr(closed_classes, "closed_class_laws", counting)
    graph = line().job_class("y", population=4).declare("jobs")
    graph = graph.job_class("x", population="jobs", think_time=5)
    solution = graph.at(jobs=[2, 3]).solve()

    several = solution.with_percentiles([50, 95])

    assert len(rows) == 2
    for name in ("response_time_p50", "class y.response_time_p95"):
        assert several[name].tolist() == solution[name].tolist()


def test_a_station_alone_with_open_jobs_is_exact_in_the_mean_and_near_in_the_tail():
    """Closed jobs find an open queue as if the server were slower: M/M/1 with 1 / (1 - U)."""
    graph = ModelGraph("m").station("s", MM1(1.0)).job_class("web", arrival_rate=0.5)
    name = "class batch.response_time_p99"
    mixed = graph.job_class("batch", population=3, think_time=10).at().solve()[name]
    slower = (
        ModelGraph("s").station("s", MM1(2.0)).at().closed(3, 10.0).solve()["response_time_p99"]
    )
    assert mixed == pytest.approx(slower, rel=1e-6)


def test_a_class_without_end_has_none():
    graph = ModelGraph("m").station("s", MM1(1.0)).job_class("web", arrival_rate=1.5)
    solution = graph.job_class("batch", population=3, think_time=10).at().solve()
    assert np.isinf(solution.with_percentile(95)["class web.response_time_p95"])


@pytest.mark.slow
@pytest.mark.parametrize("name", [next(iter(CROWDS)), next(reversed(CROWDS))])
def test_simulated_networks_are_within_what_is_said(name):
    worst = 100 * np.abs(crowd_errors(*CROWDS[name], count=1)).max(axis=0)
    assert (worst <= np.array(stated()[name]) + 0.005).all()


ALONE = """
name = "alone"
routes = [
  { from = "wire", to = "cpu", probability = 0.6 },
  { from = "cpu", to = "wire", probability = 0.2 },
]

[stations.wire]
kind = "Delay"
service_time = "1 ms"

[stations.cpu]
kind = "MM1"
service_time = "5 ms"

[classes.some]
arrival_rate = "0.5 op/s"

[classes.none]
population = 0
think_time = "20 ms"
"""


def test_a_class_beside_one_without_jobs_is_as_the_network_without_it():
    both = parse_model(ALONE).solve().with_percentile(95)
    text, _, _ = ALONE.partition("[classes.none]")
    one = parse_model(text).solve().with_percentile(95)
    name = "class some.response_time_p95"
    assert both[name] == pytest.approx(one[name], rel=0.01)  # who comes back: FOLLOWED


def test_jobs_that_only_meet_delays_do_not_wait():
    text = """
name = "delays"
routes = [{ from = "wire", to = "wire", probability = 0.2 }]

[stations.wire]
kind = "Delay"
service_time = "1 ms"

[classes.open]
arrival_rate = "0.5 op/s"

[classes.closed]
population = 4
"""
    solution = parse_model(text).solve().with_percentile(50)
    for name in ("open", "closed"):
        assert solution[f"class {name}.response_time_p50"] == pytest.approx(1e-3, rel=1e-9)


def test_a_class_that_goes_nowhere_takes_no_time():
    text = """
name = "nowhere"

[stations.wire]
kind = "Delay"
service_time = "20 ms"
visits = { open = 1 }

[classes.closed]
population = 4
think_time = "20 ms"

[classes.open]
arrival_rate = "1.5 op/s"
"""
    solution = parse_model(text).solve().with_percentile(95)
    assert solution["class closed.response_time_p95"] == 0
    assert solution["class open.response_time_p95"] == pytest.approx(0.02, rel=1e-9)
