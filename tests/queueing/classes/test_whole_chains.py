"""Closed classes without a product form, solved state by state by the package itself."""

import numpy as np
import pytest

from headway.errors import GraphError
from headway.models import parse_model
from headway.queueing.classes.whole import MOST_STATES
from headway.queueing.markov.circuits import Circuit, solve_circuit
from headway.queueing.markov.orders import (
    apart,
    at_random,
    by_rank,
    in_order,
    last_first,
    next_by_rank,
    sharing,
)
from headway.queueing.methods.needs import MOST_REQUESTED
from tests.brute.network import Jobs, Network, solve_network
from tests.brute.orders import Apart, HeadOfLine, Line, Lottery, Preemptive, Sharing, Stack

RANKS = (2, 1)
TIMES = ((0.1, 0.4), (0.3, 0.2))
ORDERS = {
    "shared": (sharing, Sharing, {}),
    "in order": (in_order, Line, {}),
    "at random": (at_random, Lottery, {}),
    "last first": (last_first, Stack, {}),
    "next by rank": (lambda m: next_by_rank(RANKS, m), HeadOfLine, {"ranks": RANKS}),
    "by rank": (lambda m: by_rank(RANKS, m), Preemptive, {"ranks": RANKS}),
    "apart": (lambda m: apart(m, 1, sharing), Apart, {}),
}
MODEL = """
name = "office"
routes = [{from = "cpu", to = "disk", probability = 0.6}, {from = "disk", to = "cpu"}]
[parameters]
users = 2
[classes.a]
population = "users"
think_time = "1 s"
[classes.b]
population = 2
[stations.cpu]
kind = "MM1"
service_time = {a = "20 ms", b = "300 ms"}
[stations.disk]
kind = "MM1"
service_time = "50 ms"
"""


@pytest.mark.parametrize("servers", [1, 2])
@pytest.mark.parametrize("order", ORDERS)
def test_every_order_is_as_another_chain_of_it_says(order, servers):
    """Held to `tests.brute`, which is written anew, to 1e-12: class b becomes a on its way."""
    make, place, more = ORDERS[order]
    hops = {
        (0, 0): [(0.7, 1, 0), (0.3, None, 0)],
        (0, 1): [(0.5, 1, 1), (0.5, 1, 0)],
        (1, 0): [(0.4, 0, 1), (0.6, None, 0)],
        (1, 1): [(1.0, 0, 1)],
    }
    places = tuple(place(times, servers=servers, **more) for times in TIMES)
    jobs = Jobs("a", None, 2, 0.5), Jobs("b", None, 2, 0.0)
    numbers = solve_network(Network(places, jobs, hops)).numbers
    onward = tuple(tuple(tuple(hops[k, c]) for k in range(2)) for c in range(2))
    enters = (((0, 1.0),),) * 2
    circuit = Circuit((make(servers),) * 2, (2, 2), (True, False), enters, onward)
    rates = np.array([[1 / t] for times in TIMES for t in times] + [[2.0], [1.0]])
    solution = solve_circuit(circuit, rates, 10_000)
    for k in range(2):
        length = solution.queue_length[:, k].sum()
        assert length == pytest.approx(numbers[f"s{k}.queue_length"], rel=1e-12)
        through = solution.throughput[:, k].sum()
        assert through == pytest.approx(numbers[f"s{k}.throughput"], rel=1e-12)


def test_a_small_network_is_exact_at_all_points_and_says_how():
    model = parse_model(MODEL)
    swept = model.solve(users=[1, 2, 3])
    assert (swept.method, swept.approximation) == ("chain", "")
    for place, users in enumerate((1, 2, 3)):
        alone = model.solve(users=users)
        for name in ("cpu.utilisation", "class a.response_time", "class b.throughput"):
            assert np.asarray(swept[name])[place] == pytest.approx(alone[name], rel=1e-12)


def test_a_large_network_is_approximate_and_says_so():
    swept = parse_model(MODEL).solve(users=[2, 40])
    assert swept.method == "aggregation"
    assert "first come first served" in swept.approximation


def test_exact_methods_go_further_than_what_is_done_unasked():
    # 10 jobs beside 2 stand in 3,003 orders
    model = parse_model(MODEL)
    assert model.solve(users=10).method == "aggregation"
    assert model.solve(method="exact", users=10).method == "chain"
    assert MOST_STATES < 3003 < MOST_REQUESTED


def test_a_chain_that_cannot_be_is_refused():
    with pytest.raises(GraphError, match="needs closed classes with routes"):
        parse_model(MODEL).solve(method="chain", users=200)
    visits = MODEL.replace(
        'routes = [{from = "cpu", to = "disk", probability = 0.6}, {from = "disk", to = "cpu"}]', ""
    )
    visits = visits.replace('kind = "MM1"', 'kind = "MM1"\nvisits = 2')
    with pytest.raises(GraphError, match="needs closed classes with routes"):
        parse_model(visits).solve(method="chain")


def test_classes_that_turn_into_one_another_are_exact_too():
    """A round through both classes at one server each: two jobs, states by hand.

    As a it takes 1 s at the server, as b 3 s, always in turn: with two jobs of one chain in
    order of arrival the server is never idle, and half of its services are of each class.
    """
    model = parse_model("""
name = "turns"
[classes.a]
population = 2
[classes.b]
population = 0
[stations.cpu]
kind = "MM1"
service_time = {a = 1, b = 3}
[[routes]]
from = "cpu"
to = "cpu"
class = "a"
becomes = "b"
[[routes]]
from = "cpu"
to = "cpu"
class = "b"
becomes = "a"
""")
    solution = model.solve()
    assert (solution.method, solution.approximation) == ("chain", "")
    assert solution["cpu.throughput"] == pytest.approx(0.5, rel=1e-12)
    assert solution["cpu.queue_length"] == pytest.approx(2.0, rel=1e-12)


def test_one_job_that_nobody_lets_go_has_one_state():
    """It goes round by itself: X = 1 / S, whatever others would be let before it."""
    alone = Circuit((in_order(1),), (1,), (False,), (((0, 1.0),),), ((((1.0, None, 0),),),))
    assert solve_circuit(alone, np.array([[4.0], [1.0]]), 10).throughput.item() == 4.0
