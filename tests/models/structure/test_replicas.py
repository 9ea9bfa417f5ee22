"""Replicas of a whole model: each gets a random share of what arrives."""

import numpy as np
import pytest

from headway.errors import GraphError, InvalidParameter, UnknownParameter
from headway.models import ModelGraph, catalogue_model, read_model
from headway.queueing import MM1, MM1K, MMm

ONE = ModelGraph("one").declare("s").station("cpu", MM1("s")).at(s=1e-3)


def test_a_replica_gets_its_share():
    for replicas in (1, 2, 7):
        answer = ONE.at(arrival_rate=900, replicas=replicas).solve()
        assert answer.throughput == pytest.approx(900 / replicas, rel=1e-12)
        assert answer.response_time == pytest.approx(1e-3 / (1 - 0.9 / replicas), rel=1e-12)


def test_who_asks_for_servers_that_there_are_none_of_is_offered_replicas():
    with pytest.raises(UnknownParameter, match="no parameter 'servers'; there are .*replicas"):
        ONE.at(servers=4)
    with pytest.raises(UnknownParameter, match="there are population, s, think_time"):
        ONE.closed(3).at(servers=4)


def test_replicas_of_a_network_with_several_entrances():
    graph = (
        ModelGraph("two")
        .station("web", MMm(0.01, 3))
        .station("disk", MM1(0.004))
        .route("web", "disk", 0.5)
        .arrive("web", "arrival_rate")
        .arrive("disk", "arrival_rate / 4")
    )
    whole, shared = graph.at(arrival_rate=50).solve(), graph.at(arrival_rate=150, replicas=3)
    assert shared.solve().response_time == pytest.approx(whole.response_time, rel=1e-12)


def test_replicas_of_classes():
    graph = (
        ModelGraph("shop")
        .declare("rate")
        .station("cpu", MM1(0.01))
        .job_class("web", arrival_rate="rate")
        .job_class("batch", arrival_rate=10.0)
    )
    whole = graph.at(rate=20).solve()
    halves = graph.at(rate=20, replicas=2).solve()
    assert halves["class web.throughput"] == pytest.approx(10, rel=1e-12)
    assert halves["class batch.throughput"] == pytest.approx(5, rel=1e-12)
    assert halves["class web.response_time"] < whole["class web.response_time"]


@pytest.mark.parametrize("order", ["arrivals first", "replicas first"])
def test_a_random_share_of_a_regular_flow_is_less_regular(order):
    """The time between those of a share p is geometric in whole periods: scv 1 - p."""
    if order == "arrivals first":
        model = ONE.arriving(0.0).at(arrival_rate=2000, replicas=4)
    else:
        model = ONE.at(arrival_rate=2000, replicas=4).arriving(0.0)
    rng = np.random.default_rng(1)
    gaps = rng.geometric(0.25, 400_000) / 2000
    service, wait, waits = rng.exponential(1e-3, gaps.size), 0.0, []
    for gap, time in zip(gaps, service, strict=True):
        waits.append(wait + time)
        wait = max(wait + time - gap, 0.0)
    batches = np.mean(np.reshape(waits, (40, -1)), axis=1)
    error = batches.std(ddof=1) / np.sqrt(40)
    # G/G/m by two moments: within 4 standard errors and the 3% that the renewal law differs by
    away = abs(model.solve().response_time - batches.mean())
    assert away < 4 * error + 0.03 * batches.mean()


def test_replicas_of_a_room_with_regular_arrivals():
    graph = ModelGraph("room").station("cpu", MM1K(1e-3, 5))
    one = graph.at(arrival_rate=600).arriving(0.5).solve()
    shared = graph.at(arrival_rate=1200).arriving(0.0).at(replicas=2).solve()
    assert shared.throughput == pytest.approx(one.throughput, rel=1e-12)


def test_a_model_file_keeps_them(tmp_path):
    model = ONE.at(arrival_rate=900, replicas=2)
    path = tmp_path / "one.toml"
    path.write_text(model.to_toml())
    again = read_model(path)
    assert again.solve().response_time == model.solve().response_time
    assert "one replica" in str(again.solve())


def test_own_replicas_stay_what_they_are():
    graph = ModelGraph("own").declare("replicas").station("cpu", MMm(0.001, "replicas"))
    model = graph.at(replicas=4, arrival_rate=900)
    assert model.solve().throughput == 900
    assert "one replica" not in str(model.solve())


@pytest.mark.parametrize(
    "model",
    [
        ONE.closed(5),
        catalogue_model("npb-overhead"),
        ModelGraph("c").station("cpu", MM1(0.1)).job_class("a", population=3).at(),
    ],
)
def test_what_has_no_arrivals_has_no_replicas(model):
    with pytest.raises(GraphError, match="no replicas"):
        model.at(replicas=2)


def test_less_than_one_replica_is_refused():
    with pytest.raises(InvalidParameter, match="replicas is 0.5"):
        ONE.at(replicas=0.5)
