"""The cheapest configuration that meets targets with a probability."""

import csv
import io
import json
import math

import numpy as np
import pytest

from headway.models import ModelGraph, parse_model, size_model
from headway.models.analysis.goals import read_goals
from headway.models.sizing.chance import ByChance
from headway.models.sizing.choices import grid_of
from headway.models.sizing.cost import cost_of
from headway.models.sizing.judge import ByModel
from headway.models.uncertain.mixture import Member
from headway.models.uncertain.sampling import draws
from headway.queueing import MM1, Delay, MMm
from tests.campaigns.sure_sizes import outcome
from tests.support.command import headway, refusal

ONE = (
    ModelGraph("one")
    .declare("s", "speed")
    .station("cpu", MM1("s / speed"))
    .at(s=1e-3, speed=1.0, arrival_rate=500.0)
    .uncertain({"s": (0.9e-3, 1.1e-3)})
)
POOL = ModelGraph("pool").declare("s", "d", "m", "z").station("cpu", MMm("s", "m"))
POOL = POOL.station("net", Delay("d / z")).route("cpu", "net")
POOL = POOL.at(s=0.01, d=0.02, m=1, z=1.0, arrival_rate=700.0)
UNSURE = {"s": (0.008, 0.013), "d": (0.015, 0.026)}
FILE = """
name = "pool"
[parameters]
arrival_rate = "700 op/s"
m = 8
s = {value = "10 ms", ci95 = ["8 ms", "13 ms"]}
[stations.cpu]
kind = "MMm"
service_time = "s"
servers = "m"
"""


def normal(x):
    return 0.5 * (1 + math.erf(x / math.sqrt(2)))


@pytest.mark.parametrize("speed", [0.8, 1.0, 1.1, 1.3])
def test_the_probability_by_hand(speed):
    """S/v <= R / (1 + rate R), and S is normal; 2048 even draws tell it to 0.1%."""
    limit = 2.2e-3
    edge = speed * limit / (1 + 500 * limit)
    result = normal((edge - 1e-3) / (0.1e-3 / 1.959963984540054))
    best = size_model(ONE, [f"response_time<={limit}"], {"speed": [speed]}, "speed", 1e-3).best
    assert best.probability == pytest.approx(result, abs=1e-3)


@pytest.mark.parametrize("confidence", [50, 90, 95, 99])
@pytest.mark.parametrize("correlation", [-0.9, 0.0, 0.9])
def test_the_cheapest_is_that_of_all_draws(confidence, correlation):
    """Leaving out what fails in the first draws changes nothing."""
    model = POOL.uncertain(UNSURE, {("s", "d"): correlation})
    choose = {"m": range(1, 31), "z": [1.0, 1.5, 2.0, 4.0]}
    size = size_model(model, ["response_time<=40ms"], choose, "40*m + 100*z", confidence)

    grid = grid_of(model, choose)
    goals = read_goals(model.solve(), ["response_time<=40ms"])
    chosen = model.at({"m": 1.0, "z": 1.0})
    drawn = Member(chosen, draws(chosen, 2048, 1), 2048, np.ones(2048))
    judge = ByChance(ByModel(chosen, goals), (drawn,), confidence / 100).full()
    columns = grid.at(np.arange(grid.size))
    share, costs = judge(columns).share, cost_of("40*m + 100*z", grid.names).of(columns)
    assert size.best.cost == costs[share >= confidence / 100].min()
    assert size.best.probability >= confidence / 100
    assert size.cheaper.probability < confidence / 100
    assert size.nearest.probability == pytest.approx(share[costs < size.best.cost].max(), abs=0.03)


def test_surer_costs_more():
    model = POOL.uncertain(UNSURE)
    costs = [
        size_model(model, ["response_time<=40ms"], {"m": range(1, 41)}, "m", sure).best.cost
        for sure in (50, 80, 95, 99)
    ]
    assert costs == sorted(costs)
    assert costs[0] < costs[-1]


def test_correlations_count():
    """Two times that make up for each other are surer to keep a sum below its limit."""
    shares = []
    for correlation in (-0.9, 0.9):
        model = POOL.uncertain(UNSURE, {("s", "d"): correlation})
        size = size_model(model, ["response_time<=38ms"], {"m": [20]}, "m", 1)
        shares.append(size.best.probability)
    assert shares[0] > shares[1] + 0.02


def test_what_is_chosen_is_certain():
    model = ONE.uncertain({"speed": (0.9, 1.1)})
    size = size_model(model, ["response_time<=2.2ms"], {"speed": [1.0]}, "speed", 10)
    assert size.chance.names == ("s",)
    alone = ONE.at(s=1.1e-3).uncertain({"speed": (0.9, 1.1)})
    with pytest.raises(ValueError, match="only the choices are uncertain"):
        size_model(alone, ["response_time<=9ms"], {"speed": [1.0]}, "speed", 10)


@pytest.mark.parametrize(
    ("confidence", "says"),
    [(0, "confidence"), (100, "confidence"), (-5, "confidence"), (99.99, "at most 99.98")],
)
def test_confidences_that_draws_cannot_tell_are_refused(confidence, says):
    with pytest.raises(ValueError, match=says):
        size_model(ONE, ["response_time<=1s"], {"speed": [1.0]}, "speed", confidence)


def test_refusals_say_how_sure_the_best_one_is(tmp_path):
    arguments = ("--target", "response_time<=12ms", "--choose", "m=1:40", "--cost", "m")
    (tmp_path / "pool.toml").write_text(FILE)
    message = refusal("size", tmp_path / "pool.toml", *arguments, "--confidence", "95")
    none = refusal("size", "server-single", "--target", "response_time<=1s", "--choose",
                   "delay=1,2ms", "--cost", "delay", "--confidence", "95")  # fmt: skip

    assert "no parameter is uncertain" in none
    result = normal(math.log(1.2) / (math.log(1.3) / 1.959963984540054))  # with servers enough
    assert f"with a probability of 95%; the nearest is m 18 with {100 * result:.1f}%" in message


def test_command_states_the_probability(tmp_path):
    (tmp_path / "pool.toml").write_text(FILE)
    arguments = ("size", tmp_path / "pool.toml", "--target", "response_time<=15ms", "--choose",
             "m=1:40", "--cost", "m", "--confidence", "95")  # fmt: skip
    document = json.loads(headway(*arguments, "--json").out)
    rows = list(csv.DictReader(io.StringIO(headway(*arguments, "--csv").out)))
    text = " ".join(headway(*arguments).out.split())
    same = size_model(parse_model(FILE), ["response_time<=15ms"], {"m": range(1, 41)}, "m", 95)

    assert (document["confidence"], document["draws"]) == (95.0, 2048)
    assert document["cheapest"]["probability"] == same.best.probability >= 0.95
    assert document["next_cheaper"]["probability"] < 0.95
    assert float(rows[0]["probability"]) == same.best.probability
    assert "from 2048 draws of s; 95% is required" in text
    assert "one step cheaper, m = " in text


@pytest.mark.slow
def test_what_is_stated_of_simulated_servers_holds():
    """A slice of ``python -m tests.campaigns.sure_sizes``, which takes 200 servers."""
    values = [outcome(seed) for seed in range(5)]
    assert all(0.95 <= one.stated < 0.97 for one in values)
    assert sum(one.holds for one in values) >= 4
