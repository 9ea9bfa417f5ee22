"""A small part of the campaign of random networks, whose table docs/accuracy.md has."""

import re

import numpy as np
import pytest

from headway.models.solving.response_times.closed_classes import AS_ONE
from headway.queueing.passages.processor_sharing import SMOOTHED
from headway.queueing.sojourn.routed_network import APART, TOGETHER
from tests.campaigns.percentile_campaign import KINDS, case, interval
from tests.support.pages import accuracy


@pytest.mark.parametrize("number", [0, 1, 2, 6, 8, 12])
def test_percentiles_of_a_random_network_are_as_simulated(number):
    """Within 5% of 40,000 events or in their 99% interval, of every class."""
    for result in case(number, events=40_000):
        assert result.kind == KINDS[number]
        assert result.is_within.all(), (result.solved, result.low, result.high)


def test_a_percentile_that_is_far_off_does_not_agree():
    (result,) = case(6, events=40_000)
    wrong = type(result)(
        *(getattr(result, name) for name in ("number", "kind", "name")),
        1.3 * result.solved,
        result.low,
        result.simulated,
        result.high,
    )
    assert not wrong.is_within[:2].any()


def test_the_interval_holds_the_percentile_of_independent_times():
    """In 99% of 200 samples, at least 96% here."""
    random = np.random.default_rng(15)
    expected = 0
    for _ in range(200):
        low, _, high = interval(random.exponential(size=4000), 0.95)
        expected += low <= -np.log(0.05) <= high
    assert expected >= 192


def largest(flows, classes, ways):
    """Largest errors that the document's table has, of p50 to p99, and of p99.9."""
    kinds = [str(k) for k in KINDS if k.flow in flows and k.classes in classes]
    kinds = [kind for kind in kinds if kind.endswith(ways)]
    rows = {line.split(" | ")[0].strip("| "): line for line in accuracy().splitlines()}
    cells = [rows[kind].strip("| ").split(" | ")[3:] for kind in kinds]
    errors = [[float(cell.split(",")[-1].strip(" %")) for cell in row] for row in cells]
    return max(max(row[:3]) for row in errors), max(row[3] for row in errors)


@pytest.mark.parametrize(
    ("note", "kinds"),
    [
        (AS_ONE, (("closed", "mixed"), (2, 3), ("fcfs",))),
        (SMOOTHED, (("closed", "mixed"), (2, 3), ("ps",))),
        (APART, (("open",), (1, 2, 3), ("fcfs", "ps"))),
        (TOGETHER, (("open",), (1, 2, 3), ("fcfs", "ps"))),
    ],
)
def test_what_is_said_covers_the_errors_of_the_table(note, kinds):
    values = [float(number) for number in re.findall(r"within (\d+)%", note)]
    assert all(error <= most for error, most in zip(largest(*kinds), values, strict=True))
