"""Pictures by their structure: labels, series, limits."""

import re

import numpy as np
import pytest
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from headway.errors import GraphError, InvalidParameter
from headway.models import (
    Measurements,
    ModelGraph,
    SlowdownPanel,
    catalogue_model,
    data_path,
    slowdown_figure,
)
from headway.models.language.scales import units_of
from headway.models.plotting.charts import measured_chart
from headway.models.plotting.figures import picture
from headway.models.plotting.graphs.figure import model_figure
from headway.queueing import MM1
from tests.support.figures import RAID, figure, raid


def legend(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def test_comparison():
    upper, lower = figure("comparison").axes

    assert upper.get_ylabel() == "response time [ms]"
    assert lower.get_xlabel() == "throughput [op/s]"
    assert lower.get_ylabel() == "error [%]"
    assert legend(upper)[:3] == ["model", "model saturates", "measured"]
    dots = next(line for line in upper.lines if line.get_label() == "measured")
    np.testing.assert_allclose(dots.get_ydata(), RAID.column("response").values * 1e3)
    # The plot is not squashed by the model's run-away: its top is near the highest point.
    assert 30.8 < upper.get_ylim()[1] < 60


def test_sweep():
    top, middle, lower = figure("open sweep").axes

    assert top.get_ylabel() == "throughput [op/s]"
    assert middle.get_ylabel() == "response time [ms]"
    assert lower.get_ylabel() == "utilisation [%]"
    assert lower.get_xlabel() == "arrival rate [op/s]"
    assert legend(top) == legend(middle) == ["model", "saturation"]
    assert legend(lower) == ["cpu", "disks", "saturation"]
    assert np.isnan(middle.lines[0].get_ydata()[-1])
    np.testing.assert_allclose(middle.lines[1].get_xdata(), 1 / 650e-6)
    np.testing.assert_allclose(top.lines[1].get_ydata(), 1 / 650e-6)


def test_sweep_below_saturation_has_no_throughput_to_show():
    upper, lower = raid().solve(np.linspace(100, 1000, 4)).plot().axes

    assert upper.get_ylabel() == "response time [ms]"
    assert legend(lower) == ["cpu", "disks"]


def test_closed_sweep_shows_throughput_too():
    panels = figure("closed sweep").axes

    assert [axes.get_ylabel() for axes in panels] == [
        "throughput [op/s]",
        "response time [ms]",
        "utilisation [%]",
    ]
    assert panels[-1].get_xlabel() == "clients"
    assert legend(panels[0]) == ["model", "saturation"]


def test_percentiles_share_a_panel_with_the_mean():
    line = ModelGraph("line").station("cpu", MM1(1e-3)).at()
    rates = np.array([100.0, 500.0, 900.0, 1100.0])
    solution = line.solve(rates).with_percentile(50).with_percentile(99.9)

    _, times, lower = solution.plot().axes

    assert times.get_ylabel() == "response time [ms]"
    assert legend(times) == ["mean", "p50", "p99.9", "saturation"]
    mean = 1 / (1 - rates[:3] / 1000)  # ms
    for series, factor in zip(times.lines, (1, np.log(2), np.log(1000)), strict=False):
        own = series.get_ydata()[series.get_markevery()]
        np.testing.assert_allclose(own[:3], factor * mean, rtol=1e-9)
        assert np.isnan(own[3])
    assert len({series.get_linestyle() for series in times.lines[:3]}) == 3
    assert lower.get_ylabel() == "utilisation [%]"


def test_bands_of_percentiles_stand_about_their_own_lines():
    line = ModelGraph("line").declare("s").station("cpu", MM1("s")).at(s=1e-3)
    line = line.uncertain({"s": (0.9e-3, 1.1e-3)})
    rates = np.array([100.0, 500.0])

    bands = line.at(arrival_rate=rates).propagate(draws=200, percentiles=(99,))

    times = bands.plot().axes[0]
    assert legend(times)[:2] == ["mean", "p99"]
    for band, series in zip(times.collections, times.lines, strict=False):
        ends = band.get_paths()[0].vertices[:, 1]
        assert ends.min() < series.get_ydata()[0] < series.get_ydata()[1] < ends.max()
    assert len({tuple(band.get_facecolor()[0]) for band in times.collections}) == 2


def test_percentiles_of_several_sweeps_have_a_panel_each():
    rates, times = (grid.ravel() for grid in np.meshgrid([100.0, 600.0], [1e-3, 0.5e-3]))
    line = ModelGraph("line").declare("s").station("cpu", MM1("s")).at(s=times)

    panels = line.solve(rates).with_percentile(95).plot().axes

    assert [axes.get_ylabel() for axes in panels][-3:] == [
        "response time [ms]",
        "response time p95 [ms]",
        "utilisation, busiest [%]",
    ]


def test_a_class_network_has_a_line_for_each_class():
    shop = ModelGraph("shop").declare("rate").station("web", MM1(4e-3))
    shop = shop.job_class("browse", arrival_rate="rate").job_class("buy", arrival_rate=3.0)
    rates = np.array([5.0, 50.0, 120.0])

    rate, times, _ = shop.at(rate=rates).solve().plot().axes

    assert (rate.get_ylabel(), times.get_ylabel()) == (
        "throughput [requests/s]",
        "response time [ms]",
    )
    assert legend(rate) == legend(times) == ["browse", "buy"]
    own = [line.get_ydata()[line.get_markevery()] for line in rate.lines]
    np.testing.assert_allclose(own, [rates, [3, 3, 3]], rtol=1e-9)
    expected = 4 / (1 - 4e-3 * (rates + 3))  # ms, M/M/1
    for line in times.lines:
        np.testing.assert_allclose(line.get_ydata()[line.get_markevery()], expected, rtol=1e-9)


def test_sweep_of_two():
    *panels, lower = figure("sweep of two").axes

    for axes in panels:
        assert len(axes.lines) == 2
    assert legend(panels[0]) == ["disks = 8", "disks = 28"]
    assert lower.get_ylabel() == "utilisation, busiest [%]"
    assert len(lower.lines) == 3


def arrows_of(axes):
    return [patch for patch in axes.patches if isinstance(patch, FancyArrowPatch)]


def boxes_of(axes):
    return [patch for patch in axes.patches if isinstance(patch, FancyBboxPatch)]


def words(axes):
    return "\n".join(text.get_text() for text in axes.texts)


def test_model_graph():
    (axes,) = figure("graph").axes

    drawn = words(axes)
    assert "cpu\nMM1\nbusy 99%" in drawn
    assert "miss =" in drawn
    arrows = arrows_of(axes)
    solid = [arrow for arrow in arrows if arrow.get_linestyle() == "-"]
    # Arrivals, two routes, and a formula from the miss ratio to where it sends jobs.
    assert (len(solid), len(arrows)) == (3, 4)


def test_a_saturated_station_is_marked_and_loops_are_drawn():
    graph = ModelGraph("g").station("cpu", MM1(0.1)).station("disk", MM1(0.01))
    graph = graph.route("cpu", "disk", 0.5).route("disk", "cpu")

    (axes,) = graph.at().closed(200).plot().axes

    assert "cpu\nMM1\nalways busy" in words(axes)
    # To and fro, and between the terminals and the processor.
    assert [type(arrow.get_arrowstyle()).__name__ for arrow in arrows_of(axes)] == [
        "CurveFilledAB",
        "CurveFilledB",
        "CurveFilledB",
    ]
    full, free = boxes_of(axes)
    assert full.get_linewidth() > free.get_linewidth()
    assert full.get_facecolor() != free.get_facecolor()
    assert legend(axes) == ["route", "always busy"]


def test_jobs_that_circulate_do_not_arrive():
    graph = ModelGraph("g").station("cpu", MM1(0.1))

    (opened,), (closed,) = graph.at().plot().axes, graph.at().closed(2).plot().axes
    (unsolved,) = graph.at().closed(np.array([1, 2])).plot().axes

    assert "arrivals" in words(opened)
    for axes in (closed, unsolved):
        assert "arrivals" not in words(axes)
        assert "population" in words(axes)
    shown = str(graph.at().closed(2))
    assert "(arrivals)" not in shown
    assert "go back to the clients" in shown


def test_a_station_that_jobs_return_to():
    graph = ModelGraph("g").station("cpu", MM1(0.1)).route("cpu", "cpu", 0.6)

    (axes,) = graph.at().plot().axes

    assert "returns: 0.6" in words(axes)


def test_a_program_has_no_graph_but_formulas():
    model = ModelGraph("p").declare("a").output("run_time", "2 * a").at(a=1.0)

    _, text = model.plot().texts  # below the title

    assert text.get_text() == r"$\mathrm{run\_time} = 2 \cdot \mathrm{a}$"
    with pytest.raises(GraphError, match="no stations to draw"):
        model_figure(model)


def test_signature():
    (axes,) = figure("sfs signature").axes

    assert axes.get_xlabel() == "throughput [op/s]"
    assert "ms per 1,000 op/s" in legend(axes)[1]


def test_a_single_point_is_no_plot():
    with pytest.raises(InvalidParameter, match="needs a swept input"):
        raid().solve(100.0).plot()


def test_the_same_figure_gives_the_same_bytes():
    comparison = raid().compare(RAID)

    assert picture(comparison.plot(), "svg") == picture(comparison.plot(), "svg")


def test_the_docs_show_the_picture_the_command_makes(tmp_path, request):
    comparison = raid().compare(RAID, low=490, high=1410)
    shown = request.config.rootpath / "docs" / "pictures" / "raid.svg"

    fresh = picture(comparison.plot(), "svg").decode()

    # Not pixels: fonts differ between machines, the drawn words do not.
    words = re.findall(r"<!-- (.+) -->", fresh)
    assert "response time [ms]" in words
    assert words == re.findall(r"<!-- (.+) -->", shown.read_text())


def test_the_tutorial_shows_what_the_demonstration_fits(request):
    data = Measurements.read(data_path("network_sensitivity/table_a_1_scsi_performance.csv"))
    published = catalogue_model("nfs-server").with_preset("scsi")
    fit = published.fit(data, ["delay", "cpu_time", "disk_time", "touched_per_load"])
    figure = fit.plot()

    assert "preset scsi, not fitted" in legend(figure.axes[0])
    drawn = next(
        line for line in figure.axes[0].lines if line.get_label() == "preset scsi, not fitted"
    )
    x, y = np.asarray(drawn.get_xdata()), np.asarray(drawn.get_ydata())
    there = np.isfinite(y)
    expected = published.solve(x[there]).response_time * 1e3
    np.testing.assert_allclose(y[there], expected, rtol=1e-12)
    words = re.findall(r"<!-- (.+) -->", picture(figure, "svg").decode())
    shown = request.config.rootpath / "docs" / "pictures" / "fitted.svg"
    assert words == re.findall(r"<!-- (.+) -->", shown.read_text())
    tutorial = (request.config.rootpath / "docs" / "tutorial.md").read_text()
    worst = [np.abs(c.relative_error).max() for c in (published.compare(data), fit.comparison)]
    words = " ".join(tutorial.split())
    told = "up to {:.0%} off; the solid line is the same model fitted to the curve, {:.1%} off."
    assert told.format(*worst) in words


def test_slowdowns_of_several_programs():
    levels = np.array([100.0, 0.0, 50.0])
    panels = [
        SlowdownPanel(name, levels, np.array([3.0, 1.0, np.nan]), {"law": 1 + levels / 40})
        for name in ("radix", "sample", "barnes")
    ]

    figure = slowdown_figure(panels, "added overhead [us]", columns=2)

    assert [axes.get_title() for axes in figure.axes] == ["radix", "sample", "barnes"]
    dots, line = figure.axes[0].lines
    assert dots.get_xdata().tolist() == [0.0, 50.0, 100.0]
    assert line.get_ydata().tolist() == [1.0, 2.25, 3.5]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["measured", "law"]
    with pytest.raises(InvalidParameter, match="differ"):
        SlowdownPanel("one", levels, levels[:2], {})
    with pytest.raises(InvalidParameter, match="at least one"):
        slowdown_figure([], "x")


def test_the_curve_of_a_fitted_percentile_is_that_percentile():
    """Of M/M/1 with 2 ms besides, p99 = 2 ms + ln(100) * 1 ms / (1 - X / 1000)."""
    points = {x: 2 + np.log(100) / (1 - x / 1000) for x in (100, 300, 500, 700, 800)}
    text = "\n".join(["throughput_ops_s,p99_ms", *(f"{x},{y:.6f}" for x, y in points.items())])
    model = catalogue_model("server-single").at(delay="1 ms", service_time="0.9 ms")
    fit = model.fit(Measurements.parse(text, "tail.csv"), ["delay", "service_time"], y="p99_ms")

    axes = measured_chart(fit, units_of(fit)).axes[0]

    (line,) = (each for each in axes.get_lines() if each.get_label() == "fit")
    drawn = np.interp(list(points), line.get_xdata(), line.get_ydata())
    # between the points of the line, which bends; the mean would be a third of it
    np.testing.assert_allclose(drawn, list(points.values()), rtol=0.02)
