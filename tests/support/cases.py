"""Cases of a test: a few in every run, all of them among the slow tests."""

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def mostly_slow(
    cases: Iterable[Any], quick: int | Collection[Any], *, tuples: bool = False
) -> list[Any]:
    """Mark all cases as slow but the first ones, or those that are named.

    Parameters
    ----------
    cases
        What a test is parametrized with.
    quick
        How many of them, or which, run each time.
    tuples
        Whether each is a tuple of several arguments.
    """
    each = list(cases)
    kept = each[:quick] if isinstance(quick, int) else quick
    return [
        one if one in kept else pytest.param(*(one if tuples else (one,)), marks=pytest.mark.slow)
        for one in each
    ]
