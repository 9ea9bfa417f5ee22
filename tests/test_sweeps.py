"""Sweeps of wrk, k6 and fio that were run for this: from files to a fitted model and a report."""

import contextlib
import json
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from headway.cli.commands import audit, read
from headway.cli.options import measured
from headway.models import Measurements, compare, data_path
from headway.models.inference.closed_curves import closed_signs
from headway.models.inference.server import fit_server
from headway.models.reading.gather import gather
from headway.models.reading.loadtest import read_load_test
from headway.models.reports.report import server_report
from headway.models.reports.words import data_table, form_tables, point_table
from headway.models.signatures.sfs import Range
from tests.command import headway, refusal
from tests.tool_files import TOOLS

HOW_TO = Path(__file__).parent.parent / "docs/how-to/from-a-load-test-to-a-model.md"


@cache
def sweep(tool):
    return measured(Path(f"load_tests/{tool}"))


@cache
def fitted(tool, to=np.inf):
    return fit_server(sweep(tool), within=Range(high=to))


@pytest.mark.parametrize(
    ("tool", "loop", "loads"),
    [
        ("wrk", "closed", [1, 2, 3, 4, 4, 6, 8, 12, 16]),
        ("fio", "closed", [1, 2, 4, 6, 8, 8, 12, 16, 24, 32]),
        ("k6", "open", [40, 80, 110, 110, 140, 160, 175, 230]),
    ],
)
def test_each_sweep_is_read_in_the_order_of_its_load(tool, loop, loads):
    """k6 divides by the time until its last answer: up to 6 % less than the rate that was set."""
    points = read_load_test([f"load_tests/{tool}"]).points
    assert {point.loop.value for point in points} == {loop}
    assert {point.tool for point in points} == {tool}
    assert [point.load for point in points] == pytest.approx(loads, rel=0.06 * (tool == "k6"))


def test_what_ships_is_found_by_name_and_called_by_it():
    names = [name for name, _ in gather(["load_tests/fio"])]
    assert names[0] == "load_tests/fio/depth-01.json"
    assert [name for name, _ in gather(["load_tests/fio/depth-0*.json"])] == names[:6]
    file = json.loads(headway("read", "load_tests/wrk", "--json").out)["points"][0]["file"]
    assert file == "load_tests/wrk/connections-01.txt"


def test_a_file_of_the_users_comes_before_one_that_ships(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "load_tests").mkdir()
    (tmp_path / "load_tests" / "wrk").write_text("throughput_ops_s,response_ms\n100,3.5\n")
    assert [name for name, _ in gather(["load_tests/wrk"])] == ["load_tests/wrk"]


def test_the_four_processes_behind_wrk_are_found():
    """Each took 18 ms and what else a request costs; 4 of them shared one queue."""
    found = fitted("wrk")
    assert found.form.model == "server-pool"
    assert found.best.values["servers"] == 4
    assert found.best.model.inputs["think_time"] == 0
    assert 0.018 < found.best.values["service_time"] < 0.021


def test_the_array_behind_fio_is_found_to_have_queues_of_its_own():
    found = fitted("fio")
    assert found.form.model == "server-closed"
    assert found.best.model.inputs["think_time"] == 0
    assert found.best.values["servers"] in (3, 4)


def test_loads_that_were_held_out_are_predicted_as_well_as_the_guide_says():
    """wrk's error stands in a block that tests/test_documents.py runs, fio's is taken here."""
    model = fitted("fio", to=16).best.model
    beyond = compare(model, sweep("fio"), within=Range(low=17)).summary["rms_relative_error"]
    text = " ".join(HOW_TO.read_text().split())
    assert f"response times at 24 and 32 are predicted {beyond:.1%} off" in text
    assert beyond < 0.05
    said = re.search(r"8, 12 and 16 connections are predicted (\S+) off", text)[1]
    printed = re.search(r"--from 7\n.*?RMS relative error\s+(\S+)", HOW_TO.read_text(), re.DOTALL)
    assert said == printed[1]


def test_points_that_fell_behind_their_offered_rate_are_named():
    """By the title that points of load tests have."""
    text = "offered_rate_ops_s,throughput_ops_s,response_s\n100,100,1\n200,180,2\n300,181,3\n"
    (sign,) = closed_signs(Measurements.parse(text, "own.csv"))
    assert sign.startswith("2 points fell behind their requested load")


def test_an_open_curve_that_ends_early_tells_its_end_as_badly_as_the_guide_says():
    limit = next(t for t in fitted("k6", to=180).told
                 if t.name == "saturation throughput")  # fmt: skip
    seen = read_load_test(["load_tests/wrk"]).points[-1].throughput
    text = " ".join(HOW_TO.read_text().split())
    assert f"is {1 - limit.value / seen:.0%} below the {seen:.0f} requests/s" in text
    assert not limit.determined
    assert limit.low < seen


def test_a_report_on_a_family_says_what_was_chosen_from_what_and_where_the_data_are_from():
    report = server_report(fitted("wrk"))
    tried, told = form_tables(report)
    assert tried.columns[0].cells[0] == "server-pool"
    assert "saturation throughput" in told.columns[0].cells
    about = dict(zip(*(column.cells for column in data_table(report).columns), strict=True))
    assert about["kind"] == "wrk"
    assert about["file"] == "connections-01.txt and 8 more"
    assert about["source"].startswith("run for headway")


def test_a_report_shows_digits_that_were_measured():
    """wrk printed 21.08 ms; in seconds that is 0.02108, and no further digits."""
    measured_cells = point_table(server_report(fitted("wrk"))).columns[1].cells
    assert measured_cells[0] == "0.02108"
    fio = point_table(server_report(fitted("fio"))).columns[1].cells
    assert fio[-1] == "0.0349417"


def test_rounding_in_the_computer_does_not_show_in_a_table_of_points():
    table = sweep("wrk")
    assert table.column("response_s").resolution[0] == pytest.approx(5e-6)
    assert np.array_equal(table.column("population").resolution, np.full(9, 0.5))


def test_a_report_on_a_family_is_one_command(tmp_path, monkeypatch):
    """The guide's own commands run for the three tools in tests/test_documents.py."""
    monkeypatch.chdir(tmp_path)
    result = headway("report", "server", "--data", "load_tests/wrk", "--out", "shop.html")
    assert result.code == 0, result
    assert "Forms that were tried" in (tmp_path / "shop.html").read_text()


def test_a_report_on_a_model_of_a_family_with_values_of_its_own_takes_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = Measurements.read(data_path("network_sensitivity/table_a_5_raid_performance.csv"))
    result = headway("report", "server", "--data", table.source, "--set", "service_time=0.1ms",
                     "--out", "own.html")  # fmt: skip
    assert result.code == 0, result
    assert "Forms that were tried" not in (tmp_path / "own.html").read_text()


def test_percentiles_are_refused_with_what_to_do():
    said = refusal("fit", "server", "--data", "load_tests/wrk", "--y", "p99")
    assert said.endswith("take the column of the mean, or of the throughput")


@pytest.mark.parametrize("command", ["read", "audit"])
def test_a_load_test_is_drawn(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = headway(command, "load_tests/wrk", "--plot", "shop.svg")

    assert (result.code, result.err) == (0, "wrote shop.svg\n")
    drawn = (tmp_path / "shop.svg").read_text()
    assert "throughput [op/s]" in drawn
    axes, *_ = read_load_test(["load_tests/wrk"]).plot().axes
    told = {line.get_label(): line.get_ydata() for line in axes.lines}
    assert set(told) == {"p50", "p99", "mean"}
    assert [len(values) for values in told.values()] == [9, 9, 9]
    assert axes.get_ylabel() == "response time [ms]"


def test_what_is_read_can_be_written_and_drawn_at_once(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = headway("read", "load_tests/fio", "--out", "array.csv", "--plot", "array.png")

    assert (result.code, result.err) == (0, "wrote array.csv\nwrote array.png\n")
    assert (tmp_path / "array.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("command", [read, audit])
def test_long_files_move_a_bar(command, monkeypatch):
    log = TOOLS / "k6" / "points.ndjson"
    bars, steps = [], []

    @contextlib.contextmanager
    def telling(what, length):
        bars.append((what, length))
        yield lambda: steps.append(what)

    monkeypatch.setattr("headway.models.reading.gather.LARGEST_FILE", 2000)
    monkeypatch.setattr("headway.models.reading.long._STEP", 1000)
    monkeypatch.setattr(command, "progress", telling)
    command.command.main([str(log)], standalone_mode=False)

    assert bars == [("reading", log.stat().st_size // 1000)]
    assert len(steps) == bars[0][1]
