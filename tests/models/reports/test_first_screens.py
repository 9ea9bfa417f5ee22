"""What a first screen says where the plain answer would mislead, and where words would overlap."""

import math
import re

import numpy as np
import pytest
from matplotlib.figure import Figure

from headway.errors import InvalidParameter
from headway.models import catalogue_model, data_path, parse_model
from headway.models.analysis.goals import Goal, Sense
from headway.models.analysis.kept import Kept
from headway.models.inference.builds import Builds, Difference
from headway.models.language.scales import Scale
from headway.models.language.units import ONE, unit
from headway.models.measured.measurements import Measurements
from headway.models.measured.points import Loop, Point
from headway.models.over.days import Day
from headway.models.plotting.charts import measured_chart, predicted_chart
from headway.models.plotting.graphs.figure import model_figure
from headway.models.plotting.looks.legends import legend, make_room
from headway.models.reading.loadtest import LoadTest, read
from headway.models.reports.contents import Light
from headway.models.reports.kinds.audited import audited_contents
from headway.models.reports.kinds.builds import BuildsReport, builds_contents
from headway.models.reports.kinds.days import DayReport, day_contents
from headway.models.reports.kinds.making import make_report
from headway.models.reports.kinds.modelled import measured_contents
from headway.models.reports.kinds.traced import traces_contents
from headway.models.reports.panel import Panel, panel
from headway.models.reports.report import measured_report
from headway.models.structure.graph import ModelGraph
from headway.models.tracing.traced import model_traces
from headway.queueing import MMm

TEST = LoadTest((Point("wrk", Loop.CLOSED, population=1, throughput=100.0, response_time=0.01),))


def changed(ratio, low, high):
    """Two builds whose response times have a ratio."""
    one = Difference("response_time", unit("s"), None, 0.01, 0.01 * ratio, ratio, low, high, False)
    return Builds("before", "after", ONE, (one,), (), repeated=True)


@pytest.mark.parametrize(
    ("ratio", "low", "high", "said"),
    [
        (1.0, 0.98, 1.02, "No: the response time did not change (95%: -2% to +2%), and nothing is "
         "worse by more than 5%."),
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


def test_a_picture_rounds_what_was_fitted():
    graph = ModelGraph("pool").declare("servers", "service_time")
    fitted = graph.station("cpu", MMm("service_time", "servers")).at(
        servers=2, service_time=0.00932801
    )
    words = "\n".join(text.get_text() for text in model_figure(fitted).axes[0].texts)
    assert "service time: 0.009328" in words


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


def clients_who_think(think=(0.05, 0.051, 0.052, 0.0515)):
    """A closed test of one server of 5 ms behind 2 ms: the machine repairmen, by a recursion."""
    rows = []
    for jobs, pause in zip((2, 8, 16, 32), think, strict=True):
        inside = 0.0
        for others in range(1, jobs + 1):
            stay = 0.002 + 0.005 * (1 + inside)
            rate = others / (stay + pause)
            inside = rate * (stay - 0.002)
        rows.append((jobs, rate, 1e3 * stay, 1e3 * pause, 2e3 * stay))
    head = "clients,throughput_ops_s,response_ms,think_time_ms,p99_ms"
    return Measurements.parse("\n".join([head, *(",".join(map(str, row)) for row in rows)]), "t")


def labels(figure):
    return {str(line.get_label()): line for line in figure.axes[0].lines}


def test_clients_who_think_have_a_curve_and_sliders():
    """Think times of a tool differ a little from run to run; the curve goes through all points."""
    model = catalogue_model("server-single").at(delay=0.002, service_time=0.005)
    comparison = model.compare(clients_who_think())
    line = labels(measured_chart(comparison, Scale()))["model"]
    assert line.get_linestyle() == "-"
    at = dict(zip(*(np.asarray(part).tolist() for part in line.get_data()), strict=True))
    rows = zip(comparison.load.values, comparison.predicted, strict=True)
    assert all(
        at[load] / time == pytest.approx(at[2.0] / comparison.predicted[0]) for load, time in rows
    )
    page = measured_report(model, clients_who_think())
    assert isinstance(panel(page), Panel)
    apart = measured_report(model, clients_who_think((0.05, 0.2, 0.5, 1.0)))
    assert "row by row" in panel(apart).reason


def test_a_fit_to_clients_has_a_band():
    model = catalogue_model("server-single").at(delay=0.002, service_time=0.004)
    fit = model.fit(clients_who_think(), ["delay", "service_time"])
    assert "95% band" in {
        str(a.get_label()) for a in measured_chart(fit, Scale()).axes[0].collections
    }


def test_a_chart_is_as_high_as_its_measurements_ask_not_as_its_other_curves():
    model = catalogue_model("nfs-server").with_preset("scsi")
    measured = Measurements.read(data_path("network_sensitivity/table_a_1_scsi_performance.csv"))
    fit = model.fit(measured, free=["delay", "cpu_time", "disk_time", "touched_per_load"])
    figure = measured_chart(fit, Scale())

    drawn = labels(figure)
    assert {"p99 by the model", "preset scsi, not fitted"} <= drawn.keys()
    assert figure.axes[0].get_ylim()[1] < 3 * np.nanmax(drawn["measured"].get_ydata())


def test_no_load_is_solved_for_a_percentile_that_has_no_quick_law(monkeypatch):
    """Each load of a queue whose clients give up may take a second."""
    model = parse_model(
        """
name = "impatient"
[stations.server]
kind = "MMm"
service_time = "8 ms"
servers = 4
shed = "when queue > 10"
[arrivals]
server = { timeout = "100 ms", retries = 1 }
"""
    )
    solution = model.at(arrival_rate=np.array([100.0, 300.0])).solve()
    monkeypatch.setattr(type(model), "solve", lambda _: pytest.fail("solved again"))

    figure = predicted_chart(solution, "response_time", "arrival_rate", Scale())

    assert not any("p99" in name for name in labels(figure))


@pytest.mark.parametrize(("times", "light"), [(1.0, Light.GOOD), (2.0, Light.BAD)])
def test_a_percentile_that_the_model_misses_has_a_light(times, light):
    """M/M/1 of 1 ms: the 99th percentile is ln 100 / (1000 - x) s; measured, as much or twice."""
    model = catalogue_model("server-single").at(delay="0 ms", service_time="1 ms")
    rows = [f"{x},{1e3 / (1000 - x)},{times * 1e3 * math.log(100) / (1000 - x)}"
            for x in (100, 300, 500, 800)]  # fmt: skip
    head = "throughput_ops_s,response_ms,p99_ms"
    data = Measurements.parse("\n".join([head, *rows]), "t")

    contents = measured_contents(measured_report(model, data))

    signs = {sign.name: sign for sign in contents.signs}
    assert signs["error of the model's p99"].light is light
    assert signs["warnings"].value == ("none" if light is Light.GOOD else "1")


def test_findings_of_the_load_test_count_as_warnings():
    """Throughput times response time is half as many again as there are clients."""
    rows = [f"{n},{100 * n},15" for n in (1, 2, 4, 8)]
    head = "clients,throughput_ops_s,response_ms"
    data = Measurements.parse("\n".join([head, *rows]), "t")
    model = catalogue_model("server-single").at(delay="10 ms", service_time="0.1 ms")

    contents = measured_contents(measured_report(model, data, y="throughput_ops_s"))

    (warnings,) = (sign for sign in contents.signs if sign.name == "warnings")
    assert warnings.light is not Light.GOOD


def test_a_short_day_is_told_by_its_minutes():
    graph = ModelGraph("pool").declare("work").station("cpu", MMm("work", 2))
    day = Day((0.0, 600.0, 1200.0), (50.0, 195.0))
    report = DayReport(graph.at(work=0.01).over(day, target=0.02, every=600))
    said = day_contents(report).headline.answer
    assert re.search(r"worst after \d+(\.\d+)? minutes, where", said)


def test_traces_beside_a_model_have_a_row_for_each_service():
    model = model_traces([str(data_path("traces/open-010.otlp.jsonl.gz"))]).model
    report = make_report(model, data_path("traces/open-010.otlp.jsonl.gz"))
    contents = traces_contents(report)
    [row] = [r for r in report.beside.parts if r.part == "all"]

    assert [sign.name for sign in contents.signs] == [
        "all requests", "auth", "catalog", "front", "price", "store"
    ]  # fmt: skip
    assert f"({row.relative_error:+.1%})" in contents.headline.answer
    assert "</html>" in report.to_html()
    again = make_report(model, read("traces/open-010.otlp.jsonl.gz"))
    assert again.beside.parts == report.beside.parts
    with pytest.raises(InvalidParameter, match="free needs measurements in a table"):
        make_report(model, data_path("traces/open-010.otlp.jsonl.gz"), free="arrival_rate")


@pytest.mark.parametrize(("times", "is_doubted"), [(1.0, False), (1.08, False), (1.5, True)])
def test_an_answer_says_at_once_that_its_model_misses_the_data(times, is_doubted):
    """One server of 1 ms without delay, and measured times of 1, 1.08 and 1.5 of what it says."""
    model = catalogue_model("server-single").at(delay="0 ms", service_time="1 ms")
    rows = [f"{x},{times / (1 - x / 1000)}" for x in (100, 300, 500, 800)]
    data = Measurements.parse("\n".join(["throughput_ops_s,response_ms", *rows]), "t")

    answer = measured_contents(measured_report(model, data)).headline.answer
    assert ("But the model misses the measured points by 33.3%." in answer) == is_doubted


def test_services_of_traces_have_a_row_each_and_no_common_throughput():
    page = make_report(None, data_path("traces/open-010.otlp.jsonl.gz"))
    contents = audited_contents(page)
    rows = [text.get_text() for text in page.audit.plot().axes[0].get_yticklabels()]

    assert contents.headline.question == "Can these traces be trusted?"
    assert "throughput" not in contents.headline.answer
    assert rows == ["auth", "catalog", "front", "price", "store"]
