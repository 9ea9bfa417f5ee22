"""Stations of a model file that refuse arrivals by the jobs that wait."""

import pytest

from headway.errors import ModelFileError
from headway.models import parse_model
from headway.queueing import MM1K, MMmK

FILE = """\
name = "server"
[parameters]
arrival_rate = "480 op/s"
threads = 4
waiting = 40
[stations.server]
kind = "MMm"
service_time = "8 ms"
servers = 4
shed = "when queue > 40"
"""


def station(text):
    model = parse_model(text)
    return model.graph.stations["server"], model


@pytest.mark.parametrize(
    ("servers", "rule", "places"),
    [
        ("4", "when queue > 40", 45.0),
        ("4", "when queue >= 40", 44.0),
        ("4", "when queue>=0", 4.0),
        ('"threads"', "when queue > waiting", 45.0),
        ('"2 * threads"', "when queue > waiting / 2 + 1", 30.0),
    ],
)
def test_places_are_those_of_the_servers_and_of_the_queue(servers, rule, places):
    text = FILE.replace("servers = 4", f"servers = {servers}").replace("when queue > 40", rule)
    unused = [name for name in ("threads", "waiting") if text.count(name) == 1]
    for name in unused:
        text = "\n".join(line for line in text.splitlines() if not line.startswith(name))
    found, model = station(text)
    assert found.kind is MMmK
    assert found.fields["places"].evaluate(model.inputs) == places
    again = parse_model(model.to_toml())
    assert again.graph == model.graph


def test_one_server_has_places_as_well():
    text = FILE.replace("threads = 4\nwaiting = 40\n", "").replace("servers = 4\n", "")
    found, model = station(text.replace("MMm", "MM1"))
    assert found.kind is MM1K
    solved = model.at(arrival_rate=100.0).solve()
    # M/M/1/K with K = 42: p_K = (1 - rho) rho^K / (1 - rho^(K + 1))
    assert solved["loss_probability"] == pytest.approx(0.2 * 0.8**42 / (1 - 0.8**43), rel=1e-9)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("40", 'must be a rule such as "when queue > 40"'),
        ('"when queue < 40"', "must be a rule"),
        ('"when queue > "', "must be a rule"),
        ('"when queue > 4 ms"', "'4 ms' is not arithmetic"),
        ('"when queue > waitin"', "'waitin' in '4 + waitin + 1' is unknown"),
        ('"when queue > -9"', "-9 jobs cannot wait"),
        ('"when queue > 2.5"', "2.5 jobs cannot wait; write a whole number of 0 or more"),
        ('"when queue > 1 - waits"', "places"),
    ],
)
def test_what_is_no_rule_is_refused_with_its_place(given, why):
    text = FILE.replace("threads = 4\nwaiting = 40\n", "waits = 9\n")
    text = text.replace('"when queue > 40"', given)
    with pytest.raises(Exception, match="server") as refused:
        parse_model(text, "m.toml").solve()
    assert why in str(refused.value)
    assert "\n" not in str(refused.value)


def test_kinds_without_such_a_limit_have_no_rule():
    text = FILE.replace("threads = 4\nwaiting = 40\n", "").replace("servers = 4\n", "scv = 2\n")
    with pytest.raises(ModelFileError, match="server has no 'shed'"):
        parse_model(text.replace("MMm", "MG1"))
