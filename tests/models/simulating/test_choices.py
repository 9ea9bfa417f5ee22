"""Copies of a station, and how jobs choose among them, against whole Markov chains."""

from functools import partial
from itertools import combinations, product

import numpy as np
import pytest
from scipy.sparse import csc_matrix
from scipy.sparse.linalg import spsolve

from headway.errors import GraphError
from headway.models import ModelGraph, parse_model
from headway.queueing import MM1, MMm, Parallel
from tests.support.cases import mostly_slow
from tests.support.command import refusal

SURE = 0.999
"""Confidence of each interval; seeds are fixed."""

POINT = {"half_width": 0.02, "seed": 5}


def shares(route, present):
    """Share of the arrivals that each queue gets, by how many are at each."""
    count = len(present)
    drawn = combinations(range(count), 2) if route == "two-choices" else [range(count)]
    taken = np.zeros(count)
    for some in (every := [*drawn]):
        least = [q for q in some if present[q] == min(present[k] for k in some)]
        taken[least] += 1 / len(least) / len(every)
    return taken


def chain(route, queues, most, rate):
    """Mean number at exponential servers of 1 s, and arrivals a second, by their whole chain.

    The rate of arrivals is a function of all who are there; no queue is longer than `most`.
    """
    states = [*product(range(most + 1), repeat=queues)]
    place = {state: k for k, state in enumerate(states)}
    moves = []
    for k, state in enumerate(states):
        for q in range(queues):
            up, down = (
                tuple(np.add(state, step * np.eye(queues, dtype=int)[q])) for step in (1, -1)
            )
            moves.append((k, place.get(up, k), rate(sum(state)) * shares(route, state)[q]))
            moves.append((k, place.get(down, k), 1.0))
    rows, columns, rates = map(np.array, zip(*moves, strict=True))
    rates = np.where(rows == columns, 0.0, rates)
    count = len(states)
    flow = csc_matrix((rates, (columns, rows)), (count, count))
    balance = (flow - csc_matrix((rates, (rows, rows)), (count, count))).tolil()
    balance[0] = np.ones(count)
    chances = spsolve(balance.tocsc(), np.eye(1, count).ravel())
    present = np.array([sum(state) for state in states])
    arrivals = chances @ [rate(number) for number in present]
    return chances @ present, arrivals


def copies(route, count, **traffic):
    graph = ModelGraph("pods").station("web", MM1(1.0), replicas=count, route=route)
    if "population" in traffic:
        return graph.declare("population", "think_time").at(**traffic)
    return graph.at(**traffic)


def test_the_shorter_of_two_has_the_published_mean():
    """5.475 s at 90%: by the chain up to 60 jobs a queue, whose ends have no weight."""
    number, arrivals = chain("shortest", 2, 60, lambda _: 1.8)
    assert number / arrivals == pytest.approx(5.475, abs=5e-4)
    found = copies("shortest", 2, arrival_rate=1.8).simulate(**POINT)
    assert found.estimates["response_time"].holds(number / arrivals, SURE)


@pytest.mark.parametrize("route", mostly_slow(["shortest", "two-choices"], 1))
def test_three_copies(route):
    number, arrivals = chain(route, 3, 16, lambda _: 2.1)
    found = copies(route, 3, arrival_rate=2.1).simulate(**POINT).estimates
    assert found["response_time"].holds(number / arrivals, SURE)
    assert found["web.queue_length"].holds(number, SURE)
    assert found["web.utilisation"].holds(0.7, SURE)
    assert found["throughput"].holds(2.1, SURE)


@pytest.mark.parametrize("route", ["shortest", "two-choices"])
def test_copies_in_a_closed_network(route):
    number, arrivals = chain(route, 3, 6, lambda here: max(6 - here, 0) / 2.0)
    found = copies(route, 3, population=6, think_time=2.0).simulate(**POINT).estimates
    assert found["throughput"].holds(arrivals, SURE)
    assert found["response_time"].holds(number / arrivals, SURE)


def test_jobs_that_go_in_turn():
    """Each of three queues is E3/M/1: states (arrivals since its last, number there)."""
    most, rate = 150, 2.4
    count = 3 * (most + 1)
    balance = np.zeros((count, count))
    for phase, here in product(range(3), range(most + 1)):
        k = 3 * here + phase
        to = k + 1 if phase < 2 else 3 * min(here + 1, most)
        balance[[to, k], k] += rate, -rate
        if here:
            balance[[k - 3, k], k] += 1.0, -1.0
    balance[0] = 1.0
    chances = np.linalg.solve(balance, np.eye(1, count).ravel())
    number = 3 * chances @ (np.arange(count) // 3)
    found = copies("round-robin", 3, arrival_rate=rate).simulate(**POINT)
    assert found.estimates["response_time"].holds(number / rate, SURE)


def apart(graph, count):
    """So many stations, each of which gets an equal share of the visits."""
    for k in range(count):
        graph = graph.station(f"web{k}", MM1(0.1), visits=2 / count)
    return graph


@pytest.mark.parametrize("traffic", [{"arrival_rate": 12.0}, {"population": 9, "think_time": 0.5}])
def test_copies_at_random_are_stations_with_shares_of_the_visits(traffic):
    graph = ModelGraph("pods").declare("population", "think_time")
    if "arrival_rate" in traffic:
        graph = ModelGraph("pods")
    one = graph.station("web", MM1(0.1), 2.0, replicas=3).at(**traffic).solve()
    each = apart(graph, 3).at(**traffic).solve()
    assert one.response_time == pytest.approx(each.response_time, rel=1e-12)
    assert one.throughput == pytest.approx(each.throughput, rel=1e-12)
    for part in ("queue_length", "throughput"):
        total = sum(each[f"web{k}.{part}"] for k in range(3))
        assert one[f"web.{part}"] == pytest.approx(total, rel=1e-12)
    assert one["web.utilisation"] == pytest.approx(each["web0.utilisation"], rel=1e-12)


def test_copies_of_classes_at_random():
    made = []
    for graph in (
        ModelGraph("a").station("web", MM1(0.1), 2.0, discipline="ps", replicas=3),
        apart(ModelGraph("b"), 3),
    ):
        both = graph.job_class("out", 5.0).job_class("in", population=4, think_time=0.5)
        made.append(both.at().solve())
    for name in ("class out.response_time", "class in.response_time", "class in.throughput"):
        assert made[0][name] == pytest.approx(made[1][name], rel=1e-12)


FILE = """
name = "pods"
[parameters]
arrival_rate = "1.8 /s"
copies = 2
[stations.web]
kind = "MM1"
service_time = "1 s"
replicas = "copies"
route = "shortest"
"""


def test_a_file_says_it_and_is_written_back():
    model = parse_model(FILE)
    assert parse_model(model.to_toml()).graph.content == model.graph.content
    random = parse_model(FILE.replace("shortest", "random"))
    assert random.at(copies=[2, 3]).solve().response_time == pytest.approx([10.0, 2.5], rel=1e-12)


@pytest.mark.parametrize(
    "ask",
    [
        lambda model: model.solve(),
        lambda model: model.solve().percentile(99),
        lambda model: model.graph.closed_form("response_time"),
    ],
)
def test_what_is_not_at_random_has_no_formula(ask):
    with pytest.raises(GraphError, match="web: .*use --method simulation"):
        ask(parse_model(FILE))


def test_classes_and_closed_networks_refuse_it():
    graph = ModelGraph("pods").station("web", MM1(1.0), replicas=2, route="shortest")
    classes = graph.job_class("a", 0.5).job_class("b", 0.5)
    with pytest.raises(GraphError, match="web: .*use --method simulation"):
        classes.at().solve()
    with pytest.raises(GraphError, match="web: .*chosen at random.*simulate"):
        copies("shortest", 2, population=3, think_time=1.0).solve()


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"copies"', "0", "replicas is 0; it must be a whole number of 1 or more"),
        ('"copies"', "1.5", "replicas is 1.5; it must be a whole number"),
        ('"copies"', "-2", "replicas is -2; it must be a whole number"),
        ("copies = 2", "copies = 0", "servers is 0; it must be a whole number"),
        ('"shortest"', '"shortes"', "unknown route 'shortes'; did you mean shortest?"),
        ('replicas = "copies"', "", "add replicas = 2, or more"),
        ('kind = "MM1"', 'kind = "MD1"', "web has no 'replicas'"),
    ],
)
def test_bad_input_is_one_line(tmp_path, old, new, words):
    path = tmp_path / "pods.toml"
    path.write_text(FILE.replace(old, new))
    assert words in refusal("solve", str(path), "--method", "simulation")


@pytest.mark.parametrize("make", [partial(MMm, 1.0, 2), partial(Parallel, 1.0, 2)])
def test_kinds_without_copies_say_so(make):
    with pytest.raises(GraphError, match="web: replicas of a .* have no law"):
        ModelGraph("pods").station("web", make(), replicas=2)
