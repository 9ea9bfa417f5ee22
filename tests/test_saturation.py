"""The first load at which a network is full, whatever its laws and however it is swept."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.models.solving.roots import STEPS, first_crossing
from headway.models.structure.graph import ModelGraph
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

    assert model.at().solve(arrival_rate=0.1).saturation_throughput == pytest.approx(1.5, rel=1e-15)
    assert model.at().solve(arrival_rate=1.6)["a.utilisation"] == pytest.approx(1.12)
    assert model.at().solve(arrival_rate=1.8).saturation_throughput == pytest.approx(1.5, rel=1e-15)


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
    assert float(first_crossing(share, ())) == pytest.approx(start, rel=1e-14)


def test_points_keep_to_themselves():
    share = np.array([3.0, 700.0, np.inf, 2e-9])

    found = first_crossing(lambda rate: rate / share, (4,))

    assert found.tolist() == share.tolist()
