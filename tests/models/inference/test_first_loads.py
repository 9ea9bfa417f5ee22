"""Where one queue reaches a limit: against its closed form, and bounds by convexity."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.models.inference.forecasting.first_loads import by_saturation, without_delay

DELAYS = st.floats(0.0, 20.0)
SHARES = st.floats(0.05, 0.9)


def queue(delay, loads):
    """R = D + A / (1 - x / C) with A = 1 ms and C = 1000 per second."""
    return 1e-3 * (delay + 1 / (1 - np.asarray(loads) / 1000))


@given(delay=DELAYS, truth=SHARES, loads=st.tuples(SHARES, SHARES))
def test_with_its_saturation_known_two_runs_tell_the_load(delay, truth, loads):
    runs = 1000 * np.sort(loads)
    if runs[1] - runs[0] < 10:
        return
    limit = float(queue(delay, 1000 * truth))

    found = by_saturation(runs, queue(delay, runs), limit, 1000.0)

    assert found == pytest.approx(1000 * truth, rel=1e-3)


@given(delay=DELAYS, truth=SHARES, load=SHARES)
def test_after_one_run_the_load_is_not_too_high(delay, truth, load):
    if load >= truth:
        return
    runs, limit = np.array([1000 * load]), float(queue(delay, 1000 * truth))

    found = by_saturation(runs, queue(delay, runs), limit, 1000.0)

    assert 1000 * load <= found * (1 + 1e-9)
    assert found <= 1000 * truth * (1 + 1e-9)


@given(delay=DELAYS, truth=SHARES, loads=st.tuples(SHARES, SHARES))
def test_without_delay_bounds_the_load(delay, truth, loads):
    """Beyond both runs from above, and between them from below."""
    runs, limit = 1000 * np.sort(loads), float(queue(delay, 1000 * truth))
    if runs[1] - runs[0] < 10 or 1000 * truth < runs[0]:
        return

    found = without_delay(runs, queue(delay, runs), limit)

    if 1000 * truth >= runs[1]:
        assert found >= 1000 * truth * (1 - 1e-6)
    else:
        assert runs[0] * (1 - 1e-6) <= found <= 1000 * truth * (1 + 1e-6)


def test_times_that_do_not_rise_bound_nothing():
    assert without_delay(np.array([1.0, 2.0]), np.array([3.0, 3.0]), 9.0) == np.inf
    assert without_delay(np.array([1.0]), np.array([3.0]), 9.0) == np.inf
    assert 0 < by_saturation(np.array([1.0, 2.0]), np.array([3.0, 2.0]), 9.0, 10.0) < 10
