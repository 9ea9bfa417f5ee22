"""The graph in classes, open, closed or both."""

import json
import math

import numpy as np
import pytest

from headway.errors import GraphError, InvalidParameter, ModelFileError, Saturated
from headway.models import ModelGraph, parse_model
from headway.queueing import MM1, Delay, GGm, MMm
from tests.campaigns.model_properties import solved
from tests.oracles.textbook import mean_value_analysis
from tests.support.random_models import random_model

INTERACTIVE = """
name = "interactive system"
[classes.terminals]
population = 40
think_time = "15 s"
[stations.cpu]
kind = "MM1"
service_time = { terminals = "10 ms" }
visits = { terminals = 20 }
[stations.disk]
kind = "MM1"
service_time = "30 ms"
visits = { terminals = 10 }
"""


def test_interactive_system():
    expected = mean_value_analysis([0.2, 0.3], 40, 15.0)

    solved = parse_model(INTERACTIVE).solve()

    point = json.loads(solved.to_json())["points"][0]
    terminals = point["classes"]["terminals"]
    assert terminals["throughput"] == pytest.approx(expected, rel=1e-12)
    assert terminals["response_time"] == pytest.approx(40 / expected - 15, rel=1e-10)
    assert point["components"]["cpu"]["utilisation"] == pytest.approx(0.2 * expected, rel=1e-12)
    assert point["bottleneck"] == "disk"


def test_a_class_is_the_same_as_closing_by_hand():
    graph = ModelGraph("g").station("cpu", MM1(0.2), 1.0).station("disk", MM1(0.3), 1.0)

    by_hand = graph.at().solve(population=40, think_time=15.0)

    by_class = graph.job_class("all", population=40, think_time=15.0).at().solve()
    assert by_class.throughput == pytest.approx(by_hand.throughput, rel=1e-12)
    assert by_class["disk.queue_length"] == pytest.approx(by_hand["disk.queue_length"], rel=1e-10)


def test_mixed_classes_share_the_station():
    graph = (
        ModelGraph("mixed")
        .declare("rate")
        .station("cpu", MM1(0.1), {"terminals": 2, "web": 1}, {"terminals": 0.1, "web": 0.05})
        .job_class("terminals", population=4, think_time=1.0)
        .job_class("web", arrival_rate="rate")
    )

    solved = graph.at(rate=np.array([0.0, 2.0, 10.0])).solve()

    busy = 0.2 * solved["class terminals.throughput"] + 0.05 * np.array([0.0, 2.0, 10.0])
    # Every visit counts once.
    np.testing.assert_allclose(solved["cpu.utilisation"], busy, rtol=1e-12)
    assert (np.diff(solved["class terminals.throughput"]) < 0).all()


def test_an_unstable_open_class_names_station_and_limit():
    graph = (
        ModelGraph("g")
        .station("cpu", MM1(0.1), 1.0)
        .job_class("web", arrival_rate=12.0)
        .job_class("batch", population=3)
    )

    with pytest.raises(Saturated, match=r"cpu: utilisation 1\.2 .*saturates at 10 /s"):
        graph.at().solve().require_stable()


def two_classes():
    graph = ModelGraph("g").declare("rate", "m").station("cpu", MMm(0.1, "m"), 1.0)
    graph = graph.station("net", Delay(0.05), 1.0).job_class("web", arrival_rate="rate")
    return graph.job_class("batch", population=3, think_time=0.2)


def test_a_sweep_past_saturation_marks_its_rows_and_answers_the_rest():
    rates = [5.0, 15.0, 25.0]
    solution = two_classes().at(rate=np.array(rates), m=2).solve()
    alone = [two_classes().at(rate=rate, m=2).solve() for rate in rates]

    assert solution.saturated.tolist() == [False, False, True]
    for name in ("response_time", "class batch.throughput", "cpu.queue_length"):
        assert np.asarray(solution[name])[:2] == pytest.approx([s[name] for s in alone[:2]])
    assert solution["class web.response_time"][2] == math.inf
    assert solution["class batch.throughput"][2] == 0
    assert math.isnan(solution["class web.throughput"][2])
    assert "cpu: utilisation 1.25 by open classes, web at 25 /s; it saturates" in str(solution)
    assert json.loads(alone[2].to_json())["points"][0]["saturated"]


def test_numbers_of_servers_are_swept_with_classes():
    solution = two_classes().at(rate=15.0, m=np.array([1.0, 2.0, 4.0])).solve()

    assert solution.saturated.tolist() == [True, False, False]
    for k, servers in ((1, 2), (2, 4)):
        alone = two_classes().at(rate=15.0, m=servers).solve()
        assert np.asarray(solution.response_time)[k] == pytest.approx(alone.response_time)


def test_classes_without_jobs_still_take_their_service():
    graph = ModelGraph("g").station("cpu", MM1(0.1), visits=3).station("disk", MM1(0.4), visits=1)
    graph = graph.job_class("web", arrival_rate=0.0).job_class("batch", population=0, think_time=1)
    solution = graph.at().solve()

    assert solution["class web.response_time"] == pytest.approx(0.7)
    assert solution.response_time == pytest.approx(0.7)
    assert solution["cpu.residence_time"] == pytest.approx(0.3)


CPU = '[stations.cpu]\nkind = "MM1"\nservice_time = 0.1\n'


def file_with(extra, stations=CPU):
    return 'name = "g"\n' + extra + stations


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            file_with('[[routes]]\nfrom = "cpu"\nto = "cpu"\nprobability = 0.5\n') + "visits = 2\n",
            "visits, but there are routes",
        ),
        (
            file_with("", '[stations.a]\nkind = "MM1"\nservice_time = 1\nvisits = 1\n')
            + '[stations.b]\nkind = "MM1"\nservice_time = 1\n',
            "b has no visits",
        ),
        (file_with("") + "visits = { web = 1 }\n", "there is no class 'web'"),
        (file_with("[classes.web]\nrate = 1\n"), "web has no 'rate'"),
        (file_with("[classes.web]\nthink_time = 1\n"), "needs either an arrival_rate"),
        (
            file_with("[classes.web]\npopulation = 1\narrival_rate = 1\n"),
            "needs either an arrival_rate",
        ),
    ],
)
def test_refused_files(text, why):
    with pytest.raises(ModelFileError, match=why):
        parse_model(text, "g.toml")


def classes(station, **numbers):
    graph = ModelGraph("g").station("cpu", station, 1.0).job_class("other", population=1)
    return graph.job_class("c", **numbers).at()


@pytest.mark.parametrize(
    ("model", "error", "why"),
    [
        (classes(MM1(0.1), population=2.5), InvalidParameter, "2.5.*whole number"),
        (classes(MM1(0.1), population=-1), InvalidParameter, "-1"),
        (classes(GGm(0.1, 2, 1, 1), population=1), GraphError, "cannot share a GGm"),
        (classes(MM1("0.1 + throughput"), population=1), GraphError, "no single throughput"),
    ],
)
def test_refused_classes(model, error, why):
    with pytest.raises(error, match=why):
        model.solve()


@pytest.mark.parametrize("visits", [None, 1.0, {"light": 2.0, "heavy": 1.0}])
def test_a_class_without_a_service_time_where_it_goes_is_refused(visits):
    """With routes it was served in no time at all."""
    graph = ModelGraph("g").job_class("light", arrival_rate=2).job_class("heavy", arrival_rate=3)
    graph = graph.station("cpu", MM1(0.1), visits, {"heavy": 0.2}, "ps")

    with pytest.raises(GraphError, match="cpu: no service_time for class light, which visits it"):
        graph.at().solve()


def test_a_class_that_visits_no_station():
    graph = ModelGraph("g").station("cpu", MM1(0.1), {"web": 1}).job_class("web", population=2)
    graph = graph.job_class("idle", population=3)

    with pytest.raises(GraphError, match="class idle visits no station"):
        graph.at().solve()


def test_a_lattice_too_large_tells_its_size_and_the_way_out():
    graph = ModelGraph("g").station("cpu", MM1(0.1), 1.0)
    for k in range(5):
        graph = graph.station(f"disk{k}", MM1(0.02 + k / 100), 1.0)
    for k in range(6):
        graph = graph.job_class(f"c{k}", population=200)

    with pytest.raises(InvalidParameter, match=r"GB.*(linearizer|schweitzer)"):
        graph.at().solve(method="exact")
    assert "inearizer" in graph.at().solve().approximation


def test_several_classes_have_no_one_saturation_throughput():
    solution = two_classes().at(rate=np.array([1.0, 2.0]), m=2).solve()

    with pytest.raises(
        GraphError, match="several classes there is no single saturation throughput"
    ):
        solution["saturation_throughput"]
    assert solution.plot().axes


@pytest.mark.parametrize(("discipline", "is_exact"), [("ps", True), ("preemptive", False)])
def test_open_classes_are_solved_by_no_method_of_closed_ones(discipline, is_exact):
    """What is approximate about a station must not stand beneath "method: exact"."""
    graph = ModelGraph("two").station("cpu", MM1(0.01), None, {"a": 0.01, "b": 0.03}, discipline)
    graph = graph.station("disk", MM1(0.01)).route("cpu", "disk")
    first, second = (None, None) if is_exact else (1, 2)
    graph = graph.job_class("a", arrival_rate=20, priority=first)
    solution = graph.job_class("b", arrival_rate=10, priority=second).at().solve()

    assert json.loads(solution.to_json())["method"] == "open"
    assert "method" not in str(solution)
    assert (solution.approximation == "") == is_exact
    assert ("approximate" in str(solution)) != is_exact


def test_no_network_has_an_exact_method_and_an_approximate_label():
    """Caches, whose own notes begin with their names, and networks that block are apart."""
    exact = {"exact", "convolution", "recal", "quadrature", "chain"}
    for seed in range(100):
        solution = solved(random_model(seed).text)
        if solution is None or solution.model.graph.blocks or solution.method not in exact:
            continue
        parts = [f"{name}: " for each in solution.model.graph.algorithms.values() for name in each]
        notes = solution.approximation.split("; ")
        assert not solution.approximation or notes[0].startswith(tuple(parts)), seed


def test_a_pool_that_shares_only_nearly_is_solved_by_no_exact_method():
    text = """
        name = "pool"
        [stations.cpu]
        kind = "MMm"
        servers = 2
        discipline = "lcfs"
        service_time = {a = "10 ms", b = "30 ms"}
        visits = 1
        [stations.disk]
        kind = "MM1"
        service_time = {a = "8 ms", b = "8 ms"}
        visits = 1
        [classes.a]
        population = 60
        [classes.b]
        population = 60
    """
    solution = parse_model(text).solve()

    assert "last come first served by several servers" in solution.approximation
    assert json.loads(solution.to_json())["method"] == solution.method == "approximate"
