"""Every docstring example runs, by import name (see docs/design.md, packaging)."""

import doctest
import importlib
import pkgutil

import pytest

ROOMS = ("headway", "headway.queueing", "headway.loggp", "headway.models", "headway.cli")


def module_names():
    for room in ROOMS:
        package = importlib.import_module(room)
        yield room
        for module in pkgutil.iter_modules(package.__path__):
            if not module.ispkg and module.name != "conftest":
                yield f"{room}.{module.name}"


@pytest.mark.parametrize("name", sorted(set(module_names())))
def test_docstring_examples(name):
    module = importlib.import_module(name)

    result = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)

    assert result.failed == 0
