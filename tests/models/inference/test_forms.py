"""Forms of a family stand in their model files, and no general room knows a model by its name."""

import ast
import json
import re

import pytest

from headway.errors import ModelFileError, UnknownModel
from headway.loggp import PLATFORMS
from headway.models import catalogue_model, model_names, parse_model
from headway.models.files.shipped import may_be_form
from headway.models.inference.forms import catalogue_forms, families
from headway.models.structure.forms import CURVE
from headway.models.structure.loads import Load
from headway.models.structure.parts.components import STATION_PARTS
from headway.models.structure.parts.structure import CLASS_KEYS, RESERVED
from tests.house import FOLDERS, modules, nodes_of
from tests.support.command import headway, refusal
from tests.support.outside import make_package
from tests.support.pages import model_files

DOCUMENTED = re.compile(r"^```toml\n(# shop-server\.toml\n.*?)^```", re.DOTALL | re.MULTILINE)
PAGE = model_files()
SHOP = DOCUMENTED.search(PAGE)[1]


def test_only_what_has_the_table_is_read_to_find_the_forms():
    forms = [name for name in model_names() if catalogue_model(name).form is not None]
    assert list(filter(may_be_form, model_names())) == forms


def test_every_form_is_complete():
    for form in catalogue_forms(*Load):
        model = catalogue_model(form.model)
        assert all(model.parameters[name].value is not None for name in form.free)
        assert not {*form.free} & {*form.variant.without}
        assert model.form.saturation is not None
        assert parse_model(model.to_toml()) == model
    orders = [form.variant.order for form in catalogue_forms(Load.OPEN, Load.CLOSED)]
    assert len(set(orders)) == len(orders)
    assert families() == ("server",)


@pytest.mark.parametrize("name", CURVE)
def test_what_a_form_starts_from_is_documented(name):
    assert f"`{name}`" in PAGE


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('free = ["service_time"]', 'free = ["service_tiem"]', "'service_tiem'; did you mean serv"),
        ('load = "open"', 'load = "opened"', "must be one of open, closed, population, offered"),
        ("least_time / 4", "last_time / 4", "'last_time'; did you mean least_time"),
        ("least_time / 4", "least_time /", "formula"),
        ("0.5 / service_time", "0.5 / times", "unknown name 'times'"),
        ('unit = "ms" }', 'unit = "mss" }', "unit 'mss'"),
        ('family = "shops"', "family = 3", "must be text"),
        ('free = ["service_time"]', 'free = "service_time"', "must be a list of names"),
        ('load = "open"', 'load = "open"\norder = "first"', "must be a number"),
        ('load = "open"', f'load = "open"\norder = 1{"0" * 400}', "must be a finite number"),
        ("[form.start]\nservice_time", "[form.start]\nserving", "'serving'"),
    ],
)
def test_what_is_wrong_in_a_form_is_refused_with_its_place(old, new, why):
    text = SHOP.replace(old, new)

    assert text != SHOP
    with pytest.raises(ModelFileError, match=re.escape(why)) as refused:
        parse_model(text, "shop.toml")
    assert "[form" in str(refused.value)


def test_a_family_of_another_package_is_fitted_by_its_name(tmp_path, monkeypatch, write):
    """Curve of an M/M/1 of 4 ms, half of it the operation's own."""
    files = {"shop-server.toml": SHOP}
    make_package(tmp_path, "shops", files, {"headway.models": "shop-server = shops"})
    monkeypatch.syspath_prepend(str(tmp_path))
    rows = "".join(f"{x},{4 / (1 - x / 250):.5g}\n" for x in range(25, 225, 25))
    curve = write("throughput_ops_s,response_ms\n" + rows, "curve.csv")

    document = json.loads(headway("fit", "shops", "--data", curve, "--json").out)

    assert document["form"] == "shop-server"
    assert document["server"]["time_per_operation"]["value"] == pytest.approx(2e-3, rel=1e-4)
    assert document["server"]["saturation_throughput"]["value"] == pytest.approx(250, rel=1e-4)
    catalogue_model.cache_clear()


def test_a_family_that_has_no_form_is_refused(write):
    curve = write("throughput_ops_s,response_ms\n1,2\n", "curve.csv")

    assert "there is no model 'servre'" in refusal("fit", "servre", "--data", curve)
    with pytest.raises(UnknownModel, match="did you mean server"):
        catalogue_forms(Load.OPEN, family="servre")


GENERAL = ("queueing", "loggp", "cli", *("models." + room for room in (
    "analysis", "door", "files", "inference", "language", "measured", "plotting", "reports",
    "showing", "signatures", "solving", "structure", "tables",
)))  # fmt: skip
SHARED = {
    *(*RESERVED, *STATION_PARTS, *CLASS_KEYS),
    *("service_time", "servers", "server", "latency", "overhead"),
}
"""Words of the language of models, stations and links, which any model may have."""


def texts(path):
    """Text in a module's code: no docstrings, and no examples of a command's help."""
    nodes = nodes_of(path)
    prose = {node.value for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        text = isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in prose
        if text and not node.value.startswith(("Example: ", "headway ")):
            yield node.value


def general_texts():
    for name, path in modules(FOLDERS).items():
        if name.startswith(tuple(f"headway.{room}" for room in GENERAL)):
            yield from ((name, text) for text in texts(path))


def test_no_general_room_names_a_model_of_the_catalogue():
    names = "|".join(re.escape(name) for name in {*model_names()} - PLATFORMS.keys() if "-" in name)
    known = re.compile(rf"(?<![\w-])({names})(?![\w-])")

    assert known.search("as nfs-server does")
    assert [(room, text) for room, text in general_texts() if known.search(text)] == []


def test_no_room_that_solves_or_fits_names_a_parameter_of_a_form():
    forms = {form.model for form in catalogue_forms(*Load)} | {"nfs-server", "server-nfs"}
    own = {name for form in forms for name in catalogue_model(form).parameters} - SHARED
    rooms = tuple(
        f"headway.models.{room}" for room in ("analysis", "inference", "solving", "showing")
    )
    values = [(room, text) for room, text in general_texts() if room.startswith(rooms)]
    # steps, growth and bandwidth of a collective are its own, under keys of these names; so are
    # the growth of a day's load and the room that this needs
    own_keys = tuple(f"headway.models.showing.{room}" for room in ("collectives", "solved.timeli"))
    values = [each for each in values if not each[0].startswith(own_keys)]

    assert {"touched_per_load", "cpu_time", "delay", "growth", "full_load"} <= own
    assert [(room, text) for room, text in values if text in own] == []
