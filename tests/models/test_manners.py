"""Functions and methods take what people know from lmfit, scikit-learn and networkx."""

import inspect
import re
import shlex

import click
import networkx as nx
import numpy as np
import pandas
import pytest

import headway
from headway.cli.main import ROOMS
from headway.errors import InvalidParameter, OutputError, UnknownParameter
from headway.lazy import loaded
from headway.models import compare_builds, global_sensitivity, retries
from headway.models.inference.server import ServerFit
from headway.models.structure.model import Model
from tests.support.command import headway as command

CURVE = "throughput_ops_s,response_ms\n200,2.25\n500,3\n800,6\n900,11\n"
"""M/M/1 of 1 ms behind 1 ms."""


@pytest.fixture
def place(tmp_path):
    path = tmp_path / "curve.csv"
    path.write_text(CURVE)
    return path


def server():
    return headway.load("server-single").at(delay="1 ms", service_time="0.5 ms")


def test_one_name_is_a_name_and_several_may_be_one_text(place):
    assert server().fit(place, "service_time").free == ("service_time",)
    assert headway.fit(server(), place, "service_time, delay").free == ("service_time", "delay")
    with pytest.raises(UnknownParameter, match="did you mean service_time"):
        server().fit(place, "service_tim")


def test_measurements_may_be_paths_and_data_frames(place):
    frame = pandas.read_csv(place)
    fits = [server().fit(data, "service_time") for data in (place, str(place), frame)]

    assert [fit.params["service_time"] for fit in fits] == pytest.approx([1e-3] * 3, rel=1e-9)
    assert headway.compare(server(), frame).load.values.tolist() == [200, 500, 800, 900]


def test_what_is_not_a_model_is_refused_with_how_to_get_one(place):
    fit = server().fit(place, "service_time")
    for ask in (
        lambda one: headway.compare(one, place),
        lambda one: headway.fit(one, place, "service_time"),
        lambda one: headway.size(one, "response_time<=3ms", {"service_time": [0.001]}, "1"),
        lambda one: headway.sweep(one, {"service_time": [0.001]}),
    ):
        with pytest.raises(InvalidParameter, match=r"^Fit is not a model; give its \.model$"):
            ask(fit)
        with pytest.raises(
            InvalidParameter, match=r"^'nfs-server' is a name, .*; load it with headway\.load$"
        ):
            ask("nfs-server")


def test_a_fit_has_the_names_of_others(place):
    fit = headway.fit(server(), place, ["service_time", "delay"])

    assert fit.params == fit.values
    deviations = np.sqrt(np.diag(fit.covariance))
    assert deviations == pytest.approx(list(fit.standard_errors.values()), rel=1e-12)
    assert "95% interval" in fit.summary()


def test_percentiles_are_in_per_cent():
    solution = server().solve(0.0, percentiles=[99])

    # an exponential service of 0.5 ms alone, behind 1 ms
    assert solution["response_time_p99"] == pytest.approx(1e-3 + 0.5e-3 * np.log(100), rel=1e-6)
    assert server().solve(0.0, percentiles=99) == solution
    with pytest.raises(InvalidParameter, match=r"percentile 0\.99: write it in per cent, 99"):
        server().solve(0.0, percentiles=[0.99])


def test_a_model_is_a_mapping_of_its_parameters_and_predicts():
    model = server()

    assert (model["delay"], "delay" in model, "disks" in model) == (1e-3, True, False)
    assert [*model] == ["arrival_rate", "delay", "service_time"]
    rates = np.array([0.0, 1000.0, 3000.0])
    assert model.predict(rates)[:2] == pytest.approx([1.5e-3, 2e-3], rel=1e-12)
    assert np.isinf(model.predict(rates)[2])
    frame = pandas.DataFrame({"arrival_rate": [1000.0, 0.0], "delay": [0.0, 2e-3]})
    assert model.predict(frame) == pytest.approx([1e-3, 2.5e-3], rel=1e-12)
    assert model.closed(1).predict([1, 1], "throughput") == pytest.approx([1 / 1.5e-3] * 2)
    drawn = headway.load("nfs-server").to_networkx()
    assert nx.has_path(drawn, "network", "disks")


def test_places_may_be_a_list_and_a_load_may_be_text(place, tmp_path):
    other = tmp_path / "other.csv"
    other.write_text(CURVE)

    assert len(headway.read([place, str(other)]).points) == len(headway.read(place, other).points)
    assert server().predict("500 op/s") == pytest.approx(server().predict([500]), rel=1e-12)


def test_a_report_is_written_where_it_is_asked_for(place, tmp_path):
    out = tmp_path / "page.html"

    report = headway.report(server(), place, out=out)

    assert out.read_text() == report.to_html()
    with pytest.raises(OutputError, match=r"must end in \.html"):
        headway.report(server(), place, out=tmp_path / "page.svg")


def test_a_fit_has_a_page_of_its_own_and_is_not_fitted_again(place):
    fit = server().fit(place, "service_time")

    assert headway.report(fit).fit is fit
    assert headway.report(fit, target="response_time<=5ms").kept is not None
    assert headway.report(headway.fit_server(place)).forms is not None
    with pytest.raises(InvalidParameter, match="free needs a model that is not fitted yet"):
        headway.report(fit, free="delay")


def test_one_target_may_stand_alone():
    pool = headway.load("server-pool").at(delay="1 ms", service_time="9 ms", arrival_rate=500)
    words = {"choose": {"servers": range(1, 9)}, "cost": "servers"}

    sizes = [
        headway.size(pool, each, **words)
        for each in ("response_time<=12ms", ["response_time<=12ms"])
    ]
    sizes.append(pool.size("response_time<=12ms", **words))
    assert len({tuple(one.best.values.items()) for one in sizes}) == 1


def test_a_model_alone_has_a_page_and_so_have_load_tests(place, tmp_path):
    out, typed = tmp_path / "page.html", tmp_path / "typed.html"
    values = {"delay": "1 ms", "service_time": "0.5 ms", "arrival_rate": "900 op/s"}
    settings = [part for name, value in values.items() for part in ("--set", f"{name}={value}")]
    arguments = ["report", "server-single", *settings, "--out", str(typed)]
    assert command(*arguments).code == 0

    headway.report(
        headway.load("server-single").at(values),
        out=out,
        fixed=values,
        command=shlex.join(["headway", *arguments]),
    )

    assert out.read_text() == typed.read_text()
    assert type(headway.report(measurements=place)).__name__ == "AuditReport"
    with pytest.raises(InvalidParameter, match="free needs measurements"):
        headway.report(server(), free="delay")
    with pytest.raises(InvalidParameter, match="target needs a model"):
        headway.report(measurements=place, target="response_time<=5ms")
    with pytest.raises(InvalidParameter, match="give MODEL, --data FILE or both"):
        headway.report()


def test_columns_are_named_and_given_units_as_on_the_command_line(tmp_path):
    path = tmp_path / "own.csv"
    path.write_text("rate,took\n100,3\n200,4\n")
    role = {"rate": "throughput", "took": "response_time"}

    test = headway.read(path, unit={"rate": "op/s", "took": "ms"}, role=role)

    assert [point.response_time for point in test.points] == [3e-3, 4e-3]


def test_a_notebook_keeps_the_lines_of_an_equation_and_the_widths_of_columns(place):
    html = headway.fit_server(place, forms="server-single")._repr_html_()

    assert re.search(r"curve\.csv: server-single .*</b></p>\n<pre>response time = ", html)
    assert "<table>" not in html
    assert html.count("table-layout: auto") == html.count("<table ") > 2
    assert "<caption" in server()._repr_html_() + headway.load("nfs-server").solve()._repr_html_()


def test_a_notebook_shows_the_formulas_of_a_model():
    latex = server()._repr_latex_()

    first = r"\mathrm{response\_time} &= \mathrm{delay} + \mathrm{node.response\_time} \\"
    assert latex.splitlines()[1] == first
    assert server()._repr_html_().count("<math ") == latex.count("&=") == 2
    assert headway.load("server-closed")._repr_latex_() is None


READ = {*inspect.signature(headway.read).parameters} - {"places"}
SHOWN = {"json", "csv", "plot", "log", "dark", "wide"}
MADE = {"preset", "set", "closed", "think"}
CREW = {"workers", "cluster", "wait"}
SPELT = {
    "from": "low",
    "to": "high",
    "bound": "bounds",
    "target": "targets",
    "output": "outputs",
    "percentile": "percentiles",
    "over": "day",
    "sample": "samples",
}
"""Options that are repeated, or a keyword of Python, are spelt otherwise in functions."""

ASKED = {
    "read": ([headway.read], SHOWN | {"out"}),
    "audit": ([headway.audit], SHOWN | READ),
    "solve": (
        [Model.solve, Model.over, Model.simulate, Model.propagate],
        SHOWN | MADE | CREW | {"show", "queue_lengths", "uncertain"},  # methods of their own
    ),
    "check": ([Model.check], SHOWN | MADE | CREW),
    "compare": ([headway.compare, compare_builds], SHOWN | READ | MADE | {"data"}),
    "sensitivity": (
        # of a fit: data, free; of the whole range: global; in Python, of what_it_takes: solve_for,
        # and a target, which is an output and what is wanted of it
        [Model.sensitivity, global_sensitivity],
        SHOWN | MADE | CREW | READ | {"data", "free", "global", "target", "solve_for"},
    ),
    "retries": ([retries], SHOWN | MADE),
    "fit": (
        [headway.fit, headway.fit_server, ServerFit.highest_load],
        # of the fitted model: to_toml, predict, next_loads; at before the fit
        SHOWN | READ | {"preset", "set", "fix", "data"} | CREW
        | {"out", "anyway", "at", "percentile", "next"},
    ),
    "size": ([headway.size], SHOWN | MADE | {"over", "every"}),  # a day has a function of its own
    "sweep": ([headway.sweep], SHOWN | MADE | CREW | {"points", "sample", "kind", "seed"}),
    # a family of forms is fitted first
    "report": ([headway.report, headway.fit_server], READ | {"preset", "set", "data"}),
}  # fmt: skip
"""The functions that do what a command does, and its options about what comes before and after."""


@pytest.mark.parametrize("name", ASKED)
def test_a_command_and_its_function_take_the_same_words(name):
    command = loaded(f"headway.cli.commands.{ROOMS.get(name, name)}:command")
    functions, others = ASKED[name]
    written = {
        option.lstrip("-").replace("-", "_")
        for parameter in command.params
        if isinstance(parameter, click.Option)
        for option in parameter.opts
        if option.startswith("--")
    }
    taken = set().union(*(inspect.signature(function).parameters for function in functions))

    assert {word for word in written - others if not {word, SPELT.get(word)} & taken} == set()


def test_a_function_and_the_method_of_a_model_take_the_same_words():
    for name in ("compare", "fit", "size", "sweep"):
        of_model = [*inspect.signature(getattr(Model, name)).parameters][1:]
        of_function = [*inspect.signature(getattr(headway, name)).parameters][1:]
        shared = [word for word in of_function if word in of_model]
        assert shared == of_model, name
