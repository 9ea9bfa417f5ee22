"""Forms of one's own compete with those that ship, and may be told what a page discloses."""

import json
import re
from dataclasses import replace

import pytest

from headway.errors import InvalidParameter, MeasurementError, ModelFileError
from headway.models import Measurements, catalogue_model, parse_model
from headway.models.inference.forms import catalogue_forms, listed_forms, started
from headway.models.inference.server import fit_server
from headway.models.measured.facts import disclosed, fact
from headway.models.structure.forms import FACTS
from headway.models.structure.loads import Load
from tests.support.command import headway, refusal
from tests.support.pages import model_files

PAGE = model_files()
DISKS = re.search(r"^```toml\n(# spindles\.toml\n.*?)^```", PAGE, re.DOTALL | re.MULTILINE)[1]
HALF = catalogue_model("server-single").to_toml().replace("server-single", "half")
LOADS = (100, 300, 500, 700, 900, 1100, 1200, 1300)
DISCLOSED = "Number of Disks: 12\nNumber of Processors: 2\n"


def rows(front, disk, disks):
    """A front end of one queue, and disks that each get their share."""
    times = (1e3 * (front / (1 - x * front) + disk / (1 - x * disk / disks)) for x in LOADS)
    return "".join(f"{x},{y:.6g}\n" for x, y in zip(LOADS, times, strict=True))


def curve(front=0.0004, disk=0.008, disks=12, facts=""):
    table = Measurements.parse("throughput_ops_s,response_ms\n" + rows(front, disk, disks), "c.csv")
    return replace(table, facts=disclosed(facts.splitlines()))


@pytest.fixture
def spindles(write):
    return write(DISKS, "spindles.toml")


@pytest.fixture
def data(write):
    return write("throughput_ops_s,response_ms\n" + rows(0.0004, 0.008, 12), "curve.csv")


@pytest.mark.slow
def test_an_own_form_competes_with_all_that_ship(spindles, data):
    """It made the curve, so it must win: its cost is that of six printed digits."""
    document = json.loads(
        headway("fit", "server", "--forms", f"all,{spindles}", "--data", data, "--json").out
    )

    tried = {candidate["form"] for candidate in document["candidates"]}
    assert document["form"] == "spindles"
    assert document["parameters"]["disk_time"]["value"] == pytest.approx(0.008, rel=1e-3)
    assert {form.name for form in catalogue_forms(Load.OPEN)} <= tried | {"server-pool"}


def test_listed_forms_alone_compete(spindles, data):
    shown = headway("fit", "server", "--forms", f"server-single, {spindles}", "--data", data)

    assert shown.code == 0, shown.err
    assert "the best of 2 forms" in re.sub(r"\s+", " ", shown.out)
    assert "server-cache" not in shown.out


def test_models_compete_in_python():
    own = parse_model(DISKS, "spindles.toml")

    server = fit_server(curve(), forms=[own, "server"])

    assert {form.model for form, _ in server.candidates} == {"spindles", "server"}
    assert server.form.model == "spindles"


def test_a_form_listed_twice_is_tried_once():
    once, twice = listed_forms(["server"]), listed_forms(["server", "server", "all"], "server")

    assert len({(form.name, form.variant.load) for form in twice}) == len(twice) > len(once)


@pytest.mark.parametrize(
    ("listed", "why"),
    [
        ("serverr", "there is no model 'serverr' in the catalogue; did you mean server"),
        ("lopc", "lopc is not a form: its file needs a [[form.tried]]"),
        ("", "no form is listed; name models, or write all"),
        ("missing.toml", "missing.toml"),
        ("server-closed", "none of the forms server-closed applies to this load (open)"),
    ],
)
def test_forms_that_are_none_are_refused(listed, why, data):
    assert why in refusal("fit", "server", "--forms", listed, "--data", data)


def test_forms_go_without_free(data):
    message = refusal("fit", "server", "--free", "delay", "--forms", "all", "--data", data)

    assert message == "--forms needs server as the model, without --free"


def test_two_forms_of_one_name_are_refused(write, data):
    other = write(HALF.replace('"half"', '"server"'), "server.toml")

    assert "two forms are called 'server'" in refusal(
        "fit", "server", "--forms", f"all,{other}", "--data", data
    )


@pytest.mark.parametrize("name", FACTS)
def test_what_a_form_may_be_told_is_a_number_and_documented(name):
    assert f"`{name}`" in PAGE
    assert fact(name, "12 GB").value is not None


def test_a_form_is_held_at_what_a_page_discloses():
    own = parse_model(DISKS, "spindles.toml")
    server = fit_server(curve(facts=DISCLOSED), forms=[own])
    spindles_disks_given = {form.name: fit for form, fit in server.candidates}[
        "spindles (disks given)"
    ]

    assert server.form.name == "spindles (disks given)"
    assert spindles_disks_given.free == ("front_time", "disk_time")
    assert float(spindles_disks_given.model.inputs["disks"]) == 12
    assert spindles_disks_given.values["disk_time"] == pytest.approx(0.008, rel=1e-3)
    assert "spindles (disks given)" in str(server)


def test_what_nothing_discloses_is_not_told():
    own = parse_model(DISKS, "spindles.toml")

    assert [form.name for form, _ in fit_server(curve(), forms=[own]).candidates] == ["spindles"]
    only = replace(own, form=replace(own.form, variants=own.form.variants[:1]))
    with pytest.raises(MeasurementError, match="none of the forms spindles"):
        fit_server(curve(), forms=[only])


def test_what_is_told_is_where_a_search_starts():
    """Clients of a test circulate: load generators times processes, about."""
    [form] = catalogue_forms(Load.CLOSED)
    facts = disclosed(["Number of Load Generators: 6", "Processes per LG: 4"])

    result = started(
        form, curve().column("throughput").values, curve().column("response").values, facts
    )
    free = started(form, curve().column("throughput").values, curve().column("response").values)

    assert float(result.inputs["population"]) == 24 != float(free.inputs["population"])


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('disks = "disks"', 'disks = "disk"', "'disk'; did you mean disks"),
        ('disks = "disks"', 'discs = "disks"', "'discs'; did you mean disks"),
        (
            'disclosed = ["disks"]',
            'disclosed = ["disk_time"]',
            "unknown name 'disk_time'",
        ),
        ('disclosed = ["disks"]', 'disclosed = "disks"', "must be a list of names"),
    ],
)
def test_what_is_wrong_with_what_is_told_is_refused_with_its_place(old, new, why):
    text = DISKS.replace(old, new)

    assert text != DISKS
    with pytest.raises(ModelFileError, match=re.escape(why)) as refused:
        parse_model(text, "spindles.toml")
    assert "[form" in str(refused.value)


def test_what_is_told_is_written_and_read():
    own = parse_model(DISKS, "spindles.toml")

    assert parse_model(own.to_toml()) == own
    assert own.form.disclosed["disks"].text == "disks"
    assert own.form.variants[0].disclosed == ("disks",)
    with pytest.raises(InvalidParameter, match="no form is listed"):
        listed_forms([])
