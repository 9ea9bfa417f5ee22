"""Random small models: every answer agrees with every other, or is refused in one line."""

import pytest

from tests.model_checks import findings

_MODELS = 240
_LOT = 20


@pytest.mark.parametrize("first", range(0, _MODELS, _LOT))
def test_random_models_hold_together(first):
    assert [what for seed in range(first, first + _LOT) for what in findings(seed)] == []
