"""Measurements held against models: the columns that are taken, told, compared or refused."""

import csv
import json
import re

import numpy as np
import pytest

from headway.errors import GraphError, MeasurementError
from headway.models import (
    Measurements,
    ModelGraph,
    catalogue_model,
    compare,
    curve,
    fit_model,
    make_report,
    parse_model,
)
from headway.models.inference.server import fit_server
from headway.models.measured.matching import match, think_time
from headway.models.plotting.pieces import column_label
from headway.models.signatures.sfs import MeasuredSignature
from headway.queueing import MM1, Delay, MMm
from tests.support.cases import mostly_slow
from tests.support.command import headway, refusal

CLIENTS = np.array([1.0, 2.0, 4.0, 8.0, 16.0, 32.0])


def machine():
    """A network and a processor as stations: its percentiles are known, and it can be closed."""
    graph = ModelGraph("machine").declare("wire", "s")
    return (
        graph.station("network", Delay("wire")).station("cpu", MM1("s")).route("network", "cpu")
    ).at(wire=4e-3, s=1e-3)


def open_table():
    """What the machine gives at loads, and columns that were fitted in place of its response."""
    rows = ["throughput_ops_s,outstanding,response_ms,response_p95_ms,response_max_ms"]
    solved = machine().solve(np.array([200.0, 400.0, 600.0, 800.0]))
    times = solved.with_percentile(95)["response_time_p95"]
    for x, r, p95 in zip(solved.throughput, solved.response_time, times, strict=True):
        rows.append(f"{x:.0f},{x * r:.6f},{1e3 * r:.6f},{1e3 * p95:.6f},{9e3 * r:.6f}")
    return "\n".join(rows) + "\n"


def closed_table(think=0.0, title="clients", model=None):
    solved = (model or machine()).solve(population=CLIENTS, think_time=think)
    rows = [f"{title},throughput_ops_s,response_ms"]
    for jobs, rate, time in zip(CLIENTS, solved.throughput, solved.response_time, strict=True):
        rows.append(f"{jobs:.0f},{rate:.8f},{1e3 * time:.8f}")
    return "\n".join(rows) + "\n"


def table(text):
    return Measurements.parse(text, "own.csv")


def test_response_time_is_fitted_whatever_else_the_model_calls_an_output():
    """`server` has an output `outstanding`; it used to be taken for what was measured."""
    data = table(open_table())

    server = fit_server(data)

    columns = {
        (f.comparison.load.header, f.comparison.measured.header) for _, f in server.candidates
    }
    assert columns == {("throughput_ops_s", "response_ms")}
    assert {fit.comparison.output for _, fit in server.candidates} == {"response_time"}
    values = server.best.values
    assert server.form.model == "server-single"
    # the digits that are printed: six of milliseconds
    assert values["service_time"] == pytest.approx(1e-3, rel=1e-4)
    assert values["delay"] == pytest.approx(4e-3, rel=1e-4)


def test_y_says_otherwise():
    server = catalogue_model("server").at(delay=4e-3, service_time=1e-3)

    comparison = server.compare(table(open_table()), y="outstanding")

    assert (comparison.output, str(comparison.axes)) == (
        "outstanding",
        "outstanding over throughput_ops_s",
    )
    np.testing.assert_allclose(comparison.relative_error, 0, atol=1e-6)  # six printed digits


@pytest.mark.parametrize("column", ["response_p95", "response_p95_ms"])
def test_percentiles_are_held_against_percentiles(column):
    comparison = machine().compare(table(open_table()), y=column)

    assert comparison.output == "response_time_p95"
    assert str(comparison.axes) == "response_p95_ms over throughput_ops_s"
    np.testing.assert_allclose(
        comparison.relative_error, 0, atol=1e-5
    )  # six digits of milliseconds
    assert "predicted against measured" in str(comparison)
    assert json.loads(comparison.to_json())["output"] == "response_time_p95"


def test_percentiles_are_drawn(monkeypatch):
    monkeypatch.setattr("headway.models.plotting.figures._CURVE_POINTS", 5)  # each is inverted
    drawn = machine().compare(table(open_table()), y="response_p95").plot().axes[0]

    assert drawn.get_ylabel() == "response time p95 [ms]"


TWO_CLASSES = (
    ModelGraph("shop").declare("load").station("cpu", MM1(1e-3), visits=1)
    .job_class("web", arrival_rate="load").job_class("batch", arrival_rate=1.0)
)  # fmt: skip
PRODUCT = ModelGraph("mixed").declare("p", "d").station("cpu", MM1(1e-3))
PRODUCT = PRODUCT.output("response_time", "p * d + cpu.response_time")
PERCENT = "{},response_p95_ms\n200,5\n400,6\n600,7\n"


@pytest.mark.parametrize(
    ("model", "load", "why"),
    [
        (
            catalogue_model("server-cache"),
            "throughput_ops_s",
            "its answer is a formula for the mean only",
        ),
        (
            PRODUCT.at(p=0.5, d=1e-3),
            "clients",
            "its answer is a formula for the mean only",
        ),
        (TWO_CLASSES.at(load=1.0), "load", "only in networks of one class"),
    ],
)
def test_percentiles_that_a_model_does_not_have_are_refused(model, load, why):
    with pytest.raises(GraphError, match=f"own.csv: column response_p95_ms holds .*{why}"):
        model.compare(table(PERCENT.format(load)), y="response_p95_ms")


def test_what_is_no_mean_is_refused():
    data = table(open_table())

    with pytest.raises(MeasurementError, match="response_max_ms is a maximum, which grows"):
        machine().compare(data, y="response_max_ms")
    with pytest.raises(MeasurementError, match="response_max_ms is a maximum, which grows"):
        machine().fit(data, ["s"], y="response_max_ms")
    with pytest.raises(MeasurementError, match="contains percentiles; a signature needs means"):
        curve(data, y="response_p95")
    two = PERCENT.format("throughput_ops_s").replace("p95_ms", "p95_ms,response_p99_ms")
    with pytest.raises(MeasurementError, match="there is no column 'response_time'"):
        machine().compare(table(re.sub(r"(?m)^(\d+,\d)$", r"\1,9", two)))


@pytest.mark.parametrize(
    ("title", "word"),
    [
        *((title, title) for title in ("clients", "threads", "connections", "users")),
        *((title, "clients") for title in ("population", "concurrency")),
        *((title, "requests") for title in ("queue_depth", "iodepth")),
        ("vus", "virtual users"),
    ],
)
def test_a_population_closes_the_model(title, word):
    comparison = machine().compare(table(closed_table(title=title)))

    assert comparison.model.is_closed
    assert str(comparison.axes) == f"response_ms, throughput_ops_s over {title}"
    assert str(comparison.load.unit) == word
    np.testing.assert_allclose(
        comparison.relative_error, 0, atol=1e-7
    )  # eight digits of milliseconds
    assert comparison.signatures == {}
    text = str(comparison)
    assert re.search(rf"^ {word}   measured ", text, re.MULTILINE)
    assert re.search(rf"% at \d+ {word}$", text, re.MULTILINE)
    assert f"closed: solved at the measured {title}; think time 0 ms" in text
    assert "measured [op/s]" in text  # as the column is headed, though the model counts nothing
    assert comparison.plot().axes[1].get_xlabel() == word


def test_outstanding_is_a_load_where_there_is_no_rate_or_where_it_is_named():
    text = closed_table(title="outstanding")
    alone = "\n".join(",".join(line.split(",")[::2]) for line in text.splitlines())

    assert machine().compare(table(alone)).model.is_closed
    assert machine().compare(table(text), x="outstanding").model.is_closed
    assert not machine().at(s=1e-6).compare(table(text)).model.is_closed


def test_throughput_against_a_population():
    comparison = machine().compare(table(closed_table()), y="throughput_ops_s")

    assert (comparison.output, str(comparison.axes)) == (
        "throughput",
        "throughput_ops_s over clients",
    )
    np.testing.assert_allclose(comparison.relative_error, 0, atol=1e-7)
    only = "\n".join(line.rpartition(",")[0] for line in closed_table().splitlines())
    assert machine().compare(table(only)).output == "throughput"


def test_a_think_time_follows_from_what_came_through():
    data = table(closed_table(think=0.25))

    assert think_time(data, data.column("clients")) == pytest.approx(0.25, rel=1e-7)
    comparison = machine().compare(data)
    np.testing.assert_allclose(comparison.relative_error, 0, atol=1e-7)
    assert "think time 250 ms" in str(comparison)


def test_a_think_time_of_the_noise_is_none():
    text = "clients,throughput_ops_s,response_ms\n1,9.9,100\n2,19.7,100\n4,39,100\n"
    data = table(text)

    assert think_time(data, data.column("clients")) == 0.0


def test_a_closed_model_keeps_the_think_time_that_it_has():
    data = table(closed_table(think=0.25))

    matched = match(machine().closed(3, 0.1), data)

    assert matched.model.parameters["think_time"].value == 0.1
    np.testing.assert_array_equal(matched.inputs["population"], CLIENTS)


def test_a_parameter_of_that_name_is_no_population():
    pool = ModelGraph("pool").declare("s", "threads").station("cpu", MMm("s", "threads"))
    data = table("threads,throughput_ops_s,response_ms\n1,10,2\n2,20,3\n")

    matched = match(pool.at(s=1e-3, threads=1.0), data)

    assert not matched.model.is_closed
    assert list(matched.inputs) == ["arrival_rate", "threads"]


def test_classes_cannot_be_closed_by_a_column():
    text = """
    name = "two"
    [stations.cpu]
    kind = "MM1"
    service_time = { a = "1 ms", b = "1 ms" }
    [classes.a]
    arrival_rate = 1
    [classes.b]
    arrival_rate = 2
    """
    with pytest.raises(MeasurementError, match="no column is named after a parameter"):
        compare(parse_model(text), table(closed_table()))


def test_closed_curves_have_no_signature():
    with pytest.raises(MeasurementError, match=r"population \(clients\).*--x throughput_ops_s"):
        curve(table(closed_table()))

    made = MeasuredSignature.of(curve(table(closed_table()), x="throughput_ops_s"))
    assert str(made.curve.axes) == "response_ms over throughput_ops_s"


@pytest.mark.parametrize("y", mostly_slow([None, "throughput_ops_s"], 1))
def test_a_server_is_fitted_closed_at_the_measured_populations(y):
    truth = catalogue_model("server-single").at(delay=4e-3, service_time=1e-3)
    lines = closed_table(model=truth).splitlines()[:5]  # 4 points carry two free parameters

    server = fit_server(table("\n".join(lines)), y=y)

    assert {fit.comparison.load.header for _, fit in server.candidates} == {"clients"}
    assert all(fit.model.is_closed for _, fit in server.candidates)
    # eight printed digits, and the search's own tolerance
    assert server.best.values["service_time"] == pytest.approx(1e-3, rel=1e-4)
    assert server.best.values["delay"] == pytest.approx(4e-3, rel=1e-4)
    by_name = {text.name: text.value for text in server.quantities}
    assert by_name["saturation throughput"] == pytest.approx(1000, rel=1e-4)
    assert by_name["base response time"] == pytest.approx(5e-3, rel=1e-4)
    assert "slope" not in by_name
    assert "over clients" in str(server)


def test_what_cannot_be_closed_is_refused_with_its_reason():
    with pytest.raises(GraphError, match="server cannot be closed: its formula"):
        catalogue_model("server").at(servers=3.0).compare(table(closed_table()))
    with pytest.raises(GraphError, match="server cannot be closed: its formula"):
        catalogue_model("server").at(servers=3.0).fit(table(closed_table()), ["service_time"])


def test_a_fit_of_a_closed_test_says_so_and_its_file_solves():
    fit = fit_model(machine(), table(closed_table()), ["s"])

    assert fit.values["s"] == pytest.approx(1e-3, rel=1e-6)
    again = parse_model(fit.to_toml()).solve()
    assert again.model.is_closed
    assert again.model.inputs["population"] == 32
    assert "bottleneck: cpu, 100% busy at the highest load; it saturates at 1000 op/s" in str(fit)


ANSWERS = {
    "compare": ["compare", "server-single", "--data"],
    "fit": ["fit", "server-single", "--free", "delay,service_time", "--data"],
    "fit server": ["fit", "server", "--data"],
    "signature": ["signature", "sfs"],
    "sensitivity": ["sensitivity", "server-single", "--free", "delay,service_time", "--data"],
}


@pytest.mark.parametrize("command", ANSWERS.values(), ids=ANSWERS)
def test_every_answer_says_which_columns_it_comes_from(command, tmp_path):
    path = tmp_path / "own.csv"
    path.write_text(open_table())

    printed = headway(*command, str(path)).out
    document = json.loads(headway(*command, str(path), "--json").out)
    rows = list(csv.DictReader(headway(*command, str(path), "--csv").out.splitlines()))

    assert "response_ms over throughput_ops_s" in printed
    assert (document["x"], document["y"]) == ("throughput_ops_s", "response_ms")
    assert {(row["x"], row["y"]) for row in rows} == {("throughput_ops_s", "response_ms")}


def test_targets_after_a_fit_say_it_too(tmp_path):
    path = tmp_path / "own.csv"
    path.write_text(open_table())
    command = [*ANSWERS["sensitivity"], str(path), "--set", "arrival_rate=500",
               "--target", "response_time=7ms", "--solve-for", "service_time"]  # fmt: skip

    assert "response_ms over throughput_ops_s" in headway(*command).out
    assert json.loads(headway(*command, "--json").out)["y"] == "response_ms"


def test_several_servers_say_it_too(tmp_path):
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for path in paths:
        path.write_text(open_table())
    data = [part for path in paths for part in ("--data", str(path))]
    command = ["fit", "server", "--forms", "server-single", *data]

    assert "response_ms over throughput_ops_s" in headway(*command).out
    servers = json.loads(headway(*command, "--json").out)["servers"]
    assert {server["y"] for server in servers} == {"response_ms"}
    rows = list(csv.DictReader(headway(*command, "--csv").out.splitlines()))
    assert {row["x"] for row in rows} == {"throughput_ops_s"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param(open_table(), "response_ms over throughput_ops_s", marks=pytest.mark.slow),
        (closed_table(), "response_ms, throughput_ops_s over clients"),
    ],
    ids=["open", "closed"],
)
def test_reports_say_it_too(text, words):
    assert words in make_report(machine(), table(text)).to_html()


def test_plots_name_a_column_where_its_title_says_more_than_the_axis():
    data = table(open_table())
    single = catalogue_model("server-single")
    figures = [
        machine().compare(data).plot(),
        single.fit(data, ["delay", "service_time"]).plot(),
        MeasuredSignature.of(curve(data)).plot(),
    ]
    for figure in figures:
        assert figure.axes[0].get_ylabel() == "response time [ms]"
        assert figure.axes[-1].get_xlabel() == "throughput [op/s]"
    tail = table("throughput_ops_s,p95_ms\n100,3\n").column("p95_ms")
    assert column_label("response_time", tail.unit, tail).endswith("[ms]\n(column p95_ms)")


def test_refusals_are_one_line(tmp_path):
    path = tmp_path / "own.csv"
    path.write_text(open_table())

    message = refusal("compare", "server-single", "--data", str(path), "--y", "response_max")
    assert "is a maximum" in message


def test_jobs_are_counted_in_whole_numbers():
    table = Measurements.parse("population,throughput_ops_s\n1,9\n2.5,20\n", "own.csv")
    with pytest.raises(MeasurementError, match=r"own\.csv:3: population of 2\.5"):
        match(catalogue_model("server-closed"), table)
