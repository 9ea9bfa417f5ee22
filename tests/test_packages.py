"""What the packages promise to hold, they hold."""

import importlib
import pkgutil
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"
ROOMS = ("headway.loggp", "headway.queueing", "headway.models")


@pytest.mark.parametrize("room", ROOMS)
def test_every_public_name_is_there_and_none_hides_behind_a_module(room):
    package = importlib.import_module(room)
    modules = {module.name for module in pkgutil.iter_modules(package.__path__)}

    assert package.__all__
    assert modules.isdisjoint(package.__all__)
    for name in package.__all__:
        found = getattr(package, name)
        assert getattr(found, "__doc__", None), name


@pytest.mark.parametrize("room", ROOMS)
def test_every_module_is_in_the_reference(room):
    package = importlib.import_module(room)
    page = DOCS / "reference" / f"{room.removeprefix('headway.')}.md"
    listed = re.findall(r"automodule:: (\S+)", page.read_text())

    assert listed == sorted(m.name for m in pkgutil.walk_packages(package.__path__, f"{room}."))


def test_an_unknown_name_is_refused():
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        importlib.import_module("headway.loggp").nothing  # noqa: B018
