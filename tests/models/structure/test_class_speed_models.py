"""Models of several classes at stations whose speed depends on how many are there."""

import json

import pytest

from headway.errors import GraphError
from headway.models import ModelGraph, parse_model
from headway.queueing import Batch, LoadDependent, WakeUp
from tests.support.command import headway

ENGINE = """
name = "engine"
[parameters]
step = "50 ms"
[classes.chat]
arrival_rate = "10 /s"
[classes.batch]
{batch}
[stations.net]
kind = "Delay"
service_time = "10 ms"
[stations.gpu]
kind = "Batch"
batch_time = "step"
request_time = "5 ms"
largest_batch = 4
{times}
[[routes]]
from = "net"
to = "gpu"
"""
PARTS = ("response_time", "utilisation", "queue_length")
OPEN = 'arrival_rate = "20 /s"'
CLOSED = 'population = 4\nthink_time = "1 s"'
TIMES = 'discipline = "ps"\nservice_time = { chat = "55 ms", batch = "110 ms" }'


def engine(batch=OPEN, times=""):
    return parse_model(ENGINE.format(batch=batch, times=times))


def test_classes_at_one_speed_are_what_they_would_be_as_one():
    model = engine()
    both = model.solve()

    assert both["class chat.response_time"] == both["class batch.response_time"]
    alone = Batch(0.05, 0.005, 4)
    wanted = {part: getattr(alone, part)(30.0) for part in PARTS}
    for part in PARTS:
        assert both[f"gpu.{part}"] == pytest.approx(wanted[part], rel=1e-12)


@pytest.mark.parametrize("batch", [OPEN, CLOSED])
def test_times_by_class_are_those_alone(batch):
    """Twice the time at the same speeds is a job that brings twice the work."""
    model = engine(batch, TIMES)
    solution = model.solve()
    chat, slow = (solution[f"class {c}.response_time"] - 0.01 for c in ("chat", "batch"))
    if batch == OPEN:
        assert slow == pytest.approx(2 * chat, rel=1e-12)
    assert slow > 1.9 * chat
    again = parse_model(model.to_toml())
    assert again.solve()["class batch.response_time"] == solution["class batch.response_time"]


@pytest.mark.parametrize("times", ["", TIMES])
def test_the_closed_form_is_the_solution(times):
    model = engine(OPEN, times)
    for output in ("class batch.response_time", "gpu.utilisation"):
        form = model.graph.closed_form(output)
        value = form.subs(dict.fromkeys(form.free_symbols, 0.05))
        assert float(value) == pytest.approx(model.solve()[output], rel=1e-9)


def test_a_server_that_wakes_up_is_busy_as_long_as_anybody_is_there():
    graph = ModelGraph("web").station("cpu", WakeUp(0.01, 0.02))
    both = graph.job_class("a", 10.0).job_class("b", 20.0).at().solve()
    one = graph.at().solve(arrival_rate=30.0)
    assert both["cpu.utilisation"] == pytest.approx(one["cpu.utilisation"], rel=1e-12)
    form = graph.job_class("a", 10.0).job_class("b", 20.0).closed_form("cpu.utilisation")
    assert float(form) == pytest.approx(one["cpu.utilisation"], rel=1e-12)


@pytest.mark.parametrize("batch", [OPEN, CLOSED])
def test_percentiles_are_refused_by_name(batch):
    with pytest.raises(GraphError, match="gpu: the response time of Batch has no known"):
        engine(batch).solve().with_percentile(99)


def test_it_is_simulated_with_times_by_class():
    simulation = engine(CLOSED, TIMES).simulate(half_width=0.2, seed=1)
    solution = engine(CLOSED, TIMES).solve()
    for output in ("class chat.response_time", "class batch.response_time", "gpu.queue_length"):
        low, high = simulation[output].interval(0.999)
        assert low <= solution[output] <= high


def test_rates_are_given_once(tmp_path):
    path = tmp_path / "two.toml"
    path.write_text(
        'name = "two"\n[classes.a]\narrival_rate = 1\n[classes.b]\npopulation = 2\n'
        '[stations.s]\nkind = "LoadDependent"\nrates = ["2 /s", "3 /s"]\n'
    )
    document = json.loads(headway("solve", str(path), "--json").out)
    point = document["points"][0]
    assert document["approximation"] is None
    assert point["components"]["s"]["utilisation"] == pytest.approx(
        (1 + point["classes"]["b"]["throughput"]) / 3
    )


def test_one_class_needs_its_rates_as_they_are():
    graph = ModelGraph("one").station("s", LoadDependent((1.0,)), service_times={"a": 0.5})
    with pytest.raises(GraphError, match="has no service_time; give rates"):
        graph.job_class("a", 1.0).at().solve()
