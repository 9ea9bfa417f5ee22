"""What a first screen says where the plain answer would mislead, and where words would overlap."""

import pytest
from matplotlib.figure import Figure

from headway.models.analysis.goals import Goal, Sense
from headway.models.analysis.kept import Kept
from headway.models.inference.builds import Builds, Difference
from headway.models.language.scales import Scale
from headway.models.language.units import ONE, unit
from headway.models.measured.points import Loop, Point
from headway.models.plotting.graphs.figure import model_figure
from headway.models.plotting.looks.legends import legend, make_room
from headway.models.reading.loadtest import LoadTest
from headway.models.reports.kinds.builds import BuildsReport, builds_contents
from headway.models.structure.graph import ModelGraph
from headway.queueing import MMm

TEST = LoadTest((Point("wrk", Loop.CLOSED, population=1, throughput=100.0, response_time=0.01),))


def changed(ratio, low, high):
    """Two builds whose response times have a ratio."""
    one = Difference("response_time", unit("s"), None, 0.01, 0.01 * ratio, ratio, low, high, False)
    return Builds("before", "after", ONE, (one,), (), repeated=True)


@pytest.mark.parametrize(
    ("ratio", "low", "high", "said"),
    [
        (1.2, 1.1, 1.3, "Yes, worse by more than 5%: response time +20% (95%: +10% to +30%)."),
        (1.06, 1.03, 1.09, "Yes: the response time changed by +6% (95%: +3% to +9%); these runs "
         "do not show whether by more than 5%."),
        (1.02, 0.96, 1.08, "Undecided: the response time changed by +2% (95%: -4% to +8%), but "
         "response time may be worse by more than 5%."),
        (0.9, 0.88, 0.92, "No: the response time changed by -10% (95%: -12% to -8%), and nothing "
         "is worse by more than 5%."),
    ],
)  # fmt: skip
def test_a_build_that_is_slower_is_said_to_be(ratio, low, high, said):
    contents = builds_contents(BuildsReport(changed(ratio, low, high), TEST))
    assert contents.headline.answer == said


@pytest.mark.parametrize(("is_count", "value"), [(False, 0.0), (True, 0.7)])
def test_a_limit_that_no_load_keeps_is_kept_by_none(is_count, value):
    goal = Goal("response_time", Sense.AT_MOST, 0.05)
    kept = Kept(goal, "population", value, value, value, ONE, is_count)
    assert kept.shown(Scale()) == "none"


def pool():
    graph = ModelGraph("pool").declare("servers", "work")
    return graph.station("cpu", MMm("work", "servers")).at(servers=2, work=0.01)


def test_a_box_says_the_value_of_the_parameter_that_has_its_name():
    words = "\n".join(text.get_text() for text in model_figure(pool()).axes[0].texts)
    assert "servers: 2" in words
    assert "service time: work" in words


def test_a_legend_hides_no_line_across_the_panel():
    figure = Figure(figsize=(4, 2))
    axes = figure.subplots()
    axes.plot([0, 1], [0.05, 0.05], label="mean")
    axes.axhline(0.6, label="target")
    for name in ("p95", "p99"):
        axes.plot([0, 1], [0.1, 0.1], label=name)
    axes.set_ylim(0, 1)
    legend(axes)
    make_room(figure)
    figure.draw_without_rendering()
    box = axes.get_legend().get_window_extent()
    across = axes.transData.transform([(0, y) for y in (0.05, 0.1, 0.6)])[:, 1]
    assert not ((across > box.y0) & (across < box.y1)).any()
