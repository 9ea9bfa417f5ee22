"""Shares of time in chains of extreme rates."""

import warnings

import pytest

from headway.models import parse_model
from tests.brute.drawing import LARGE
from tests.brute.kinds import drawn

AT_ONCE = 150
"""Seed of a network whose jobs return at once: of 1,378 states the first hardly ever is."""


@pytest.mark.slow
def test_a_state_that_hardly_ever_is_makes_no_warning():
    model = parse_model(drawn(AT_ONCE, LARGE).text)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solution = model.solve()

    assert solution["throughput"] > 0
