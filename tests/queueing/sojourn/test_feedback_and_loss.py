"""Jobs that come straight back and jobs that are lost, against whole Markov chains."""

import itertools

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.errors import GraphError
from headway.models.structure.graph import ModelGraph
from headway.queueing import MD1, MG1, MM1, MM1K, Delay, GGm, MMm, MMmK


def chain(rate, service, servers, places, again):
    """Stationary law of the number at one room whose jobs come back: loss and mean number."""
    size = places + 1
    flows = np.zeros((size, size))
    for n in range(places):
        flows[n, n + 1] = rate
        flows[n + 1, n] = min(n + 1, servers) / service * (1 - again)
    balance = flows.T - np.diag(flows.sum(axis=1))
    balance[0] = 1.0
    law = np.linalg.solve(balance, np.eye(size)[0])
    return law[-1], law @ np.arange(size)


def loop(station, share=0.5):
    return ModelGraph("loop").station("s", station).route("s", "s", share).at()


def test_constant_service_with_feedback():
    """Takacs: M/G/1 with the sum of all visits, S/(1-p) = 2 and scv p, at U = 1/2."""
    solved = loop(MD1(1.0)).solve(arrival_rate=0.25)

    assert solved.response_time == pytest.approx(3.5, rel=1e-12)
    assert solved["s.utilisation"] == 0.5
    assert solved["s.throughput"] == 0.5
    assert solved["s.response_time"] == pytest.approx(1.75, rel=1e-12)
    assert solved["s.queue_length"] == pytest.approx(0.25 * 3.5, rel=1e-12)
    assert solved.saturation_throughput == 0.5
    assert solved.approximation == ""


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_exponential_service_with_feedback_is_that_of_the_product_form(share):
    for rate in (0.01, 0.09):
        general = loop(MG1(1.0, 1.0), share).solve(arrival_rate=rate)
        plain = loop(MM1(1.0), share).solve(arrival_rate=rate)
        assert general.response_time == pytest.approx(plain.response_time, rel=1e-12)
        assert general["s.visits"] == pytest.approx(plain["s.visits"], rel=1e-12)


@pytest.mark.parametrize(("servers", "places"), [(1, 5), (2, 5), (3, 3)])
@pytest.mark.parametrize("share", [0.0, 0.5, 0.8])
@pytest.mark.parametrize("rate", [0.1, 0.9, 5.0])
def test_a_room_whose_jobs_come_back(servers, places, share, rate):
    loss, number = chain(rate, 1.0, servers, places, share)

    solved = loop(MMmK(1.0, servers, places), share).solve(arrival_rate=rate)

    # Tolerance: the chain's linear equations.
    assert solved["loss_probability"] == pytest.approx(loss, rel=1e-11)
    assert solved.throughput == pytest.approx(rate * (1 - loss), rel=1e-12)
    assert solved.response_time == pytest.approx(number / (rate * (1 - loss)), rel=1e-11)
    assert solved["s.queue_length"] == pytest.approx(number, rel=1e-11)
    assert solved["s.throughput"] == pytest.approx(rate * (1 - loss) / (1 - share), rel=1e-12)
    assert solved.approximation == ""


def test_the_issue_s_room_with_feedback():
    solved = loop(MM1K(1.0, 5)).solve(arrival_rate=0.9)

    assert round(solved["loss_probability"], 4) == 0.4579
    assert round(solved.response_time, 2) == 8.06


def test_a_loop_without_a_law_is_labelled():
    alone = ModelGraph("g").station("s", GGm(1.0, 2, 1.0, 0.5))
    assert "Poisson" not in alone.at().solve(arrival_rate=0.1).approximation
    assert "Poisson" in alone.route("s", "s", 0.5).at().solve(arrival_rate=0.1).approximation
    assert loop(MMm(1.0, 2)).solve(arrival_rate=0.1).approximation == ""
    with pytest.raises(GraphError, match="no law for jobs that return directly"):
        MM1(1.0).returning(0.5)


@pytest.mark.parametrize("station", [MD1(1.0), MM1K(1.0, 3)])
def test_a_loop_that_nothing_leaves_is_refused(station):
    with pytest.raises(GraphError, match="no job leaves the loop of s"):
        loop(station, 1.0).solve(arrival_rate=0.1)
    with pytest.raises(GraphError, match="probability 1.5 is not between"):
        loop(station, 1.5).solve(arrival_rate=0.1)


def test_closed_forms_of_feedback():
    p, rate = sympy.symbols("p arrival_rate", positive=True)
    graph = ModelGraph("loop").declare("p").station("s", MD1(1.0)).route("s", "s", "p")
    form = graph.closed_form("response_time").subs({p: 0.5, rate: 0.25})
    assert float(form) == pytest.approx(3.5, rel=1e-12)
    room = ModelGraph("loop").declare("p").station("s", MM1K(1.0, 5)).route("s", "s", "p")
    form = room.closed_form("response_time").subs({p: 0.5, rate: 0.9})
    assert float(form.doit()) == pytest.approx(loop(MM1K(1.0, 5)).solve(0.9).response_time, 1e-12)


def test_the_time_of_jobs_that_are_lost_later_is_not_counted():
    graph = ModelGraph("t").station("a", MMmK(1.0, 5, 5)).station("b", MM1K(1.0, 1))
    solved = graph.route("a", "b").at().solve(arrival_rate=2.0)

    assert solved.response_time == pytest.approx(2.0, rel=1e-12)
    assert solved.throughput == pytest.approx(2.0 * (1 - solved["loss_probability"]), rel=1e-12)
    assert "Poisson" in solved.approximation


def enumerated(entry, matrix, lost, times, depth=400):
    """Answered share and time of answered jobs, adding up ways of up to `depth` visits."""
    size = len(matrix)
    here, spent = np.array(entry, float), np.zeros(size)
    leave = 1 - matrix.sum(axis=1)
    answered = total = 0.0
    for _ in range(depth):
        here, spent = here * (1 - lost), spent * (1 - lost)
        spent = spent + here * times
        answered += here @ leave
        total += spent @ leave
        here, spent = here @ matrix, spent @ matrix
    return answered, total / answered


@settings(max_examples=40, derandomize=True, deadline=None)
@given(st.integers(0, 10**6))
def test_answered_jobs_on_random_routes(seed):
    """Ways through random routes are added up one by one, losses and times as the solver's."""
    generator = np.random.default_rng(seed)
    size = 4
    matrix = generator.dirichlet(np.ones(size + 1), size)[:, :size] * 0.9
    np.fill_diagonal(matrix, 0.0)
    matrix[generator.random((size, size)) < 0.3] = 0.0
    matrix[0, [1, 3]] = np.maximum(matrix[0, [1, 3]], 0.01)  # so that jobs come to all
    kinds = [MM1K(0.3, 2), MMmK(0.5, 2, 2), Delay(0.7), MM1(0.05)]
    graph = ModelGraph("r")
    for k, kind in enumerate(kinds):
        graph = graph.station(f"s{k}", kind)
    for source, target in itertools.product(range(size), repeat=2):
        if matrix[source, target]:
            graph = graph.route(f"s{source}", f"s{target}", float(matrix[source, target]))
    graph = graph.arrive("s0", 0.7).arrive("s2", 0.4)
    solved = graph.at().solve()
    names = solved.stations
    lost = np.array([solved.values.get(f"{n}.loss_probability", 0.0) for n in names])
    times = np.array([solved[f"{n}.response_time"] for n in names])

    answered, time = enumerated([0.7 / 1.1, 0, 0.4 / 1.1, 0], matrix, lost, times)

    # Tolerance: losses and visits agree to 1e-14, through at most ten visits of a job.
    assert solved.throughput == pytest.approx(1.1 * answered, rel=1e-11)
    assert 1 - solved["loss_probability"] == pytest.approx(answered, rel=1e-11)
    assert solved.response_time == pytest.approx(time, rel=1e-11)


def test_the_mean_time_of_answered_jobs_in_symbols():
    rate = sympy.Symbol("arrival_rate", positive=True)
    graph = ModelGraph("t").station("a", MM1K(0.5, 2)).station("b", MM1K(0.25, 3)).route("a", "b")

    form = graph.route("b", "a", 0.0).closed_form("response_time")

    expected = graph.at().solve(arrival_rate=2.0).response_time
    assert float(form.subs(rate, 2.0).doit()) == pytest.approx(expected, rel=1e-12)


def test_an_output_of_one_s_own_leaves_losses_in_place():
    graph = (
        ModelGraph("g").station("a", MM1K(1.0, 1)).output("response_time", "2 * a.response_time")
    )
    solved = graph.at().solve(arrival_rate=1.0)

    assert solved["loss_probability"] == pytest.approx(0.5, rel=1e-12)
    assert solved.throughput == pytest.approx(0.5, rel=1e-12)


def test_visits_given_beside_losses():
    graph = ModelGraph("g").station("a", MM1K(1.0, 1), 1.0).station("b", Delay(2.0), 1.0)
    solved = graph.at().solve(arrival_rate=1.0)

    assert "visits hide which jobs a loses" in solved.approximation
    many = ModelGraph("g").station("a", MM1K(1.0, 1), 3.0).at()
    with pytest.raises(GraphError, match="would lose more jobs than arrive; give routes"):
        many.solve(arrival_rate=1.0)


def test_nobody_arrives_at_several_places():
    graph = ModelGraph("g").station("a", MM1(1.0)).station("b", MM1(3.0))
    solved = graph.arrive("a", 0.0).arrive("b", 0.0).at().solve()

    assert solved.response_time == pytest.approx(2.0, rel=1e-12)
    assert solved.throughput == 0
