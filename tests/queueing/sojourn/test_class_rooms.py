"""Open classes at one station with little room: exact where their times are one, else refused."""

import json

import pytest
from click.testing import CliRunner

from headway.cli.main import cli
from headway.errors import GraphError
from headway.models import parse_model
from headway.queueing import MMmK
from headway.queueing.times.inversion import percentile_of

ROOM = """
name = "room"

[classes.web]
arrival_rate = "30 op/s"

[classes.batch]
arrival_rate = "60 op/s"

[stations.cpu]
kind = "MMmK"
servers = 2
capacity = 4
service_time = {web = "30 ms", batch = "30 ms"}
"""
LAW = MMmK(0.03, 2, 4)


def test_classes_of_one_time_lose_the_same_share():
    solution = parse_model(ROOM).solve()

    carried = LAW.throughput(90.0)
    assert float(solution["loss_probability"]) == pytest.approx(LAW.loss_probability(90.0))
    assert float(solution["class web.throughput"]) == pytest.approx(carried / 3, rel=1e-12)
    assert float(solution["class batch.throughput"]) == pytest.approx(carried * 2 / 3, rel=1e-12)
    time = LAW.response_time(90.0)
    assert float(solution["class web.response_time"]) == pytest.approx(time, rel=1e-12)
    assert float(solution["cpu.queue_length"]) == pytest.approx(LAW.queue_length(90.0), rel=1e-12)
    assert not solution.approximation


def test_percentiles_are_those_of_all():
    late = percentile_of(LAW.time_law(90.0), 0.95)
    solution = parse_model(ROOM).solve()

    for name in ("response_time_p95", "class web.response_time_p95"):
        assert float(solution[name]) == pytest.approx(late, rel=1e-9)


def test_json_says_the_same(tmp_path):
    path = tmp_path / "room.toml"
    path.write_text(ROOM)

    result = CliRunner().invoke(cli, ["solve", str(path), "--json"])

    assert result.exit_code == 0
    (point,) = json.loads(result.output)["points"]
    assert point["classes"]["web"]["throughput"] == pytest.approx(LAW.throughput(90.0) / 3)


def test_what_is_not_known_is_refused():
    unlike = ROOM.replace('batch = "30 ms"', 'batch = "40 ms"')

    with pytest.raises(GraphError, match="cannot share a MMmK with different service times"):
        parse_model(unlike).solve()
    with pytest.raises(GraphError, match="several classes cannot share a MMmK"):
        parse_model(ROOM).solve().queue_lengths("cpu")
    with pytest.raises(GraphError, match="several classes cannot share a MMmK"):
        parse_model(ROOM).graph.closed_form("class web.response_time")
