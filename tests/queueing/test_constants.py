"""Measured constants: modules name their measurement, and no other value is far better."""

from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from tests.campaigns.constants import CONSTANTS

SLACK = 1.15  # root mean square error, over that of the best value of the table


@pytest.mark.parametrize("name", CONSTANTS)
def test_a_module_names_what_measures_its_constants(name):
    constant = CONSTANTS[name]
    text = Path(import_module(constant.module).__file__).read_text(encoding="utf-8")
    command = f"tests.campaigns.constants {name}"
    assert command in " ".join(text.replace("#", " ").split())
    assert constant.used() in constant.values


@pytest.mark.slow
@pytest.mark.parametrize("name", CONSTANTS)
def test_no_other_value_is_far_better(name):
    constant = CONSTANTS[name]
    used = constant.missed(constant.used())
    for values in constant.values:
        for kind, missed in constant.missed(values).items():
            roots = [np.sqrt(np.nanmean(each**2)) for each in (used[kind], missed)]
            assert roots[0] <= SLACK * roots[1], (values, kind)
