"""Sliders without a closed form: a table of solved points, with its error between them."""

import re
from functools import cache

import numpy as np
import pytest

from headway.errors import GraphError
from headway.models import ModelGraph, catalogue_model, parse_model
from headway.models.reports import solved
from headway.models.reports.alone import report_model
from headway.models.reports.between.grids import Along, SolvedGrid
from headway.models.reports.between.limits import full_loads
from headway.models.reports.between.refined import refined
from headway.models.reports.panel import NoPanel, Panel, panel
from headway.models.reports.solved import solved_points
from headway.models.reports.words import load_table
from headway.queueing import MM1, Batch, Delay
from tests.models.reports.test_panel import page  # noqa: F401 - a fixture
from tests.support.cases import mostly_slow
from tests.support.report_pages import parsed


def shop(population=12):
    graph = ModelGraph("shop").declare("cpu_time", "disk_time").station("cpu", MM1("cpu_time"))
    graph = graph.station("disk", MM1("disk_time")).station("wire", Delay(2e-3))
    graph = graph.route("wire", "cpu").route("cpu", "disk", 0.4).route("cpu", "wire", 0.0)
    return graph.at(cpu_time=0.005, disk_time=0.008).closed(population, think_time=0.05)


def random_values(controls, rounds=40):
    """Values over the whole of each slider, whole where they have to be."""
    random = np.random.default_rng(3)
    drawn = {c.parameter.name: random.uniform(c.low, c.high, rounds) for c in controls}
    return {c.parameter.name: np.round(v) if c.is_whole else v
            for c, v in zip(controls, drawn.values(), strict=True)}  # fmt: skip


@cache
def reported(name):
    """A report of a model, made once for all tests, as are its sliders, points and page."""
    return report_model(model_of(name))


@cache
def sliders(name):
    return panel(reported(name))


@cache
def points_of(name):
    return solved_points(reported(name).ground, reported(name).sensitivity)


@cache
def page_of(name):
    return reported(name).to_html()


def test_the_note_states_the_error_that_was_measured():
    made, points = sliders("shop"), points_of("shop")

    assert isinstance(made, Panel)
    assert [c.parameter.name for c in made.controls] == ["population", *list(points.grid.axes)[1:]]
    stated = float(re.search(r"at most ([\d.]+)% off", made.note)[1]) / 100
    assert stated == pytest.approx(points.error, abs=0.0005)
    assert 0 < points.error <= 0.02
    assert f"{points.values[0].size:,} solved points" in made.note


def test_the_points_are_solutions_and_the_own_values_are_among_them():
    points = points_of("shop")
    axes = points.grid.axes
    places = [5, *(len(axis) // 3 for axis in list(axes.values())[1:])]

    at = {n: float(axis[k]) for (n, axis), k in zip(axes.items(), places, strict=True)}
    solution = shop().at(at).solve()
    expected = [solution.response_time, *(solution[f"{n}.utilisation"] for n in solution.stations)]
    value = points.values[(slice(None), *places)]
    # one point by itself and among thousands: the same recursion, other orders of sums
    np.testing.assert_allclose(value, [*expected, solution.throughput], rtol=1e-9)
    for name, axis in axes.items():
        assert shop().inputs[name] in axis


def site():
    """Two open classes; the load is the rate of the first, whose limit the second's work lowers."""
    graph = ModelGraph("site").declare("web_rate", "cpu_time").station("cpu", MM1("cpu_time"))
    graph = graph.station("wire", Delay(2e-3)).route("cpu", "wire")
    graph = graph.job_class("web", "web_rate").job_class("batch", 20.0)
    return graph.at(web_rate=50.0, cpu_time=0.005)


def desk():
    """Two closed classes; the load is the population of the first."""
    graph = ModelGraph("desk").declare("web_jobs", "cpu_time").station("cpu", MM1("cpu_time"))
    graph = graph.station("disk", MM1(4e-3)).route("cpu", "disk", 0.5)
    graph = graph.job_class("web", population="web_jobs", think_time=0.1)
    return graph.job_class("batch", population=5, think_time=0.02).at(web_jobs=10, cpu_time=3e-3)


MODELS = {"shop": shop, "site": site, "desk": desk}
OTHERS = ("server-usl", "server-slowing", "server-batch-room", "lopc", "nfs-server-raid5")
NAMES = mostly_slow([*MODELS, *OTHERS], 2)


def model_of(name):
    if name in MODELS:
        return MODELS[name]()
    model = catalogue_model(name)
    return model.with_preset(next(iter(model.presets))) if model.presets else model


def inside(model, load, values):
    """Values that the model sustains, with the load at most so near to saturation as a table."""
    if not model.is_closed and model.graph.stations and load != "web_jobs":
        full = full_loads(model, load, {n: v for n, v in values.items() if n != load})
        if full.shape[0]:
            return values | {load: np.minimum(values[load], 0.95 * full.min(axis=0))}
    return values


@pytest.mark.parametrize("name", NAMES)
def test_the_browser_reads_between_them(name, page, tmp_path):  # noqa: F811
    report, made, points = reported(name), sliders(name), points_of(name)
    error = points.error
    (tmp_path / "x.html").write_text(page_of(name))
    page.goto((tmp_path / "x.html").as_uri())
    point = report.sensitivity.model
    values = inside(point, report.load, random_values(made.controls))
    own = {c.parameter.name: c.value for c in made.controls}

    every = zip(*values.values(), strict=True)
    rows = [dict(zip(values, map(float, row), strict=True)) for row in every]
    value = page.evaluate("rows => rows.map(row => window.headway.evaluate(row))", rows)
    start = page.evaluate("window.headway.evaluate()")

    assert error <= 0.02
    assert f"at most {max(error, 0.0005):.1%} off" in made.note
    solution = point.at(values).solve()
    # stated is the error in the middle of cells; elsewhere it may be a little larger
    output = np.asarray(solution[report.output])
    np.testing.assert_allclose([one["output"] for one in value], output, rtol=2 * error)
    exact = point.at(own).solve()
    is_node = made.document["throughput"]  # jobs of the model itself are an axis's own
    share = 1e-5 if is_node else 2 * error  # the table has six digits of logarithms
    assert start["output"] == pytest.approx(float(exact[report.output]), rel=share)
    for station in exact.stations:
        busy = float(np.ravel(exact[f"{station}.utilisation"])[0])
        assert start["utilisation"][station] == pytest.approx(
            busy, rel=0, abs=2 * points.lost + 1e-4
        )
    if is_node:
        assert start["throughput"] == pytest.approx(float(exact.throughput), rel=1e-4)


@pytest.mark.slow
def test_an_open_table_says_where_the_model_saturates(page, tmp_path):  # noqa: F811
    (tmp_path / "x.html").write_text(page_of("site"))
    page.goto((tmp_path / "x.html").as_uri())

    def at(**values):
        return page.evaluate("values => window.headway.evaluate(values)", values)

    # of a CPU with 5 ms a job, batch takes 20 * 5 ms = 10%; web may have the other 90%
    assert at()["saturation_throughput"] == pytest.approx(180, rel=1e-6)
    # between the table's values of cpu_time: (1 - 20 s) / s
    assert at(cpu_time=0.0081)["saturation_throughput"] == pytest.approx(0.838 / 0.0081, rel=1e-3)
    assert at(web_rate=181)["output"] is None or not np.isfinite(at(web_rate=181)["output"])
    # of several classes the table knows the load, not the throughput of all
    assert page.locator("#panel-out-saturation").inner_text() == "web rate 180"
    said = page.locator("#panel-out-output")
    page.locator("input[type=number]").first.fill("181")
    assert said.inner_text() == "beyond saturation"
    page.locator("input[type=number]").first.fill("178")  # 98.9% of it
    assert said.inner_text() == "beyond the table"


@pytest.mark.slow
def test_a_batch_that_is_always_busy_is_not_beyond_saturation(page, tmp_path):  # noqa: F811
    """With n requests a batch serves n / (1 + 0.01 n) a second: 50/s are sustained by 100 of them.

    Some are there at any time but once in e^50, so the station is busy to the last bit.
    """
    batch = Batch("batch_time", request_time=0.01, largest_batch=200)
    graph = ModelGraph("batch").declare("batch_time").station("gpu", batch)
    report = report_model(graph.at(batch_time=1.0, arrival_rate=50))
    (tmp_path / "x.html").write_text(report.to_html())
    page.goto((tmp_path / "x.html").as_uri())

    assert page.locator("#panel-out-bottleneck").inner_text() == "gpu, 100% busy"
    assert page.locator("#panel-out-output").inner_text().startswith("2.0")
    assert page.locator("#panel-out-saturation").inner_text().startswith("66.6")


def test_a_load_alone_has_a_curve_but_no_sliders(monkeypatch):
    monkeypatch.setattr(solved, "_important", lambda *_: [])

    made = panel(report_model(shop()))

    assert isinstance(made, NoPanel)
    assert "no parameter besides the load changes its answers" in made.reason


def test_a_network_that_blocks_is_refused_with_the_reason():
    graph = ModelGraph("pool").declare("s").station("cpu", MM1("s")).station("disk", MM1(2e-3))
    graph = graph.route("cpu", "disk").region("threads", ["cpu", "disk"], limit=3)

    made = panel(report_model(graph.at(s=1e-3, arrival_rate=100.0)))

    assert isinstance(made, NoPanel)
    assert "the network blocks, so a table of solved points would take too long" in made.reason


@pytest.mark.slow
def test_nothing_is_said_beyond_the_table(page, tmp_path):  # noqa: F811
    (tmp_path / "x.html").write_text(page_of("shop"))
    page.goto((tmp_path / "x.html").as_uri())

    beyond = page.evaluate("Number.isFinite(window.headway.evaluate({cpu_time: 10}).output)")
    assert beyond is False
    number = page.locator("input[type=number]").nth(1)
    number.fill("1000000")
    number.blur()
    control = sliders("shop").controls[1]
    assert float(number.input_value()) == pytest.approx(control.high / control.unit.scale, rel=1e-5)


def test_a_table_that_is_too_far_off_is_refused_with_its_error(monkeypatch):
    monkeypatch.setattr(solved, "LARGEST_ERROR", 1e-9)
    made = panel(report_model(shop()))

    assert isinstance(made, NoPanel)
    assert re.search(r"its answers between solved points would be up to \d+% off", made.reason)
    assert made.reason in parsed(report_model(shop()).to_html()).text


def test_percentiles_have_sliders_or_say_why_not():
    made = panel(report_model(shop(4), "response_time_p95"))

    if isinstance(made, Panel):
        assert len(made.controls) == 2
        assert float(re.search(r"at most ([\d.]+)% off", made.note)[1]) <= 2
    else:
        assert "its answers between solved points would be up to" in made.reason


@pytest.mark.parametrize("names", [("cpu_time",), ("cpu_time", "disk_time")])
def test_loads_are_dense_where_the_output_bends(names):
    """The errors that are stated are those that the table has, read by another interpolator."""
    others = {name: shop().inputs[name] * np.geomspace(0.5, 2.0, 7) for name in names}
    loads = np.array([1.0, 4.0, 100.0, 400.0])
    start = SolvedGrid(shop(), "response_time", Along.JOBS, {"population": loads} | others,
                       np.empty((0, *[7] * len(names))))  # fmt: skip
    table = refined(start, 0.005, most=40)
    found = table.grid.axes["population"]

    assert table.grid.errors(table.values) == pytest.approx((table.error, table.lost), rel=1e-9)
    np.testing.assert_allclose(table.values, table.grid.solved(), rtol=1e-9)
    assert set(loads) < set(found)
    assert table.error < start.errors(start.solved())[0] / 3
    # it bends where 0.05 s of thinking and 13 ms of work meet 10 ms at the disk, not far above
    assert np.mean(found < 50) > 0.7
    assert len(refined(start, 0.0, most=9).grid.axes["population"]) == 9


LAYERS = """
name = "desk"
[parameters.rate]
value = "2 /s"
[parameters.work]
value = "0.1 s"
[processors.cpu]
[processors.disks]
servers = 2
[tasks.front]
processor = "cpu"
[tasks.front.entries.page]
arrival_rate = "rate"
demand = "work"
calls = { read = 2.0 }
[tasks.store]
processor = "disks"
threads = 1
[tasks.store.entries.read]
demand = "0.06 s"
"""


def test_layers_are_full_where_a_processor_is_or_a_pool():
    """A processor by what is done there; a lone thread while it works and waits for the other."""
    model = parse_model(LAYERS).at()
    work = np.array([0.05, 0.1, 0.2])
    full = full_loads(model, "rate", {"work": work})
    wanted = [1 / work, np.full(3, 2 / 0.12), 1 / (work + 0.12), np.full(3, 1 / 0.12)]
    assert np.allclose(full, wanted, rtol=1e-6)
    report = report_model(model)
    points = solved_points(report.ground, report.sensitivity)
    assert points.grid.along is Along.SHARE
    assert points.error < 0.02


def layered(monkeypatch, text, longest=np.inf):
    """A page of layers that have no answer at loads above `longest`, and the calls."""
    report = report_model(parse_model(text).at())
    kind, asked = type(report.model), []
    solve = kind.solve

    def limited(model):
        loads = np.ravel(model.inputs[report.load])
        asked.append(loads.size)
        if (loads > longest).any():
            raise GraphError("its layers have not settled")
        return solve(model)

    monkeypatch.setattr(kind, "solve", limited)
    return report, asked


def test_a_curve_of_layers_is_smooth_and_asked_for_at_once(monkeypatch):
    report, asked = layered(monkeypatch, LAYERS)
    times = np.asarray(report.curve.response_time)
    assert [loads for loads in asked if loads > 1] == [report.loads.size]
    steps = np.diff(times[np.isfinite(times)])
    assert steps.size > 30
    assert (steps > 0).all()


def test_a_curve_of_layers_leaves_out_loads_without_an_answer(monkeypatch):
    report, asked = layered(monkeypatch, LAYERS, longest=3.0)
    assert 2.3 < report.loads.max() <= 3.0
    assert len(asked) < 30


def test_a_curve_of_layers_ends_where_a_pool_is_nearly_full(monkeypatch):
    """A thread that works for 0.1 s and waits for 0.12 s is full at 1 / 0.22 s; 2/s are its own."""
    report, asked = layered(monkeypatch, LAYERS)
    assert report.loads.max() == pytest.approx(0.95 / 0.22, rel=5e-3)  # of three digits
    done = len(asked)
    rows = load_table(report)
    assert len(asked) == done, "the table takes its rows from the curve"
    loads = rows.columns[0].cells
    assert 8 <= len(loads) <= 11
    assert all(load == float(f"{load:.3g}") for load in loads)


def test_a_curve_of_layers_without_any_answer_says_why(monkeypatch):
    report, _ = layered(monkeypatch, LAYERS, longest=0.0)
    with pytest.raises(GraphError, match="have not settled"):
        _ = report.curve


CLIENTS = """
name = "crowd"
[processors.cpu]
[tasks.users]
population = 40
think_time = "1 s"
[tasks.users.entries.ask]
calls = { page = 1.0 }
[tasks.front]
processor = "cpu"
threads = 5
[tasks.front.entries.page]
demand = "0.02 s"
"""


def test_clients_on_a_layered_curve_are_more_than_in_its_table():
    """From one to four times the model's own, as of other closed models, and that itself."""
    report = report_model(parse_model(CLIENTS).at())
    assert 50 < report.loads.size < 62
    assert {1, 40, 160} <= set(report.loads)
    points = solved_points(report.ground, report.sensitivity)
    loads = points.grid.axes[report.load]
    assert {1, 40, 160} <= set(loads)
    assert loads.size < 41
