"""Distributions of response times against closed forms and simulation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.errors import GraphError, InvalidParameter
from headway.queueing import (
    MD1,
    MG1,
    MM1,
    Delay,
    GGm,
    MMm,
    Parallel,
    StationVisits,
    path_exceedance,
    path_percentile,
    response_time_percentile,
)
from tests.support.cases import mostly_slow

# What the numerical inversion promises, for the chance of exceeding a time.
INVERTED = 1e-8

shares = st.floats(0.01, 0.999)


@given(st.floats(0.0, 0.99), shares)
@settings(deadline=None)
def test_mm1_is_exponential(utilisation, share):
    rate = utilisation / 0.5
    mean = MM1(0.5).response_time(rate)

    time = response_time_percentile(MM1(0.5), rate, share)

    assert np.exp(-time / mean) == pytest.approx(1 - share, abs=INVERTED)
    assert response_time_percentile(Parallel(0.5, 7), 7 * rate, share) == pytest.approx(
        time, rel=1e-6
    )


@given(st.integers(1, 30), st.floats(0.05, 0.98), st.floats(1e-3, 20.0))
@settings(deadline=None)
def test_mmm_closed_form(servers, utilisation, time):
    from headway.queueing import erlang_c

    load = servers * utilisation
    rest = servers - 1 - load
    if abs(rest) < 1e-3:
        return
    waits = erlang_c(servers, load)
    exact = np.exp(-time) * (1 + waits * (1 - np.exp(-rest * time)) / rest)

    assert path_exceedance([StationVisits(1, MMm(1.0, servers), load)], time) == pytest.approx(
        exact, abs=INVERTED
    )


@given(st.lists(st.floats(0.1, 10), min_size=2, max_size=4, unique=True), st.floats(0.1, 30))
@settings(deadline=None)
def test_sum_of_exponentials_is_hypoexponential(means, time):
    rates = 1 / np.array(means)
    if min(abs(a / b - 1) for i, a in enumerate(rates) for b in rates[:i]) < 0.05:
        return  # the closed form below would cancel
    weights = [np.prod([b / (b - a) for b in rates if b != a]) for a in rates]
    exact = sum(w * np.exp(-a * time) for w, a in zip(weights, rates, strict=True))

    result = path_exceedance([StationVisits(1, MM1(mean), 0.0) for mean in means], time)

    assert result == pytest.approx(exact, abs=INVERTED)


def test_constant_delay_shifts():
    bare = response_time_percentile(MM1(0.5), 1.0, 0.9)

    behind = path_percentile(
        [StationVisits(2, Delay(3.0), 1.0), StationVisits(1, MM1(0.5), 1.0)], 0.9
    )

    assert behind == pytest.approx(6.0 + bare, rel=1e-9)
    assert response_time_percentile(Delay(3.0), 1.0, 0.9) == pytest.approx(3.0, rel=1e-12)


def test_optional_visit_is_a_mixture():
    path = [StationVisits(1, MM1(0.1), 0.0), StationVisits(0.4, MM1(2.0), 0.0)]
    time = 1.5
    both = (2.0 * np.exp(-time / 2.0) - 0.1 * np.exp(-time / 0.1)) / 1.9

    assert path_exceedance(path, time) == pytest.approx(
        0.6 * np.exp(-time / 0.1) + 0.4 * both, abs=INVERTED
    )


def test_percentile_is_where_the_exceedance_is_the_rest():
    path = [
        StationVisits(1.5, MMm(1.0, 3), 2.0),
        StationVisits(1, MG1(0.5, 2.0), 1.0),
        StationVisits(1, Delay(1.0), 1.0),
    ]
    share = np.array([0.5, 0.9, 0.99])

    times = path_percentile(path, share)

    assert (np.diff(times) > 0).all()
    assert path_exceedance(path, times) == pytest.approx(1 - share, abs=1e-10)


def test_no_time_is_exceeded_by_all_who_do_not_get_through_at_once():
    assert path_exceedance([StationVisits(0.4, MM1(2.0), 0.0)], 0.0) == pytest.approx(
        0.4, abs=INVERTED
    )
    assert path_exceedance([StationVisits(1, Delay(2.0), 0.0)], 2.0) == 0.0
    # Who finds M/D/1 empty is answered in exactly the service time.
    assert path_exceedance([StationVisits(1, MD1(1.0), 0.3)], 1.0) == pytest.approx(
        0.3, abs=INVERTED
    )


def test_mg1_at_scv_one_is_mm1():
    assert response_time_percentile(MG1(0.5, 1.0), 1.2, 0.95) == pytest.approx(
        response_time_percentile(MM1(0.5), 1.2, 0.95), rel=1e-8
    )


def simulated_percentile(service, gaps, share):
    """First come first served by Lindley's recursion, as running sums and a running least."""
    steps = np.concatenate([[0.0], np.cumsum(service[:-1] - gaps[1:])])
    waits = steps - np.minimum.accumulate(steps)
    return np.quantile((waits + service)[20_000:], share)


@pytest.mark.parametrize("scv", [0.0, 0.5, 2.0])
@pytest.mark.parametrize("utilisation", mostly_slow([0.5, 0.8], {0.8}))
def test_mg1_against_simulation(scv, utilisation):
    rng = np.random.default_rng(5)
    count = 2_000_000
    service = rng.gamma(1 / scv, scv, count) if scv else np.ones(count)
    gaps = rng.exponential(1 / utilisation, count)
    station = MG1(1.0, scv) if scv else MD1(1.0)

    for share in (0.5, 0.9, 0.95, 0.99):
        exact = simulated_percentile(service, gaps, share)
        result = response_time_percentile(station, utilisation, share)
        # Two million correlated requests leave about 2% at the 99th percentile.
        assert result == pytest.approx(exact, rel=0.03)


def test_saturated_points_are_infinite():
    rates = np.array([0.0, 1.0, 2.0, 3.0])

    times = response_time_percentile(MM1(0.5), rates, 0.95)

    assert np.isinf(times).tolist() == [False, False, True, True]
    assert path_exceedance([StationVisits(1, MM1(0.5), rates)], 1.0)[2:].tolist() == [1.0, 1.0]


def test_bad_input():
    with pytest.raises(InvalidParameter, match="share is 95; it must be between 0 and 1"):
        response_time_percentile(MM1(0.5), 1.0, 95)
    with pytest.raises(GraphError, match="response time of GGm has no known distribution"):
        response_time_percentile(GGm(0.5, 1, 1.0, 1.0), 1.0, 0.9)
    with pytest.raises(GraphError, match="a path needs at least one phase"):
        path_percentile([], 0.9)
