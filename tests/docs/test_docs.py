"""Every docstring example runs, by import name (see docs/design.md, packaging)."""

import doctest
import importlib
import inspect
import pkgutil
from functools import cached_property
from types import FunctionType, ModuleType

import pytest

ROOMS = ("headway.queueing", "headway.loggp", "headway.models", "headway.cli")
SHARED = (
    "headway",
    "headway.columns",
    "headway.errors",
    "headway.kinds",
    "headway.lazy",
    "headway.numerals",
)


def module_names():
    yield from SHARED
    for room in ROOMS:
        package = importlib.import_module(room)
        yield room
        for module in pkgutil.walk_packages(package.__path__, f"{room}."):
            yield module.name


def remembered(module):
    """Properties that are computed once, which doctest passes over before Python 3.13."""
    for owner in (c for c in vars(module).values() if inspect.isclass(c)):
        if owner.__module__ == module.__name__:
            for name, member in vars(owner).items():
                if isinstance(member, cached_property):
                    yield f"{owner.__name__}.{name}", member.func


def examples(module):
    """Each once: later releases of Python find some of the remembered properties themselves."""
    finder = doctest.DocTestFinder()
    found = finder.find(module)
    for name, function in remembered(module):
        found += finder.find(function, f"{module.__name__}.{name}", module, vars(module).copy())
    return {one.name: one for one in found}.values()


@pytest.mark.parametrize("name", sorted(set(module_names())))
def test_docstring_examples(name):
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for found in examples(importlib.import_module(name)):
        if found.examples:  # a runner looks at every file that was read before, for each
            runner.run(found)

    assert runner.summarize().failed == 0


def public(room):
    """Documentation of a room's public names, and of their public methods and properties."""
    package = importlib.import_module(room)
    for name in package.__all__:
        thing = getattr(package, name)
        yield name, thing.__doc__
        for owner in thing.__mro__ if inspect.isclass(thing) else ():
            if owner.__module__.startswith("headway."):
                yield from methods(owner)


def methods(owner):
    kinds = (property, cached_property, classmethod, staticmethod, FunctionType)
    for name, member in vars(owner).items():
        if isinstance(member, kinds) and not name.startswith("_"):
            yield f"{owner.__module__}.{owner.__name__}.{name}", member.__doc__


def test_most_public_names_of_models_have_an_example():
    by_name = dict(public("headway.models"))
    without = sorted(name for name, doc in by_name.items() if ">>>" not in (doc or ""))

    assert len(without) <= 0.4 * len(by_name), without


def test_examples_of_remembered_properties_run():
    module = ModuleType("broken")
    broken = "class A:\n @cached_property\n def b(self):\n  '''>>> 1 + 1\n  3\n  '''"
    exec(f"from functools import cached_property\n{broken}", vars(module))  # noqa: S102

    (example,) = (one for one in examples(module) if one.examples)

    assert example.name == "broken.A.b"
    assert doctest.DocTestRunner(verbose=False).run(example, out=lambda _: None).failed == 1
