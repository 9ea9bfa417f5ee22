"""Kinds, readers, models and commands of other packages, found by entry points."""

import json
import subprocess
import sys
import tomllib

import numpy as np
import pytest
from click.shell_completion import ShellComplete
from jsonschema import Draft7Validator

from headway.cli.main import cli
from headway.errors import GraphError, PackageError
from headway.models import Measurements, catalogue_model, model_names, parse_model
from headway.models.files.editors import json_schema
from headway.models.files.shipped import catalogue_model as loaded_model
from headway.models.language.verbs import perform
from headway.models.tables.shown import Answer
from headway.queueing.stations.listed.kinds import product_form_kinds, station_kind
from tests.support.command import headway, refusal
from tests.support.outside import FILES, POINTS, make_package

RUNS = "pounder 2.1\n" + "".join(
    f"run at {rate}/s took {2 / (1 - 0.002 * rate):.4g} ms\n" for rate in range(50, 450, 50)
)


@pytest.fixture
def offer(tmp_path, monkeypatch):
    """Put a package where Python finds it, and forget it afterwards."""
    made = []

    def offered(files, points, name="pounder"):
        place = tmp_path / f"site-{name}"
        make_package(place, name, files, points)
        monkeypatch.syspath_prepend(str(place))
        made.append(name)

    yield offered
    loaded_model.cache_clear()
    for name in [n for n in sys.modules if n.partition(".")[0] in made]:
        del sys.modules[name]


@pytest.fixture
def pounder(offer):
    offer(FILES, POINTS)


def test_nothing_from_outside_is_known_without_the_package():
    assert "clocked-server" not in model_names()
    assert "there is no model 'clocked-server'" in refusal("solve", "clocked-server")
    with pytest.raises(GraphError, match="there is no kind of station 'Clocked'"):
        station_kind("Clocked")


@pytest.mark.usefixtures("pounder")
def test_a_kind_and_a_model_are_solved_and_shown():
    """R = S / (1 - U) of S = 2e6 / 1e9 s at 100 op/s is 2.5 ms."""
    solved = json.loads(headway("solve", "clocked-server", "--json").out)
    shown = headway("show", "clocked-server")
    model = catalogue_model("clocked-server")

    assert solved["points"][0]["outputs"]["response_time"] == pytest.approx(0.0025, rel=1e-12)
    assert "Clocked" in shown.out
    assert headway("show", "clocked-server", "--formula").out.startswith("response_time = ")
    assert parse_model(model.to_toml()) == model
    assert model.plot().axes


@pytest.mark.usefixtures("pounder")
def test_editors_know_a_kind_by_the_schema_that_headway_prints():
    schema = json.loads(headway("kinds", "--schema").out)
    own = Draft7Validator(schema)
    table = tomllib.loads(FILES["clocked-server.toml"])
    shipped = Draft7Validator(json_schema())

    assert own.is_valid(table)
    assert not shipped.is_valid(table)
    table["stations"]["cpu"]["clok"] = 1e9
    assert not own.is_valid(table)


@pytest.mark.usefixtures("pounder")
def test_a_kind_does_all_that_its_abilities_say():
    """A clocked server is an M/M/1 of 4 ms: 95% of exponential times are within R ln 20."""
    model = catalogue_model("clocked-server").with_preset("slow")
    twin = catalogue_model("server-single").at(service_time=4e-3, delay=0.0)
    solved, closed = model.solve(), model.closed(3, think_time=0.1).solve()
    (point,) = json.loads(solved.with_percentile(95).to_json())["points"]

    assert point["outputs"]["saturation_throughput"] == pytest.approx(250, rel=1e-9)
    assert point["outputs"]["response_time_p95"] == pytest.approx(
        solved.response_time * np.log(20), rel=1e-6
    )
    assert closed.throughput == pytest.approx(
        twin.closed(3, think_time=0.1).solve().throughput, rel=1e-12
    )
    assert str(model.closed_form("cpu.utilisation")) == "arrival_rate*cycles/clock"
    assert "Clocked" in product_form_kinds(shared=True)


@pytest.mark.usefixtures("pounder")
def test_a_reader_is_recognised_by_content_and_its_curve_fitted(write):
    path = write(RUNS, "night.log")

    assert Measurements.read(path).kind == "pounder"
    fitted = headway("fit", "clocked-server", "--data", path, "--free", "cycles", "--json")
    estimate = json.loads(fitted.out)["parameters"]["cycles"]
    assert estimate["value"] == pytest.approx(2e6, rel=1e-3)


@pytest.mark.usefixtures("pounder")
def test_what_headway_knows_itself_is_read_as_ever(write):
    path = write("throughput_ops_s,response_ms\n100,2.5\n", "pounder.csv")

    assert Measurements.read(path).kind == "CSV"


def completed(*words, text=""):
    complete = ShellComplete(cli, {}, "headway", "_HEADWAY_COMPLETE")
    return [item.value for item in complete.get_completions(list(words), text)]


@pytest.mark.usefixtures("pounder")
def test_lists_help_and_completion_name_what_is_from_outside():
    assert "clocked-server" in headway("models").out
    kinds = json.loads(headway("kinds", "--json").out)
    assert kinds["stations"][-1]["kind"] == "Clocked"
    assert kinds["stations"][-1]["numbers"] == ["cycles", "clock"]
    assert kinds["files"][-1] == "pounder"
    assert completed("solve", text="clo") == ["clocked-server"]
    assert completed("solve", "clocked-server", "--set", text="cy") == ["cycles="]
    assert completed(text="po") == ["pound"]
    assert "pound        From package pounder." in headway("--help").out
    assert headway("pound").out == "pounded\n"


def test_a_package_on_the_path_is_seen_by_the_command(tmp_path):
    """A process of its own, nothing installed."""
    make_package(tmp_path, "pounder", FILES, POINTS)
    run = subprocess.run(
        [sys.executable, "-m", "headway.cli", "solve", "clocked-server", "--csv"],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(tmp_path), "PATH": ""},
    )

    assert "response_time_s" in run.stdout


class Fleet(Answer):
    """An answer of another package."""


def test_answers_of_other_packages_are_shown_by_their_own_functions(offer):
    code = "def rows(fleet):\n    return [{'servers': 3}]\n"
    offer({"shown.py": code}, {"headway.renderers": "Fleet.rows = fleet.shown:rows"}, "fleet")

    assert Fleet().rows() == [{"servers": 3}]
    with pytest.raises(TypeError, match="headway cannot plot a Fleet"):
        perform(Fleet(), "plot")


SHOWN = """
from headway.models.language.scales import Scale
from headway.models.tables.description import Description, Records, field

def describe(fleet):
    records = Records((field("servers", [3], title="servers"),))
    return Description(
        records=lambda: records, scale=Scale, tables=lambda scale: [records.table("fleet", scale)]
    )
"""


def test_all_forms_of_an_answer_of_another_package_follow_from_its_description(offer):
    offer(
        {"shown.py": SHOWN}, {"headway.renderers": "Fleet.describe = fleet.shown:describe"}, "fleet"
    )

    assert Fleet().rows() == [{"servers": 3}]
    assert json.loads(Fleet().to_json()) == {"servers": 3}
    assert Fleet().to_csv() == "servers\n3.0\n"
    assert str(Fleet()).split() == ["fleet", "servers", "───────", "3"]


BROKEN = {
    "headway.stations": "Steam = steam.gone:Steam",
    "headway.readers": "steam = steam.other:thing",
    "headway.models": "steam-engine = steam",
    "headway.commands": "puff = steam.other:thing",
    "headway.renderers": "Fleet.plot = steam.other:thing",
}
STEAM = 'name = "one"\n[parameters]\narrival_rate = 1\n[stations.cpu]\nkind = "Steam"\n'


@pytest.fixture
def steam(offer):
    offer({"other.py": "thing = 3\n"}, BROKEN, "steam")


@pytest.mark.usefixtures("steam")
def test_what_is_broken_is_refused_in_a_line_that_names_the_package(write):
    model = write(STEAM, "one.toml")
    spoilt = write("nothing that anybody reads\n", "spoilt.log")

    for line, why in (
        (refusal("solve", model), "No module named 'steam.gone'"),
        (refusal("solve", "steam-engine"), "there is no steam-engine.toml in steam"),
        (refusal("puff"), "steam.other:thing is not a click command"),
        (refusal("signature", "sfs", spoilt), "steam.other:thing is not a headway.models.Reader"),
        (refusal("kinds"), "No module named 'steam.gone'"),
        (refusal("models"), "there is no steam-engine.toml in steam"),
    ):
        assert "package steam: " in line
        assert why in line
        assert "fix or uninstall the package" in line
    with pytest.raises(PackageError, match="steam.other:thing is not a function"):
        Fleet().plot()


@pytest.mark.usefixtures("steam", "pounder")
def test_what_is_broken_hinders_nothing_that_does_not_need_it(write):
    path = write(RUNS, "night.log")

    assert headway("solve", "clocked-server").code == 0
    assert Measurements.read(path).kind == "pounder"
    assert len(Measurements.read(write("load,time\n1,2\n", "plain.csv"))) == 1
    assert headway("--help").code == 0
    assert completed("show", text="steam") == ["steam-engine"]
    assert completed(text="puf") == ["puff"]
    assert "Clocked" in product_form_kinds()


def test_kinds_that_are_none_are_refused(offer):
    code = (
        "from dataclasses import dataclass\n"
        "from headway.queueing import MM1, Station\n"
        "@dataclass(frozen=True)\nclass Lawless(Station):\n    service_time: float\n"
        "class Plain:\n    pass\n"
    )
    lines = "Lawless = odd.kinds:Lawless\nPlain = odd.kinds:Plain\nFast = odd.kinds:MM1"
    offer({"kinds.py": code}, {"headway.stations": lines}, "odd")

    for name, why in (
        ("Lawless", "lacks waiting_time"),
        ("Plain", "is not a dataclass derived from headway.queueing.Station"),
        ("Fast", "is called MM1; make both the same"),
    ):
        with pytest.raises(PackageError, match=why):
            station_kind(name)


def test_a_name_that_two_packages_offer_is_nobodys(offer):
    for name in ("pounder", "hammer"):
        offer({"clocked-server.toml": ""}, {"headway.models": f"clocked-server = {name}"}, name)

    line = refusal("solve", "clocked-server")
    assert line.startswith("packages hammer and pounder both offer 'clocked-server'")
    assert model_names().count("clocked-server") == 1


def test_faults_of_a_reader_are_told_as_its_package(offer, write):
    code = (
        "from headway.models import Reader\n"
        "READER = Reader('rash', lambda text: 'rash' in text, lambda text, name: 1 / 0)\n"
    )
    offer({"reader.py": code}, {"headway.readers": "rash = rash.reader:READER"}, "rash")

    line = refusal("signature", "sfs", write("rash\n", "a.log"))
    assert line.startswith("package rash: 'rash' (headway.readers) cannot be used: ")


def test_a_list_of_entry_points_that_is_spoilt_counts_for_nothing(offer):
    offer({}, {"headway.models": "no equals sign"}, "blank")
    offer(FILES, POINTS)

    assert headway("solve", "clocked-server").code == 0


def test_nothing_is_looked_up_where_the_own_tables_suffice():
    code = (
        "import sys; from headway.models import find_model; "
        "print(find_model('nfs-server').solve(200).response_time > 0, "
        "'importlib.metadata' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert run.stdout.split() == ["True", "False"]
