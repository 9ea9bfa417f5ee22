"""Several outputs in one fit: closed curves, their weights, and what counts once."""

import csv
import json

import numpy as np
import pytest

from headway.errors import MeasurementError
from headway.models import Measurements, ModelGraph, catalogue_model, fit_model
from headway.queueing import MM1, Delay
from tests.support.command import headway, refusal

CLIENTS = np.array([1, 2, 4, 8, 16, 32, 64])
SERVER = catalogue_model("server-single").at(delay="30 us", service_time="30 us")
FREE = ["delay", "service_time"]
BOTH = ("response_us", "throughput_ops_s")
_CURVES = 120


def closed(think=0.0, clients=CLIENTS):
    """Exact throughput and response time of a delay and one constant server."""
    solution = SERVER.closed(1, think).solve(population=clients)
    return np.asarray(solution.throughput), np.asarray(solution.response_time)


def table(rate, response, clients=CLIENTS, more=""):
    columns = zip(clients.tolist(), rate.tolist(), (1e6 * response).tolist(), strict=True)
    rows = "\n".join(f"{n},{x!r},{r!r}{more}" for n, x, r in columns)
    think = ",think_time_us" if more else ""
    return Measurements.parse(f"clients,throughput_ops_s,response_us{think}\n{rows}\n", "own.csv")


def runs(seed, think=0.0, noise=0.02):
    """Runs in which the server was a little slower or faster: Little's law holds in each."""
    rate, response = closed(think)
    slower = response * np.exp(noise * np.random.default_rng(seed).standard_normal(rate.size))
    return CLIENTS / (slower + think), slower


def test_a_closed_test_is_fitted_to_both_columns():
    fit = SERVER.at(delay="1 ms", service_time="1 ms").fit(table(*closed()), FREE)

    assert fit.problem.outputs == ("response_time", "throughput")
    # digits as Python prints them; the search ends at 1e-12 relative changes
    assert fit.values == pytest.approx({"delay": 30e-6, "service_time": 30e-6}, rel=1e-6)
    assert str(fit.comparison.axes) == "response_us, throughput_ops_s over clients"


def test_what_follows_by_littles_law_counts_once():
    """Without think time errors of X are those of R, reversed: nothing is learnt from both."""
    data = table(*runs(3))
    both, one = (SERVER.fit(data, FREE, y=y) for y in (None, "response_us"))

    assert (both.points, one.points) == (7, 7)
    assert both.uncertainty.degrees == one.uncertainty.degrees == 5
    # relative errors of R and of 1/R differ by a quarter of their squares: 2% of noise
    assert both.values == pytest.approx(one.values, rel=0.01)
    assert both.standard_errors == pytest.approx(one.standard_errors, rel=0.05)
    assert both.aicc == pytest.approx(one.aicc, abs=0.5)
    assert "each point counts once" in " ".join(str(both).split())


def test_what_was_measured_apart_counts_twice():
    rate, response = closed()
    random = np.random.default_rng(5)
    noisy = [v * np.exp(0.05 * random.standard_normal(v.size)) for v in (rate, response)]
    fit = SERVER.fit(table(*noisy), FREE)

    assert fit.points == 14
    assert fit.uncertainty.degrees == 12


@pytest.mark.parametrize("source", ["column", "setting", "free", "little"])
def test_a_think_time_is_told_or_fitted(source):
    data = table(*closed(2e-4), more=",200" if source == "column" else "")
    model = SERVER.at(delay="10 us", service_time="50 us")
    model = model.closed(1, {"setting": 2e-4, "free": 1e-3}.get(source, 0.0))
    model = catalogue_model("server-single") if source == "little" else model
    free = [*FREE, "think_time"] if source == "free" else FREE

    fit = model.fit(data, free)

    truth = {"delay": 30e-6, "service_time": 30e-6, "think_time": 2e-4}
    assert fit.values == pytest.approx({name: truth[name] for name in free}, rel=1e-5)
    assert fit.points == 7


@pytest.mark.slow
@pytest.mark.parametrize(("think", "free"), [(0.0, FREE), (2e-4, [*FREE, "think_time"])])
def test_intervals_of_joint_fits_cover_the_truth(think, free):
    model = SERVER.closed(1, think)
    hits = dict.fromkeys(free, 0)
    for seed in range(_CURVES):
        fit = fit_model(model, table(*runs(seed, think)), free, starts=1)
        half = fit.uncertainty.standard_errors * _student(fit.uncertainty.degrees)
        for name, reach in zip(free, half, strict=True):
            hits[name] += abs(fit.values[name] - model.inputs[name]) <= reach

    # 95% of 120, and three standard deviations of that count to either side; Little's law tells a
    # free think time exactly, which makes intervals wider than they need be
    most = 0.995 if think == 0 else 1.0
    assert all(0.89 <= count / _CURVES <= most for count in hits.values()), hits


def _student(degrees):
    from headway.models.inference.certainty.shifts import student

    return student(degrees)


def test_points_are_left_out_with_all_their_outputs():
    rate, response = runs(1)
    wild = rate.copy()
    wild[3] *= 3
    fit = SERVER.fit(table(rate, response), FREE)
    spoilt = SERVER.fit(table(wild, response * rate / wild), FREE)

    assert fit.leave_one_out.shape == (14,)
    # the point that is wrong in both columns is foreseen as if it had not been there
    np.testing.assert_allclose(
        spoilt.leave_one_out[6:8] + 1, (fit.leave_one_out[6:8] + 1) * [3, 1 / 3], rtol=1e-6
    )


def test_each_output_shows_its_errors(tmp_path):
    path = tmp_path / "own.csv"
    rate, response = runs(2)
    columns = zip(CLIENTS, rate, 1e6 * response, strict=True)
    rows = [",".join(BOTH[::-1]), *(f"{x:.6g},{r:.6g}" for _, x, r in columns)]
    clients = ["clients", *map(str, CLIENTS)]
    path.write_text("\n".join(f"{n},{row}" for n, row in zip(clients, rows, strict=True)))
    commands = [["compare", "server-single", "--set", "delay=30us", "--set", "service_time=30us"],
                ["fit", "server-single", "--free", "delay,service_time"]]  # fmt: skip

    for command in commands:
        arguments = [*command, "--data", str(path)]
        document = json.loads(headway(*arguments, "--json").out)
        assert [each["y"] for each in document["outputs"]] == list(BOTH)
        assert document["y"] == ",".join(BOTH)
        assert [p["output"] for p in document["points"]] == (
            ["response_time"] * 7 + ["throughput"] * 7
        )
        errors = {
            name: [p["relative_error"] for p in document["points"] if p["output"] == name]
            for name in ("response_time", "throughput")
        }
        for each in document["outputs"]:
            own = np.sqrt(np.mean(np.square(errors[each["output"]])))
            assert each["summary"]["rms_relative_error"] == pytest.approx(own)
        shown = headway(*arguments).out
        assert all(name in shown for name in BOTH)
        [first, *_] = csv.DictReader(headway(*arguments, "--csv").out.splitlines())
        assert first["y"] == ",".join(BOTH)
    header = headway(*commands[0], "--data", str(path), "--csv").out.splitlines()[0]
    assert "throughput_predicted" in header
    one = json.loads(headway(*commands[1], "--data", str(path), "--y", "response_us", "--json").out)
    assert "output" not in one["points"][0]


def test_two_outputs_are_two_pairs_of_panels():
    axes = SERVER.fit(table(*runs(2)), FREE).plot().axes

    assert len(axes) == 4
    assert ["response time" in axes[k].get_ylabel() for k in (0, 2)] == [True, False]
    assert ["throughput" in axes[k].get_ylabel() for k in (0, 2)] == [False, True]


def test_outputs_that_are_named_twice_are_refused(tmp_path):
    path = tmp_path / "own.csv"
    path.write_text("clients,throughput_ops_s,response_ms\n1,10,100\n2,20,100\n")
    arguments = ["fit", "server-single", "--free", "delay", "--data", str(path), "--y"]

    assert "names the response time twice" in refusal(*arguments, "response_ms,response_ms")
    assert "there is no column 'pace'" in refusal(*arguments, "response_ms,pace")


TIMED = (
    ModelGraph("timed")
    .declare("delay", "s")
    .station("wire", Delay("delay"))
    .station("cpu", MM1("s"))
    .route("wire", "cpu")
)


def measured_with_utilisation(seed, times=0.05, shares=0.005):
    """Response times that err by 5%, and utilisations that err by half a per cent."""
    loads = np.linspace(100, 850, 12)
    exact = TIMED.at(delay=2e-3, s=1e-3).solve(arrival_rate=loads)
    random = np.random.default_rng(seed)
    response = exact.response_time * np.exp(times * random.standard_normal(12))
    busy = 100 * exact["cpu.utilisation"] * np.exp(shares * random.standard_normal(12))
    rows = (
        "\n".join(
            f"{x!r},{r!r},{u!r}" for x, r, u in zip(loads.tolist(), response, busy, strict=True)
        )
        .replace("np.float64(", "")
        .replace(")", "")
    )
    return Measurements.parse(f"throughput_ops_s,response_s,cpu_util_pct\n{rows}\n", "own.csv")


def fitted_with_utilisation(seed, **noise):
    data = measured_with_utilisation(seed, **noise)
    return fit_model(TIMED.at(delay=1e-3, s=5e-4), data, ["delay", "s"], y=list(data.columns)[1:])


def test_utilisation_tells_what_times_hardly_do():
    joint = fitted_with_utilisation(1)
    data = measured_with_utilisation(1)
    times = fit_model(TIMED.at(delay=1e-3, s=5e-4), data, ["delay", "s"], y="response_s")

    assert joint.problem.outputs == ("response_time", "cpu.utilisation")
    assert joint.points == 24
    assert joint.standard_errors["s"] < 0.3 * times.standard_errors["s"]
    assert joint.problem.scatter[0] / joint.problem.scatter[1] == pytest.approx(10, rel=0.7)
    assert "each output is weighted by its own scatter" in str(joint)
    alike = fitted_with_utilisation(1, times=0.02, shares=0.02)
    assert alike.problem.scatter == (1.0, 1.0)


@pytest.mark.slow
def test_intervals_with_own_weights_cover_the_truth():
    truth = {"delay": 2e-3, "s": 1e-3}
    hits = dict.fromkeys(truth, 0)
    for seed in range(_CURVES):
        data = measured_with_utilisation(seed)
        fit = fit_model(TIMED.at(**truth), data, ["delay", "s"], y=list(data.columns)[1:], starts=1)
        half = fit.uncertainty.standard_errors * _student(fit.uncertainty.degrees)
        for name, reach in zip(truth, half, strict=True):
            hits[name] += abs(fit.values[name] - truth[name]) <= reach

    # as above; weights are estimated from ten degrees of freedom each, which widens nothing
    assert all(0.89 <= count / _CURVES <= 0.995 for count in hits.values()), hits


def test_a_utilisation_of_no_station_is_refused():
    data = measured_with_utilisation(1)
    with pytest.raises(MeasurementError, match=r"utilisation of cpu, which is not a station of s"):
        catalogue_model("server-single").compare(data, y="cpu_util_pct")
