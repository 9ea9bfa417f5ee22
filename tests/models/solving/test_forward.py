"""Percentiles of networks in which nobody comes back: all points at once, as one by one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.models import ModelGraph, catalogue_model
from headway.models.solving.response_times import percentiles
from headway.models.solving.response_times.feed_forward import is_feed_forward
from headway.models.structure.planning.plan import Plan
from headway.queueing import MD1, MM1, Delay, MMm, Parallel

KINDS = {
    "MM1": MM1,
    "MMm": lambda time: MMm(time, 3),
    "Parallel": lambda time: Parallel(time, 2),
}


@pytest.fixture
def runs(monkeypatch):
    counted, run = [], Plan.run

    def counting(self, given, targets):
        counted.append(targets)
        return run(self, given, targets)

    monkeypatch.setattr(Plan, "run", counting)
    return counted


@pytest.mark.parametrize("share", [0.5, 0.95, 0.9999])
def test_a_sweep_of_one_server_is_its_logarithm(share):
    model = ModelGraph("one").station("cpu", MM1(0.5)).at()
    rates = np.linspace(0.0, 1.999, 300).reshape(3, 100)

    solved = model.solve(arrival_rate=rates).with_percentile(100 * share)

    wanted = -0.5 / (1 - 0.5 * rates) * np.log(1 - share)
    # Tolerance: chances come back from transforms to some 1e-12, over the share that is left.
    value = solved[f"response_time_p{100 * share:g}"]
    assert value == pytest.approx(wanted, rel=1e-11 / (1 - share))
    assert solved.approximation == ""


def test_a_sweep_solves_no_point_again(runs):
    graph = ModelGraph("tandem").station("a", MM1(1e-3)).station("b", MM1(8e-4)).route("a", "b")

    graph.at().solve(arrival_rate=np.linspace(1, 1200, 200)).with_percentile(95)

    assert len(runs) == 2  # the sweep, and a point for what is taken for granted


def branching(kinds, times, chance):
    graph = ModelGraph("branching")
    for k, (kind, time) in enumerate(zip(kinds, times, strict=True)):
        graph = graph.station(f"s{k}", KINDS[kind](time))
    graph = graph.declare("p").route("s0", "s1", "p")
    return graph.route("s0", "s2", f"{chance} * (1 - p)").route("s1", "s2", 0.5)


@settings(max_examples=25, derandomize=True, deadline=None)
@given(
    st.lists(st.sampled_from(["MM1", "MMm", "Parallel"]), min_size=3, max_size=3),
    st.lists(st.sampled_from([0.0, 0.1, 0.35, 1.0]), min_size=3, max_size=3),
    st.sampled_from([0.0, 0.3, 1.0]),
    st.sampled_from([0.3, 0.9, 0.999]),
)
def test_together_as_one_by_one(kinds, times, chance, share):
    model = branching(kinds, times, chance).at(p=np.array([0.0, 0.4, 1.0])[:, None])
    solution = model.solve(arrival_rate=np.array([0.0, 0.8, 2.5]))

    assert is_feed_forward(solution)
    (together,), laws = percentiles._at_all_points(solution, [share])
    (alone,), every = percentiles._one_by_one(solution, [share])

    # Tolerance: as above; what takes next to no time has next to no percentile.
    assert together[""] == pytest.approx(alone[""], rel=1e-10 / (1 - share), abs=1e-8)
    assert {note for law in laws for note in (law[""].notes if law[""] else ())} == {
        note for law in every for note in (law[""].notes if law[""] else ())
    }


def test_constants_that_everybody_spends_shift_the_percentile():
    delays = np.array([0.0, 1.0, 3.0])
    declared = ModelGraph("shifted").declare("d").station("net", Delay("d"))
    model = declared.station("cpu", MM1(0.5)).route("net", "cpu").at(d=delays)
    solved = model.solve(arrival_rate=1.0).with_percentile(95)
    bare = -1.0 * np.log(0.05)

    # Tolerance: as above.
    assert solved["response_time_p95"] == pytest.approx(delays + bare, rel=1e-10)


def test_nfs_server_through_saturation():
    model = catalogue_model("nfs-server").with_preset("raid")
    rates = np.array([100.0, 512.0, 900.0, 1500.0, 1600.0])

    solution = model.solve(arrival_rate=rates)
    (together,), _ = percentiles._at_all_points(solution, [0.95])
    (alone,), _ = percentiles._one_by_one(solution, [0.95])

    assert together[""] == pytest.approx(alone[""], rel=1e-9)
    assert np.isinf(together[""]).tolist() == [False, False, False, False, True]


@pytest.mark.parametrize(
    "graph",
    [
        ModelGraph("loop").station("cpu", MM1(0.1)).route("cpu", "cpu", 0.3),
        ModelGraph("constant").station("cpu", MD1(0.1)),
        ModelGraph("some").station("a", MM1(0.1)).station("d", Delay(1.0)).route("a", "d", 0.5),
    ],
)
def test_other_networks_are_followed_point_by_point(graph):
    solution = graph.at().solve(arrival_rate=np.array([1.0, 2.0]))

    assert not is_feed_forward(solution)
    assert np.isfinite(solution.with_percentile(95)["response_time_p95"]).all()
