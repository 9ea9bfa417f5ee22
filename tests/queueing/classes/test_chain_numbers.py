"""How many jobs are at stations of networks that are solved by their whole Markov chain.

Against chains written for the tests, to 1e-9 relative.
"""

import numpy as np
import pytest

from headway.errors import GraphError
from headway.models import ModelGraph, parse_model
from headway.queueing import MM1, MM1K, MMm
from tests.brute.chain import solve_chain
from tests.brute.held_up import Blocking, Crowd, Region
from tests.brute.network import Jobs, Network
from tests.brute.orders import HeadOfLine, Line, Lottery, Preemptive, Stack
from tests.queueing.test_marginals import chances_by_chain

TOLERANCE = 1e-9

ORDERS = {
    "fcfs": Line,
    "siro": Lottery,
    "priority": HeadOfLine,
    "preemptive": Preemptive,
    "lcfs": Stack,
}

CLASSES = """
name = "ordered"
[classes.web]
population = 2
think_time = 1.0
priority = 1
[classes.batch]
population = 2
think_time = 0.5
priority = 2
[stations.cpu]
kind = "MM1"
discipline = "{order}"
service_time = {{web = 0.2, batch = 0.5}}
[stations.pool]
kind = "MMm"
servers = 2
discipline = "{order}"
service_time = {{web = 0.6, batch = 0.3}}
[[routes]]
from = "cpu"
to = "pool"
probability = 0.7
[[routes]]
from = "pool"
to = "cpu"
probability = 0.5
"""


def ordered(order):
    """The two classes at stations of one order; where none goes first they have no priority."""
    text = CLASSES.format(order=order)
    if order in ("priority", "preemptive"):
        return text
    return "\n".join(line for line in text.splitlines() if not line.startswith("priority"))


@pytest.mark.parametrize("order", ORDERS)
def test_closed_classes_served_in_turn_are_there_as_in_the_whole_chain(order):
    place, jobs = ORDERS[order], (Jobs("web", None, 2, 1.0), Jobs("batch", None, 2, 0.5))
    ranks = (1, 2)
    places = (place((0.2, 0.5), ranks=ranks), place((0.6, 0.3), servers=2, ranks=ranks))
    hops = {}
    for c in range(2):
        hops[0, c] = [(0.7, 1, c), (0.3, None, c)]
        hops[1, c] = [(0.5, 0, c), (0.5, None, c)]
    solution = parse_model(ordered(order)).solve(method="chain")
    for k, name in enumerate(("cpu", "pool")):
        exact, met = chances_by_chain(Network(places, jobs, hops), k)
        law = solution.queue_lengths(name).laws[name][0]
        assert law.chances(4) == pytest.approx(exact, rel=TOLERANCE)
        waits = float(met[k + 1 :].sum())
        assert solution[f"{name}.waiting_probability"] == pytest.approx(waits, rel=TOLERANCE)
        assert law.mean == pytest.approx(solution[f"{name}.queue_length"], rel=TOLERANCE)


def test_queues_side_by_side_let_those_wait_who_choose_a_busy_one():
    """Each of two queues by itself is a closed network's station: as one of two MM1 with half."""
    text = ordered("fcfs")
    apart = text.replace('kind = "MMm"', 'kind = "Parallel"')
    single = text.replace('kind = "MMm"\nservers = 2', 'kind = "MM1"').replace("0.7", "0.35")
    single += '\n[stations.twin]\nkind = "MM1"\nservice_time = {web = 0.6, batch = 0.3}\n'
    single += '[[routes]]\nfrom = "cpu"\nto = "twin"\nprobability = 0.35\n'
    single += '[[routes]]\nfrom = "twin"\nto = "cpu"\nprobability = 0.5\n'
    one, two = (parse_model(t).solve(method="chain") for t in (single, apart))
    for part in ("waiting_probability", "response_time"):
        assert two[f"pool.{part}"] == pytest.approx(one[f"pool.{part}"], rel=TOLERANCE)


BACK = """
name = "back"
[classes.web]
population = 3
think_time = 1.0
[classes.batch]
population = 1
[stations.cpu]
kind = "MM1"
service_time = {web = 0.2, batch = 0.5}
[[routes]]
from = "cpu"
to = "cpu"
probability = 0.4
"""


def test_who_comes_straight_back_finds_those_it_left_behind():
    """A job that does not think is always there; alone, it finds nobody when it is back."""
    solution = parse_model(BACK).solve(method="chain")
    law = solution.queue_lengths("cpu").laws["cpu"][0]
    assert law.empty == 0
    alone = law.chances(1)[1]  # the job that does not think, which then serves 1/0.5 times a second
    through = sum(solution[f"class {c}.throughput"] for c in ("web", "batch")) / 0.6
    value = alone / 0.5 / through
    assert solution["cpu.waiting_probability"] == pytest.approx(1 - value, rel=TOLERANCE)


def test_classes_that_turn_into_one_another_at_a_pool_are_solved_state_by_state():
    """More jobs than servers may wait there in order, whatever class they began as."""
    text = """
    name = "passes"
    [classes.request]
    population = 4
    reference = "terminals"
    [classes.answer]
    population = 0
    [stations.terminals]
    kind = "Delay"
    service_time = 0.5
    [stations.server]
    kind = "MMm"
    servers = 2
    discipline = "fcfs"
    service_time = { request = 0.1, answer = 2.0 }
    [[routes]]
    from = "terminals"
    to = "server"
    [[routes]]
    from = "server"
    to = "server"
    class = "request"
    becomes = "answer"
    [[routes]]
    from = "server"
    to = "terminals"
    class = "answer"
    becomes = "request"
    """
    hops = {(0, 0): [(1.0, 0, 1)], (0, 1): [(1.0, None, 0)]}
    truth = Network(
        (Line((0.1, 2.0), servers=2),), (Jobs("a", None, 4, 0.5), Jobs("b", None, 0)), hops
    )
    chain = solve_chain(truth.start, truth.moves)
    counts = [sum(truth.places[0].counts(state[0][0])) for state in chain.states]
    solution = parse_model(text).solve()
    assert (solution.method, solution.approximation) == ("chain", "")
    chances = solution.queue_lengths("server").chances("server")
    assert chances == pytest.approx(np.bincount(counts, chain.shares), rel=1e-8)


def counted(truth, place):
    """Chances of numbers at a place, and of no server free for who comes, by the whole chain.

    Who comes is told by the number that grows: in these networks nobody comes straight back.
    """
    chain = solve_chain(truth.start, truth.moves)
    counts = [state[0][place] for state in chain.states]
    number = dict(zip(chain.states, counts, strict=True))
    met = np.zeros(max(counts) + 1)
    for state, share in zip(chain.states, chain.shares, strict=True):
        for after, rate in truth.moves(state):
            if number[after] > number[state]:
                met[number[state]] += share * rate
    return np.bincount(counts, chain.shares), met / met.sum()


def line(blocking):
    graph = ModelGraph("line").station("a", MM1(0.5)).station("b", MM1K(0.8, 2), blocking=blocking)
    graph = graph.route("a", "b", 0.9)
    return graph.route("b", "a", 0.2) if blocking == "repetitive" else graph


LINES = {
    "repetitive": {0: [(0.9, 1), (0.1, None)], 1: [(0.2, 0), (0.8, None)]},
    "after service": {0: [(0.9, 1), (0.1, None)], 1: [(1.0, None)]},
}


@pytest.mark.parametrize("blocking", ["after service", "repetitive"])
@pytest.mark.parametrize("crowd", [Crowd(0.4), Crowd(0, 4, 1.0)])
def test_jobs_held_up_count_where_they_were_served(blocking, crowd):
    """The open chain of the test has 60 places at the first station: 1e-9 is left beyond."""
    room = 60 if crowd.rate else float("inf")
    truth = Blocking(
        (0.5, 0.8), (room, 2), LINES[blocking], crowd, repeats=blocking == "repetitive"
    )
    given = (
        {"arrival_rate": 0.4} if crowd.rate else {"population": 4, "think_time": crowd.think_time}
    )
    solution = line(blocking).at().solve(**given)
    assert solution.method == "chain"
    for k, name in enumerate("ab"):
        exact, met = counted(truth, k)
        law = solution.queue_lengths(name).laws[name][0]
        assert law.chances(len(exact) - 1) == pytest.approx(exact, rel=1e-8, abs=1e-12)
        assert law.mean == pytest.approx(solution[f"{name}.queue_length"], rel=TOLERANCE)
        if blocking == "repetitive":
            waits = float(met[1:].sum())
            assert solution[f"{name}.waiting_probability"] == pytest.approx(waits, rel=1e-8)
        else:
            with pytest.raises(GraphError, match=f"line: {name}: the probability that an arriving"):
                solution[f"{name}.waiting_probability"]
        with pytest.raises(
            GraphError, match="line: waiting times at stations are unknown where b blocks"
        ):
            solution[f"{name}.waiting_time_p95"]


@pytest.mark.parametrize("crowd", [Crowd(0.8, cap=70), Crowd(0, 5, 1.0)])
def test_jobs_outside_a_region_count_at_no_station(crowd):
    ways = {0: [(1.0, 1)], 1: [(0.3, 0), (0.7, None)]}
    truth = Region((0.2, 0.5), (1, 2), ways, crowd, frozenset({0, 1}), 3)
    graph = ModelGraph("few").station("a", MM1(0.2)).station("b", MMm(0.5, 2))
    graph = graph.route("a", "b").route("b", "a", 0.3).region("threads", ["a", "b"], limit=3)
    given = {"arrival_rate": 0.8} if crowd.rate else {"population": 5, "think_time": 1.0}
    solution = graph.at().solve(**given)
    for k, name in enumerate("ab"):
        exact, _ = counted(truth, k)
        law = solution.queue_lengths(name).laws[name][0]
        assert law.chances(3) == pytest.approx(exact, rel=1e-8)
        assert law.mean == pytest.approx(solution[f"{name}.queue_length"], rel=TOLERANCE)
        assert 0 < solution[f"{name}.waiting_probability"] < 1


def test_beyond_the_chain_and_behind_what_holds_up_numbers_are_refused_by_name():
    solved = line("after service").at().solve(arrival_rate=0.4, method="decomposition")
    with pytest.raises(
        GraphError, match="line: a: the network blocks, and method decomposition gives means"
    ):
        solved.queue_lengths("a")
    graph = line("after service").station("c", MM1(0.1)).route("b", "c", 0.5)
    behind = graph.at().solve(arrival_rate=0.4)
    assert behind["b.queue_length_variance"] > 0
    with pytest.raises(GraphError, match="line: c: arrivals there are not Poisson"):
        behind.queue_lengths("c")
    full = line("after service").at().solve([0.2, 5.0]).queue_lengths("a")
    assert full.laws["a"][1] is None
