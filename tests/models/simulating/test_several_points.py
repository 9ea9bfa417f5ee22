"""Simulations at several operating points: one luck for all, and one answer for any workers.

Seeds are fixed, and intervals of 99.9%.
"""

import csv
import io
import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from headway.errors import Saturated
from headway.models import ModelGraph
from headway.models.simulating.several import simulate_points
from headway.models.tables.forms import tables
from headway.queueing import MM1
from tests.support.command import headway, refusal

SURE = 0.999
RATES = [2.0, 5.0, 8.0]


def model(rates=RATES):
    return ModelGraph("one").station("cpu", MM1(0.1)).at(arrival_rate=rates)


def test_each_point_has_its_own_answer():
    """M/M/1: R = S / (1 - U), and p90 = R ln 10."""
    answer = model().simulate_points(0.1, percentiles=(90,))
    assert answer.varied == ("arrival_rate",)
    for rate, point in zip(RATES, answer.points, strict=True):
        exact = 0.1 / (1 - 0.1 * rate)
        assert point["response_time"].holds(exact, SURE)
        assert point["response_time_p90"].holds(exact * np.log(10), SURE)
        assert point == model(rate).simulate(0.1, percentiles=(90,))


def test_any_workers_give_the_same_answer():
    alone = model().simulate_points(0.1, percentiles=(90,))
    for count in (1, 3):
        with ThreadPoolExecutor(count) as pool:
            assert model().simulate_points(0.1, percentiles=(90,), executor=pool) == alone
            assert model(5.0).simulate(0.1, percentiles=(90,), executor=pool) == alone.points[1]


def test_points_differ_by_less_than_their_luck():
    """Gaps and work are the same numbers: errors go together, and a difference has a smaller one.

    Of M/M/1 at 79% and 80%: 5 ms of 0.476 and 0.5 s.
    """
    gains = []
    for seed in range(1, 31):
        near, far = model([7.9, 8.0]).simulate_points(0.3, seed).points
        gains.append([near["response_time"].mean, far["response_time"].mean])
    near, far = np.array(gains).T
    assert np.var(far - near) < 0.2 * (np.var(near) + np.var(far))


def test_a_point_that_grows_without_limit_is_named_before_any_is_simulated():
    refused = "at arrival_rate 12 requests/s: cpu: utilisation 1.20; its queue"
    with pytest.raises(Saturated, match=refused):
        model([*RATES, 12.0]).simulate_points(1e-6)


def test_what_is_there_is_shown_at_ctrl_c():
    done = []

    def stop(_what, share):
        done.append(share)
        if sum(done) > 1.45:
            raise KeyboardInterrupt

    answer = simulate_points(model(), 0.3, progress=stop)
    assert answer.interrupted
    assert len(answer.points) == 2
    assert "interrupted: 1 points are missing" in str(answer)


COMMAND = ["solve", "nfs-server", "--preset", "raid", "--set", "arrival_rate=200:600:200",
           "--method", "simulation", "--half-width", "20%"]  # fmt: skip


def test_the_command_has_a_row_a_point():
    result = headway(*COMMAND, "--percentile", "95")
    assert result.code == 0, result.err
    assert "10 replicas of each point, with the same random numbers; seed 1" in result.out
    rows = list(csv.DictReader(io.StringIO(headway(*COMMAND, "--csv").out)))
    assert {row["arrival_rate_ops_per_s"] for row in rows} == {"200.0", "400.0", "600.0"}
    assert all(row["ci95_low"] <= row["value"] or float(row["value"]) >= 0 for row in rows)
    document = json.loads(headway(*COMMAND, "--json").out)
    assert [point["inputs"]["arrival_rate"] for point in document["points"]] == [200, 400, 600]
    assert {"replicas", "warm_up", "window"} <= {*document["points"][0]}


def test_the_first_table_has_a_row_a_point():
    first, second = tables(model().simulate_points(0.3))
    assert first.columns[0].cells == tuple(RATES)
    assert second.title == "cpu"
    assert len(second.columns[1].cells) == 3


@pytest.mark.slow
def test_the_command_says_the_same_with_processes():
    assert headway(*COMMAND, "--workers", "2").out == headway(*COMMAND).out


def test_workers_are_for_simulations():
    refused = refusal("solve", "nfs-server", "--preset", "raid", "--workers", "2")
    assert refused == "--workers or --cluster needs --method simulation"


def test_a_picture_is_drawn(tmp_path):
    place = tmp_path / "points.svg"
    assert headway(*COMMAND, "--plot", place).code == 0
    assert "with 95% intervals" in place.read_text()
