"""What it costs to take visits as independent, and what is left where loops are followed.

The table of docs/accuracy.md; tolerance: its last digit.
"""

import re
from itertools import permutations

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from headway.models import ModelGraph
from headway.queueing import MD1, MM1
from headway.queueing.sojourn.routed_network import GIVEN, RoutedNetwork
from headway.queueing.times.absorption import Journey, is_overtake_free
from headway.queueing.times.inversion import percentile_of
from tests.oracles.time_oracles import loop_exceedance
from tests.support.cases import mostly_slow
from tests.support.pages import accuracy

PAGE = accuracy()
ROW = re.compile(r"^\| (loop|feedback) ([^|]*) \| (\S+) \| (\S+)% \| (\S+)% \|$", re.MULTILINE)
LOOPS = {
    "0.8, disk twice as slow": ((0.1, 0.2), ((0.0, 0.8), (1.0, 0.0)), 26),
    "0.5, equally busy": ((0.1, 0.2), ((0.0, 0.5), (1.0, 0.0)), 26),
}


def network(times, onward, busy):
    onward = np.array(onward)
    entries = np.eye(len(times))[0]
    visits = np.linalg.solve(np.eye(len(times)) - onward.T, entries)
    rate = busy / (visits * times).max()
    stations = tuple(MM1(time) for time in times)
    names = tuple("ab"[: len(times)])
    return RoutedNetwork(names, stations, rate * visits, entries, onward, 1 - onward.sum(axis=1))


def independent(net):
    laws = tuple(s.time_law(rate) for s, rate in zip(net.stations, net.rates, strict=True))
    return percentile_of(Journey(laws, net.entries, net.onward, net.leaving).law(), 0.99)


def of_chain(times, onward, room, net):
    """99th percentile of the whole chain: its tail is straight in the logarithm nearby."""
    near = percentile_of(net.law(), 0.99)
    ats = near * np.array([0.94, 0.98, 1.02, 1.06])
    rate = float(net.rates[0] * net.entries[0] / net.visits[0])
    logs = np.log(loop_exceedance(times, onward, rate, room, ats))
    curve = np.polynomial.Polynomial.fit(ats, logs, 3)
    return brentq(lambda t: curve(t) - np.log(0.01), ats[0], ats[-1])


def miss(value, exact):
    return 100 * (value / exact - 1)


@pytest.mark.parametrize(
    "row", mostly_slow(ROW.findall(PAGE), 2), ids=lambda row: " ".join(row[:3])
)
def test_table(row):
    kind, what, busy, cost, left = row
    if kind == "feedback":
        net = network((1.0,), ((float(what),),), float(busy))
        exact = percentile_of(net.law(), 0.99)
    else:
        times, onward, room = LOOPS[what]
        net = network(times, onward, float(busy))
        exact = of_chain(times, onward, room, net)
    assert miss(independent(net), exact) == pytest.approx(float(cost), abs=0.06)
    assert miss(percentile_of(net.law(), 0.99), exact) == pytest.approx(float(left), abs=0.06)


def test_labels_promise_what_the_table_holds():
    rows = ROW.findall(PAGE)

    assert len(rows) >= 6
    assert min(float(cost) for *_, cost, _ in rows) > -40
    assert max(abs(float(left)) for *_, left in rows) < 3


def given_for_routes(station, back, busy):
    """What it costs to give as many visits as come back on average, against the exact law [%]."""
    rate = busy * (1 - back)
    routed = ModelGraph("routed").station("s", station).route("s", "s", back)
    given = ModelGraph("given").station("s", station, visits=1 / (1 - back))
    text, exact = (
        each.at().solve(arrival_rate=rate).with_percentile(99)["response_time_p99"]
        for each in (given, routed)
    )
    return miss(text, exact)


@pytest.mark.slow
def test_visits_given_in_place_of_routes():
    rows = re.findall(r"^\| as of feedback (\S+) \| (\S+) \| (\S+)% \|$", PAGE, re.MULTILINE)
    assert len(rows) == 3
    for back, busy, cost in rows:
        result = given_for_routes(MM1(1.0), float(back), float(busy))
        assert result == pytest.approx(float(cost), abs=0.06)
    worst = given_for_routes(MD1(1.0), 0.95, 0.8)
    assert f"up to {-worst:.0f}% too low (feedback 0.95, 0.8 busy)" in PAGE
    assert float(re.search(r"(\d+)% too low", GIVEN)[1]) > -worst


@given(seed=st.integers(0, 10**6))
def test_ways_are_counted_as_paths_are(seed):
    """At most one way leads from each station to each, and none back."""
    random = np.random.default_rng(seed)
    count = int(random.integers(1, 8))
    edges = np.triu(random.random((count, count)) < random.uniform(0, 0.7), 1)
    edges[random.integers(count), random.integers(count)] |= random.random() < 0.2
    graph = networkx.from_numpy_array(edges, create_using=networkx.DiGraph)

    pairs = permutations(range(count), 2)
    paths = [len([*networkx.all_simple_paths(graph, *pair)]) for pair in pairs]
    free = networkx.is_directed_acyclic_graph(graph) and max(paths, default=0) <= 1
    assert is_overtake_free(edges) == free
