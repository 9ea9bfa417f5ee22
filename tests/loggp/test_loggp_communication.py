"""Measures of a program's communication, against the thesis's Table 3.2."""

import numpy as np
import pytest

from headway.errors import HeadwayError
from headway.loggp import (
    byte_imbalance,
    communication_balance,
    message_interval,
    repeats_needed,
    sensitivity,
    slowdown,
    small_message_traffic,
)
from tests.oracles.loggp_tables import BASES, PROGRAMS, overhead_cells


@pytest.mark.parametrize("program", PROGRAMS)
def test_identities_of_the_communication_summary(program):
    row = PROGRAMS[program]
    rate = float(row["message_rate_per_processor_per_ms"]) * 1e3
    mean = float(row["average_messages_per_processor"])
    traffic = small_message_traffic(rate, float(row["bulk_percent"]) / 100)

    # rates are printed to 0.005 per ms (1.17: 0.5%), percentages to 0.005
    assert traffic / 1e3 == pytest.approx(float(row["small_traffic_kb_s"]), rel=0.005)
    assert message_interval(mean, mean / rate) * 1e6 == pytest.approx(
        float(row["message_interval_us"]), rel=0.009
    )
    # run time from rate and mean against Table 3.1: the rate's resolution again
    assert mean / rate == pytest.approx(BASES[program], rel=0.006)


def test_balance_of_messages_and_bytes():
    even = np.ones((4, 4)) - np.eye(4)
    skewed = even.copy()
    skewed[0] *= 5

    assert communication_balance(even) == 1
    assert communication_balance(skewed) == 15 / 6
    assert byte_imbalance([4, 3, 4]) == 0.25
    for bad in (np.ones((2, 3)), -even, np.zeros((2, 2)), [1.0, 2.0]):
        with pytest.raises(HeadwayError):
            communication_balance(bad)
    with pytest.raises(HeadwayError):
        byte_imbalance([])


def test_published_balance_of_p_ray():
    row = PROGRAMS["P-Ray"]
    ratio = float(row["max_messages_per_processor"]) / float(row["average_messages_per_processor"])
    matrix = np.zeros((32, 32))
    matrix[:, 0] = 1.0
    matrix[0, 0] = ratio * 31 / (32 - ratio)  # one busy processor makes just that balance

    assert communication_balance(matrix) == pytest.approx(2.43, abs=0.005)


def test_slowdown_of_radix():
    assert slowdown(443.2, 7.8) == pytest.approx(56.8, abs=0.05)
    with pytest.raises(HeadwayError):
        slowdown(1.0, 0.0)


@pytest.mark.parametrize(
    ("program", "slope"),
    # source-models N3, recomputed there from the same runs to two decimals
    [("Radix", 1.61), ("EM3D(write)", 0.76), ("EM3D(read)", 0.62), ("Sample", 0.57)],
)
def test_sensitivities_to_overhead(program, slope):
    level, measured, _ = zip(*overhead_cells(program), strict=True)

    assert sensitivity(level, [float(time) for time in measured]) == pytest.approx(slope, abs=0.01)


def test_bad_sensitivities_are_refused():
    for level, time in (
        ([1.0], [1.0]),
        ([1.0, 2.0], [1.0]),
        ([1.0, 1.0], [1.0, 2.0]),
        ([0, 1], [1, 2]),
    ):
        with pytest.raises(HeadwayError):
            sensitivity(level, time)


def test_repeats_reach_the_accuracy_they_promise():
    random = np.random.default_rng(8)
    count = repeats_needed(0.1)

    means = 1 + 0.1 * random.standard_normal((4000, count)).mean(axis=1)

    # 95% of the means within 5%; three standard errors of the share are 1%
    assert np.mean(np.abs(means - 1) <= 0.05) >= 0.94
    assert repeats_needed(0.0) == 2
