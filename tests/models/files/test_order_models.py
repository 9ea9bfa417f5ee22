"""Disciplines and priorities in model files: solved, simulated, or refused by name."""

import numpy as np
import pytest

from headway.errors import GraphError, InvalidParameter, ModelFileError
from headway.models import ModelGraph, parse_model
from headway.models.files.writing import to_toml
from headway.queueing import MM1, PriorityMG1
from headway.queueing.times.inversion import percentile_of

DATABASE = """
name = "database"

[classes.web]
arrival_rate = "30 op/s"
priority = 1

[classes.batch]
arrival_rate = "10 op/s"
priority = 2

[stations.cpu]
kind = "MM1"
service_time = {web = "10 ms", batch = "30 ms"}
discipline = "priority"
"""


def changed(*pairs):
    text = DATABASE
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return text


def test_priorities_of_a_file_are_cobhams():
    solution = parse_model(DATABASE).solve()

    exact = PriorityMG1((0.01, 0.03), (1.0, 1.0)).response_times((30.0, 10.0))
    values = [float(solution[f"class {c}.response_time"]) for c in ("web", "batch")]
    assert values == pytest.approx(exact, rel=1e-12)
    assert not solution.approximation


def test_a_file_with_priorities_is_written_and_read_back():
    model = parse_model(DATABASE)

    again = parse_model(to_toml(model))

    assert again.graph.stations["cpu"].discipline == "priority"
    assert again.solve().response_time == model.solve().response_time
    assert "priority" in str(model)


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([("priority = 2\n", "")], "class batch has no priority, which cpu needs"),
        (
            [('discipline = "priority"\n', "")],
            "class web has a priority, but no station uses it",
        ),
        (
            [('"MM1"', '"Delay"')],
            "cpu: a Delay does not support the discipline priority",
        ),
        (
            [('"priority"', '"first"')],
            "unknown discipline 'first'; it must be one of ps, fcfs, lcfs",
        ),
        (
            [("priority = 2", "priority = 1.5")],
            "class batch: priority is 1.5; it must be a whole number",
        ),
        (
            [("priority = 2", "priority = 0")],
            "class batch: priority is 0; it must be a whole number",
        ),
    ],
)
def test_bad_orders_are_refused(pairs, message):
    with pytest.raises((ModelFileError, GraphError, InvalidParameter), match=message):
        parse_model(changed(*pairs)).solve()


def test_priorities_without_classes_are_refused():
    text = 'name = "one"\n[stations.cpu]\nkind = "MM1"\nservice_time = "1 ms"\n'
    with pytest.raises(
        (ModelFileError, GraphError), match="cpu serves by priority, but there are no"
    ):
        parse_model(text + 'discipline = "preemptive"\n').solve(arrival_rate=1)


def test_one_class_alone_goes_in_order_of_arrival():
    batch = '[classes.batch]\narrival_rate = "10 op/s"\npriority = 2\n'
    text = changed((batch, ""), ('{web = "10 ms", batch = "30 ms"}', '"10 ms"'))

    assert parse_model(text).solve().response_time == pytest.approx(0.01 / 0.7, rel=1e-12)


@pytest.mark.parametrize("discipline", ["priority", "preemptive", "lcfs", "siro"])
@pytest.mark.parametrize(
    "batch", ['arrival_rate = "10 op/s"', 'population = 3\nthink_time = "0.2 s"']
)
def test_simulations_go_by_the_discipline(discipline, batch):
    pairs = [('"priority"', f'"{discipline}"'), ('arrival_rate = "10 op/s"', batch)]
    if discipline in {"lcfs", "siro"}:
        pairs += [("priority = 1\n", ""), ("priority = 2\n", "")]
    model = parse_model(changed(*pairs))

    solution, simulated = model.solve(), model.simulate(half_width=0.15, seed=1)

    for name in ("web", "batch"):
        time = f"class {name}.response_time"
        # half the 95% intervals of two means each miss less than 15%
        assert simulated[time].mean == pytest.approx(float(solution[time]), rel=0.2)


@pytest.mark.parametrize("discipline", ["preemptive", "lcfs", "siro"])
def test_percentiles_and_forms_are_refused_by_name(discipline):
    pairs = [('"priority"', f'"{discipline}"')]
    if discipline != "preemptive":
        pairs += [("priority = 1\n", ""), ("priority = 2\n", "")]
    model = parse_model(changed(*pairs))

    with pytest.raises(
        GraphError, match=f"cpu: only mean response times .* discipline {discipline}"
    ):
        model.solve()["class web.response_time_p99"]
    if discipline == "preemptive":
        with pytest.raises(GraphError, match="cpu serves by priority, which has no closed form"):
            model.graph.closed_form("class web.response_time")


def test_percentiles_head_of_the_line_are_those_of_one_station():
    solution = parse_model(DATABASE).solve()

    laws = PriorityMG1((0.01, 0.03), (1.0, 1.0)).time_laws((30.0, 10.0))
    values = [float(solution[f"class {c}.response_time_p99"]) for c in ("web", "batch")]
    assert values == pytest.approx([percentile_of(law, 0.99) for law in laws], rel=1e-6)


def test_a_priority_is_one_at_all_points():
    model = parse_model(
        changed(
            ("priority = 2", 'priority = "rank"'),
            ("[stations.cpu]", "[parameters.rank]\nvalue = 2\n\n[stations.cpu]"),
        )
    )

    assert (
        model.at(rank=1).solve()["class web.response_time"]
        > model.solve()["class web.response_time"]
    )
    with pytest.raises(
        GraphError, match="class batch: priorities must be the same at all operating points"
    ):
        model.at(rank=np.array([1, 2])).solve()


def test_random_order_is_simulated_as_any_of_those_that_wait():
    """A closed class beside an open one at a server always busy: N = X R (Little), 5%."""
    graph = ModelGraph("g").station("cpu", MM1(1.0), None, {"a": 0.05, "b": 0.2}, "siro")
    graph = graph.job_class("a", 0.8).job_class("b", population=6)
    simulation = graph.at().simulate(half_width=0.2, seed=71)
    rate, time = (simulation[f"class b.{part}"].mean for part in ("throughput", "response_time"))
    assert rate == pytest.approx((1 - 0.04) / 0.2, rel=0.05)
    assert rate * time == pytest.approx(6, rel=0.05)
