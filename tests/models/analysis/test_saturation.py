"""The first load at which a network is full, whatever its laws and however it is swept."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.models import catalogue_model
from headway.models.files.reading import parse_model
from headway.models.solving.solutions.roots import STEPS, first_crossing
from headway.models.solving.solutions.saturation import first_full
from headway.models.structure.graph import ModelGraph
from headway.models.structure.planning.plan import MOST_KEPT, Plan
from headway.queueing import MM1, MM1K, MMmK


def room(station):
    return ModelGraph("room").declare("K", "s").station("a", station)


@pytest.mark.parametrize("station", [MM1K("s", "K"), MMmK("s", 2, "K")])
@pytest.mark.parametrize(
    "inputs", [{"K": np.array([2.0, 3.0, 4.0]), "s": 1.0}, {"K": 3, "s": np.array([1.0, 2.0, 3.0])}]
)
def test_a_finite_room_swept_over_its_places_or_its_time(station, inputs):
    solution = room(station).at(inputs).solve(arrival_rate=0.5)

    assert np.isinf(solution.saturation_throughput).all()
    points = json.loads(solution.to_json())["points"]
    assert [p["outputs"]["loss_probability"] for p in points] == list(solution["loss_probability"])
    assert len(solution.to_csv().splitlines()) == 4
    assert str(solution).startswith("room")


def test_a_room_before_a_server_lets_the_server_saturate_later():
    """What the room loses does not reach the server: 1/S of it is more than 1/S of arrivals."""
    tandem = room(MM1K("s", "K")).station("b", MM1(0.4)).route("a", "b")
    solution = tandem.at(K=np.array([1.0, 2.0, 3.0]), s=0.3).solve(arrival_rate=0.5)
    limit = solution.saturation_throughput

    for places, rate in zip([1, 2, 3], limit, strict=True):
        # Tolerance: the limit is found to the last bit, and conditioned as well as the loss.
        assert MM1K(0.3, places).throughput(rate) * 0.4 == pytest.approx(1.0, rel=1e-12)


def test_a_law_that_falls_after_it_rose_saturates_where_it_first_crosses():
    law = "where(throughput < 1.5, 0.5, where(throughput < 1.7, 0.7, 0.4))"
    model = ModelGraph("dip").station("a", MM1(law))

    assert model.at().solve(arrival_rate=0.1).saturation_throughput == pytest.approx(1.5, rel=1e-12)
    assert model.at().solve(arrival_rate=1.6)["a.utilisation"] == pytest.approx(1.12)
    assert model.at().solve(arrival_rate=1.8).saturation_throughput == pytest.approx(1.5, rel=1e-12)


@given(
    st.floats(-6, 6),
    st.floats(1.0 / STEPS, 1.0),
    st.floats(0, 0.9),
)
def test_an_overload_of_a_step_s_width_is_never_missed(octaves, width, rest):
    """From `start` to `start 2**width` it is full, elsewhere at most half: the start is found."""
    start = 2.0**octaves

    def share(rate):
        return np.where((rate >= start) & (rate <= start * 2.0 ** (width * (1 + 1e-9))), 1.5, rest)

    # Tolerance: cells are cut to the last bit, and their ends are powers, right to some bits.
    assert float(first_crossing(share, ())) == pytest.approx(start, rel=1e-12)


def test_points_keep_to_themselves():
    share = np.array([3.0, 700.0, np.inf, 2e-9])

    result = first_crossing(lambda rate: rate / share, (4,))

    assert result.tolist() == share.tolist()


@pytest.fixture
def runs(monkeypatch):
    """Every run of a plan, and how many numbers it was given for each of its inputs."""
    sizes, run = [], Plan.run

    def counted(self, given, targets):
        sizes.append(max(np.size(value) for value in given.values()))
        return run(self, given, targets)

    monkeypatch.setattr(Plan, "run", counted)
    return sizes


def fresh(name):
    """A model of the catalogue that has not been solved yet."""
    return parse_model(catalogue_model(name).to_toml(), name)


def test_a_second_table_runs_the_plan_once(runs):
    model = fresh("nfs-server").with_preset("raid")

    first, first_runs = str(model.solve()), len(runs)
    second = str(model.solve())

    assert first_runs <= 1 + 3 * 29  # the solution, the network's limit and that of two stations
    assert len(runs) == first_runs + 1
    assert second == first


def test_a_table_of_a_model_that_no_load_changes_needs_no_search(runs):
    str(fresh("server-single").solve())

    assert len(runs) == 3  # the solution, the network's limit, and its only server's


def test_a_sweep_of_the_load_searches_one_saturation(runs):
    solution = fresh("nfs-server").solve(arrival_rate=np.linspace(1.0, 900.0, 50))

    assert str(solution).count("\n") > 50
    # the solution has the sweep's points; the search tries 16 rates in each of 12 doublings
    assert runs[0] == 50
    assert max(runs[1:]) == 16 * 12


def test_what_is_searched_is_kept_by_value_and_not_for_ever():
    model = fresh("nfs-server")
    first = model.solve(cpu_time=1e-3).saturation_throughput

    for time in np.linspace(1e-3, 2e-3, 2 * MOST_KEPT):
        saturation_throughput = model.solve(cpu_time=float(time)).saturation_throughput
        assert saturation_throughput == pytest.approx(1 / time, rel=1e-12)  # 1/S, to the last bits

    assert len(model.graph.plan._kept) == MOST_KEPT
    assert model.solve(cpu_time=np.array(1e-3)).saturation_throughput == first


def test_no_array_is_kept():
    model = fresh("nfs-server")

    assert model.solve(cpu_time=np.linspace(1e-3, 2e-3, 9)).saturation_throughput.shape == (9,)
    assert model.graph.plan._kept == {}


def test_points_that_what_is_searched_does_not_use_may_have_any_shape():
    model = fresh("nfs-server")
    times, loads = np.linspace(5e-4, 2e-3, 5000), np.linspace(1.0, 900.0, 3)[:, None]
    inputs = {**model.inputs, "cpu_time": times, "arrival_rate": loads}

    # Tolerance: 1/S, to the last bits; more points than are searched at once.
    result = first_full(model.graph, inputs, ("cpu",))
    assert result == pytest.approx(1 / times, rel=1e-12)
