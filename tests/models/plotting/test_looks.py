"""How figures look: logarithmic axes, ticks, fine curves, and the colours of a dark page."""

import ast
import re

import nbformat
import numpy as np
import pytest
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text

from headway.errors import InvalidParameter
from headway.models import Measurements, ModelGraph, catalogue_model, data_path, message_map
from headway.models.plotting.dense import is_quick
from headway.models.plotting.looks.axes import write_binary_ticks
from headway.models.plotting.looks.finish import finished
from headway.queueing import MM1
from headway.queueing.network.names import Method
from tests.house import nodes_of
from tests.notebooks import FOLDER

RAID = Measurements.read(data_path("network_sensitivity/table_a_5_raid_performance.csv"))


def raid():
    return catalogue_model("nfs-server").with_preset("raid")


def line():
    return ModelGraph("line").declare("s").station("cpu", MM1("s")).at(s=1e-3)


def panel(x, y):
    figure = Figure()
    figure.subplots().plot(x, y, "o-")
    return figure


@pytest.mark.parametrize(
    ("values", "scale"),
    [
        (np.geomspace(1, 1000, 10), "log"),
        (np.geomspace(1, 90, 10), "linear"),  # less than two decades
        (np.arange(1.0, 1000.0), "linear"),  # evenly spread
        (np.append(0.0, np.geomspace(1, 1000, 10)), "linear"),  # zero has no place
        (np.append(-1.0, np.geomspace(1, 1000, 10)), "linear"),
    ],
)
def test_an_axis_is_logarithmic_where_values_span_decades(values, scale):
    places = np.arange(1, len(values) + 1)

    upright, across = finished(panel(places, values)), finished(panel(values, places))

    assert (upright.axes[0].get_xscale(), upright.axes[0].get_yscale()) == ("linear", scale)
    assert (across.axes[0].get_xscale(), across.axes[0].get_yscale()) == (scale, "linear")
    assert finished(panel(places, values), "none").axes[0].get_yscale() == "linear"


def test_axes_are_logarithmic_as_asked():
    solution = raid().solve(np.linspace(200, 1500, 6))

    for log in ("x", "y", "xy"):
        drawn = solution.plot(log=log).axes
        for axes in drawn:
            assert (axes.get_xscale() == "log") == ("x" in log)
        assert (drawn[0].get_yscale() == "log") == ("y" in log)
    upper, errors = raid().compare(RAID).plot(log="y").axes
    assert (upper.get_yscale(), errors.get_yscale()) == ("log", "linear")  # errors are signed
    low, high = upper.get_ylim()
    measured = RAID.column("response").values * 1e3
    assert 0 < low < measured.min() < measured.max() < high


def test_points_at_the_ends_of_a_logarithmic_axis_have_room():
    (axes,) = finished(panel([1, 2, 3], [1.0, 30.0, 1000.0]), "y").axes

    low, high = axes.get_ylim()
    assert low <= 1 / 1.2
    assert high >= 1000 * 1.2


@pytest.mark.parametrize("log", ["x", "y", "xy"])
def test_what_has_no_logarithm_is_refused(log):
    with pytest.raises(InvalidParameter, match="no [xy] axis of this figure can be logarithmic"):
        raid().at(arrival_rate=500).plot(log=log)


def test_another_word_for_axes_is_refused():
    with pytest.raises(InvalidParameter, match="name the logarithmic axes as x, y or xy"):
        raid().solve(np.linspace(200, 1500, 6)).plot(log="z")


def test_curves_are_solved_between_the_points_of_a_sweep():
    rates = np.array([200.0, 500.0, 800.0, 950.0])

    curve = line().solve(rates).plot().axes[0].lines[0]

    x, y = np.asarray(curve.get_xdata()), np.asarray(curve.get_ydata())
    assert x.size > 100
    np.testing.assert_allclose(y, 1 / (1 - x / 1000), rtol=1e-9)  # M/M/1, in ms
    np.testing.assert_array_equal(x[curve.get_markevery()], rates)


def test_counts_stay_whole_between_points():
    curve = raid().solve(population=np.array([1, 10, 40])).plot().axes[0].lines[0]

    np.testing.assert_array_equal(curve.get_xdata(), np.arange(1, 41))
    assert list(curve.get_markevery()) == [0, 9, 39]


def test_costly_sweeps_have_straight_lines():
    populations = np.array([2, 4, 8])
    answer = line().closed(populations).solve().with_percentile(95)  # a chain for each

    curve = answer.plot().axes[1].lines[0]

    np.testing.assert_array_equal(curve.get_xdata(), populations)


def shared(**web):
    graph = ModelGraph("shared").station("cpu", MM1(1e-3)).station("disk", MM1(1e-3))
    graph = graph.route("cpu", "disk", 0.5)
    return graph.job_class("web", **web).job_class("batch", 10.0).at()


@pytest.mark.parametrize(
    ("solution", "quick"),
    [
        (lambda: line().solve(500.0), True),
        (lambda: line().solve(500.0, method="qna"), True),
        (lambda: shared(arrival_rate=10.0).solve(), True),
        (lambda: shared(population=3, think_time=1.0).solve(), False),
        (lambda: line().closed(3).solve(), True),
        (lambda: line().closed(3).solve(method="linearizer"), True),
        (lambda: line().closed(3).solve().with_percentile(95), False),
        (lambda: line().closed(3000).solve(), False),
        (lambda: line().graph.region("threads", ["cpu"], limit=8).at(s=1e-3).solve(9.0), False),
    ],
)
def test_whoever_solves_says_whether_hundreds_of_points_are_quick(solution, quick):
    assert is_quick(solution()) == quick


def test_figures_and_pages_name_no_method():
    """Whether a method is quick stands beside the method; a list elsewhere would go stale."""
    for room in ("plotting", "reports"):
        for path in (FOLDER.parent / "models" / room).rglob("*.py"):
            texts = {n.value for n in nodes_of(path) if isinstance(n, ast.Constant)}
            assert not texts & (set(Method) - {Method.AUTO}), path


def test_a_curve_that_runs_away_leaves_the_points_in_sight():
    top = line().solve(np.array([100.0, 500.0, 1001.0])).plot().axes[1].get_ylim()[1]

    assert 2 < top < 3  # the sweep's own highest is 2 ms; the curve between has no end


def ticks(figure):
    figure.draw_without_rendering()
    return [text.get_text() for axes in figure.axes for text in axes.get_xticklabels()]


def test_ticks_are_written_in_full():
    large = ticks(finished(panel([2e6, 3e6, 4e6], [1, 2, 3]), "none"))
    near = ticks(finished(panel([100000.1, 100000.2], [1, 2]), "none"))
    small = ticks(finished(panel([0, 2000], [1, 2]), "none"))

    assert "2,000,000" in large
    assert len(large) <= 7  # long ones need room
    assert "100,000.12" in near
    assert "2000" in small
    assert "1,000,000" in ticks(finished(panel([1, 1e6], [1, 2]), "x"))


def test_sizes_are_written_as_binary_multiples():
    long, short = panel([2.0, 2.0**21], [1, 2]), panel([1.0, 64.0], [1, 2])
    write_binary_ticks(long.axes[0], sizes=True)
    write_binary_ticks(short.axes[0])

    assert {"32", "1 Ki", "32 Ki", "1 Mi"} <= set(ticks(long))
    assert {"1", "2", "4", "64"} <= set(ticks(short))


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.ipynb")), ids=lambda path: path.stem)
def test_figures_of_notebooks_have_the_common_look(path):
    cells = nbformat.read(path, as_version=4).cells
    code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")

    assert not re.search(r"pyplot|import matplotlib|from matplotlib|Figure\(", code)
    assert code.count("sheet(") == code.count("finished(figure")


def test_a_panel_grows_until_its_legend_hides_nothing():
    figure = Figure(layout="constrained")
    axes = figure.subplots()
    x, y = (grid.ravel() for grid in np.meshgrid(np.linspace(0, 1, 30), np.linspace(0, 1, 30)))
    axes.plot(x, y, "o", label="everywhere")
    axes.legend()
    before = axes.get_ylim()

    finished(figure)

    figure.draw_without_rendering()
    box = axes.get_legend().get_window_extent()
    points = [axes.transData.transform(np.column_stack(line.get_data())) for line in axes.lines]
    assert not any(box.contains(*point) for point in np.concatenate(points))
    assert axes.get_ylim()[0] == before[0]
    assert before[1] < axes.get_ylim()[1] < 3 * before[1]


def test_a_high_legend_goes_below_its_panel_and_raises_nothing():
    figure = Figure(layout="constrained")
    axes = figure.subplots()
    for k in range(9):
        axes.plot([0, 1, 0.5, 0, 1], [k, k, 9, 9, 0], label=f"line {k}")
    axes.legend()
    before = axes.get_ylim()

    finished(figure)

    figure.draw_without_rendering()
    box = axes.get_legend().get_window_extent()
    assert axes.get_ylim() == before
    assert box.y1 < axes.get_window_extent().y0
    assert box.x0 >= 0
    assert box.y0 >= 0
    assert box.x1 <= figure.bbox.x1


def luminance(colour):
    parts = np.array(to_rgb(colour))
    linear = np.where(parts <= 0.03928, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("dark", [False, True])
def test_a_map_of_counts_has_the_colours_of_its_page(dark):
    figure = finished(message_map([[0, 2], [4, 0]]), dark=dark)
    figure.draw_without_rendering()

    axes, bar = figure.axes
    [image] = axes.images
    none, most = (to_hex(image.to_rgba(count)) for count in (0, 4))
    assert none == to_hex(figure.get_facecolor())
    assert contrast(none, most) > 10
    assert to_hex(bar.collections[-1].to_rgba(0)) == none


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize(
    "answer",
    [
        lambda: raid().solve(np.linspace(200, 1600, 8)).with_percentile(95),
        lambda: raid().compare(RAID),
        lambda: raid().at(arrival_rate=1530),
        lambda: raid().at(arrival_rate=500).sensitivity(),
    ],
)
def test_letters_and_curves_can_be_seen_on_both_pages(answer, dark):
    figure = answer().plot(dark=dark)
    figure.draw_without_rendering()

    paper = figure.get_facecolor()
    assert (luminance(paper) < 0.02) == dark
    for text in figure.findobj(Text):
        if text.get_text():  # WCAG: 4.5 for letters, 3 for lines; light colours of series less
            least = 4.5 if text.get_color() in ("black", "0.5", "#e4e6e9") else 3
            assert contrast(text.get_color(), paper) >= least, text
    for axes in figure.axes:
        assert axes.get_facecolor() == paper
        for curve in axes.lines:
            assert contrast(curve.get_color(), paper) >= 2, curve
