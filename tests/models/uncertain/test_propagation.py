"""Uncertain parameters carried through models: bands, saturating draws, what to measure next."""

import csv
import io
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.errors import InvalidParameter
from headway.models import Model, ModelGraph, catalogue_model, parse_model
from headway.models.uncertain.importance import sobol_importance
from headway.models.uncertain.propagation import band_of
from headway.models.uncertain.sampling import HALF, Joint, SplitNormal
from tests.campaigns.band_coverage import coverage
from tests.support.command import headway, refusal

FILE = """\
name = "server"

[parameters]
arrival_rate = "300 op/s"
delay = { value = "1 ms", min = "0 ms", ci95 = ["0.8 ms", "1.3 ms"] }
cpu_time = { value = "2 ms", min = "0 ms", ci95 = ["1.9 ms", "2.15 ms"] }

[stations.network]
kind = "Delay"
service_time = "delay"

[stations.cpu]
kind = "MM1"
service_time = "cpu_time"

[[routes]]
from = "network"
to = "cpu"

[correlations]
"delay, cpu_time" = -0.7
"""
SHARED = """\
name = "shared"

[parameters]
web_rate = "100 op/s"
page_time = { value = "2 ms", ci95 = ["1.8 ms", "2.2 ms"] }
report_time = { value = "20 ms", ci95 = ["18 ms", "22 ms"] }

[stations.cpu]
kind = "MM1"
discipline = "ps"
service_time = { web = "page_time", report = "report_time" }

[classes.web]
arrival_rate = "web_rate"

[classes.report]
population = 3
think_time = "1 s"
"""


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "server.toml"
    path.write_text(FILE)
    return path


def alone(low="1.9 ms", high="2.1 ms"):
    """The server with nothing uncertain but its service time."""
    return parse_model(FILE).at(delay=0.0011).uncertain({"cpu_time": (low, high)})


def test_a_band_of_what_rises_with_one_parameter_lies_between_its_interval_s_ends():
    """R = d + s / (1 - x s) at both ends of s: to 0.5% of the band's width."""
    bands = alone().at(arrival_rate=[100, 300, 400]).propagate(draws=4096)

    low, high = bands.band("response_time")
    rates = np.array([100, 300, 400])
    ends = [0.0011 + s / (1 - rates * s) for s in (0.0019, 0.0021)]
    assert np.abs(np.array([low, high]) - ends).max(axis=0) == pytest.approx(
        0, abs=0.005 * (ends[1] - ends[0]).max()
    )
    assert bands.band("throughput")[0].tolist() == rates.tolist()


def test_bands_are_the_same_as_solved_draw_by_draw_and_point_by_point():
    model = parse_model(FILE).at(arrival_rate=[100.0, 450.0])
    bands = model.propagate(draws=128, seed=5, percentiles=[99])

    one_by_one = np.array(
        [
            [
                model.at(arrival_rate=rate, delay=delay, cpu_time=time)
                .solve()
                .with_percentile(99)["response_time_p99"]
                for rate in (100.0, 450.0)
            ]
            for delay, time in zip(*bands.samples.values(), strict=True)
        ]
    )
    both = zip(bands.band("response_time_p99"), band_of(one_by_one), strict=True)
    for mine, other in both:
        assert mine == pytest.approx(other, rel=1e-9)


def test_all_draws_at_all_points_are_one_solution(monkeypatch):
    rows = []
    solve = Model.solve

    def counted(self, *given, **named):
        solution = solve(self, *given, **named)
        rows.append(solution.shape)
        return solution

    monkeypatch.setattr(Model, "solve", counted)
    parse_model(FILE).at(arrival_rate=np.linspace(1, 450, 50)).propagate(draws=200)

    assert rows == [(50,), (200, 50)]


def test_closed_networks_have_bands_over_populations():
    model = parse_model(FILE).closed([1, 5, 20], "10 ms")

    bands = model.propagate(draws=1024)

    low, high = bands.band("throughput")
    assert (low < bands.solution.throughput).all()
    assert (high > bands.solution.throughput).all()
    assert high[-1] == pytest.approx(1 / 0.0019, rel=0.002)  # all but saturated: 1/s
    assert not bands.saturated_share.any()


def test_classes_have_bands_of_their_own():
    model = parse_model(SHARED).at(web_rate=[50.0, 100.0])
    bands = model.propagate(draws=256)

    for name in ("class web.response_time", "class report.throughput", "cpu.utilisation"):
        low, high = bands.band(name)
        assert (low < bands.solution[name]).all()
        assert (high > bands.solution[name]).all()
    first = bands.importance.first["class report.response_time"]
    assert (first[1] > 0.9).all()
    row = bands.rows()[0]["ci95"]
    assert set(row) == {"outputs", "components", "classes"}
    assert [c.name for c in bands.tables()[0].columns].count("response time report") == 1
    assert "classes" in str(parse_model(SHARED).propagate(draws=128))


def test_programs_have_bands():
    pipeline = catalogue_model("pipeline").with_preset("gam")
    name = next(n for n, p in pipeline.parameters.items() if p.unit.text and p.value)
    value = pipeline.parameters[name].value

    bands = pipeline.uncertain({name: (0.9 * value, 1.1 * value)}).propagate(draws=128)

    low, high = bands.band(bands.solution.outputs[0])
    assert low <= bands.solution[bands.solution.outputs[0]] <= high
    assert "measure next" in str(bands)


def test_draws_that_saturate_are_counted_and_their_times_lie_above_every_number(path):
    """The share that saturates is that of draws with s >= 1/x, normal on either side."""
    model = alone().at(arrival_rate=[490.0, 600.0])
    bands = model.propagate(draws=4096)

    score = (1 / 490 - 0.002) / (0.0001 / HALF)
    from scipy.special import ndtr

    assert bands.saturated_share.tolist() == pytest.approx([1 - ndtr(score), 1.0], abs=0.002)
    low, high = bands.band("response_time")
    assert np.isfinite(low[0])
    assert high.tolist() == [np.inf, np.inf]
    assert np.isnan(bands.importance.first["response_time"]).all()
    assert bands.importance.first["saturation_throughput"] == pytest.approx(1, abs=0.02)
    document = json.loads(bands.to_json())
    band = document["points"][0]["ci95"]["outputs"]["response_time"]
    assert band[0] > 0
    assert band[1] is None
    assert document["points"][1]["saturated_share"] == 1
    assert "draws saturate: their infinite times count as above every" in str(bands)


def test_a_draw_without_a_number_leaves_no_band():
    """Of classes, what gets through where some draws saturate is not known."""
    low, high = band_of(np.array([[1.0, 1.0], [2.0, np.nan], [3.0, 3.0]]))

    assert np.isfinite(low).tolist() == np.isfinite(high).tolist() == [True, False]


@given(st.lists(st.floats(-9, 9), min_size=3, max_size=60))
def test_bands_of_finite_values_are_numpy_s_quantiles(values):
    low, high = band_of(np.array(values))

    wanted = np.quantile(values, [0.025, 0.975])
    assert [low.item(), high.item()] == pytest.approx(wanted.tolist(), rel=1e-9, abs=1e-9)


def linear(weights, correlations):
    """Indices of a weighted sum of normal parameters, found."""
    names = "abc"[: len(weights)]
    joint = Joint({n: SplitNormal(0.0, -HALF, HALF) for n in names}, np.array(correlations, float))

    def evaluate(at):
        return {"sum": sum(w * at[n] for w, n in zip(weights, names, strict=True))[:, None]}

    return sobol_importance(evaluate, joint, 2048, 1)


@settings(max_examples=25)
@given(
    st.lists(st.floats(0.2, 2), min_size=3, max_size=3),
    st.lists(st.floats(-0.5, 0.5), min_size=3, max_size=3),
)
def test_indices_of_a_sum_of_correlated_normals_are_exact_to_two_hundredths(weights, pairs):
    """Of Y = w'X: first (C w)_k^2 / w'Cw, total w_k^2 (1 / C^-1_kk) / w'Cw.

    Source: Kucherenko, Tarantola and Annoni, 2012, section 5.
    """
    matrix = np.eye(3)
    matrix[[0, 0, 1], [1, 2, 2]] = matrix[[1, 2, 2], [0, 0, 1]] = 0.9 * np.array(pairs)
    w = np.array(weights)
    variance = w @ matrix @ w
    if variance < 0.3 * (w @ w):
        return
    result = linear(weights, matrix)

    first, total = (matrix @ w) ** 2 / variance, w**2 / np.diag(np.linalg.inv(matrix)) / variance
    assert result.first["sum"][:, 0] == pytest.approx(first, abs=0.02)
    assert result.total["sum"][:, 0] == pytest.approx(total, abs=0.02)


def test_indices_of_a_product_tell_what_acts_together():
    """Of X1 X2 with means 0: first indices 0, total ones 1."""
    joint = Joint({n: SplitNormal(0.0, -HALF, HALF) for n in "xy"}, np.eye(2))

    indices = sobol_importance(lambda at: {"p": (at["x"] * at["y"])[:, None]}, joint, 4096, 2)

    assert indices.first["p"][:, 0] == pytest.approx([0, 0], abs=0.03)
    assert indices.total["p"][:, 0] == pytest.approx([1, 1], abs=0.05)


@pytest.mark.slow
def test_bands_of_fits_hold_the_truth_as_often_as_they_say():
    """A slice of what `python -m tests.campaigns.band_coverage` counts: 10 servers, 8 at least."""
    assert coverage(10) >= 8 / 10


def test_the_command_prints_bands_and_what_to_measure_next(path):
    printed = headway("solve", path, "--uncertain").out

    assert (
        "95% bands of 1000 draws, seed 1: delay 0.8 to 1.3 ms, cpu_time 1.9 to 2.15 ms" in printed
    )
    assert "correlations: delay, cpu_time -0.70" in printed
    assert "measure cpu_time next: 9" in printed
    assert printed == headway("solve", path, "--uncertain", "--draws", "1000", "--seed", "1").out
    assert printed != headway("solve", path, "--uncertain", "--seed", "2").out


def test_json_and_csv_have_the_same_bands(path):
    arguments = ("solve", path, "--uncertain", "--draws", "200", "--set", "arrival_rate=100,300")
    document = json.loads(headway(*arguments, "--json").out)
    rows = list(csv.DictReader(io.StringIO(headway(*arguments, "--csv").out)))

    assert document["draws"] == 200
    assert document["uncertain"]["delay"] == {"value": 0.001, "ci95": [0.0008, 0.0013]}
    assert document["correlations"] == [{"parameters": ["delay", "cpu_time"], "value": -0.7}]
    for point, row in zip(document["points"], rows, strict=True):
        low, high = point["ci95"]["outputs"]["response_time"]
        assert [float(row[f"response_time_{end}_s"]) for end in ("low", "high")] == [low, high]
        assert low < point["outputs"]["response_time"] < high
        ends = point["ci95"]["components"]["cpu"]["utilisation"]
        assert [float(row[f"cpu_utilisation_{end}"]) for end in ("low", "high")] == ends
    low, high = (point["importance"]["response_time"] for point in document["points"])
    assert low["cpu_time"]["first"] < low["delay"]["first"]
    assert high["cpu_time"]["first"] > high["delay"]["first"]
    assert 0 < document["importance_error"] < 0.1


def test_a_plot_has_the_band(path, tmp_path):
    model = parse_model(FILE).at(arrival_rate=[100.0, 300.0, 490.0])

    figure = model.propagate(draws=200).plot()

    assert all(axes.collections for axes in figure.axes)
    grid = model.at(arrival_rate=[100.0, 300.0] * 2, delay=[0.001] * 2 + [0.002] * 2)
    assert len(grid.propagate(draws=200).plot().axes[0].collections) == 2
    drawn = tmp_path / "band.svg"
    headway("solve", path, "--uncertain", "--set", "arrival_rate=100,300", "--plot", drawn)
    assert b"95% band" in drawn.read_bytes() or drawn.stat().st_size > 1000


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--draws", "500"), "--draws needs --uncertain"),
        (("--seed", "2"), "--seed needs --uncertain"),
        (("--uncertain", "--draws", "10"), "draws is 10; it must be a whole number between 100"),
        (("--uncertain", "--draws", "0"), "draws is 0; it must be"),
        (("--uncertain", "--seed", "-1"), "seed is -1; it must be"),
        (("--uncertain", "--draws", "x"), "not a whole number"),
        (
            ("--uncertain", "--set", "delay=1.1ms", "--set", "cpu_time=1.9ms"),
            "server: no parameter is uncertain; write ci95 = [LOW, HIGH] beside arrival_rate",
        ),
        (
            ("--uncertain", "--draws", "100000", "--set", "arrival_rate=1:400:1"),
            "100000 draws at 400 points are more than 5,000,000 to solve; take fewer points, or",
        ),
    ],
)
def test_bad_requests_are_one_line(path, options, message):
    assert message in refusal("solve", path, *options)


def test_an_open_interval_is_refused_with_its_reason(path):
    path.write_text(FILE.replace('"1.3 ms"', '""'))

    assert "delay: its 95% interval has no upper end" in refusal("solve", path, "--uncertain")


def test_drawn_values_that_cannot_be_solved_are_refused_as_such():
    text = """
name = "split"
[parameters]
arrival_rate = "10 /s"
hit = { value = 0.95, ci95 = [0.9, 1.1] }
[stations.cpu]
kind = "MM1"
service_time = "1 ms"
[stations.disk]
kind = "MM1"
service_time = "5 ms"
[[routes]]
from = "cpu"
to = "disk"
probability = "1 - hit"
"""
    with pytest.raises(InvalidParameter, match="split: some drawn values cannot be solved"):
        parse_model(text).propagate()
    assert parse_model(text.replace("1.1]", "1], max = 1")).propagate(draws=100).count == 100


def test_a_graph_in_python_is_propagated_too():
    from headway.queueing import MM1

    one = ModelGraph("one").declare("s").station("cpu", MM1("s")).at(s=0.1, arrival_rate=5)
    bands = one.uncertain({"s": (0.09, 0.11)}).propagate()

    assert repr(bands) == "Propagation(one, 1 point, 1000 draws of s)"
    assert bands.band("response_time")[1] > 0.2


LOOP = """
name = "loop"
[parameters]
arrival_rate = "30 op/s"
cpu_time = { value = "10 ms", ci95 = ["9 ms", "11 ms"] }
[stations.cpu]
kind = "MM1"
service_time = "cpu_time"
[stations.disk]
kind = "MM1"
service_time = "12 ms"
[[routes]]
from = "cpu"
to = "disk"
probability = 0.5
[[routes]]
from = "disk"
to = "cpu"
"""


@pytest.mark.slow
def test_percentiles_found_one_by_one_have_bands_within_reason():
    model = parse_model(LOOP)
    bands = model.propagate(draws=100, percentiles=[95])

    low, high = bands.band("response_time_p95")
    assert low < bands.solution["response_time_p95"] < high
    assert "response_time_p95" not in bands.importance.first
    assert "not for percentiles, which this network solves one by one" in str(bands)
    with pytest.raises(InvalidParameter, match="100 draws at 60 points are more than 5,000 to"):
        model.at(arrival_rate=np.linspace(1, 30, 60)).propagate(draws=100, percentiles=[95])


@pytest.mark.parametrize(
    ("draws", "words"), [(1000, "by 0.005 at most"), (20_000, "by less than 0.001")]
)
def test_an_error_of_the_indices_is_said_with_a_digit_that_tells(draws, words):
    independent = FILE[: FILE.index("[correlations]")]
    bands = parse_model(independent, "server.toml").at(arrival_rate=10.0).propagate(draws, 1)

    text = " ".join(str(bands).split())
    assert f"half of them alone would change the indices {words}" in text
