"""A finite number of sources in model files: the law's numbers by every verb, or a refusal."""

import json
from math import exp, factorial

import pytest
from click.testing import CliRunner

from headway.cli.main import cli
from headway.errors import GraphError, ModelFileError
from headway.models import parse_model
from headway.models.files.writing import to_toml
from headway.queueing import FiniteSource

MACHINES = """
name = "machines"

[parameters]
machines = 5
repairers = 2

[stations.repair]
kind = "FiniteSource"
service_time = "500 ms"
servers = "repairers"
sources = "machines"
think_time = "1 s"
"""


@pytest.mark.parametrize(("machines", "repairers"), [(1, 1), (5, 2), (40, 3)])
def test_a_file_gives_the_laws_numbers(machines, repairers):
    law = FiniteSource(0.5, repairers, machines)
    model = parse_model(MACHINES)

    for text in (model, parse_model(to_toml(model))):
        solution = text.at(machines=machines, repairers=repairers).solve()
        values = [
            solution[name]
            for name in (
                "throughput",
                "response_time",
                "repair.utilisation",
                "repair.queue_length",
                "repair.response_time",
            )
        ]
        exact = [
            law.throughput(1.0),
            law.response_time(1.0),
            law.utilisation(1.0),
            law.queue_length(1.0),
            law.response_time(1.0),
        ]
        assert [float(value) for value in values] == pytest.approx(exact, rel=1e-12)
        assert not solution.approximation


def test_sweeps_are_the_points_one_by_one():
    swept = parse_model(MACHINES).at(machines=[2, 6, 9]).solve()

    exact = [FiniteSource(0.5, 2, n).throughput(1.0) for n in (2, 6, 9)]
    assert swept.throughput == pytest.approx(exact, rel=1e-12)


def test_percentiles_are_those_behind_the_others_that_ask():
    model = parse_model(MACHINES).at(repairers=1)
    late = float(model.solve()["response_time_p95"])

    # who asks finds what the other four would leave there (Sevcik and Mitrani)
    weights = [factorial(4) / factorial(4 - n) * 0.5**n for n in range(5)]
    beyond = sum(
        w * sum(exp(-late / 0.5) * (late / 0.5) ** k / factorial(k) for k in range(n + 1))
        for n, w in enumerate(weights)
    )
    assert beyond / sum(weights) == pytest.approx(0.05, rel=1e-6)


def test_json_says_the_same(tmp_path):
    path = tmp_path / "machines.toml"
    path.write_text(MACHINES)

    result = CliRunner().invoke(cli, ["solve", str(path), "--json"])

    assert result.exit_code == 0
    (point,) = json.loads(result.output)["points"]
    assert point["outputs"]["throughput"] == pytest.approx(
        FiniteSource(0.5, 2, 5).throughput(1.0), rel=1e-12
    )


def test_a_closed_form_is_refused_by_name():
    with pytest.raises(GraphError, match="class sources is closed, so a recursion solves it"):
        parse_model(MACHINES).graph.closed_form("response_time")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "[stations.repair]",
            '[stations.disk]\nkind = "MM1"\nservice_time = "1 ms"\n\n[stations.repair]',
            "repair: .* there is disk too; write a closed network: population, think_time, and an",
        ),
        (
            "[stations.repair]",
            '[classes.web]\narrival_rate = "1 op/s"\n\n[stations.repair]',
            "repair: .* there is class web too",
        ),
        ("repairers = 2", 'repairers = 2\narrival_rate = "1 op/s"', "has no arrivals from outside"),
        ('think_time = "1 s"', "", "FiniteSource needs think_time"),
        (
            "think_time",
            "think",
            "repair is a FiniteSource and has no key 'think'; its keys are service_time",
        ),
        ("servers =", "discipline = 'ps'\nservers =", "FiniteSource and has no key 'discipline'"),
    ],
)
def test_what_is_no_such_model_is_refused(old, new, message):
    with pytest.raises(ModelFileError, match=message):
        parse_model(MACHINES.replace(old, new))
