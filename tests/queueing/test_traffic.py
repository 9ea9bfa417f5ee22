import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from headway.errors import GraphError
from headway.queueing.flows.traffic import visit_ratios


def test_feedback_loop():
    assert visit_ratios(["cpu"], {"cpu": 1.0}, {("cpu", "cpu"): 0.6}) == {"cpu": 2.5}


def test_symbols_come_out_closed():
    p = sympy.Symbol("p", positive=True)

    visits = visit_ratios(["a", "b"], {"a": 1}, {("a", "b"): p, ("b", "a"): sympy.Integer(1)})

    assert sympy.simplify(visits["a"] - 1 / (1 - p)) == 0
    assert visits["b"] == p / (1 - p)


@st.composite
def networks(draw):
    size = draw(st.integers(1, 6))
    weights = np.array(
        draw(st.lists(st.floats(0, 1), min_size=size * (size + 1), max_size=size * (size + 1)))
    ).reshape(size, size + 1)
    weights[weights < 0.3] = 0
    weights[:, -1] += 0.05
    return weights[:, :-1] / weights.sum(axis=1, keepdims=True)


@given(networks())
def test_agrees_with_dense_linear_algebra(matrix):
    size = len(matrix)
    routes = {(i, j): matrix[i, j] for i in range(size) for j in range(size) if matrix[i, j]}
    expected = np.linalg.solve(np.eye(size) - matrix.T, np.eye(size)[0])

    visits = visit_ratios(range(size), {0: 1.0}, routes)

    # Tolerance: every job leaves with chance 0.8% at least, so the condition is below 1e3.
    np.testing.assert_allclose(list(visits.values()), expected, rtol=1e-11, atol=1e-12)


@given(networks())
def test_arrays_give_what_scalars_give(matrix):
    size = len(matrix)
    edges = [(i, j) for i in range(size) for j in range(size) if matrix[i, j]]
    halves = np.array([1.0, 0.5])

    together = visit_ratios(
        range(size), {0: 1.0}, {(i, j): matrix[i, j] * halves for i, j in edges}
    )

    for k, half in enumerate(halves):
        alone = visit_ratios(range(size), {0: 1.0}, {(i, j): matrix[i, j] * half for i, j in edges})
        for node, visits in alone.items():
            assert np.broadcast_to(together[node], 2)[k] == pytest.approx(visits, rel=1e-12)


def test_large_sparse_network_conserves_flow():
    generator = np.random.default_rng(1)
    size = 500
    routes = {}
    for node in range(size):
        for target in generator.choice(size, 3, replace=False):
            routes[node, int(target)] = 0.3

    visits = visit_ratios(range(size), {0: 1.0}, routes)

    # All that enters leaves: a tenth of every visit leaves here.
    assert sum(visits.values()) * 0.1 == pytest.approx(1.0, rel=1e-10)


@pytest.mark.parametrize(
    ("routes", "why"),
    [
        ({("a", "b"): 1.2}, "not between 0 and 1"),
        ({("a", "b"): -0.1}, "not between 0 and 1"),
        ({("a", "b"): np.nan}, "not between 0 and 1"),
        ({("a", "b"): 0.7, ("a", "a"): 0.6}, r"out of a sum to 1\.3"),
        ({("a", "b"): 1.0, ("b", "a"): 1.0}, "no job leaves the loop of a, b"),
        ({("a", "a"): np.array([0.5, 1.0])}, "no job leaves"),
    ],
)
def test_refused(routes, why):
    with pytest.raises(GraphError, match=why):
        visit_ratios(["a", "b"], {"a": 1.0}, routes)


@given(networks())
def test_a_matrix_gives_what_its_routes_do(matrix):
    stations = [f"s{k}" for k in range(len(matrix))]
    routes = {(f"s{i}", f"s{j}"): p for (i, j), p in np.ndenumerate(matrix) if p}
    entries = {"s0": 0.5, stations[-1]: 0.5} if len(stations) > 1 else {"s0": 1.0}

    expected = visit_ratios(stations, entries, routes)

    # Tolerance: every job leaves with chance 0.8% at least, so the condition is below 1e3.
    result = visit_ratios(stations, entries, routes=matrix)
    assert list(result) == stations
    np.testing.assert_allclose(list(result.values()), list(expected.values()), 1e-11, 1e-13)


@pytest.mark.parametrize(
    ("matrix", "why"),
    [
        ([[0.0, 1.2], [0.0, 0.0]], "not between 0 and 1"),
        ([[0.0, np.nan], [0.0, 0.0]], "not between 0 and 1"),
        ([[0.6, 0.6], [0.0, 0.0]], "sum to 1.2"),
        ([[0.0, 1.0], [1.0, 0.0]], "no job leaves the loop of a, b"),
        ([[0.0, 0.5]], "give a row for each"),
    ],
)
def test_refused_matrices(matrix, why):
    with pytest.raises(GraphError, match=why):
        visit_ratios(["a", "b"], {"a": 1.0}, np.array(matrix))


def test_many_routes_by_name_give_what_their_matrix_does():
    matrix = np.random.default_rng(3).dirichlet(np.ones(40), 40) * 0.9
    stations, entries = list(range(40)), {3: 0.25, 5: 0.75}
    routes = {ends: float(p) for ends, p in np.ndenumerate(matrix)}

    result = visit_ratios(stations, entries, routes)

    assert result == visit_ratios(stations, entries, matrix)
    come = np.array([entries.get(node, 0.0) for node in stations])
    # Tolerance: a tenth of the jobs leaves after each visit, so the condition is below 100.
    expected = np.linalg.solve(np.eye(40) - matrix.T, come)
    assert list(result.values()) == pytest.approx(expected, rel=1e-12)
    with pytest.raises(GraphError, match="route 0 -> 1: probability 1.5 is not between"):
        visit_ratios(stations, entries, routes | {(0, 1): 1.5})


def test_entries_of_a_matrix_may_be_arrays_or_symbols():
    matrix = np.array([[0.0, 0.5], [0.4, 0.0]])
    share = np.array([0.0, 0.25, 1.0])
    e = sympy.Symbol("e")

    points = visit_ratios(["a", "b"], {"a": share, "b": 1 - share}, matrix)
    form = visit_ratios(["a", "b"], {"a": e, "b": 1 - e}, matrix)

    for k, x in enumerate(share):
        alone = visit_ratios(["a", "b"], {"a": x, "b": 1 - x}, matrix)
        for node, visits in alone.items():
            assert points[node][k] == pytest.approx(visits, rel=1e-12)
            assert float(form[node].subs(e, x)) == pytest.approx(visits, rel=1e-12)


@pytest.mark.parametrize("loops", [False, True])
def test_many_stations_with_loops_and_without(loops, monkeypatch):
    draw = np.random.default_rng(int(loops))
    count = 150
    onward = draw.random((count, count)) * (draw.random((count, count)) < 0.02)
    onward = onward if loops else np.triu(onward, 1)
    onward *= 0.9 / np.maximum(onward.sum(axis=1, keepdims=True), 0.9)
    routes = {(int(i), int(j)): float(onward[i, j]) for i, j in np.argwhere(onward)}
    if not loops:
        monkeypatch.setattr("headway.queueing.flows.traffic._solve_sparse", None)
    visits = visit_ratios(range(count), {0: 0.25, 7: 0.75}, routes)

    entries = np.zeros(count)
    entries[[0, 7]] = 0.25, 0.75
    expected = np.linalg.solve(np.eye(count) - onward.T, entries)
    np.testing.assert_allclose([visits[k] for k in range(count)], expected, rtol=1e-12, atol=1e-15)
