"""A pytest plugin: where chance comes from, and what a run left out.

Property tests try the same examples in every run, on every machine. With ``HEADWAY_FUZZ=SEED``
in the environment only they run, with examples drawn from that seed, which is printed: the same
seed draws the same examples again.
"""

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from hypothesis import is_hypothesis_test, settings

VARIABLE = "HEADWAY_FUZZ"

# a busy machine is no fault of the code: no deadlines
settings.register_profile("fixed", deadline=None, derandomize=True, database=None, max_examples=40)
settings.register_profile(
    "random", deadline=None, derandomize=False, database=None, print_blob=True
)


def seed_of(text: str | None) -> int | None:
    """Read a seed, a whole number; none where the variable is not set or empty.

    Parameters
    ----------
    text
        The variable's value.

    Raises
    ------
    pytest.UsageError
        For anything else.
    """
    if not text:
        return None
    if not (text.isascii() and text.isdecimal()):
        msg = f"{VARIABLE}={text}: a seed is a whole number such as 17"
        raise pytest.UsageError(msg)
    return int(text)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: Any) -> None:
    """Choose the profile before a test is read, and the seed before hypothesis looks for it."""
    seed = seed_of(os.environ.get(VARIABLE))
    settings.load_profile("fixed" if seed is None else "random")
    if seed is not None:
        config.option.hypothesis_seed = str(seed)


def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    """Leave only property tests where their examples are random."""
    if not os.environ.get(VARIABLE):
        return
    other = [item for item in items if not is_hypothesis_test(getattr(item, "obj", None))]
    config.hook.pytest_deselected(items=other)
    items[:] = [item for item in items if item not in set(other)]


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say which seed was used, and what was left out."""
    seed = os.environ.get(VARIABLE)
    if seed:
        terminalreporter.write_line(f"random examples; again with {VARIABLE}={seed}")
    reports = terminalreporter.stats.get("skipped", [])
    for line in left_out(report.longrepr[2] for report in reports):
        terminalreporter.write_line(line)


def left_out(reasons: Iterable[str]) -> Iterator[str]:
    """One line a reason for which tests were skipped.

    Parameters
    ----------
    reasons
        As pytest gives them, one a test.

    Examples
    --------
    >>> list(left_out(["Skipped: no browser", "Skipped: no browser"]))
    ['left out 2 tests: no browser']
    """
    for reason, count in Counter(reasons).items():
        tests = "test" if count == 1 else "tests"
        yield f"left out {count} {tests}: {reason.removeprefix('Skipped: ')}"
