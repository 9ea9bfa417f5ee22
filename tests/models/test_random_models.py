"""Random small models: every answer agrees with every other, or is refused in one line.

A run tries the first seeds; ``HEADWAY_MODELS=FIRST:COUNT`` says which others (`make fuzz-models`).
"""

import os

import pytest

from tests.support.model_checks import findings

_LOT = 4
_FIRST, _COUNT = map(int, os.environ.get("HEADWAY_MODELS", "0:4").split(":"))


@pytest.mark.parametrize("first", range(_FIRST, _FIRST + _COUNT, _LOT))
def test_random_models_hold_together(first):
    assert [what for seed in range(first, first + _LOT) for what in findings(seed)] == []
