"""Whole chains of classes that change within a cycle: what their states forget is said."""

import json

import numpy as np
import pytest

from headway.models import parse_model
from headway.queueing.chains.measured import BEGUN, BEGUN_NOTE
from tests.campaigns import stored_rows
from tests.campaigns.begun_classes import PAGE

MODEL = """
name = "round"
routes = [
    {{ from = "{turning}", to = "{other}", class = "a", probability = 0.6 }},
    {{ from = "{turning}", to = "{other}", class = "a", becomes = "b", probability = 0.4 }},
    {{ from = "{turning}", to = "{other}", class = "b", probability = 0.6 }},
    {{ from = "{turning}", to = "{other}", class = "b", becomes = "a", probability = 0.4 }},
    {{ from = "{other}", to = "{turning}", class = "a" }},
    {{ from = "{other}", to = "{turning}", class = "b" }},
]
[classes.a]
population = 2
[classes.b]
population = 2
[stations.cpu]
kind = "MM1"
service_time = 0.1
[stations.disk]
kind = "MM1"
[stations.disk.service_time]
a = 0.05
b = {slow}
"""


def solved(turning, slow=0.3):
    other = {"cpu": "disk", "disk": "cpu"}[turning]
    return parse_model(MODEL.format(turning=turning, other=other, slow=slow)).solve()


def test_the_label_is_the_largest_error_of_the_stored_rows():
    errors = np.array([float(row["error"]) for row in stored_rows(PAGE)])
    assert errors.size > 300
    assert BEGUN - 0.1 <= np.abs(errors).max() <= BEGUN


def test_classes_that_change_within_a_cycle_are_labelled():
    solution = solved("cpu")
    assert solution.approximation == BEGUN_NOTE
    assert json.loads(solution.to_json())["approximation"] == BEGUN_NOTE


def test_classes_that_change_between_cycles_are_exact():
    solution = solved("disk")
    assert solution.method == "chain"
    assert not solution.approximation


def test_a_product_form_is_exact():
    assert not solved("cpu", slow=0.05).approximation


@pytest.mark.parametrize("seed", [46, 86])
def test_random_ones_are_labelled(seed):
    from tests.brute.kinds import drawn

    assert BEGUN_NOTE in parse_model(drawn(seed).text).solve().approximation
