"""Models in which jobs arrive in batches: files, Python, what is answered and what is refused."""

import re

import pytest

from headway.errors import GraphError, HeadwayError, InvalidParameter
from headway.models import ModelGraph, parse_model
from headway.queueing import (
    MD1,
    MG1,
    MM1,
    MM1K,
    Delay,
    GGm,
    MGm,
    MMm,
    Parallel,
)

CARLOADS = """
    name = "carloads"
    [parameters]
    arrival_rate = "8 /h"
    [stations.desk]
    kind = "MM1"
    service_time = "3 min"
    [arrivals]
    desk = { rate = "arrival_rate", batch = BATCH }
"""


def carloads(batch="{ 1 = 0.25, 2 = 0.5, 3 = 0.25 }"):
    return parse_model(CARLOADS.replace("BATCH", batch))


def one(station, batch=3, **message):
    return ModelGraph("one").station("cpu", station, **message).arrive("cpu", batch=batch).at()


def test_carloads_wait_as_a_hand_calculates():
    """Four batches an hour: 0.0333333 + 0.0520833 h, and a service."""
    solution = carloads().solve()
    assert solution.response_time / 3600 - 0.05 == pytest.approx(0.0854167, abs=1e-7)
    assert solution.approximation == ""
    assert solution["desk.queue_length"] == pytest.approx(8 * (0.05 + 0.0854167), rel=1e-6)
    assert "desk.arrival_scv" not in solution.values


def test_files_and_python_say_the_same():
    for text, batch in (
        ("3", 3),
        ("{ mean = 2.5 }", {"mean": 2.5}),
        ("{ 1 = 0.25, 2 = 0.5, 3 = 0.25 }", {1: 0.25, 2: 0.5, 3: 0.25}),
    ):
        graph = ModelGraph("carloads").station("desk", MM1(180.0))
        other = graph.arrive("desk", batch=batch).at().solve(8 / 3600)
        assert carloads(text).solve().response_time == pytest.approx(other.response_time, rel=1e-12)


@pytest.mark.parametrize("batch", ["3", "{ mean = 2.5 }", "{ 1 = 0.25, 2 = 0.75 }"])
def test_a_model_that_is_written_is_read_again(batch):
    model = carloads(batch)
    again = parse_model(model.to_toml())
    assert again.graph.arrival_batches == model.graph.arrival_batches
    assert again.solve().response_time == pytest.approx(model.solve().response_time, rel=1e-12)


def test_a_batch_is_a_parameter_that_is_swept():
    graph = ModelGraph("one").declare("b").station("cpu", MM1(0.1)).arrive("cpu", batch="b")
    times = graph.at(b=[1.0, 2.0, 5.0]).solve(5.0).response_time
    assert times.tolist() == pytest.approx([0.2, 0.3, 0.6], rel=1e-12)


def test_delays_after_the_queue_change_nothing():
    graph = ModelGraph("two").station("cpu", MM1(0.1)).station("wire", Delay(1.0))
    model = graph.route("cpu", "wire").arrive("cpu", batch=2).at()
    assert model.solve(5.0).response_time == pytest.approx(1.3, rel=1e-12)


def test_one_class_is_as_none():
    graph = ModelGraph("one").job_class("web", arrival_rate=5.0).station("cpu", MM1(0.1))
    model = graph.arrive("cpu", 1.0, batch=2).at()
    assert model.solve().response_time == pytest.approx(0.3, rel=1e-12)


def _refusals():
    two = ModelGraph("two").station("a", MM1(0.1)).station("b", MM1(0.1))
    yield two.route("a", "b").arrive("a", batch=2).at(), "not only straight"
    yield two.arrive("a", 1.0, batch=2).arrive("b", 1.0).at(), "not only straight"
    alone = ModelGraph("one").station("cpu", MM1(0.1))
    yield alone.route("cpu", "cpu", 0.5).arrive("cpu", batch=2).at(), "not only straight"
    yield alone.arrive("cpu", scv=2.0, batch=2).at(), "have an scv"
    yield ModelGraph("one").station("cpu", MM1(0.1), 2.0).arrive("cpu", batch=2).at(), "straight"
    yield one(MM1K(0.1, 4)), "is a MM1K"
    yield one(Parallel(0.1, 2)), "is a Parallel"
    yield one(MGm(0.1, 2, 0.5)), "make it an MMm"
    yield one(MM1(0.1), discipline="lcfs"), "by lcfs"
    yield one(MM1(0.1)).closed(3, 1.0), "one closed"
    many = ModelGraph("many").job_class("a", arrival_rate=1.0).job_class("b", arrival_rate=1.0)
    yield many.station("cpu", MM1(0.1)).arrive("cpu", 1.0, batch=2).at(), "several classes"


@pytest.mark.parametrize("number", range(11))
def test_what_no_law_answers_is_refused_with_the_way(number):
    model, why = list(_refusals())[number]
    needs = model.graph.needs_arrival_rate and not model.is_closed
    with pytest.raises(GraphError, match="simulat") as refused:
        model.solve(2.0) if needs else model.solve()
    assert re.search(why, str(refused.value))
    assert "\n" not in str(refused.value)


def test_distributions_are_refused():
    solution = carloads().solve()
    for ask in (
        lambda: solution.with_percentile(95),
        lambda: solution.queue_lengths("desk"),
        lambda: carloads().solve(method="qna"),
    ):
        with pytest.raises(GraphError, match="jobs arrive in batches"):
            ask()


@pytest.mark.parametrize(
    ("batch", "why"),
    [
        ("0", "batch is 0; it must be a whole number"),
        ("-2", "batch is -2"),
        ("0.5", "batch is 0.5"),
        ("2.5", "batch is 2.5"),
        ("{ mean = 0.5 }", "mean of a batch is 0.5"),
        ("{ 1 = 0.5, 2 = 0.4 }", "sum to 0.9; make them sum to 1"),
        ("{ 0 = 0.5, 2 = 0.5 }", "size of a batch is 0"),
        ("{ 1 = -0.5, 2 = 1.5 }", "probability of 1 is -0.5"),
        ("{ some = 1 }", "batch has the key 'some'"),
        ("{ mean = 2, 1 = 0.5 }", "batch has the key 'mean'"),
        ("{ 1 = 0.5, 01 = 0.5 }", "gives a size twice"),
        ("{}", "must be a number or text"),
        ("[1, 2]", "must be a number or text"),
    ],
)
def test_batches_that_make_no_sense_are_refused_in_a_line(batch, why):
    with pytest.raises(HeadwayError) as refused:
        carloads(batch).solve()
    assert why in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_rate_of_batches_is_never_negative():
    with pytest.raises(InvalidParameter, match="arrival_rate"):
        one(MM1(0.1)).solve(-1.0)


@pytest.mark.parametrize(
    "station", [MM1(0.1), MD1(0.1), MG1(0.1, 3.0), MMm(0.2, 2)], ids=["MM1", "MD1", "MG1", "MMm"]
)
def test_each_kind_is_simulated_as_it_is_solved(station):
    """Within its interval at 99.9%, from a fixed seed."""
    model = one(station, {"mean": 2.0}).at(arrival_rate=6.0)
    exact, found = model.solve().response_time, model.simulate(0.05)["response_time"]
    assert found.holds(exact, 0.999)


def test_batches_are_simulated_where_no_law_is_known():
    room = one(MM1K(0.1, 3), 5).at(arrival_rate=20.0).simulate(0.1)
    assert room["loss_probability"].mean > 0.5
    many = ModelGraph("many").job_class("a", arrival_rate=1.0).job_class("b", arrival_rate=1.0)
    classes = many.station("cpu", MM1(0.2)).arrive("cpu", 1.0, batch=2).at().simulate(0.1)
    # batches of either class are batches of all: M^X/M/1
    assert classes["response_time"].holds(0.2 + 0.2 * 0.9 / 0.6, 0.999)
    assert any("a batch comes in at one station" in note for note in classes.notes)


def test_an_own_scv_beside_batches_is_refused():
    model = one(GGm(0.1, 1, 2.0, 1.0))
    with pytest.raises(GraphError, match="simulat"):
        model.solve(2.0)


def test_copies_of_a_model_would_split_batches():
    with pytest.raises(GraphError, match="its batches would be split"):
        one(MM1(0.1)).solve(arrival_rate=8.0, replicas=4)
