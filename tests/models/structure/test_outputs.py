"""Outputs are declared once: units, directions, and what can be asked for follow from the row."""

import json

import numpy as np
import pytest

from headway.errors import GraphError, PackageError
from headway.models import ModelGraph, catalogue_model
from headway.models.analysis.sensitivity import sensitivity
from headway.models.analysis.target import what_it_takes
from headway.models.language.titles import split_header
from headway.models.structure.outputs import OUTPUTS, Of, read_output
from headway.queueing import MM1
from tests.support.command import headway, refusal
from tests.support.outside import OUTPUT, make_package

IMPORTS = """from headway.models.structure.meanings import Better
from headway.models.structure.outputs import Of, Output
"""
ROW = """

ROW = Output(
    "response_time_variance",
    Of.NETWORK | Of.CLASS,
    "s^2",
    "variance of the response time",
    Better.LESS,
    compute="spread_out:variance",
)
"""
POINT = {"headway.outputs": "response_time_variance = spread_out:ROW"}


@pytest.fixture
def variance(tmp_path, monkeypatch):
    """A package of one file and one row that adds the variance of the response time."""
    import sys

    make_package(tmp_path, "spread_out", {"__init__.py": IMPORTS + OUTPUT + ROW}, POINT)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    sys.modules.pop("spread_out", None)


def test_no_two_rows_share_a_name():
    rows = [(row.pattern, of) for row in OUTPUTS for of in Of if row.of & of]
    assert len(rows) == len(set(rows))


@pytest.mark.parametrize("row", OUTPUTS, ids=lambda row: f"{row.pattern}-{row.of}")
def test_every_row_is_found_by_its_name_and_has_words(row):
    for of, prefix in ((Of.NETWORK, ""), (Of.CLASS, "class web."), (Of.STATION, "cpu.")):
        if row.of & of:
            found = read_output(prefix + row.example, ["web"], ["cpu"])
            assert found is not None
            assert found.output == row
            assert found.name == prefix + row.example
    assert row.doc


@pytest.mark.parametrize(
    ("name", "seconds"),
    [("over_90s", 90.0), ("over_1.5min", 90.0), ("over_2h", 7200.0), ("over_250us", 2.5e-4)],
)
def test_times_in_names_take_every_unit_of_time(name, seconds):
    found = read_output(f"cpu.waiting_time_{name}", (), ["cpu"])
    assert found is not None
    assert found.number == pytest.approx(seconds, rel=1e-12)


@pytest.mark.parametrize(
    "name", ["response_time_over_2MB", "response_time_over_2", "response_timer"]
)
def test_what_is_no_time_is_no_output(name):
    assert read_output(name) is None


def test_what_can_be_shown_can_be_asked_everywhere():
    """A station's percentile in a sensitivity, a sweep and as a target, in its unit."""
    raid = catalogue_model("nfs-server").with_preset("raid").at(arrival_rate=800.0)
    name = "cpu.waiting_time_p95"
    wait = raid.solve()[name]
    longer = raid.at(cpu_time=1.001 * raid.inputs["cpu_time"]).solve()[name]
    effect = sensitivity(raid, [name]).effects[name]["cpu_time"]
    needed = what_it_takes(raid, name, 0.9 * wait, "arrival_rate")
    swept = raid.sweep({"arrival_rate": [700.0, 800.0]}, outputs=[name], reduce=["moments"])

    assert effect.elasticity == pytest.approx((longer / wait - 1) / 0.001, rel=0.02)
    assert raid.at(arrival_rate=needed.value).solve()[name] == pytest.approx(0.9 * wait, rel=1e-6)
    assert "cpu.waiting time p95" in str(swept)


@pytest.mark.usefixtures("variance")
class TestAnOutputOfAnotherPackage:
    """M/M/1 of S = 0.1 s at 5/s: T is exponential of mean 0.2 s, so its variance is 0.04 s^2."""

    model = (
        ModelGraph("one")
        .declare("service")
        .station("cpu", MM1("service"))
        .at(service=0.1, arrival_rate=5.0)
    )
    name = "response_time_variance"

    def test_python(self):
        assert self.model.solve()[self.name] == pytest.approx(0.04, rel=1e-6)
        assert np.isinf(self.model.solve(12.0)[self.name])

    def test_table_json_and_csv(self, tmp_path):
        file = tmp_path / "one.toml"
        file.write_text(self.model.to_toml())
        ask = ["solve", str(file), "--show", self.name]
        document = json.loads(headway(*ask, "--json").out)
        header = headway(*ask, "--csv").out.splitlines()[0]

        table = headway(*ask).out
        line = next(row for row in table.splitlines() if self.name in row)
        assert line.split()[1:] == ["0.0400", "s^2"]
        assert document["points"][0]["outputs"][self.name] == pytest.approx(0.04, rel=1e-6)
        assert f"{self.name}_s2" in header.split(",")
        assert str(split_header(f"{self.name}_s2")[1]) == "s^2"

    def test_sensitivity_is_per_unit(self, tmp_path):
        """dVar/drate = 2 R dR/drate = 2 * 0.2 s * 0.04 s^2, at Var = R^2."""
        effect = sensitivity(self.model, [self.name]).effects[self.name]["arrival_rate"]
        file = tmp_path / "one.toml"
        file.write_text(self.model.to_toml())
        shown = headway("sensitivity", str(file), "--output", self.name).out

        assert effect.derivative == pytest.approx(0.016, rel=1e-4)
        assert "s^2 per 1,000 requests/s" in shown

    def test_target(self):
        """Var = (S / (1 - rate S))^2 = (0.15 s)^2 at a rate of 10/3 /s."""
        needed = what_it_takes(self.model, self.name, 0.0225, "arrival_rate")
        assert needed.value == pytest.approx(10 / 3, rel=1e-4)

    def test_sweep_and_size(self):
        swept = self.model.sweep(
            {"arrival_rate": [2.0, 5.0]}, outputs=[self.name], reduce=["moments"]
        )
        sized = self.model.size(
            [f"{self.name}<=0.0225 s^2"], {"service": [0.05, 0.09]}, "1/service"
        )
        assert "s^2" in str(swept)
        assert sized.best.values["service"] == 0.05

    def test_it_is_refused_where_no_law_is_known(self):
        bursts = ModelGraph("one").station("cpu", MM1(0.1)).arrive("cpu", 5.0, scv=4.0)
        with pytest.raises(GraphError, match="no percentiles"):
            bursts.at().solve()[self.name]
        program = catalogue_model("pipeline")
        assert read_output(self.name) is not None
        assert program.solve().outputs


def test_a_row_that_is_none_is_blamed_on_its_package(tmp_path, monkeypatch):
    make_package(tmp_path, "broken_rows", {"__init__.py": "ROW = 3\n"},
                 {"headway.outputs": "x = broken_rows:ROW"})  # fmt: skip
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(PackageError, match="broken_rows"):
        read_output("y")
    assert "broken_rows" in refusal("solve", "nfs-server", "--show", "y")
