"""Models of one system with weights: files, questions that some cannot answer, bands and sizes."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from headway.errors import GraphError, ModelFileError, UnknownParameter
from headway.models import Measurements, ModelGraph, catalogue_model, parse_model, size_model
from headway.models.inference.server import choose_form
from headway.models.reports.alone import report_model
from headway.models.structure.alternatives import Alternative, together, weighted
from headway.models.uncertain.mixture import mixture
from headway.models.uncertain.sampling import HALF
from headway.queueing import MM1, MMm
from tests.support.command import headway, refusal

ONE = (
    ModelGraph("one")
    .declare("s")
    .station("cpu", MM1("s"))
    .at(s=1e-3, arrival_rate=500.0)
    .uncertain({"s": (0.9e-3, 1.1e-3)})
)
POOL = (
    ModelGraph("pool")
    .declare("s", "m")
    .station("cpu", MMm("s", "m"))
    .at(s=4e-3, m=4, arrival_rate=500.0)
)
SLOW = ModelGraph("slow").declare("s").station("cpu", MM1("s")).at(s=1.5e-3, arrival_rate=500.0)


def both(weight=0.25, other=POOL, first=ONE):
    return together([Alternative(first, 1 - weight), Alternative(other, weight)])


def test_a_file_keeps_them():
    drawn = {"s": np.array([0.95e-3, 1e-3, 1.05e-3])}
    model = both(first=replace(ONE, drawn=drawn))

    again = parse_model(model.to_toml())

    assert again == model
    assert [each.weight for each in weighted(again)] == [0.75, 0.25]
    assert again.alternatives[0].model.solve() == POOL.solve()


def test_a_model_names_its_alternatives():
    assert "models, by weight: one 75%, pool 25%" in str(both())


def test_all_are_given_the_same():
    model = both().at(arrival_rate=800, replicas=2)

    for each in weighted(model):
        assert each.model.solve().throughput == 400


def test_one_that_lacks_a_parameter_is_set_aside():
    model = both().at(m=5)

    assert model.name == "pool"
    assert not model.alternatives
    assert dict(model.set_aside) == {"one": 0.75}


def test_the_heaviest_that_can_answers_in_place_of_the_first():
    light = replace(POOL, graph=replace(POOL.graph, name="light"))
    model = together([Alternative(ONE, 0.6), Alternative(light, 0.1), Alternative(POOL, 0.3)])

    able = model.at(m=5)

    assert able.name == "pool"
    assert [one.weight for one in weighted(able)] == pytest.approx([0.75, 0.25])
    assert dict(able.set_aside) == {"one": 0.6}


def test_what_none_has_is_refused_by_the_first():
    with pytest.raises(UnknownParameter, match="one has no parameter 'disks'"):
        both().at(disks=3)


def test_parameters_of_one_name_may_mean_different_things():
    """Servers that share a queue are others than servers with a queue each."""
    shared = catalogue_model("server-pool").at(delay=0, service_time=4e-3, servers=4)
    apart = catalogue_model("server").at(delay=0, service_time=1e-3, servers=1)
    model = together([Alternative(shared, 0.7), Alternative(apart, 0.3)])

    assert dict(model.at(servers=6).set_aside) == {"server": 0.3}
    assert not model.at(arrival_rate=600).set_aside


def test_shares_add_up_however_often_some_are_set_aside():
    third = replace(POOL, graph=replace(POOL.graph, name="third").declare("k")).at()
    model = together([Alternative(ONE, 0.5), Alternative(POOL, 0.3), Alternative(SLOW, 0.2)])
    closed = together([Alternative(ONE, 0.5), Alternative(third, 0.5)])

    able = model.at(m=4)

    assert dict(able.set_aside) == pytest.approx({"one": 0.5, "slow": 0.2})
    assert closed.closed(3).alternatives[0].model.is_closed


def test_draws_are_as_many_as_their_weights():
    members = mixture(both(0.3), 1000)

    assert [(one.model.name, one.count) for one in members] == [("one", 700), ("pool", 300)]
    assert members[0].values["s"].size == 700


def test_draws_of_a_file_are_taken_alike():
    drawn = {"s": np.array([0.95e-3, 1e-3, 1.02e-3, 1.05e-3])}
    values = replace(ONE, drawn=drawn).draws(1000)["s"]

    assert {round(value, 7) for value in values} == {0.95e-3, 1e-3, 1.02e-3, 1.05e-3}
    assert [int(np.sum(values == one)) for one in drawn["s"]] == [250] * 4
    assert replace(ONE, drawn=drawn).at(s=2e-3).drawn == {}


def test_a_band_is_that_of_all_draws():
    """A weight of 10% in a model that answers 4 ms reaches the upper end of a 95% band."""
    slow = together([Alternative(ONE, 0.9), Alternative(SLOW.at(s=1.6e-3), 0.1)])
    bands = slow.propagate(draws=1000)

    low, high = bands.band("response_time")

    assert high == pytest.approx(1.6e-3 / (1 - 0.8), rel=1e-12)
    s = 1e-3 + 0.1e-3 / HALF * norm.ppf(0.025 / 0.9)  # 2.5% of all are so many of 90%
    assert low == pytest.approx(s / (1 - 500 * s), rel=2e-3)
    assert bands.count == 1000


def test_the_probability_of_a_size_is_that_of_all():
    """ONE meets 2.2 ms with the chance that s is at most 2.2 / 2.1 ms; SLOW never does."""
    limit = 2.2e-3
    model = together([Alternative(ONE, 0.8), Alternative(SLOW, 0.2)])
    alone = size_model(ONE, [f"response_time<={limit}"], {"arrival_rate": [500.0]}, "1", 1).best
    mixed = size_model(model, [f"response_time<={limit}"], {"arrival_rate": [500.0]}, "1", 1).best

    assert mixed.probability == pytest.approx(0.8 * alone.probability, abs=2e-3)


def test_a_size_is_larger_where_another_model_needs_more():
    model = together([Alternative(ONE, 0.8), Alternative(SLOW, 0.2)]).at(arrival_rate=2000)
    choose = {"replicas": range(1, 11)}
    targets = ["response_time<=3ms"]

    alone = size_model(ONE.at(arrival_rate=2000), targets, choose, "replicas", 95).best
    mixed = size_model(model, targets, choose, "replicas", 95).best

    # s / (1 - s 2000 / n) <= 3 ms: n >= 2000 / (1/s - 1/3 ms)
    assert alone.values["replicas"] == np.ceil(2000 / (1 / 1.1e-3 - 1 / 3e-3))
    assert mixed.values["replicas"] == 2000 / (1 / 1.5e-3 - 1 / 3e-3)


def test_models_that_have_no_law_of_a_target_are_set_aside():
    formula = parse_model(ONE.to_toml() + '\n[outputs]\nresponse_time = "2 * cpu.response_time"\n')
    model = together([Alternative(formula, 0.6), Alternative(POOL, 0.4)])

    size = size_model(model, ["response_time_p99<=50ms"], {"arrival_rate": [100.0]}, "1")

    assert size.model.name == "pool"
    assert dict(size.model.set_aside) == {"one": 0.6}
    with pytest.raises(GraphError):
        size_model(formula, ["response_time_p99<=50ms"], {"arrival_rate": [100.0]}, "1")


def test_a_solution_says_between_which_ends_all_lie():
    solution = both(other=SLOW).solve()

    assert "2 to 6 ms" in " ".join(str(solution).split())
    assert "models, by weight: one 75%, slow 25%" in str(solution)
    document = json.loads(solution.to_json())
    assert document["models"] == [
        {"model": "one", "weight": 0.75},
        {"model": "slow", "weight": 0.25},
    ]


def test_a_fitted_file_says_what_the_fit_says(tmp_path):
    """Bands of the file and of the fit: the same mixture but for the scatter of a measurement."""
    pool = catalogue_model("server-pool").at(delay=1e-3, service_time=8e-3, servers=4)
    rates = np.linspace(50, 380, 9)
    noise = np.exp(0.01 * np.random.default_rng(3).standard_normal(rates.size))
    times = pool.solve(rates).response_time * noise
    rows = "\n".join(f"{x},{y!r}" for x, y in zip(rates, times.tolist(), strict=True))
    fit = choose_form(Measurements.parse(f"throughput_ops_s,response_s\n{rows}", "pool.csv"))
    path = tmp_path / "server.toml"
    path.write_text(fit.to_toml())

    bands = parse_model(path.read_text()).at(arrival_rate=[200.0, 400.0]).propagate(draws=1000)

    assert len(fit.plausible) == 1 + len(parse_model(path.read_text()).alternatives) > 1
    low, middle, high = fit.predict([200.0, 400.0]).response_time
    ends = bands.band("response_time")
    # draws of the file are half of the fit's, and no measurement's scatter is added: 8%
    assert ends[0] == pytest.approx(low, rel=0.08)
    assert ends[1][0] == pytest.approx(high[0], rel=0.08)
    assert np.all((ends[0] < middle) & (middle < ends[1]))
    text = headway("solve", str(path), "--set", "arrival_rate=200", "--uncertain").out
    assert "models, by weight" in text


WRONG = {
    "weight = 0.25\n": ("", "the key 'weight' is missing"),
    "weight = 0.25": ("weight = 1.0", "their weights sum to 1 or more"),
    "weight = 0.25 ": ("weight = -0.25", "must be above 0"),
    "[alternatives.model]": ("[alternatives.modle]", "unknown key modle; did you mean model?"),
    "s\n0.001\n": ("t\n0.001\n", "t in its first line is not a parameter with ci95"),
    "s\n0.001\n ": ("s s\n0.001 0.001\n", "is given twice"),
    "0.001\n0.0011": ("0.001\n0.0011 3", "each line after the first must hold 1 numbers"),
    "0.001\n0.0011 ": ("0.001\nfast", "must hold numbers, in SI"),
    "0.001\n0.0011  ": ("-1\n0.0011", "s is -1"),
}


@pytest.mark.parametrize("old", WRONG)
def test_what_is_wrong_in_a_file_is_named(old, tmp_path):
    bounded = replace(ONE.parameters["s"], minimum=0.0)
    first = replace(ONE, parameters={**ONE.parameters, "s": bounded})
    text = both(first=replace(first, drawn={"s": np.array([1e-3, 1.1e-3])})).to_toml()
    new, what = WRONG[old]
    assert old.rstrip(" ") in text
    path = tmp_path / "wrong.toml"
    path.write_text(text.replace(old.rstrip(" "), new))

    said = refusal("solve", str(path))

    assert what in said


def test_alternatives_have_none_of_their_own():
    text = together([Alternative(ONE, 0.5), Alternative(both(), 0.5)]).to_toml()

    with pytest.raises(ModelFileError, match="no alternatives of its own"):
        parse_model(text)


def test_a_sensitivity_shows_between_which_ends_all_models_lie():
    answer = both(other=SLOW).sensitivity()

    at_half = {"one": 0.5, "slow": 0.75}  # U of each; R = s / (1 - U) grows by 1 / (1 - U)
    ends = [1 / (1 - busy) for busy in at_half.values()]
    assert answer.elasticities("response_time", "s") == pytest.approx(ends, rel=1e-6)
    row = json.loads(answer.to_json())["outputs"]["response_time"]["s"]
    assert row["all_models"] == pytest.approx(ends, rel=1e-6)
    assert "+2.000 to +4.000" in str(answer)
    assert "models, by weight: one 75%, slow 25%" in str(answer)
    assert "+2.000 to +4.000" in report_model(both(other=SLOW)).to_html()
    assert "all_models_low" in answer.to_csv().splitlines()[0]


def test_parameters_that_mean_something_else_are_not_compared():
    other = replace(
        SLOW, parameters={n: replace(p, doc="a shift") for n, p in SLOW.parameters.items()}
    )
    answer = both(other=other).sensitivity()

    assert answer.elasticities("response_time", "s") == pytest.approx([2, 2], rel=1e-6)


def test_a_sweep_shows_between_which_ends_all_models_lie():
    model = both(other=SLOW)
    swept = model.sweep({"arrival_rate": [200.0, 400.0, 600.0]}, reduce=["moments"])
    alone = {name: [one.at(arrival_rate=x).solve().response_time for x in (200, 400, 600)]
             for name, one in (("one", ONE), ("slow", SLOW))}  # fmt: skip

    means = sorted(float(np.mean(times)) for times in alone.values())
    place = [row["statistic"] for row in swept.results].index("mean")
    assert swept.values_of_all()[place] == pytest.approx(means, rel=1e-12)
    row = json.loads(swept.to_json())["results"][place]
    assert row["all_models"] == pytest.approx(means, rel=1e-12)
    assert "all models" in str(swept)
    assert "models, by weight: one 75%, slow 25%" in str(swept)


def test_a_sweep_sets_aside_what_lacks_a_parameter():
    swept = both().sweep({"m": [4, 5]}, reduce=["moments"])

    assert swept.model.name == "pool"
    assert "set aside, as they cannot answer this: one 75%" in str(swept)
    assert "all_models" not in json.loads(swept.to_json())["results"][0]
