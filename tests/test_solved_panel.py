"""Sliders of closed networks: a table of solved points, with its error between them."""

import re

import numpy as np
import pytest

from headway.models import ModelGraph, catalogue_model
from headway.models.reports import solved
from headway.models.reports.alone import report_model
from headway.models.reports.panel import NoPanel, Panel, panel
from headway.models.reports.solved import solved_points
from headway.queueing import MM1, Delay
from tests.report_pages import parsed
from tests.test_panel import page  # noqa: F401 - a fixture


def shop(population=12):
    graph = ModelGraph("shop").declare("cpu_time", "disk_time").station("cpu", MM1("cpu_time"))
    graph = graph.station("disk", MM1("disk_time")).station("wire", Delay(2e-3))
    graph = graph.route("wire", "cpu").route("cpu", "disk", 0.4)
    return graph.at(cpu_time=0.005, disk_time=0.008).closed(population, think_time=0.05)


def random_values(controls, rounds=40):
    """Values over the whole of each slider, whole where they have to be."""
    random = np.random.default_rng(3)
    drawn = {c.parameter.name: random.uniform(c.low, c.high, rounds) for c in controls}
    return {c.parameter.name: np.round(v) if c.is_whole else v
            for c, v in zip(controls, drawn.values(), strict=True)}  # fmt: skip


def test_the_note_states_the_error_that_was_measured():
    report = report_model(shop())
    made = panel(report)
    points = solved_points(report.ground, report.sensitivity)

    assert isinstance(made, Panel)
    assert [c.parameter.name for c in made.controls] == ["population", *list(points.axes)[1:]]
    stated = float(re.search(r"at most ([\d.]+)% off", made.note)[1]) / 100
    assert stated == pytest.approx(points.error, abs=0.0005)
    assert 0 < points.error <= 0.02
    assert f"{points.values[0].size:,} solved points" in made.note


def test_the_points_are_solutions_and_the_own_values_are_among_them():
    report = report_model(shop())
    points = solved_points(report.ground, report.sensitivity)
    places = [5, *(len(axis) // 3 for axis in list(points.axes.values())[1:])]

    at = {n: float(axis[k]) for (n, axis), k in zip(points.axes.items(), places, strict=True)}
    solution = shop().at(at).solve()
    expected = [solution.response_time, *(solution[f"{n}.utilisation"] for n in solution.stations)]
    value = points.values[(slice(None), *places)]
    # one point by itself and among thousands: the same recursion, other orders of sums
    np.testing.assert_allclose(value, [*expected, solution.throughput], rtol=1e-9)
    for name, axis in points.axes.items():
        assert shop().inputs[name] in axis


@pytest.mark.parametrize("name", ["shop", "server-usl"])
def test_the_browser_reads_between_them(name, page, tmp_path):  # noqa: F811
    model = shop() if name == "shop" else catalogue_model(name)
    report = report_model(model)
    made = panel(report)
    error = solved_points(report.ground, report.sensitivity).error
    (tmp_path / "x.html").write_text(report.to_html())
    page.goto((tmp_path / "x.html").as_uri())
    values = random_values(made.controls)
    own = {c.parameter.name: c.value for c in made.controls}

    every = zip(*values.values(), strict=True)
    rows = [dict(zip(values, map(float, row), strict=True)) for row in every]
    value = page.evaluate("rows => rows.map(row => window.headway.evaluate(row))", rows)
    start = page.evaluate("window.headway.evaluate()")

    solution = report.sensitivity.model.at(values).solve()
    # stated is the error in the middle of cells; elsewhere it may be a little larger
    output = np.asarray(solution[report.output])
    np.testing.assert_allclose([one["output"] for one in value], output, rtol=2 * error)
    exact = report.sensitivity.model.at(own).solve()
    # the table has six digits of logarithms
    assert start["output"] == pytest.approx(float(exact[report.output]), rel=1e-5)
    assert start["throughput"] == pytest.approx(float(exact.throughput), rel=1e-4)
    if name == "shop":
        assert (
            page.locator("#panel-out-saturation").inner_text().split()[0].replace(".", "").isdigit()
        )


def test_nothing_is_said_beyond_the_table(page, tmp_path):  # noqa: F811
    report = report_model(shop())
    (tmp_path / "x.html").write_text(report.to_html())
    page.goto((tmp_path / "x.html").as_uri())

    beyond = page.evaluate("Number.isFinite(window.headway.evaluate({cpu_time: 10}).output)")
    assert beyond is False
    number = page.locator("input[type=number]").nth(1)
    number.fill("1000000")
    number.blur()
    control = panel(report).controls[1]
    assert float(number.input_value()) == pytest.approx(control.high / control.unit.scale, rel=1e-5)


def test_a_table_that_is_too_far_off_is_refused_with_its_error(monkeypatch):
    monkeypatch.setattr(solved, "LARGEST_ERROR", 1e-9)
    made = panel(report_model(shop()))

    assert isinstance(made, NoPanel)
    assert re.search(r"a table of solved points would be up to \d+% off between them", made.reason)
    assert made.reason in parsed(report_model(shop()).to_html()).text


def test_percentiles_have_sliders_or_say_why_not():
    made = panel(report_model(shop(4), "response_time_p95"))

    if isinstance(made, Panel):
        assert len(made.controls) == 2
        assert float(re.search(r"at most ([\d.]+)% off", made.note)[1]) <= 2
    else:
        assert "a table of solved points would be up to" in made.reason
