"""Weights of models by AICc."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.models.inference.certainty.weights import akaike_weights
from headway.models.inference.server import ranked

AICCS = st.lists(st.floats(-1e4, 1e4), min_size=1, max_size=8)


def test_weights_are_the_published_ones():
    """Differences of 0, 2, 4, 7 and 10: Burnham and Anderson, section 2.9, by the formula."""
    result = akaike_weights(np.array([100.0, 102.0, 104.0, 107.0, 110.0]))

    expected = np.array([1, 0.36787944, 0.13533528, 0.03019738, 0.00673795])
    assert result == pytest.approx(expected / expected.sum(), rel=1e-6)


@given(AICCS, st.floats(-100, 100))
def test_weights_sum_to_one_and_depend_on_differences_alone(aiccs, shift):
    result = akaike_weights(aiccs)

    assert result.sum() == pytest.approx(1)
    # Tolerance: a shift of 1e4 rounds differences by 1e-12.
    assert akaike_weights(np.array(aiccs) + shift) == pytest.approx(result, abs=1e-9)
    assert result.argmax() == np.argmin(aiccs) or result.max() == result[np.argmin(aiccs)]


def test_too_few_points_weigh_nothing():
    assert akaike_weights([np.inf, 3.0]).tolist() == [0.0, 1.0]
    assert akaike_weights([np.inf, np.inf]).tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    ("aiccs", "order"), [((5.0, 4.9999, 9.0), "abc"), ((5.0, 4.9, 9.0), "bac")]
)
def test_of_forms_that_fit_alike_the_simpler_comes_first(aiccs, order):
    """Which form comes second in a table must not hang on where a search stopped."""
    fits = [SimpleNamespace(aicc=aicc, free=("s",), leave_one_out_rms=0.1) for aicc in aiccs]

    assert "".join(form for form, _ in ranked(zip("abc", fits, strict=True))) == order
