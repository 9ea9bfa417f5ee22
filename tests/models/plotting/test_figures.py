"""What every figure must have: units, told-apart series, room for all it draws, no global state."""

import re
from itertools import combinations

import matplotlib
import numpy as np
import pytest
import sympy
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch

from headway.errors import InvalidParameter
from headway.models import (
    Communication,
    catalogue_model,
    communication_figure,
    message_map,
    model_names,
    published_communication,
    what_it_takes,
)
from headway.models.plotting.figures import picture
from headway.models.plotting.formulas import SIZE, formula_figure
from headway.models.plotting.looks.page import WIDTH
from headway.models.plotting.pieces import PALETTE, style
from headway.models.plotting.typesetting import Typesetter, bare, extent
from tests.support.cases import mostly_slow
from tests.support.figures import FIGURES, RAID, SCSI, figure, raid
from tests.support.fits import fit_server

WITHOUT_AXES = {"formula", "graph", "loop"}
CATEGORIES = {
    "indices",
    "growth",
    "tornado",
    "timeline",
    "reproduction",
    "balance",
    "communication",
}
PLOTTED = sorted(FIGURES.keys() - WITHOUT_AXES)


@pytest.mark.parametrize("name", mostly_slow(FIGURES, 8))
def test_every_figure_is_drawn_without_global_state_and_nothing_is_cut(name):
    before = dict(matplotlib.rcParams)

    drawn = figure(name)

    assert isinstance(drawn, Figure)
    assert picture(drawn, "png").startswith(b"\x89PNG")
    assert dict(matplotlib.rcParams) == before
    # A figure that pyplot made would be kept open by it, and have a window's manager.
    assert drawn.canvas.manager is None
    check_nothing_is_cut(drawn)


@pytest.mark.slow
def test_nothing_imports_pyplot():
    import subprocess
    import sys

    code = (
        "import sys; from tests.support.figures import raid, RAID\n"
        "raid().compare(RAID).plot(); raid().plot(); raid().plot_formulas()\n"
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def labels(drawn):
    """Labels of all axes; those shared by panels stand at the last or at the figure."""
    texts = [text for axes in drawn.axes for text in (axes.get_xlabel(), axes.get_ylabel())]
    texts += [drawn.get_supxlabel(), drawn.get_supylabel()]
    return [text for text in texts if text]


@pytest.mark.parametrize("name", PLOTTED)
def test_every_axis_has_a_unit(name):
    result = labels(figure(name))

    assert len(result) >= (1 if name in CATEGORIES else 2)
    assert all(text in COUNTED or re.search(r"\[[^\[\]]+\]", text) for text in result), result


COUNTED = ("clients", "accelerators", "messages", "utilisation")
"""Numbers of something, and shares: the name says enough."""


@pytest.mark.parametrize("name", PLOTTED)
def test_every_panel_is_drawn_within_its_limits(name):
    """What is left out is a model that runs away above the measurements, and nothing else."""
    for axes in figure(name).axes:
        for line in axes.lines:
            x, y = np.broadcast_arrays(line.get_xdata(), line.get_ydata())
            if line.get_transform() != axes.transData or len(x) == 0:
                continue
            low, high = sorted(axes.get_xlim())
            drawn = np.isfinite(np.asarray(y, float))
            assert np.all((x[drawn] >= low) & (x[drawn] <= high))
            if line.get_label() == "measured":
                bottom, top = sorted(axes.get_ylim())
                assert np.all((y >= bottom) & (y <= top))


def check_nothing_is_cut(drawn):
    """Titles and labels of a figure are within it."""
    drawn.draw_without_rendering()
    width, height = drawn.get_size_inches() * drawn.dpi

    axes = [axis for axes in drawn.axes for axis in (axes.xaxis, axes.yaxis)]
    ticks = {label for axis in axes for label in axis.get_ticklabels()}
    for text in drawn.findobj(matplotlib.text.Text):
        if not text.get_text().strip() or not text.get_visible():
            continue
        box = text.get_window_extent()
        if text not in ticks:  # labels of ticks beyond the limits exist, but are not drawn
            assert box.x0 >= -1, text.get_text()
            assert box.x1 <= width + 1, text.get_text()
            assert box.y0 >= -1, text.get_text()
            assert box.y1 <= height + 1, text.get_text()


@pytest.mark.parametrize("name", FIGURES)
def test_every_letter_can_be_read_400_pixels_wide(name):
    drawn = figure(name)
    pixels = 400 / (72 * drawn.get_figwidth())  # of a point

    assert drawn.get_figwidth() <= WIDTH + 1e-9
    for text in drawn.findobj(matplotlib.text.Text):
        if text.get_text().strip() and text.get_visible():
            assert text.get_fontsize() * pixels >= 9, text.get_text()


@pytest.mark.parametrize("name", mostly_slow(PLOTTED, 8))
def test_no_legend_hides_what_was_measured_or_solved(name):
    drawn = figure(name)
    drawn.draw_without_rendering()

    for axes in drawn.axes:
        if axes.get_legend() is None:
            continue
        box = axes.get_legend().get_window_extent()
        for line in axes.lines:
            if line.get_transform() != axes.transData or line.get_marker() in ("", "None"):
                continue
            points = axes.transData.transform(np.column_stack(line.get_data()).astype(float))
            assert not any(box.contains(x, y) for x, y in points), line.get_label()


def luminance(colour):
    """Relative luminance as in the standard for accessible pages (WCAG 2, sRGB)."""
    parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return float(np.dot((0.2126, 0.7152, 0.0722), parts))


def test_styles_are_told_apart_in_grey():
    for one, other in combinations([style(k) for k in range(7)], 2):
        assert one.colour != other.colour
        assert one.line != other.line
        assert one.marker != other.marker
    looks = {(str(look.line), look.marker) for look in map(style, range(49))}
    assert len(looks) == 49


@pytest.mark.parametrize("name", PLOTTED)
def test_series_of_one_panel_differ_in_grey(name):
    for axes in figure(name).axes:
        shown = [x for x in axes.lines if not x.get_label().startswith("_")]
        for one, other in combinations(shown, 2):
            same = (
                one.get_linestyle() == other.get_linestyle()
                and one.get_marker() == other.get_marker()
                and one.get_markerfacecolor() == other.get_markerfacecolor()
            )
            # Colours of equal lines must differ as much as is seen in print: 1.5 to 1 at least.
            light = sorted(luminance(x.get_color()) + 0.05 for x in (one, other))
            assert not same or light[1] / light[0] > 1.5, (one.get_label(), other.get_label())


def test_colours_come_from_the_palette():
    allowed = {to_rgb(colour) for colour in PALETTE}
    for name in PLOTTED:
        for axes in figure(name).axes:
            for line in axes.lines:
                red, green, blue = to_rgb(line.get_color())
                assert (red, green, blue) in allowed or red == green == blue, name


def names_of(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def test_fit_shows_points_curve_band_and_residuals():
    upper, lower = figure("fit").axes

    assert names_of(upper) == [
        "95% band",
        "fit",
        "preset scsi, not fitted",
        "model saturates",
        "measured",
    ]
    (band,) = upper.collections
    low, high = band.get_datalim(upper.transData).intervaly
    assert 0 < low < high < upper.get_ylim()[1] * 1.01
    errors = lower.lines[1].get_ydata()
    assert len(errors) == 7
    assert np.abs(errors).max() < 3  # the acceptance of this fit, in percent
    assert lower.get_ylabel() == "error [%]"


def test_a_server_shows_the_runners_up_that_have_some_weight():
    names = names_of(figure("server").axes[0])
    fit = fit_server(SCSI)
    weighed = zip(fit.candidates[1:], fit.weights[1:].tolist(), strict=True)
    known = [f"{form.name}, weight {w:.0%}" for (form, _), w in weighed if w >= 0.005]

    assert names[:2] == ["95% band", "fit"]
    assert names[-1] == "measured"
    assert 0 < len(known) <= 4
    assert sorted(name for name in names if "weight" in name) == sorted(known)
    assert not any(name.endswith("weight 0%") for name in names)


def test_residuals_are_the_same_piece_everywhere():
    for name in ("comparison", "fit", "server"):
        upper, lower = figure(name).axes
        dots = next(line for line in upper.lines if line.get_label() == "measured")
        np.testing.assert_allclose(lower.lines[1].get_xdata(), dots.get_xdata())


def test_several_servers_stand_side_by_side():
    (axes,) = figure("servers").axes

    assert names_of(axes) == ["table_a_1_scsi_performance", "table_a_5_raid_performance"]
    assert len(axes.lines) == 4
    assert axes.get_yscale() == "log"


def test_logp_signature_has_a_series_for_each_delay():
    (axes,) = figure("logp signature").axes

    assert names_of(axes) == ["delay 0 us", "delay 10 us", "delay 100 us"]
    assert len(axes.lines) == 6  # marks and a line each
    for marks, line in zip(axes.lines[::2], axes.lines[1::2], strict=True):
        # The costs were made by the law, so that the lines go through the marks.
        drawn = np.interp(marks.get_xdata(), line.get_xdata(), line.get_ydata())
        np.testing.assert_allclose(drawn, marks.get_ydata(), rtol=0.02)


def test_sizes_show_lines_and_the_break():
    (axes,) = figure("sizes").axes

    assert names_of(axes) == ["measured", "median", "fitted line", "break"]
    assert axes.get_xscale() == axes.get_yscale() == "log"


def test_tornado_has_its_largest_bar_on_top():
    upper, lower = figure("tornado").axes

    widths = [abs(bar.get_width()) for bar in upper.patches]
    assert widths == sorted(widths)
    assert [tick.get_text() for tick in upper.get_yticklabels()][-1] == "arrival_rate"
    (only,) = lower.patches
    assert only.get_width() == pytest.approx(-1, rel=1e-9)
    for bar in upper.patches:
        assert bool(bar.get_hatch()) == (bar.get_width() < 0)


def test_target_meets_its_curve():
    (axes,) = figure("target").axes

    model = what_it_takes(raid().at(arrival_rate=1400.0), "response_time", 12e-3, "cpu_time")
    lines = {line.get_label(): line for line in axes.lines}
    assert set(lines) == {"model", "target", "now", "needed"}
    curve, reached = lines["model"], lines["needed"]
    assert reached.get_xdata()[0] == pytest.approx(model.value * 1e3, rel=1e-12)
    result = np.interp(reached.get_xdata(), curve.get_xdata(), curve.get_ydata())
    np.testing.assert_allclose(result, 12, rtol=1e-3)  # between drawn points 2 us apart


def test_balance_marks_what_is_full_first():
    upper, lower = figure("balance").axes

    assert [axes.get_ylabel() for axes in (upper, lower)] == [
        "read saturation [MB/s]",
        "write saturation [MB/s]",
    ]
    marked = [bar for bar in upper.patches if bar.get_linewidth() > 1]
    assert len(marked) == 3
    hatches = {bar.get_facecolor(): bar.get_hatch() for bar in upper.patches}
    assert len(set(hatches.values())) == len(hatches)


def test_timeline_alternates_dark_and_light():
    (axes,) = figure("timeline").axes

    bars = [bar for bar in axes.patches if bar.get_hatch() is None]
    dark, light = sorted({bar.get_facecolor()[:3] for bar in bars}, key=luminance)
    assert (luminance(light) + 0.05) / (luminance(dark) + 0.05) > 1.5
    assert axes.get_legend() is None  # there are no bubbles
    gam = catalogue_model("pipeline").with_preset("gam").at(transfer=20 * 1024)
    assert names_of(gam.solve().plot().axes[0]) == ["bubble"]
    assert axes.get_yticklabels()[0].get_text() == "send CPU"


def test_arrows_of_a_loop_are_told_apart():
    (axes,) = figure("loop").axes

    arrows = [patch for patch in axes.patches if isinstance(patch, FancyArrowPatch)]
    middles = [arrow.get_path().vertices[1:-1].mean(axis=0) for arrow in arrows]
    assert len(arrows) == 5  # two to and two fro, and one between terminals and processor
    for one, other in combinations(middles, 2):
        assert np.hypot(*(one - other)) > 0.15  # inches


def test_communication_draws_what_table_3_2_has():
    programs = published_communication()
    left, right = figure("communication").axes

    assert {text.get_text() for text in left.texts} == {one.program for one in programs}
    widths = sorted(bar.get_width() for bar in right.patches)
    assert widths == sorted(one.balance for one in programs)
    assert widths[0] >= 1
    with pytest.raises(InvalidParameter, match="at least one"):
        communication_figure([])
    with pytest.raises(InvalidParameter, match="below the mean"):
        Communication("a", 2.0, 1.0, 1.0, 0.0, 0.0)


def test_message_map():
    axes, bar = figure("message map").axes

    assert bar.get_ylabel() == "messages"
    assert axes.get_title() == "three: balance 1.50"
    assert axes.images[0].get_array().tolist() == [[0, 2, 1], [4, 0, 1], [1, 1, 0]]
    for wrong in ([[1, 2]], [[0, -1], [1, 0]], [[0, 0], [0, 0]], [[0, np.nan], [1, 0]], [1, 2]):
        with pytest.raises(InvalidParameter, match="messages"):
            message_map(wrong)


@pytest.mark.parametrize("name", mostly_slow(model_names(), 10))
def test_formulas_of_every_model_fit_and_are_typeset(name):
    drawn = formula_figure(catalogue_model(name))

    lines = [t.get_text()[1:-1] for t in drawn.texts if t.get_text().startswith("$")]
    assert lines or name in {"lopc", "server-batch", "server-slowing"}  # which have no short sums
    assert not any("begin{" in line or "operatorname" in line for line in lines)
    assert all(extent(line, SIZE)[0] <= (WIDTH - 0.2) * 72 for line in lines)
    tops = [text.get_position()[1] for text in drawn.texts]
    assert all(0 < place < 1 for place in tops)
    assert tops == sorted(tops, reverse=True)


def test_formula_of_the_nfs_server_keeps_its_names():
    text = "\n".join(text.get_text() for text in figure("formula").texts)

    for name in ("delay", "cpu_time", "disk_time", "disks", "memory", "touched_per_load", "miss"):
        assert rf"\mathrm{{{name.replace('_', chr(92) + '_')}}}" in text
    assert r"\mathrm{ErlangC}" in text
    assert r"\mathrm{where}" in text


@pytest.mark.parametrize("name", ["nfs-server", "mpi-message", "parallel-file", "server-nfs"])
def test_letters_stand_for_what_they_replace(name):
    graph = catalogue_model(name).graph
    output = "response_time" if graph.stations else next(iter(graph.outputs))
    form = bare(graph.closed_form(output))
    setter = Typesetter(150.0, 12.0, {})  # narrow, so that much has to be named

    narrow = setter._narrowed(form, 150.0)

    assert setter.named
    for _ in setter.named:
        narrow = narrow.xreplace({letter: part for part, letter in setter.named.items()})
    values = {x: sympy.Rational(k + 3, 7) for k, x in enumerate(sorted(form.free_symbols, key=str))}
    assert sympy.simplify(narrow.xreplace(values) - form.xreplace(values)) == 0


def test_the_source_of_data_is_named():
    assert RAID.source.rpartition("/")[2].removesuffix(".csv") in (
        figure("sfs signature").axes[0].get_title()
    )
