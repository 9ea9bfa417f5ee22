"""Uncertain parameters: intervals and correlations in Python, in model files, and out of fits."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from headway.errors import InvalidParameter, ModelFileError, UnknownParameter
from headway.models import Measurements, ModelGraph, catalogue_model, parse_model
from headway.models.language.parameters import Parameter
from headway.models.language.units import unit
from headway.models.structure.correlations import correlation_matrix
from headway.models.uncertain.sampling import HALF, SplitNormal, draws, triangle
from headway.queueing import MMm
from tests.support.command import refusal

FILE = """\
name = "server"

[parameters]
arrival_rate = "100 op/s"
delay = { value = "1 ms", min = "0 ms", ci95 = ["0.8 ms", "1.3 ms"] }
cpu_time = { value = "2 ms", min = "0 ms", ci95 = ["1.9 ms", "2.1 ms"] }
disk_time = { value = "4 ms", min = "0 ms", max = "9 ms", ci95 = ["2 ms", ""] }
sure = "1 ms"

[stations.network]
kind = "Delay"
service_time = "delay + sure"

[stations.cpu]
kind = "MM1"
service_time = "cpu_time"

[stations.disk]
kind = "MM1"
service_time = "disk_time"

[correlations]
"delay, cpu_time" = -0.7
"cpu_time, disk_time" = 0.25
[[routes]]
from = "network"
to = "cpu"
[[routes]]
from = "cpu"
to = "disk"
"""


def server():
    return parse_model(FILE)


def sampled():
    """The server with every interval closed."""
    return parse_model(FILE.replace('""', '"8 ms"'))


def test_a_model_file_carries_intervals_and_correlations():
    model = server()

    assert model.parameters["delay"].interval == (0.0008, 0.0013)
    assert model.parameters["disk_time"].interval == (0.002, math.inf)
    assert model.parameters["sure"].interval is None
    assert model.correlations == {("delay", "cpu_time"): -0.7, ("cpu_time", "disk_time"): 0.25}


def test_what_is_written_is_read_as_the_same_model():
    model = server()

    assert parse_model(model.to_toml()) == model


def test_links_carry_intervals_too():
    text = """
name = "far"
[links.lan]
platform = "now"
latency = { value = "5 us", ci95 = ["4 us", "6 us"] }
[outputs]
way = { formula = "lan.latency + 2 * lan.overhead", unit = "us" }
"""
    model = parse_model(text)

    assert model.parameters["lan.latency"].interval == (4e-6, 6e-6)
    assert parse_model(model.to_toml()) == model


@pytest.mark.parametrize(
    ("old", "new", "place", "words"),
    [
        (
            '"0.8 ms", "1.3 ms"',
            '"1.1 ms", "1.3 ms"',
            ":5 [parameters.delay.ci95]",
            "not contain its",
        ),
        ('"0.8 ms", "1.3 ms"', '"1.3 ms", "0.8 ms"', ":5 [parameters.delay.ci95]", "above its end"),
        ('"0.8 ms", "1.3 ms"', '"-1 ms", "1.3 ms"', ":5 [parameters.delay.ci95]", "its minimum"),
        ('"2 ms", ""', '"2 ms", "12 ms"', ":7 [parameters.disk_time.ci95]", "above its maximum"),
        ('"0.8 ms", "1.3 ms"', '"0.8 ms"', ":5 [parameters.delay.ci95]", "a list of two ends"),
        ('"0.8 ms", "1.3 ms"', '"0.8 B", "1 ms"', ":5 [parameters.delay.ci95]", "it needs time"),
        ('value = "1 ms"', 'unit = "ms"', ":5 [parameters.delay.ci95]", "needs a single value"),
        ('"delay, cpu_time"', '"delay, cpu_tim"', ":23 [correlations.delay, cpu_tim]", "did you"),
        (
            '"delay, cpu_time"',
            '"delay, sure"',
            ":23 [correlations.delay, sure]",
            "sure has no uncertainty",
        ),
        ('"delay, cpu_time"', '"delay, delay"', ":23 [correlations.delay, delay]", "twice"),
        ('"delay, cpu_time"', '"delay"', ":23 [correlations.delay]", "must name a pair"),
        (
            "-0.7",
            "-1.7",
            ":23 [correlations.delay, cpu_time]",
            "is -1.7; a correlation must be between",
        ),
        ("-0.7", '"much"', ":23 [correlations.delay, cpu_time]", "must be a number"),
        ("0.25", '0.25\n"cpu_time, delay" = -0.7', ":25 [correlations.cpu_time, delay]", "twice"),
        (
            "0.25",
            '0.9\n"disk_time, delay" = 0.8',
            ":24 [correlations.cpu_time, disk_time]",
            "which contradicts the other correlations: the matrix has the eigenvalue -0.",
        ),
    ],
)
def test_bad_uncertainty_is_one_line_with_file_line_and_key(tmp_path, old, new, place, words):
    path = tmp_path / "server.toml"
    assert old in FILE
    path.write_text(FILE.replace(old, new, 1))

    message = refusal("show", path)

    assert f"server.toml{place}: " in message
    assert words in message


def test_a_formula_has_no_interval():
    text = FILE.replace('sure = "1 ms"', 'sure = { formula = "2 * delay", ci95 = [0, 1] }')

    with pytest.raises(ModelFileError, match="sure has a formula; delete its value, bounds"):
        parse_model(text)


def test_correlations_rounded_to_two_decimals_are_taken():
    text = FILE.replace("-0.7", "-1.00").replace("0.25", '0.30\n"delay, disk_time" = -0.29')

    model = parse_model(text).at(disk_time=0.004).uncertain({"disk_time": (0.002, 0.008)})

    assert sorted(draws(model, 64)) == ["cpu_time", "delay", "disk_time"]


def test_another_value_is_certain_and_goes_with_nothing():
    model = server().at(delay="2 ms", cpu_time="2 ms")

    assert model.parameters["delay"].interval is None
    assert model.parameters["cpu_time"].interval == pytest.approx((0.0019, 0.0021))
    assert model.correlations == {("cpu_time", "disk_time"): 0.25}


def test_uncertain_in_python_is_what_a_file_says():
    stations, _, rest = FILE.partition("[correlations]")
    text = stations + rest[rest.index("[[routes]]") :]
    certain = parse_model(text).at(delay=9.0).at(delay=0.001)

    result = certain.uncertain(
        {"delay": ("0.8 ms", "1.3 ms")},
        {("delay", "cpu_time"): -0.7, ("cpu_time", "disk_time"): 0.25},
    )

    assert result == server()
    with pytest.raises(UnknownParameter, match="did you mean delay"):
        certain.uncertain({"delai": (0, 1)})
    with pytest.raises(
        InvalidParameter, match="correlation of delay, cpu_time: delay has no uncertainty"
    ):
        certain.uncertain({}, {("delay", "cpu_time"): 0.5})
    with pytest.raises(InvalidParameter, match="sure: its 95% interval begins at 2 ms, above"):
        certain.uncertain({"sure": (0.002, 0.0005)})
    with pytest.raises(InvalidParameter, match="nan"):
        certain.uncertain({"sure": (math.nan, 0.002)})


def test_draws_keep_intervals_correlations_and_bounds():
    """Quantiles to 1% of the interval's width, rank correlation (6/pi) asin(r/2) to 0.02."""
    model = sampled()
    result = draws(model, 4096, seed=3)

    for name, values in result.items():
        parameter = model.parameters[name]
        low, high = parameter.interval
        ends = np.quantile(values, [0.025, 0.5, 0.975])
        assert ends == pytest.approx([low, parameter.value, high], abs=0.01 * (high - low))
        assert values.min() >= parameter.minimum
        assert values.max() <= parameter.maximum
    assert result["disk_time"].max() == 0.009
    matrix = correlation_matrix(list(result), model.correlations)
    ranks = spearmanr(np.stack([*result.values()], axis=1)).statistic
    assert ranks == pytest.approx(6 / np.pi * np.arcsin(matrix / 2), abs=0.02)


def test_draws_depend_on_the_seed_alone():
    one, same, other = (draws(sampled(), 100, seed)["delay"] for seed in (1, 1, 2))

    assert one.tolist() == same.tolist() != other.tolist()
    assert sampled().draws(100, 1)["delay"].tolist() == one.tolist()


@given(
    st.floats(0.01, 100),
    st.floats(0.0, 5.0),
    st.floats(0.0, 5.0),
)
def test_a_marginal_holds_both_ends_and_the_value_whatever_its_shape(value, below, above):
    """To 1e-9 relative, by logarithms or not; never falling."""
    low, high = value / (1 + below), value * (1 + above)
    marginal = SplitNormal(value, low, high)

    ends = marginal.at(np.array([-HALF, 0.0, HALF]))

    assert ends == pytest.approx([low, value, high], rel=1e-9)
    assert (np.diff(marginal.at(np.linspace(-4, 4, 81))) >= 0).all()


def test_intervals_even_by_ratios_are_taken_by_logarithms():
    assert SplitNormal(1.0, 0.5, 2.0).is_logarithmic
    assert not SplitNormal(1.0, 0.5, 1.5).is_logarithmic
    assert not SplitNormal(1.0, 0.0, 9.0).is_logarithmic


def test_counts_are_drawn_whole():
    pool = ModelGraph("pool").declare("s", "m").station("disk", MMm("s", "m"))
    model = pool.at(s=0.01, m=4, arrival_rate=10).uncertain({"m": (3, 6)})

    m = draws(model, 512)["m"]

    assert (m == m.round()).all()
    assert np.quantile(m, [0.025, 0.5, 0.975]).tolist() == [3, 4, 6]


@given(st.lists(st.floats(-1, 1), min_size=9, max_size=9))
def test_a_triangle_makes_its_correlations_again(numbers):
    """To 1e-7, singular ones too."""
    root = np.reshape(numbers, (3, 3)) + 1e-3 * np.eye(3)
    root /= np.linalg.norm(root, axis=1, keepdims=True)
    wanted = root @ root.T

    result = triangle(wanted)

    assert result @ result.T == pytest.approx(wanted, abs=1e-7)
    assert np.triu(result, 1) == pytest.approx(0, abs=1e-12)


def test_what_is_not_determined_is_not_drawn():
    with pytest.raises(InvalidParameter, match="disk_time: its 95% interval has no upper end"):
        draws(server())
    assert set(draws(server().at(disk_time="3 ms"))) == {"delay", "cpu_time"}


def test_nothing_uncertain_is_refused():
    with pytest.raises(InvalidParameter, match="server-single: no parameter is uncertain"):
        catalogue_model("server-single").draws()


@pytest.mark.parametrize("wrong", [{"count": 0}, {"count": 2.5}, {"seed": -1}, {"count": 10**9}])
def test_counts_and_seeds_are_whole_numbers(wrong):
    with pytest.raises(InvalidParameter, match="must be a whole number"):
        draws(sampled(), **wrong)


def test_an_interval_is_of_one_value():
    with pytest.raises(InvalidParameter, match="delay: its 95% interval needs a single value"):
        Parameter("delay", np.array([0.1, 0.2]), unit("s"), interval=(0.0, 1.0))


def curve(noise=0.02, seed=1):
    load = np.linspace(100, 800, 10)
    factor = 1 + noise * np.random.default_rng(seed).standard_normal(10)
    time = (1e-3 + 1e-3 / (1 - load * 1e-3)) * factor
    rows = "".join(f"{x:.0f},{1e3 * y:.4f}\n" for x, y in zip(load, time, strict=True))
    return Measurements.parse("throughput_ops_s,response_ms\n" + rows, "curve.csv")


def test_a_fitted_model_file_has_the_printed_intervals_and_correlations():
    model = catalogue_model("server-single").at(delay="2 ms", service_time="0.5 ms")
    fit = model.fit(curve(), ["delay", "service_time"])

    again = parse_model(fit.to_toml("headway fit"))

    for name, ends in fit.ci95.items():
        assert again.parameters[name].value == fit.values[name]
        assert again.parameters[name].interval == ends
    text = float(fit.uncertainty.correlations[0, 1])
    assert again.correlations == {("delay", "service_time"): text}
    assert text < -0.5
    assert parse_model(again.to_toml()) == again == fit.uncertain_model("headway fit")


def test_what_a_fit_does_not_determine_has_an_open_end_in_its_file():
    model = catalogue_model("server-single").at(delay="2 ms", service_time="0.5 ms")
    few = Measurements.parse("throughput_ops_s,response_ms\n200,2.2\n400,2.7\n", "few.csv")

    again = parse_model(model.fit(few, ["delay", "service_time"]).to_toml())

    assert again.parameters["delay"].interval[1] == math.inf
    with pytest.raises(InvalidParameter, match="delay: its 95% interval has no upper end"):
        again.draws()


def test_a_fitted_file_is_fitted_again_within_other_bounds():
    model = catalogue_model("server-single").at(delay="2 ms", service_time="0.5 ms")
    again = parse_model(model.fit(curve(), ["delay", "service_time"]).to_toml())

    fit = again.fit(curve(seed=2), ["delay"], bounds={"delay": (0.5e-3, 0.9e-3)})

    assert fit.values["delay"] <= 0.9e-3
    assert parse_model(fit.to_toml()).correlations == {}
    assert parse_model(fit.to_toml()).parameters["service_time"].interval is not None
