"""How many replicas are made: near those needed, with intervals that hold the mean as they say."""

import pytest

from tests.campaigns.replicas import measured


@pytest.mark.slow
@pytest.mark.parametrize("needed", [30, 150])
def test_few_replicas_are_made_beyond_those_needed(needed):
    """Of 300 intervals of 95%, 271 hold the mean but for 3 chances in 10,000.

    The constants in use before took 1.5 times as long as needed on average.
    """
    mean, most, held = measured(needed, 300)
    assert mean < 1.25
    assert most < 1.7
    assert held > 0.9
