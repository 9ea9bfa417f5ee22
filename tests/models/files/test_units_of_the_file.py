"""Questions and answers in the units of the model file, with classes too, and fractions."""

import json
import re

import pytest

from headway.cli.sweeps import sweep
from headway.errors import UnitError
from headway.models import parse_model
from headway.models.language.units import quantity, unit
from tests.models.importing.test_import import PEERS
from tests.support.command import headway, refusal

DESK = """name = "desk"
[classes.urgent]
arrival_rate = "6 /h"
priority = 1
[classes.other]
arrival_rate = "15 /h"
priority = 2
[stations.desk]
kind = "MMm"
discipline = "priority"
servers = 5
service_time = "10 min"
"""
PLAIN = DESK.replace('discipline = "priority"\n', "").replace("priority = 1\n", "")
PLAIN = PLAIN.replace("priority = 2\n", "").replace('"15 /h"', '"rate"')
PLAIN = PLAIN.replace('"desk"\n', '"desk"\n[parameters]\nrate = "15 /h"\n', 1)
ROSS = """name = "ross"
[stations.one]
kind = "MM1"
service_time = "0.1 s"
[stations.two]
kind = "MM1"
service_time = "0.02 s"
[stations.three]
kind = "MM1"
service_time = "0.01 s"
[arrivals]
one = "5 /s"
two = "10 /s"
three = "15 /s"
[[routes]]
from = "one"
to = "two"
probability = "1/3"
[[routes]]
from = "one"
to = "three"
probability = "1/3"
[[routes]]
from = "two"
to = "three"
[[routes]]
from = "three"
to = "two"
probability = 0.5
"""
CALLS = """name = "calls"
[parameters]
arrival_rate = "30 /h"
hold = "60 s"
[stations.desk]
kind = "MMm"
servers = 2
service_time = "hold"
"""
SHARED = """name = "shared"
[parameters]
arrival_rate = "1 /s"
disk = "0.1 s"
room = 3
[stations.a]
kind = "MM1"
service_time = "disk"
[stations.b]
kind = "MM1"
service_time = "0.2 s"
[[routes]]
from = "a"
to = "b"
[regions.hall]
stations = ["a", "b"]
limit = "room"
"""


@pytest.fixture
def file(tmp_path):
    def write(text, name="model.toml"):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return write


def test_a_probability_may_be_a_fraction():
    """Ross, Introduction to Probability Models: L = 82/13, W = 41/195."""
    for share in ('"1/3"', '"2 / 6"', '"1 - 2/3"', '{formula = "1/3"}'):
        text = ROSS.replace('"1/3"', "'p'").replace(
            "[stations.one]", "[parameters]\np = 1\n[stations.one]"
        )
        given = (
            ROSS.replace('"1/3"', share)
            if "{" not in share
            else text.replace("p = 1", f"p = {share}")
        )
        solved = parse_model(given).solve()
        assert solved.response_time == pytest.approx(41 / 195, rel=1e-12)


def test_numbers_may_be_fractions_wherever_they_stand():
    model = parse_model(CALLS.replace('"60 s"', '"1/60 h"').replace('"30 /h"', '"1/2 /min"'))
    assert dict(model.inputs) == pytest.approx({"arrival_rate": 1 / 120, "hold": 60})
    assert sweep("1/4,1/2,1 s", unit("s"), "x").tolist() == [0.25, 0.5, 1]
    assert quantity(" 2.5e1 / 5 ms", unit("s")) == 0.005
    for text in ("1/0", "1/0 s", "1//3", "1/3/2", "1/ 3_0"):
        with pytest.raises(UnitError):
            quantity(text, None, "p")


def test_a_division_by_nothing_is_refused_for_that(file):
    assert "'1/0 s', not a finite number" in refusal("solve", file(CALLS.replace("60 s", "1/0 s")))


def test_the_units_of_a_file_with_classes_are_those_of_its_answer(file):
    """C(5, 3.5)/(5 mu) before others: 656.7 s = 10.94 min."""
    out = headway("solve", file(DESK)).out
    assert re.search(r"throughput +21 +requests/h", out)
    assert re.search(r"urgent +6 +10.94\n", out)
    assert "throughput [requests/h]   response time [min]" in out
    assert "1/s" not in out
    point = json.loads(headway("solve", file(DESK), "--json").out)["points"][0]
    assert point["classes"]["urgent"]["response_time"] == pytest.approx(656.7, abs=0.05)  # SI


def test_sentences_and_questions_are_in_the_units_of_the_file(file):
    path = file(PLAIN)
    assert "other at 30 requests/h; it saturates at 24 requests/h" in " ".join(
        headway("solve", path, "--set", "rate=30/h").out.split()
    )
    assert "which saturates at 30 requests/h" in headway("sensitivity", path).out
    assert " min per requests/h" in headway("sensitivity", path).out
    target = ("--target", "class urgent.response_time=12min", "--solve-for", "rate")
    out = headway("sensitivity", path, *target).out
    assert re.search(r"rate +15 requests/h +14.08 requests/h", out)


def test_rates_that_say_what_they_count_are_one_with_those_of_stations(file):
    out = headway("solve", file(DESK.replace("/h", "op/h"))).out
    assert out.count("throughput [op/h]") == 2
    assert "1/s" not in out


@pytest.mark.parametrize(
    ("asked", "time"), [("10s", 10), ("1min", 60), ("0.5h", 1800), ("1d", 86400)]
)
def test_longer_times_are_asked_in_any_unit(asked, time):
    """M/M/2 with 0.5 and 0.667 erlangs: C exp(-(2 mu - lambda) t); published 7.788 and 14.108%."""
    model = parse_model(CALLS)
    solved = model.solve(hold=[60.0, 80.0])
    for offered, hold, chance in zip(
        (0.5, 2 / 3), (60, 80), solved[f"desk.waiting_time_over_{asked}"], strict=True
    ):
        delay = offered**2 / (2 + offered)  # Erlang C of two servers
        rate = 2 / hold - 30 / 3600
        assert chance == pytest.approx(
            delay * 2.718281828459045 ** (-rate * time), rel=1e-9, abs=1e-12
        )


@pytest.mark.parametrize(
    ("old", "new"),
    [("room", "hall"), ("disk", "hall"), ("disk", "a"), ("room", "b")],
)
def test_a_parameter_may_have_the_name_of_a_region_or_station(old, new):
    expected = parse_model(SHARED).solve().response_time
    text = SHARED.replace(f"{old} = ", f"{new} = ").replace(f'"{old}"', f'"{new}"')
    assert parse_model(text).solve().response_time == expected


def test_written_models_name_the_schema_only_where_it_stands(file, tmp_path):
    out = tmp_path / "imported.toml"
    command = ("import", PEERS / "open_1class_1stat_mm1k.jsimg", "--out", out)
    assert headway(*command).code == 0
    assert out.read_text().startswith("name = ")
    file("{}", "model.schema.json")
    out.unlink()
    assert headway(*command).code == 0
    assert out.read_text().startswith("#:schema ./model.schema.json\n\n")
