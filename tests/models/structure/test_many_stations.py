"""Graphs of many stations: what building and solving takes, and what their ways lead to."""

import cProfile
import pstats
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.loggp import LogGP
from headway.models import ModelGraph
from headway.models.structure.parts.routes import reached_from
from headway.models.structure.planning.flows import not_poisson
from headway.models.structure.planning.variability import comes_back
from headway.queueing import MD1, MM1, Delay

STATIONS = {"queue": MM1(0.01), "constant": MD1(0.01), "delay": Delay(0.01)}


def row(stations: int) -> ModelGraph:
    """Stations one behind the other."""
    graph = ModelGraph("row")
    for k in range(stations):
        graph = graph.station(f"s{k}", MM1(1e-4))
    for k in range(stations - 1):
        graph = graph.route(f"s{k}", f"s{k + 1}")
    return graph


def dense(stations: int) -> ModelGraph:
    """Stations with routes between all of them."""
    graph = ModelGraph("dense")
    for k in range(stations):
        graph = graph.station(f"s{k}", MM1(1e-4))
    return graph.route_all(np.full((stations, stations), 0.8 / stations))


def with_formulas(stations: int) -> ModelGraph:
    """Stations whose times are formulas of each other's numbers."""
    graph = ModelGraph("formulas").declare("s").station("s0", MM1("s"))
    for k in range(1, stations):
        graph = graph.station(f"s{k}", MM1(f"s{k - 1}.service_time + s"))
        graph = graph.route(f"s{k - 1}", f"s{k}", "s / s")
    return graph


def calls(function: Callable[[], object]) -> int:
    """Calls of functions while it runs."""
    profile = cProfile.Profile()
    profile.runcall(function)
    return int(pstats.Stats(profile).total_calls)  # type: ignore[attr-defined]


@pytest.mark.parametrize("build", [row, dense, with_formulas])
def test_work_grows_with_the_stations(build):
    def solved(stations: int) -> object:
        return build(stations).at(**({"s": 1e-6} if build is with_formulas else {})).solve(10.0)

    solved(120), solved(240)
    assert calls(lambda: solved(240)) < 2.2 * calls(lambda: solved(120))


def test_dense_routes_need_no_formulas_to_be_solved(monkeypatch):
    made = []
    name = "headway.models.structure.parts.routes.of_number"
    monkeypatch.setattr(name, lambda value: made.append(value))
    assert np.isfinite(dense(30).at().solve(10.0).response_time)
    assert not made


def test_thousands_of_stations():
    answer = row(2000).at().solve(10.0)
    assert answer.response_time == pytest.approx(2000 * 1e-4 / (1 - 1e-3), rel=1e-12)


def test_has_is_what_names_lists():
    graph = ModelGraph("all").declare("s").bind("t", "2 * s")
    graph = graph.link("lan", LogGP(5e-6, 2e-6, 4e-6, 6e-6, 0.0))
    graph = graph.algorithm("caches", "buffer", {"size": "s", "objects": 1e6, "exponent": 0.9})
    graph = graph.station("cpu", MM1("t")).output("rate", "1 / s").region("room", ["cpu"], 3)
    assert all(map(graph.has, graph.names))
    assert not any(
        map(graph.has, ["u", "cpu", "cpu.places", "disk.visits", "room.", ".s", "a.b.c"])
    )


@st.composite
def graphs(draw: st.DrawFn) -> ModelGraph:
    """A few stations with any routes between them."""
    kinds = draw(st.lists(st.sampled_from([*STATIONS]), min_size=2, max_size=6))
    graph = ModelGraph("drawn")
    for k, kind in enumerate(kinds):
        graph = graph.station(f"s{k}", STATIONS[kind])
    places = st.integers(0, len(kinds) - 1)
    for source, target in sorted(draw(st.sets(st.tuples(places, places), max_size=8))):
        graph = graph.route(f"s{source}", f"s{target}", 0.1)
    return graph


def _led_to(graph: ModelGraph, *, loops: bool) -> dict[str, set[str]]:
    """By the matrix of routes: where each station leads to in one step or more."""
    names = list(graph.stations)
    one = graph.routes.fixed(tuple(names)) > 0
    if not loops:
        one &= ~np.eye(len(names), dtype=bool)
    some = one.copy()
    for _ in names:
        some |= (some.astype(int) @ one.astype(int)) > 0
    rows = zip(names, some, strict=True)
    return {name: {names[j] for j in np.flatnonzero(row)} for name, row in rows}


@settings(deadline=None)
@given(graphs())
def test_what_stations_lead_to(graph):
    behind = _led_to(graph, loops=False)
    for name in graph.stations:
        assert graph.routes.behind([name]) == behind[name]
    assert comes_back(graph) == any(name in to for name, to in behind.items())
    every = _led_to(graph, loops=True)
    onward = graph.routes.onward
    assert reached_from(["s0"], lambda name: onward.get(name, ())) == every["s0"]


@settings(deadline=None)
@given(graphs())
def test_flows_that_are_not_poisson(graph):
    behind = _led_to(graph, loops=True)
    for name in graph.stations:  # a law of its own takes what comes straight back
        if name in graph.routes.loops and graph.stations[name].can.returns:
            others = {to: behind[to] for to in graph.routes.onward[name] - {name}}
            behind[name] = set(others).union(*others.values())
    constant = [n for n, s in graph.stations.items() if s.kind is MD1]
    waits = {n for n, s in graph.stations.items() if s.kind is not Delay}
    fed = set().union(*(behind[name] for name in constant)) & waits
    assert set(not_poisson(graph)) == {n for n in constant if n in fed or behind[n] & waits}
