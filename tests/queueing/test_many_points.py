"""Arrays of many operating points have the answers of each point, however they are cut."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.blocks import BLOCK, in_blocks
from headway.errors import GraphError, InvalidParameter
from headway.models import catalogue_model
from headway.queueing import MM1, Delay, MMm, visit_ratios

POINTS = 2 * BLOCK + 7
SOME = [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, POINTS - 1]


@pytest.mark.parametrize("most", [0.99, 1.3])
@pytest.mark.parametrize("varies", [False, True])
def test_waits_of_many_points_are_those_of_each(most, varies):
    load = np.linspace(0, most, POINTS)
    time = np.linspace(0.1, 0.2, POINTS) if varies else 0.125
    for station, servers in ((MM1(time), 1), (MMm(time, 4), 4), (Delay(time), 1)):
        rates = load * servers / time
        for part in ("waiting_time", "response_time", "utilisation"):
            together = np.broadcast_to(getattr(station, part)(rates), POINTS)
            each = np.broadcast_to(time, POINTS)
            kinds = {MM1: lambda s: MM1(s), MMm: lambda s: MMm(s, 4), Delay: lambda s: Delay(s)}
            for k in SOME:
                alone = getattr(kinds[type(station)](float(each[k])), part)(float(rates[k]))
                assert together[k] == pytest.approx(alone, rel=1e-12), (station, part, k)


def test_unknown_and_negative_rates_among_many():
    rates = np.linspace(0, 7, POINTS)
    rates[BLOCK] = np.nan
    waits = MM1(0.125).waiting_time(rates)
    assert np.flatnonzero(np.isnan(waits)).tolist() == [BLOCK]
    rates[3] = -1.0
    with pytest.raises(InvalidParameter, match="arrival rate is negative"):
        MM1(0.125).waiting_time(rates)


def test_what_cannot_be_cut_is_taken_whole():
    taken = []

    def law(*numbers):
        taken.append([np.shape(number) for number in numbers])
        return numbers[0]

    row, few = np.zeros(POINTS), np.zeros(5)
    for numbers in ((2.0, 3.0), (few, 1.0), (row, few), (row[:, None], row), (np.zeros((2, 9)),)):
        in_blocks(law, *numbers)
        assert taken == [[np.shape(number) for number in numbers]]
        taken.clear()
    in_blocks(law, row, 1.0, row)
    assert taken == 2 * [[(BLOCK,), (), (BLOCK,)]] + [[(7,), (), (7,)]]


def test_a_model_of_many_points_has_the_answers_of_few():
    raid = catalogue_model("nfs-server").with_preset("raid")
    rates = np.linspace(0, 2500, POINTS)
    many = raid.solve(rates)
    few = raid.solve(rates[SOME])
    for name in ("response_time", "disks.queue_length", "cpu.utilisation", "disks.visits"):
        np.testing.assert_allclose(many[name][SOME], few[name], rtol=1e-12)


chances = st.lists(st.floats(0, 1.2), min_size=3, max_size=3).map(np.array)


@settings(deadline=None)
@given(chances, chances, chances)
def test_routes_of_several_points_are_refused_where_one_is(onward, back, again):
    routes = {("a", "b"): onward, ("b", "a"): back, ("b", "b"): again}

    def sound(at):
        try:
            return visit_ratios(["a", "b"], {"a": 1.0}, {ends: p[at] for ends, p in routes.items()})
        except GraphError:
            return None

    each = [sound(np.array([k])) for k in range(3)]
    together = sound(slice(None))
    assert (together is None) == any(one is None for one in each)
    if together is not None:
        for k, one in enumerate(each):
            for name in "ab":
                alone = float(np.ravel(one[name])[0])
                assert np.broadcast_to(together[name], 3)[k] == pytest.approx(alone, rel=1e-12)
