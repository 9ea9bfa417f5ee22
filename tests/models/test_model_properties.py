"""Random models: names, order, units and laws that every answer must keep."""

import pytest

from tests.campaigns.model_properties import findings, simulated_utilisation
from tests.support.cases import mostly_slow

_LOT, _COUNT = 25, 300


@pytest.mark.parametrize("first", mostly_slow(range(0, _COUNT, _LOT), 1))
def test_random_models_keep_the_laws(first):
    """In lots; ``python -m tests.campaigns.model_properties FIRST COUNT`` tries others."""
    assert [what for seed in range(first, first + _LOT) for what in findings(seed)] == []


@pytest.mark.slow
def test_exact_utilisation_is_within_the_interval_of_a_simulation():
    """Seeds are fixed: the simulations are the same each time."""
    checks = (simulated_utilisation,)
    assert [what for seed in range(24) for what in findings(seed, checks)] == []
