"""Cases of a test: a few in every run, all of them among the slow tests."""

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def mostly_slow(cases: Iterable[Any], quick: int | Collection[Any]) -> list[Any]:
    """Mark all cases as slow but the first ones, or those that are named.

    Parameters
    ----------
    cases
        What a test is parametrized with.
    quick
        How many of them, or which, run each time.
    """
    each = list(cases)
    kept = each[:quick] if isinstance(quick, int) else quick
    return [one if one in kept else pytest.param(one, marks=pytest.mark.slow) for one in each]
