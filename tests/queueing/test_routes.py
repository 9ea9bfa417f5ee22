"""Routes by matrix and one by one: the same network, the same answers, by arrays and by names."""

import copy
import pickle

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from headway.errors import GraphError, ModelFileError
from headway.models import ModelGraph, parse_model
from headway.models.language.formula import formula
from headway.models.structure.parts.components import Route
from headway.models.structure.parts.routes import MOST_SHOWN, Routes
from headway.models.structure.planning import flows
from headway.queueing import MM1, MM1K, Delay
from headway.queueing.flows.chances import ByName, ByNumber
from headway.queueing.flows.traffic import as_routes

MANY = 25
"""Stations of which the chances are kept as a matrix."""


def chances(size, seed):
    """Chances of about half of all routes, from each to the next; 6% or more of visits end."""
    generator = np.random.default_rng(seed)
    weights = generator.random((size, size + 1))
    following = np.arange(size - 1), np.arange(1, size)
    weights[following] = np.maximum(weights[following], 0.5)
    weights[weights < 0.5] = 0
    weights[:, -1] += 0.1 * size
    return weights[:, :-1] / weights.sum(axis=1, keepdims=True)


def stations(kinds):
    graph = ModelGraph("net")
    for k, kind in enumerate(kinds):
        graph = graph.station(f"s{k}", kind)
    return graph


def one_by_one(graph, matrix):
    for (i, j), chance in np.ndenumerate(matrix):
        if chance:
            graph = graph.route(f"s{i}", f"s{j}", chance)
    return graph


@given(st.integers(1, 6), st.integers(0, 10**6))
def test_a_matrix_is_the_same_graph_as_its_routes(size, seed):
    graph, matrix = stations([MM1(0.1)] * size), chances(size, seed)

    whole, single = graph.route_all(matrix), one_by_one(graph, matrix)

    assert whole == single
    assert hash(whole) == hash(single)
    assert whole.at().solve(arrival_rate=0.1).values == single.at().solve(arrival_rate=0.1).values


@given(
    st.integers(1, 5),
    st.integers(0, 10**6),
    st.lists(st.floats(0, 1), min_size=2, max_size=2),
    st.floats(0, 1),
)
def test_arrays_give_what_names_give(size, seed, admitted, factor):
    """Of losing stations, returns and chances that differ by operating point, on and back."""
    matrix = chances(size, seed)
    names = [f"s{k}" for k in range(size)]
    routes = {ends: p for ends, p in as_routes(names, matrix).items() if p}
    changing = {}
    if routes:
        (source, target), p = next(iter(routes.items()))
        routes[source, target] = np.array([p, p * factor])
        place = names.index(source), names.index(target)
        changing[place] = routes[source, target]
        matrix[place] = 0.0
    own, let_in = names[:2], {names[-1]: np.array(admitted)}
    entries = {names[0]: 0.25, names[-1]: np.array([0.75, 0.5])}

    answers = []
    for each in (ByName(names, routes), ByNumber(names, matrix, changing)):
        each.check()
        away = each.without_returns(own)
        leave = away.leaving()
        numbers = (leave, away.arrivals(entries, let_in), away.after(leave, let_in))
        answers.append([np.broadcast_to(v, 2) for part in numbers for v in part.values()])

    # Tolerance: a job leaves after 6% of visits at least, so the condition is below 1e3.
    np.testing.assert_allclose(*answers, rtol=1e-11, atol=1e-12)


def mixed():
    """Many stations, of which one loses jobs, one loses those that come back, and one depends."""
    kinds = [MM1(0.01)] * (MANY - 3) + [MM1K(0.2, 2), MM1K(0.3, 3), Delay(0.1)]
    matrix = chances(MANY, 3)
    matrix[MANY - 3, MANY - 3] = 0.2
    matrix[0, :2] = 0.0
    graph = stations(kinds).declare("p", "rate").route_all(matrix * 0.9).route("s0", "s1", "p")
    return graph.arrive("s0", "rate").arrive("s5", "2 * rate")


@pytest.mark.parametrize(
    ("p", "rate"),
    [
        pytest.param(0.05, 0.5, marks=pytest.mark.slow),
        pytest.param(np.array([0.01, 0.09]), 0.5, marks=pytest.mark.slow),
        (0.05, np.array([0.1, 1.0])),
    ],
)
def test_models_by_arrays_and_by_names(p, rate, monkeypatch):
    model = mixed().at(p=p, rate=rate)
    solved = model.solve()
    assert flows.numbers_of(model.graph) is not None

    monkeypatch.setattr(flows, "suits_a_matrix", lambda *_: False)
    expected = mixed().at(p=p, rate=rate).solve()

    assert solved.outputs == expected.outputs
    assert "loss_probability" in solved.outputs
    # Tolerance: as above, and losses settle to 1e-14.
    for name in (*solved.outputs, "s22.utilisation", "s23.residence_time", "s7.visits"):
        np.testing.assert_allclose(solved[name], expected[name], rtol=1e-10)


def test_many_servers_by_a_matrix_follow_jackson():
    matrix, times = chances(MANY, 1), np.linspace(0.001, 0.01, MANY)
    graph = stations([MM1(time) for time in times]).route_all(matrix)

    solved = graph.at().solve(arrival_rate=2.0)

    visits = np.linalg.solve(np.eye(MANY) - matrix.T, np.eye(MANY)[0])
    expected = (visits * times / (1 - 2.0 * visits * times)).sum()
    assert solved.response_time == pytest.approx(expected, rel=1e-12)
    assert solved.saturation_throughput == pytest.approx(1 / (visits * times).max(), rel=1e-12)
    closed = graph.at().closed(10).solve()
    for k, demand in enumerate(visits * times):
        assert closed[f"s{k}.utilisation"] == pytest.approx(closed.throughput * demand, rel=1e-11)


def test_percentiles_of_a_matrix_are_those_of_its_routes():
    matrix = np.array([[0.0, 0.6, 0.0], [0.3, 0.0, 0.5], [0.0, 0.0, 0.2]])
    graph = stations([MM1(0.1), MM1(0.2), Delay(1.0)])

    whole, single = (
        each.at().solve(arrival_rate=1.0).with_percentile(90)["response_time_p90"]
        for each in (graph.route_all(matrix), one_by_one(graph, matrix))
    )

    assert whole == single


def test_percentiles_of_a_loop_of_many_stations_say_how_they_are_found():
    solved = stations([MM1(0.001)] * MANY).route_all(chances(MANY, 2)).at().solve(arrival_rate=1.0)

    solution = solved.with_percentile(90)

    assert solution["response_time_p90"] > solution.response_time
    assert "visits of a job, although they return to s0, s1" in solution.approximation
    assert "and 13 more" in solution.approximation


def test_symbols_through_a_matrix():
    matrix = chances(MANY, 4)
    graph = stations([MM1("s"), *[MM1(0.001)] * (MANY - 1)][1:]).declare("a", "b")
    graph = graph.route_all(matrix[1:, 1:]).arrive("s0", "a").arrive("s3", "b")

    form = graph.closed_form("s1.arrival_rate")

    a, b = (next(x for x in form.free_symbols if x.name == name) for name in "ab")
    solved = graph.at(a=1.0, b=3.0).solve()
    value = float(form.subs({a: 1.0, b: 3.0}))
    assert value == pytest.approx(solved.values["s1.arrival_rate"], rel=1e-12)


def test_a_symbol_beside_a_matrix():
    graph = stations([MM1(0.001)] * MANY).route_all(np.diag(np.full(MANY - 1, 0.5), 1))

    form = graph.route("s1", "s0", sympy.Symbol("p", positive=True)).closed_form("s1.visits")

    p = next(iter(form.free_symbols))
    assert sympy.simplify(form - 0.5 / (1 - 0.5 * p)) == 0


@pytest.mark.parametrize(
    ("matrix", "why"),
    [
        ([[0.0, 1.2], [0.0, 0.0]], "s0 -> s1: probability 1.2 is not between 0 and 1"),
        ([[0.0, np.inf], [0.0, 0.0]], "not between 0 and 1"),
        ([[0.0, -0.1], [0.0, 0.0]], "not between 0 and 1"),
        ([[0.0, np.nan], [0.0, 0.0]], "not between 0 and 1"),
        ([[0.6, 0.6], [0.0, 0.0]], "routes out of s0 sum to 1.2"),
        ([[0.0, 1.0], [1.0, 0.0]], "no job leaves the loop of s0, s1"),
        ([[0.0, 0.5]], "give a row for each"),
        ([0.0, 0.5], "give a row for each"),
        ([[0.0, 0.5], [0.1]], "must contain numbers only"),
        ([["p", 0.5], [0.1, 0.0]], "must contain numbers only"),
        ([[0.1j, 0.5], [0.1, 0.0]], "must contain numbers only"),
    ],
)
def test_refused_matrices(matrix, why):
    with pytest.raises(GraphError, match=why):
        stations([MM1(1.0), MM1(1.0)]).route_all(matrix)


def test_refused_beside_a_matrix():
    graph = stations([MM1(1.0), MM1(1.0)])
    half = [[0.0, 0.5], [0.0, 0.0]]

    with pytest.raises(GraphError, match="s0 -> s1 is given twice"):
        graph.route_all(half).route("s0", "s1", 0.1)
    with pytest.raises(GraphError, match="given twice, once in a matrix"):
        graph.route("s0", "s1", 0.1).route_all(half)
    with pytest.raises(GraphError, match="a matrix of routes is already given"):
        graph.route_all(half).route_all(half)
    with pytest.raises(GraphError, match="sum to 1.1"):
        graph.route_all(half).route("s0", "s0", 0.6).at().solve(arrival_rate=0.1)


@pytest.mark.parametrize("p", [0.7, np.array([0.1, 0.7])])
def test_sums_beside_a_large_matrix_are_checked_at_every_point(p):
    graph = stations([MM1(0.001)] * MANY).declare("p")
    model = graph.route_all(np.diag(np.full(MANY - 1, 0.5), 1)).route("s1", "s0", "p").at(p=p)

    with pytest.raises(GraphError, match=r"routes out of s1 sum to 1\.2"):
        model.solve(arrival_rate=0.1)


def test_a_graph_with_a_matrix_is_a_value():
    graph, matrix = stations([MM1(0.1)] * 3), chances(3, 5)
    whole = graph.route_all(matrix)
    kept = whole.at().solve(arrival_rate=0.1).response_time

    matrix[:] = 0.0

    again = pickle.loads(pickle.dumps(whole))  # noqa: S301
    assert again == whole == copy.deepcopy(whole)
    assert hash(again) == hash(whole)
    assert again.at().solve(arrival_rate=0.1).response_time == kept
    assert whole != graph.route_all(chances(3, 6))
    assert ModelGraph("net", stations=graph.stations, routes=chances(3, 5)) == whole
    with pytest.raises(ValueError, match="read-only"):
        whole.routes.block.matrix[0, 0] = 0.5


def test_a_matrix_written_and_read_gives_the_same_graph():
    model = stations([MM1(0.1)] * 3).declare("p").route_all(np.full((3, 3), 1 / 7))
    model = model.station("out", MM1(0.01)).route("s0", "out", "p").at(p=0.1, arrival_rate=1.0)

    again = parse_model(model.to_toml())

    assert again.graph.routes == model.graph.routes
    assert again.solve().values == model.solve().values


def test_more_routes_than_a_file_may_have_are_not_written():
    model = stations([MM1(0.001)] * 101).route_all(np.full((101, 101), 0.009)).at(arrival_rate=1.0)

    with pytest.raises(
        ModelFileError, match="net: 10,303 entries are more than the limit of 10,000 in"
    ):
        model.to_toml()


def test_routes_share_what_they_have_and_stay_as_they_are():
    one = Routes([Route("a", "b", formula("0.5"))])
    left = one.adding(Route("b", "a", formula("p")))
    right = one.adding(Route("b", "b", formula("0.1")))

    assert [(r.source, r.target) for r in left] == [("a", "b"), ("b", "a")]
    assert [(r.source, r.target) for r in right] == [("a", "b"), ("b", "b")]
    assert (len(one), left.loops, right.loops) == (1, frozenset(), {"b"})
    assert (left.changing, right[1:]) == ((left[1],), (right[1],))
    assert one.between("b", "a") is None
    assert one == (left[0],)


def test_what_shows_many_routes_says_how_many_it_leaves_out():
    model = stations([MM1(0.001)] * 30).route_all(np.full((30, 30), 0.03)).at(arrival_rate=1.0)

    table = model.tables()[-1]

    assert len(table.columns[0].cells) == MOST_SHOWN + 1
    assert "400 more routes are not shown" in " ".join(table.notes)
    with pytest.raises(GraphError, match="900 routes, and a drawing is legible up to 500"):
        model.plot()
