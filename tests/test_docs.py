"""Every docstring example runs, by import name (see docs/design.md, packaging)."""

import doctest
import importlib
import pkgutil

import pytest

ROOMS = ("headway.queueing", "headway.loggp", "headway.models", "headway.cli")
SHARED = ("headway", "headway.errors", "headway.kinds", "headway.lazy")


def module_names():
    yield from SHARED
    for room in ROOMS:
        package = importlib.import_module(room)
        yield room
        for module in pkgutil.walk_packages(package.__path__, f"{room}."):
            yield module.name


@pytest.mark.parametrize("name", sorted(set(module_names())))
def test_docstring_examples(name):
    module = importlib.import_module(name)

    result = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)

    assert result.failed == 0
