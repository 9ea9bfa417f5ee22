"""Populations from one to a thousand million: one recursion a sweep, none that does not fit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.errors import InvalidParameter
from headway.models.structure.graph import ModelGraph
from headway.queueing import MM1, Delay, LoadDependent, MMm, Parallel, solve_closed

MANY = 10**9


def spread_out(stations, visits, populations, think_time=0.0, method="auto"):
    """Each population on its own."""
    return [solve_closed(stations, visits, n, think_time, method) for n in populations]


@settings(max_examples=30, derandomize=True, deadline=None)
@given(
    st.lists(st.integers(0, 40), min_size=1, max_size=12),
    st.lists(st.floats(0.01, 2), min_size=1, max_size=3),
    st.floats(0, 5),
    st.sampled_from([MM1, lambda s: MMm(s, 3), lambda s: Parallel(s, 2)]),
    st.sampled_from(["exact", "convolution"]),
)
def test_a_sweep_of_populations_gives_what_each_does(populations, times, think, kind, method):
    stations = [kind(times[0]), *map(MM1, times[1:]), Delay(0.5)]
    visits = [1.0] * len(stations)

    together = solve_closed(stations, visits, np.array(populations), think, method)

    for k, alone in enumerate(spread_out(stations, visits, populations, think, method)):
        # Tolerance: rounding of recursions scaled otherwise.
        assert together.throughput[k] == pytest.approx(alone.throughput, rel=1e-12)
        np.testing.assert_allclose(together.queue_length[:, k], alone.queue_length, 1e-10, 1e-300)


@settings(max_examples=20, derandomize=True, deadline=None)
@given(st.integers(0, 10**6))
def test_a_grid_of_times_and_populations_gives_what_each_point_does(seed):
    generator = np.random.default_rng(seed)
    times = generator.uniform(0.1, 1.0, (3, 1))
    populations = generator.integers(0, 30, 7)
    stations = [MM1(times), MM1(0.3), MMm(0.4, 2)]

    for some in (stations, stations[:2]):
        grid = solve_closed(some, [1.0, 2.0, 1.0][: len(some)], populations, 1.0)
        for (row, column), rate in np.ndenumerate(grid.throughput):
            point = [MM1(float(times[row, 0])), *some[1:]]
            alone = solve_closed(point, [1.0, 2.0, 1.0][: len(some)], populations[column], 1.0)
            assert rate == pytest.approx(alone.throughput, rel=1e-12)


@pytest.mark.parametrize("pool", [MM1(0.2), MMm(0.2, 4), LoadDependent((5.0, 8.0, 3.0))])
def test_a_long_sweep_agrees_with_single_points(pool):
    populations = np.arange(1, 3001)
    stations, visits = [pool, MM1(0.05), Delay(20.0)], [1.0, 2.0, 1.0]

    sweep = solve_closed(stations, visits, populations)

    for n in (1, 2, 10, 77, 500, 1234, 3000):
        alone = solve_closed(stations, visits, n)
        # Tolerance: 3,000 rounding errors at most, which do not add up in one direction.
        assert sweep.throughput[n - 1] == pytest.approx(alone.throughput, rel=1e-11)
        np.testing.assert_allclose(sweep.queue_length[:, n - 1], alone.queue_length, rtol=1e-9)


@pytest.mark.parametrize("servers", [1, 4, 100, 10**6])
def test_a_thousand_million_jobs_are_solved_where_one_station_is_full(servers):
    stations = [MMm(0.01 * servers, servers), MM1(0.004), MMm(0.03, 5), Delay(2.0)]

    solved = solve_closed(stations, [1.0] * 4, MANY)

    assert solved.approximation == ""
    rate = 100.0
    assert solved.throughput == pytest.approx(rate, rel=1e-12)
    for k in (1, 2, 3):
        assert solved.queue_length[k] == pytest.approx(stations[k].queue_length(rate), rel=1e-12)
    assert solved.queue_length.sum() == pytest.approx(MANY, rel=1e-12)


@settings(max_examples=40, derandomize=True, deadline=None)
@given(st.integers(0, 10**6))
def test_full_pools_are_solved_as_by_convolution(seed):
    """Populations in which the short way may be taken, against the whole convolution."""
    generator = np.random.default_rng(seed)
    servers = generator.integers(1, 6, 3)
    stations = [
        MMm(float(t), int(m)) for t, m in zip(generator.uniform(0.1, 2, 3), servers, strict=True)
    ]
    think, jobs = float(generator.uniform(0, 3)), int(generator.integers(150, 2500))

    short = solve_closed(stations, [1.0] * 3, jobs, think)
    whole = solve_closed(stations, [1.0] * 3, np.array([jobs, jobs - 1]), think, "convolution")

    assert short.throughput == pytest.approx(whole.throughput[0], rel=1e-11)
    np.testing.assert_allclose(short.queue_length, whole.queue_length[:, 0], rtol=1e-8)


def test_more_servers_than_jobs_are_a_delay():
    pool, cpu = MMm(2.0, MANY), MM1(0.1)

    solved = solve_closed([pool, cpu], [1.0, 1.0], 20)

    expected = solve_closed([Delay(2.0), cpu], [1.0, 1.0], 20)
    assert solved.throughput == pytest.approx(expected.throughput, rel=1e-12)
    assert solved.utilisation[0] == pytest.approx(solved.throughput * 2.0 / MANY, rel=1e-12)


def balanced():
    return [MMm(1.0, 2), MMm(1.0, 2)]


@pytest.mark.parametrize("method", ["exact", "convolution"])
def test_what_fits_into_no_memory_is_refused_with_its_size(method):
    with pytest.raises(InvalidParameter, match=r"1e\+09 populations \(.*GB\); use method") as error:
        solve_closed(balanced(), [1.0, 1.0], MANY, 0.0, method)
    assert "\n" not in str(error.value)


def test_what_fits_into_no_memory_is_approximated_and_labelled():
    solved = solve_closed(balanced(), [1.0, 1.0], MANY)

    assert "approximate" in solved.approximation
    assert solved.throughput == pytest.approx(2.0, rel=1e-3)


def test_a_recursion_of_a_thousand_million_steps_is_refused():
    with pytest.raises(InvalidParameter, match=r"1e\+09 .*use method"):
        solve_closed([MM1(1.0), MM1(1.0)], [1.0, 1.0], MANY, 0.0, "exact")
    assert solve_closed([MM1(1.0), MM1(1.0)], [1.0, 1.0], MANY).throughput == pytest.approx(1.0)


def test_a_model_of_a_thousand_million():
    model = ModelGraph("m").declare("m").station("cpu", MMm(0.01, "m")).at(m=4)

    assert model.solve(population=MANY).throughput == pytest.approx(400.0, rel=1e-12)
    assert model.at(m=MANY).solve(population=3).throughput == pytest.approx(300.0, rel=1e-12)
    assert model.at(m=MANY).solve(population=MANY).response_time == pytest.approx(0.01, rel=1e-12)
