"""Goals, and the value of one parameter at which several hold."""

import csv
import io
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.errors import InvalidParameter, UnknownParameter
from headway.models import ModelGraph, catalogue_model
from headway.models.analysis.goals import Goal, read_goals
from headway.models.analysis.joint import what_all_take
from headway.models.analysis.points import output_of
from headway.queueing import MM1, MMm
from tests.support.command import headway, refusal

ASK = ("sensitivity", "nfs-server", "--preset", "raid")


def one(rate=1.0, time=0.1):
    return ModelGraph("one").declare("s").station("cpu", MM1("s")).at(s=time, arrival_rate=rate)


def test_a_number_of_every_station_is_the_largest():
    raid = catalogue_model("nfs-server").with_preset("raid").solve([800, 1200])
    each = [np.asarray(raid[f"{name}.utilisation"]) for name in raid.stations]

    assert output_of(raid, "utilisation").tolist() == np.max(each, axis=0).tolist()
    assert output_of(raid, "throughput").tolist() == [800, 1200]  # the network's, not a station's


@pytest.mark.parametrize(
    ("text", "output", "limit"),
    [
        ("response_time<=300ms", "response_time", 0.3),
        (" cpu.utilisation <= 80% ", "cpu.utilisation", 0.8),
        ("throughput>=500", "throughput", 500.0),
        ("utilisation<=0.8", "utilisation", 0.8),
    ],
)
def test_goals_are_read(text, output, limit):
    (goal,) = read_goals(one().solve(), [text])
    assert (goal.output, goal.limit) == (output, limit)
    assert read_goals(one().solve(), [goal]) == (goal,)


@pytest.mark.parametrize(
    ("texts", "says"),
    [
        ([], "no target is given"),
        (["response_time"], "write OUTPUT<=VALUE"),
        (["response_time<3"], "write OUTPUT<=VALUE"),
        (["response_time<=3MB"], "it needs time"),
        (["response_tiem<=3ms"], "did you mean response_time"),
        (["response_time<="], "not a finite number"),
    ],
)
def test_bad_goals_are_refused(texts, says):
    with pytest.raises((InvalidParameter, UnknownParameter, ValueError), match=says):
        read_goals(one().solve(), texts)


def test_a_limit_met_but_for_rounding_is_met():
    goal = Goal("x", "<=", 0.3)
    assert goal.met([0.1 + 0.2, 0.3 * (1 + 1e-11)]).tolist() == [True, False]
    assert Goal("x", "<=", 0.0).met([0.0, 1e-15]).tolist() == [True, False]
    assert Goal("x", ">=", 2.0).met([2.0, np.nan, np.inf]).tolist() == [True, False, True]


@settings(max_examples=40, derandomize=True, deadline=None)
@given(st.floats(0.12, 2.0), st.floats(0.05, 0.95))
def test_the_tighter_of_two_goals_is_limiting(limit, share):
    """By hand: S / (1 - U) <= R holds up to U = 1 - S/R, and U itself up to its own limit."""
    most = {"response_time": 1 - 0.1 / limit, "utilisation": share}
    tight = min(most, key=most.get)
    target = what_all_take(
        one(), [f"response_time<={limit}", f"utilisation<={share}"], "arrival_rate"
    )

    assert target.value == pytest.approx(most[tight] / 0.1, rel=1e-9)
    assert [goal.output for goal in target.limiting] == [tight]
    assert all(goal.met(value) for goal, value in zip(target.goals, target.reached, strict=True))


def test_a_count_just_meets_them_all():
    pool = ModelGraph("pool").declare("s", "m").station("cpu", MMm("s", "m"))
    model = pool.at(s=0.002, m=2, arrival_rate=1400)
    goals = ["response_time<=2.5ms", "utilisation<=0.5", "saturation_throughput>=2000"]
    target = what_all_take(model, goals, "m")

    assert (target.value, target.beyond) == (6, 5)  # 2.8 erlang: 5 are 56% busy
    assert [goal.output for goal in target.limiting] == ["utilisation"]


def test_what_no_value_meets_is_refused_with_how_far_it_is():
    with pytest.raises(InvalidParameter, match=r"no value of s meets response_time <= 1 ms"):
        what_all_take(one(rate=0), ["response_time<=1ms", "response_time>=2ms"], "s")
    with pytest.raises(InvalidParameter, match="every value of arrival_rate from"):
        what_all_take(one(), ["saturation_throughput>=1"], "arrival_rate")
    with pytest.raises(InvalidParameter, match="the model saturates at every value tried"):
        what_all_take(one(rate=1e9), ["utilisation<=0.5"], "s")


def test_command():
    goals = ("--target", "response_time<=10ms", "--target", "utilisation<=50%")
    arguments = (*ASK, *goals, "--solve-for", "arrival_rate")
    document = json.loads(headway(*arguments, "--json").out)
    rows = list(csv.DictReader(io.StringIO(headway(*arguments, "--csv").out)))

    assert document["value"] == pytest.approx(0.5 / 650e-6, rel=1e-9)
    assert [entry["limiting"] for entry in document["targets"]] == [False, True]
    assert [row["limiting"] for row in rows] == ["false", "true"]
    assert [float(row["reached"]) for row in rows] == pytest.approx(
        [entry["reached"] for entry in document["targets"]]
    )
    assert "500 op/s now, 769.2 op/s needed" in headway(*arguments).out


def test_targets_that_are_reached_stand_alone():
    message = refusal(*ASK, "--target", "response_time=9ms", "--target", "utilisation<=0.5",
                   "--solve-for", "disks")  # fmt: skip
    assert "write OUTPUT<=VALUE or OUTPUT>=VALUE" in message


def test_figure_has_a_panel_a_goal():
    target = what_all_take(one(), ["response_time<=250ms", "utilisation<=50%"], "arrival_rate")
    assert len(target.plot().axes) == 2
