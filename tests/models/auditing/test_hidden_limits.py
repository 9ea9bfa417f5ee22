"""Limits that a generator keeps for itself, in 100 tests that Ciw simulated (hidden_limits.py)."""

import pytest

from headway.models.analysis.audit import findings_in
from tests.campaigns import hidden_limits

DELAYED = 0.8
"""Share of a stage's requests that the generator held back where the limit counts as reached."""


def reported_limit(stages):
    """The limit that an audit finds, with its interval; None if none."""
    result = findings_in([hidden_limits.point(stage) for stage in stages])
    return next((f for f in result if f.kind == "hidden_closed_loop"), None)


@pytest.fixture(scope="module")
def tests():
    return [
        (limit, reported_limit(stages), stages) for limit, stages in hidden_limits.read().values()
    ]


@pytest.fixture(scope="module")
def reached(tests):
    """Limit and finding of the tests that reach it."""
    return [
        (n, result) for n, result, s in tests if n and max(each.delayed for each in s) > DELAYED
    ]


def test_limits_are_found_within_a_tenth(tests, reached):
    """The figures of docs/reference/measured-files.md."""
    right = [n for n, result in reached if result and abs(result.value / n - 1) <= 0.1]
    assert (len(tests), len(reached), len(right)) == (100, 37, 35)


def test_intervals_hold_the_limit(reached):
    inside = [result.ci95[0] <= n <= result.ci95[1] for n, result in reached if result]
    assert (len(inside), sum(inside)) == (35, 34)


def test_no_test_without_a_limit_is_called_closed(tests):
    assert [result for n, result, _ in tests if not n and result] == []
    assert sum(n == 0 for n, _, _ in tests) == 50


def test_what_is_not_found_cannot_be():
    """One point past the limit, and nobody says how long it lasted: it may have just begun."""
    single = {
        number
        for number, (limit, stages) in hidden_limits.read().items()
        if limit and max(s.delayed for s in stages) > DELAYED and reported_limit(stages) is None
        if sum(s.throughput < 0.93 * s.offered for s in stages) == 1
        if all(s.duration is None for s in stages)
    }
    assert single == {22, 38}


@pytest.mark.slow
@pytest.mark.parametrize("number", [1, 30, 76])
def test_the_file_is_what_ciw_gives(number):
    lines = hidden_limits.FILE.read_text().splitlines()
    kept = [line.split(",") for line in lines if line.startswith(f"{number},")]
    assert kept == hidden_limits.rows(number)
