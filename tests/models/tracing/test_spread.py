"""Errors of means over few traces."""

import numpy as np
import pytest

from headway.models.tracing.spread import standard_error, stated_error


@pytest.mark.parametrize("sizes", [[1] * 4, [3] * 4, [1, 2, 3, 8, 6], [1] * 6 + [12]])
def test_intervals_of_few_traces_hold_the_mean(sizes: list[int]) -> None:
    """Of normal values, 2,000 times: Student's law is exact for traces of one size, else near.

    By 1.96 standard errors 85.5% of four traces do.
    """
    trace = np.repeat(np.arange(len(sizes)), sizes)
    draws = np.random.default_rng(sum(sizes)).normal(size=(2000, len(trace)))
    off = np.abs(draws.mean(axis=1)) / 1.96
    stated = np.array([stated_error(values, trace) for values in draws])
    usual = np.array([standard_error(values, trace) for values in draws])
    assert 0.93 < np.mean(off < stated) < 0.975
    assert np.mean(off < usual) < 0.92
    assert np.mean(usual**2) == pytest.approx(1 / len(trace), rel=0.1)


def test_many_traces_make_no_difference() -> None:
    """Student's factor is 1.2% above 1 at 100 traces, 0.12% at 1,000."""
    values, trace = np.random.default_rng(1).exponential(size=1000), np.arange(1000)
    assert stated_error(values, trace) == pytest.approx(values.std(ddof=1) / 1000**0.5, rel=0.0015)
