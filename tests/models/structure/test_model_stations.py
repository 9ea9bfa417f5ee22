"""Stations of every kind in a graph: with losses, from a file and back, to percentiles."""

import json

import numpy as np
import pytest
from scipy.stats import gamma

from headway.errors import GraphError, InvalidParameter
from headway.models import ModelGraph, parse_model
from headway.queueing import MM1, MM1K, Delay, erlang_b
from headway.queueing.stations.listed.kinds import STATIONS, product_form_kinds, station_kind


def test_stations_that_lose():
    graph = ModelGraph("g").station("door", MM1K(0.1, 3)).station("desk", MM1(0.05))
    solved = graph.route("door", "desk").at().solve(arrival_rate=15.0)

    lost = MM1K(0.1, 3).loss_probability(15.0)
    assert solved["loss_probability"] == pytest.approx(lost, rel=1e-12)
    assert solved.throughput == pytest.approx(15 * (1 - lost), rel=1e-12)
    assert solved["desk.throughput"] == pytest.approx(solved.throughput, rel=1e-12)
    value = solved["door.queue_length"] + solved["desk.queue_length"]
    assert value == pytest.approx(solved.throughput * solved.response_time, rel=1e-12)
    assert solved.saturation_throughput == np.inf
    assert "assumed Poisson" in solved.approximation


def test_losses_in_a_loop_agree_with_visits():
    graph = ModelGraph("g").station("cpu", MM1K(0.1, 4)).station("wan", Delay(0.1))
    graph = graph.route("cpu", "wan", 0.5).route("wan", "cpu")

    solved = graph.at().solve(arrival_rate=6.0)

    offered = solved["cpu.arrival_rate"]
    lost = MM1K(0.1, 4).loss_probability(offered)
    assert offered == pytest.approx(6 + 0.5 * offered * (1 - lost), rel=1e-12)
    assert solved.throughput == pytest.approx(6 - offered * lost, rel=1e-12)


KINDS = {
    "Delay": {"service_time": "50 ms"},
    "MM1": {"service_time": "50 ms"},
    "MMm": {"service_time": "50 ms", "servers": 3},
    "MM1K": {"service_time": "50 ms", "capacity": 4},
    "MMmK": {"service_time": "50 ms", "servers": 3, "capacity": 3},
    "GIMmK": {"service_time": "50 ms", "servers": 3, "capacity": 5, "arrival_scv": 0},
    "MD1": {"service_time": "50 ms"},
    "MG1": {"service_time": "50 ms", "scv": 2},
    "MGm": {"service_time": "50 ms", "servers": 2, "scv": 2},
    "GGm": {"service_time": "50 ms", "servers": 2, "arrival_scv": 0.5, "scv": 2},
    "LoadDependent": {"rates": ["20 /s", "30 /s", "40 /s"]},
    "Parallel": {"service_time": "50 ms", "servers": 3},
    "WakeUp": {"request_time": "50 ms", "wake_up": "20 ms"},
    "Slowing": {"request_time": "50 ms", "growth": 0.1, "crowd": 8},
    "UnequalServers": {"service_times": ["50 ms", "80 ms"]},
    "FastestFirst": {"service_times": ["50 ms", "80 ms"]},
    "Batch": {"batch_time": "50 ms", "request_time": "10 ms", "largest_batch": 4},
    "BatchK": {"batch_time": "50 ms", "request_time": "10 ms", "largest_batch": 4, "capacity": 9},
    "Quota": {"service_time": "20 ms", "quota": 0.6, "period": "100 ms"},
    "ForkJoin": {"service_time": "50 ms", "branches": 4, "needed": 3, "scv": 2},
}


def model_of(kind):
    table = "".join(f"{key} = {json.dumps(value)}\n" for key, value in KINDS[kind].items())
    head = 'name = "g"\n[parameters]\narrival_rate = "10 /s"\n'
    return parse_model(f'{head}[stations.x]\nkind = "{kind}"\n{table}')


@pytest.mark.parametrize("kind", STATIONS)
def test_every_kind_from_a_file_and_back(kind):
    model = model_of(kind)

    solved = model.solve()

    assert 0 < solved.response_time < 1
    inside = solved.throughput * solved.response_time
    assert solved["x.queue_length"] == pytest.approx(inside, rel=1e-12)
    again = parse_model(model.to_toml())
    assert again.to_toml() == model.to_toml()
    assert again.solve().response_time == solved.response_time


def test_full_house_is_erlang_b():
    assert model_of("MMmK").solve()["loss_probability"] == pytest.approx(
        erlang_b(3, 0.5), rel=1e-12
    )


@pytest.mark.parametrize("kind", STATIONS)
def test_closed_networks_hold_the_product_form_kinds(kind):
    if kind in product_form_kinds():
        assert model_of(kind).solve(population=5).throughput > 0
    elif station_kind(kind).can.forks:
        assert "of simulations" in model_of(kind).solve(population=5).approximation
    elif station_kind(kind).can.mixed:
        assert "largest error measured" in model_of(kind).solve(population=5).approximation
    else:
        with pytest.raises(GraphError, match="no closed product form"):
            model_of(kind).solve(population=5)


def test_percentiles():
    one = ModelGraph("one").station("cpu", MM1(0.01)).at()

    solved = one.solve(arrival_rate=np.array([0.0, 50.0])).with_percentile(95)

    # An M/M/1's response time is exponential. Tolerance: the transform's inversion.
    expected = -np.log(0.05) * 0.01 / (1 - np.array([0.0, 0.5]))
    np.testing.assert_allclose(solved["response_time_p95"], expected, rtol=1e-7)
    assert solved.approximation == ""  # one visit: nothing to be independent of
    # Three without think time: each waits for the two others, and is served.
    closed = one.solve(population=3)["response_time_p95"]
    assert gamma.sf(closed, 3, scale=0.01) == pytest.approx(0.05, rel=1e-9)
    with pytest.raises(InvalidParameter, match="between 0 and 100"):
        one.solve(arrival_rate=1.0).with_percentile(100)


def test_a_response_time_by_formula_has_no_percentile():
    graph = ModelGraph("g").declare("wait").station("cpu", MM1(0.001))
    graph = graph.output("response_time", "wait * throughput + cpu.response_time")

    with pytest.raises(GraphError, match="its response time is a formula"):
        graph.at(wait=0.001, arrival_rate=10.0).solve().with_percentile(95)
