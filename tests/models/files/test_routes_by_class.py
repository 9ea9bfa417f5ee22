"""Model files and graphs with routes by class, and closed routes as they are."""

import json

import numpy as np
import pytest

from headway.cli.main import main
from headway.errors import GraphError, HeadwayError, ModelFileError
from headway.models import ModelGraph, parse_model
from headway.models.importing.writing import to_jmva
from headway.queueing import MM1, Delay, MMm
from tests.brute.network import Jobs, Network, means
from tests.brute.orders import Sharing

PASSES = """
name = "passes"
[parameters]
turn = 0.7
jobs = 3
[classes.request]
population = "jobs"
reference = "terminals"
[classes.answer]
population = 1
[classes.web]
arrival_rate = "0.1 /s"
arrives = { disk = 0.25, server = 0.75 }
[stations.terminals]
kind = "Delay"
service_time = "2 s"
[stations.server]
kind = "MM1"
discipline = "ps"
service_time = { request = 0.3, answer = 0.6, web = 0.1 }
[stations.disk]
kind = "MM1"
service_time = 0.5
[[routes]]
from = "terminals"
to = "server"
[[routes]]
from = "server"
to = "disk"
class = "request"
becomes = "answer"
probability = "turn"
[[routes]]
from = "server"
to = "terminals"
class = "request"
probability = "1 - turn"
[[routes]]
from = "disk"
to = "server"
class = "answer"
[[routes]]
from = "server"
to = "terminals"
class = "answer"
becomes = "request"
"""
HOPS = {
    (0, 0): [(1.0, 1, 0)],
    (0, 1): [(1.0, 1, 1)],
    (1, 0): [(0.7, 2, 1), (0.3, 0, 0)],
    (1, 1): [(1.0, 0, 0)],
    (2, 1): [(1.0, 1, 1)],
    (2, 2): [(1.0, None, 2)],
    (1, 2): [(1.0, None, 2)],
}


@pytest.fixture(scope="module")
def passes():
    return parse_model(PASSES)


def test_a_file_is_its_whole_markov_chain(passes):
    times = ((2.0,) * 3, (0.3, 0.6, 0.1), (0.5,) * 3)
    places = tuple(Sharing(t, servers=m) for t, m in zip(times, (float("inf"), 1, 1), strict=True))
    crowd = (Jobs("r", None, 3), Jobs("a", None, 1), Jobs("w", 0.1, enters={2: 0.25, 1: 0.75}))
    queue, served, cut = means(Network(places, crowd, HOPS, cap=5))
    solution = passes.solve()

    assert (solution.method, solution.approximation) == ("exact", "")
    assert cut < 2e-5
    for k, name in enumerate(("terminals", "server", "disk")):
        # of six open jobs or more
        assert solution[f"{name}.queue_length"] == pytest.approx(queue[k].sum(), rel=1e-4)
        assert solution[f"{name}.throughput"] == pytest.approx(served[k].sum(), rel=1e-4)
    rounds = solution["class request.throughput"]
    assert rounds == pytest.approx(served[0, 0], rel=1e-4)
    assert rounds * solution["class request.response_time"] == pytest.approx(4, rel=1e-12)


def test_a_file_is_read_and_written_as_it_is(passes):
    again = parse_model(passes.to_toml())
    assert again == passes
    assert again.graph.class_ways.references == {"request": "terminals"}
    point = json.loads(again.solve().to_json())["points"][0]
    assert set(point["classes"]) == {"request", "answer", "web"}
    assert point["classes"]["answer"]["throughput"] == 0


def test_a_graph_is_the_same_as_a_file(passes):
    graph = (
        ModelGraph("passes")
        .declare("turn", "jobs")
        .station("terminals", Delay(2.0))
        .station(
            "server",
            MM1(0.3),
            service_times={"request": 0.3, "answer": 0.6, "web": 0.1},
            discipline="ps",
        )
        .station("disk", MM1(0.5))
        .job_class("request", population="jobs", reference="terminals")
        .job_class("answer", population=1)
        .job_class("web", arrival_rate=0.1, arrives={"disk": 0.25, "server": 0.75})
        .route("terminals", "server")
        .route("server", "disk", "turn", job_class="request", becomes="answer")
        .route("server", "terminals", "1 - turn", job_class="request")
        .route("disk", "server", job_class="answer")
        .route("server", "terminals", job_class="answer", becomes="request")
    )
    there = graph.at(turn=0.7, jobs=3).solve()
    for name in ("response_time", "server.utilisation", "class web.response_time"):
        assert there[name] == pytest.approx(passes.solve()[name], rel=1e-12)


def test_sweeps_solve_each_point_as_alone(passes):
    many = passes.at(turn=[0.2, 0.7, 1.0]).solve()
    alone = [passes.at(turn=t).solve().response_time for t in (0.2, 0.7, 1.0)]
    np.testing.assert_allclose(many.response_time, alone, rtol=1e-12)
    swept = passes.sweep({"turn": [0.2, 0.7, 1.0]}, ["response_time"])
    assert f"{np.mean(alone):.4g}" in str(swept)


def test_simulated_jobs_turn_too(passes):
    """99% intervals of one seed: rounds by class and stations, none of them from the solver."""
    exact = passes.solve()
    simulation = passes.simulate(half_width=0.1, seed=17)
    names = ["throughput", "response_time", "server.utilisation", "disk.queue_length"]
    names += ["class request.throughput", "class web.response_time"]
    for name in names:
        value = simulation[name]
        assert value.holds(exact[name], 0.99), name


def test_tables_and_drawings_say_whose_a_route_is(passes, capsys, tmp_path):
    path = tmp_path / "passes.toml"
    path.write_text(PASSES)
    with pytest.raises(SystemExit):
        main(["show", str(path)])
    printed = capsys.readouterr().out
    assert "becomes" in printed
    assert "disk 0.25," in printed
    assert "server 0.75" in printed
    from headway.models.structure.parts.networks import to_networkx

    drawn = to_networkx(passes.graph).edges["server", "terminals"]["probability"]
    assert drawn == "request: 1 - turn\nanswer > request: 1"


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (
            lambda m: m.solve()["response_time_p99"],
            "web is open and request closed",
        ),
        (lambda m: m.closed_form("response_time"), "class request is closed"),
        (to_jmva, "class request becomes answer after server; no class changes in JMVA"),
        (lambda m: m.closed(5), "its classes have their own populations"),
    ],
)
def test_what_routes_by_class_have_not_is_refused_by_name(passes, ask, words):
    with pytest.raises(HeadwayError, match=words):
        ask(passes)


def test_open_routes_by_class_have_no_closed_form():
    graph = ModelGraph("g").station("cpu", MM1(0.1)).station("disk", MM1(0.2))
    graph = graph.job_class("a", 1.0).job_class("b", 1.0).route("cpu", "disk", job_class="a")
    with pytest.raises(GraphError, match="no closed form"):
        graph.at().closed_form("response_time")
    with pytest.raises(GraphError, match="visits differ by class"):
        graph.output("v", "cpu.visits * 2").at().solve()


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('class = "answer"', 'class = "reply"', "there is no class 'reply'"),
        ('becomes = "answer"', 'becomes = "reply"', "there is no class 'reply'"),
        ('reference = "terminals"', 'reference = "home"', "there is no station 'home'"),
        ('reference = "terminals"', 'arrives = "terminals"', "arrives is for open classes"),
        ("arrives = {", 'reference = "disk"\nx = {', "must be a number or text"),
        ("{ disk = 0.25", "{ disc = 0.25", "there is no station 'disc'"),
        ('becomes = "request"', 'becomes = "web"', "is open and class"),
        ('probability = "1 - turn"', 'probability = "1 - turn / 2"', "sum to 1.35"),
        ('"disk"\nto = "server"\nclass = "answer"', '"disk"\nto = "disk"', "never"),
        ("population = 1\n", "population = 1\nreference = 2\n", "must be"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(old, new, words):
    assert old in PASSES
    with pytest.raises(HeadwayError, match=words) as refused:
        parse_model(PASSES.replace(old, new)).solve()
    assert "\n" not in str(refused.value)


def test_a_route_that_no_job_takes_is_refused():
    text = PASSES.replace('class = "answer"', 'class = "web"', 1).replace(
        "arrives = { disk = 0.25, server = 0.75 }", ""
    )
    with pytest.raises(ModelFileError, match="of class web is never taken"):
        parse_model(text)


CYCLE = """
name = "cycle"
reference = "disk"
[parameters]
population = 4
again = 0.25
[stations.cpu]
kind = "MM1"
service_time = 0.1
[stations.disk]
kind = "MMm"
servers = 2
service_time = 0.3
[[routes]]
from = "cpu"
to = "cpu"
probability = "again"
[[routes]]
from = "cpu"
to = "disk"
probability = "1 - again"
[[routes]]
from = "disk"
to = "cpu"
"""


def test_a_matrix_that_nothing_leaves_is_the_loop_cut_by_hand():
    cut = (
        ModelGraph("cut")
        .station("disk", MMm(0.3, 2))
        .station("cpu", MM1(0.1))
        .route("disk", "cpu")
        .route("cpu", "cpu", 0.25)
    )
    by_hand = cut.at().solve(population=4)
    solution = parse_model(CYCLE).solve()
    assert solution.throughput == pytest.approx(by_hand.throughput, rel=1e-12)
    assert solution["cpu.throughput"] == pytest.approx(solution.throughput * 4 / 3, rel=1e-12)
    assert solution["response_time_p95"] == pytest.approx(by_hand["response_time_p95"], rel=1e-9)
    assert solution.saturation_throughput == pytest.approx(by_hand.saturation_throughput)
    lower = [bounds.throughput_lower for bounds in solution.bounds().values()]
    assert lower == pytest.approx([b.throughput_lower for b in by_hand.bounds().values()])
    again = parse_model(parse_model(CYCLE).to_toml())
    assert again.graph.class_ways == parse_model(CYCLE).graph.class_ways
    assert again.solve().throughput == solution.throughput


def test_rounds_begin_at_the_first_station_where_no_reference_is_said():
    free = parse_model(CYCLE.replace('reference = "disk"\n', ""))
    there = parse_model(CYCLE)
    # a round from the CPU to the CPU is a pass: 4 of 3 rounds that begin at the disk
    assert free.solve().throughput == pytest.approx(there.solve().throughput * 4 / 3, rel=1e-12)


def test_one_class_of_a_closed_matrix_is_the_same_network():
    text = CYCLE.replace('reference = "disk"\n', "").replace("population = 4\n", "")
    text += '[classes.jobs]\npopulation = 4\nreference = "disk"\n'
    assert parse_model(text).solve().throughput == pytest.approx(
        parse_model(CYCLE).solve().throughput, rel=1e-12
    )


def test_classes_without_routes_of_their_own_may_circulate_by_a_closed_matrix():
    text = CYCLE.replace('reference = "disk"\n', "").replace("population = 4\n", "")
    text += "[classes.a]\npopulation = 3\n[classes.b]\npopulation = 1\n"
    one = parse_model(CYCLE.replace('reference = "disk"\n', "")).solve()
    assert parse_model(text).solve().throughput == pytest.approx(one.throughput, rel=1e-12)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"1 - again"', '"0.9 - again"', r"a share of 0\.1 leaves at cpu"),
        ('reference = "disk"', 'reference = "disc"', "there is no station 'disc'"),
        ('to = "cpu"\nprobability = "again"', 'to = "cpu"\nprobability = 1.0', "cpu"),
    ],
)
def test_a_reference_needs_rounds_that_end_there(old, new, words):
    with pytest.raises(HeadwayError, match=words):
        parse_model(CYCLE.replace(old, new)).solve()


def test_a_closed_matrix_is_taken_where_a_reference_is_said():
    two = ModelGraph("two").station("cpu", MM1(0.1)).station("disk", MM1(0.2))
    matrix = [[0.0, 1.0], [1.0, 0.0]]
    solution = two.reference("disk").route_all(matrix).at().solve(population=1)
    assert solution.throughput == pytest.approx(1 / 0.3, rel=1e-12)
