"""Pictures by their structure: labels, series, limits."""

import re

import numpy as np
import pytest

from headway.errors import InvalidParameter
from headway.models import (
    Measurements,
    SlowdownPanel,
    catalogue_model,
    curve,
    data_path,
    slowdown_figure,
)
from headway.models.plots import picture
from headway.models.signature import MeasuredSignature

RAID = Measurements.read(data_path("network_sensitivity/table_a_5_raid_performance.csv"))


def raid():
    return catalogue_model("nfs-server").with_preset("raid")


def legend(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def test_comparison():
    upper, lower = raid().compare(RAID, low=490, high=1410).plot().axes

    assert upper.get_ylabel() == "response time [ms]"
    assert lower.get_xlabel() == "throughput [op/s]"
    assert lower.get_ylabel() == "error [%]"
    assert legend(upper)[:3] == ["model", "model saturates", "measured"]
    dots = next(line for line in upper.lines if line.get_label() == "measured")
    np.testing.assert_allclose(dots.get_ydata(), RAID.column("response").values * 1e3)
    # The plot is not squashed by the model's run-away: its top is near the highest point.
    assert 30.8 < upper.get_ylim()[1] < 60


def test_sweep():
    upper, lower = raid().solve(np.linspace(100, 1600, 16)).plot().axes

    assert upper.get_ylabel() == "response time [ms]"
    assert lower.get_ylabel() == "utilisation [%]"
    assert lower.get_xlabel() == "arrival rate [op/s]"
    assert legend(lower) == ["cpu", "disks"]
    assert np.isnan(upper.lines[0].get_ydata()[-1])


def test_sweep_of_two():
    rates, counts = (grid.ravel() for grid in np.meshgrid([100.0, 600.0], [8.0, 28.0]))

    upper = raid().at(disks=counts).solve(rates).plot().axes[0]

    assert len(upper.lines) == 2
    assert legend(upper) == ["disks = 8", "disks = 28"]


def test_signature():
    (axes,) = MeasuredSignature.of(curve(RAID)).plot().axes

    assert axes.get_xlabel() == "throughput [op/s]"
    assert "us per op/s" in legend(axes)[1]


def test_a_single_point_is_no_plot():
    with pytest.raises(InvalidParameter, match="needs a swept input"):
        raid().solve(100.0).plot()


def test_the_same_figure_gives_the_same_bytes():
    comparison = raid().compare(RAID)

    assert picture(comparison.plot(), "svg") == picture(comparison.plot(), "svg")


def test_the_readme_shows_the_picture_the_command_makes(tmp_path, request):
    comparison = raid().compare(RAID, low=490, high=1410)
    shown = request.config.rootpath / "docs" / "pictures" / "raid.svg"

    fresh = picture(comparison.plot(), "svg").decode()

    # Not pixels: fonts differ between machines, the drawn words do not.
    words = re.findall(r"<!-- (.+) -->", fresh)
    assert "response time [ms]" in words
    assert words == re.findall(r"<!-- (.+) -->", shown.read_text())


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
