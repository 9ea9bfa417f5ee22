"""What the packages promise to hold, they hold."""

import ast
import configparser
import importlib
import pkgutil
import re
import rlcompleter
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.places import ROOT

DOCS = ROOT / "docs"
ROOMS = (
    "headway.loggp",
    "headway.queueing",
    "headway.models",
    "headway.models.plotting",
    "headway.models.published.studies",
)


def stub(room):
    """Lines of a room's list of public names."""
    text = Path(importlib.import_module(room).__file__).with_suffix(".pyi").read_text()
    return ast.parse(text).body[1:]


@pytest.mark.parametrize("room", ROOMS)
def test_every_public_name_is_there_and_none_hides_behind_a_module(room):
    package = importlib.import_module(room)
    modules = {module.name for module in pkgutil.iter_modules(package.__path__)}

    assert package.__all__
    assert modules.isdisjoint(package.__all__)
    for name in package.__all__:
        attribute = getattr(package, name)
        assert getattr(attribute, "__doc__", None), name


@pytest.mark.parametrize("room", ROOMS)
def test_every_public_name_stands_once_with_the_module_that_defines_it(room):
    names = [name.name for line in stub(room) for name in line.names]

    assert sorted(names) == importlib.import_module(room).__all__
    for line in stub(room):
        (name,) = line.names
        assert (line.level, name.asname) == (1, name.name)  # what type checkers take as public
        home = importlib.import_module(f"{room}.{line.module}")
        attribute = getattr(home, name.name)
        assert getattr(attribute, "__module__", home.__name__) == home.__name__


@pytest.mark.parametrize("room", ROOMS)
def test_dir_and_tab_show_the_public_names_only(room):
    package = importlib.import_module(room)
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{room}.{module.name}")

    offered = rlcompleter.Completer({"room": package}).attr_matches("room.")

    assert dir(package) == package.__all__
    assert sorted(name.removeprefix("room.").rstrip("()") for name in offered) == dir(package)


@pytest.mark.parametrize("room", ROOMS)
def test_a_star_brings_the_public_names(room):
    by_name = {}
    exec(f"from {room} import *", by_name)  # noqa: S102

    assert by_name.keys() - {"__builtins__"} == set(importlib.import_module(room).__all__)


def test_headway_offers_ten_names_each_where_it_is_defined():
    import headway

    assert len(headway.__all__) == 10
    assert dir(headway) == headway.__all__
    named = re.findall(r"^(\w+)\(", headway.__doc__, re.MULTILINE)
    assert sorted(named) == headway.__all__
    for name in headway.__all__:
        assert getattr(headway, name).__module__.startswith("headway.models.")
    with pytest.raises(AttributeError, match="did you mean report"):
        headway.reports  # noqa: B018


def test_every_answer_is_a_data_frame():
    import headway

    model = headway.load("nfs-server").with_preset("raid")
    frame = model.solve([400, 900]).to_frame()
    assert frame["throughput_ops_per_s"].tolist() == [400, 900]
    assert frame["bottleneck"].tolist() == ["cpu", "cpu"]
    effects = model.at(arrival_rate=400.0).sensitivity().to_frame()
    assert "cpu_time" in effects["parameter"].tolist()


def test_an_unused_room_loads_nothing():
    rooms = ", ".join(ROOMS[:2])
    code = (
        f"import sys; before = {{*sys.modules}}; import {rooms}; print(*{{*sys.modules}} - before)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())

    ours = {name for name in loaded if name.startswith("headway")}
    assert ours == {"headway", "headway.lazy", "headway.loggp", "headway.queueing"}
    assert loaded.isdisjoint({"ast", "difflib", "numpy", "pathlib"})


def test_the_lists_of_names_go_into_a_wheel():
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg")

    assert setup["options.package_data"]["*"] == "*.pyi"
    assert setup["options.package_data"]["headway"] == "py.typed"


@pytest.mark.parametrize(
    ("room", "name", "hint"),
    [
        ("loggp", "nothing", "; there are ALGORITHMS, BlockingRequests, "),
        ("models", "Modle", "; did you mean Model?"),
        ("queueing", "mva", "; there are "),
        ("queueing", "erlang_d", "; did you mean erlang_c, erlang_b, erlang_a?"),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest(room, name, hint):
    package = importlib.import_module(f"headway.{room}")

    with pytest.raises(AttributeError) as refused:
        getattr(package, name)

    what = f"module 'headway.{room}' has no attribute {name!r}"
    assert str(refused.value).startswith(what + hint)
