"""Two builds compared: intervals that hold what they say, by simulated runs; exit codes."""

import json
import math

import numpy as np
import pytest

from headway.errors import InvalidParameter, MeasurementError
from headway.models import compare_builds
from headway.models.inference import builds, gate
from headway.models.measured.points import Loop, Point
from headway.models.reading.loadtest import LoadTest
from tests.support.command import headway, refusal

LOADS = (1, 2, 4, 8)


@pytest.fixture
def unfitted(monkeypatch):
    """Without saturation throughputs, whose fits take a hundred times as long as all else."""
    monkeypatch.setattr(builds, "_saturations", lambda *_: ((), ()))


def runs(random, slower=1.0, repeats=3, scatter=0.04, loads=LOADS):
    """Runs of a server whose response time is 10 ms N (1 + a little), with errors."""
    points = []
    for load in loads:
        for run in range(repeats):
            time = 0.010 * load * slower * random.lognormal(0, scatter)
            points.append(
                Point(
                    "wrk",
                    Loop.CLOSED,
                    population=load,
                    throughput=load / time,
                    response_time=time,
                    percentiles={99.0: 3 * time},
                    file=f"c{load}-{run}.txt",
                )
            )
    return LoadTest(tuple(points))


def overall(builds, quantity):
    return next(one for one in builds.overall if one.quantity == quantity)


@pytest.mark.slow
@pytest.mark.usefixtures("unfitted")
def test_intervals_hold_the_difference_as_often_as_they_say():
    """Of 200 pairs 95% hold: 90 to 99%, some three standard errors; at each load too."""
    held, at_one = 0, 0
    for seed in range(200):
        random = np.random.default_rng(seed)
        found = compare_builds(runs(random), runs(random, 1.07))
        one = overall(found, "response_time")
        held += one.low <= 1.07 <= one.high
        each = next(d for d in found.by_load if d.quantity == "throughput" and d.load == 4)
        at_one += each.low <= 1 / 1.07 <= each.high
    assert 0.90 <= held / 200 <= 0.99
    assert 0.90 <= at_one / 200 <= 0.99


@pytest.mark.slow
@pytest.mark.usefixtures("unfitted")
def test_so_many_runs_tell_the_difference_that_is_allowed():
    """Equation (2): of 100 pairs with as many runs, 80% tell it: 68 to 92%, 3 standard errors."""
    scatter, at_most = 0.10, 0.05
    wanted = 2 * (2.8 * scatter / math.log(1.05)) ** 2 / len(LOADS)
    told, asked = 0, []
    for seed in range(100):
        random = np.random.default_rng(seed)
        first, second = (runs(random, f, math.ceil(wanted), scatter) for f in (1.0, 1.05))
        found = compare_builds(first, second, at_most)
        told += overall(found, "response_time").is_clear
        asked.append(found.runs)
    assert 0.68 <= told / 100 <= 0.92
    assert np.median(asked) == pytest.approx(wanted, rel=0.1)


@pytest.mark.usefixtures("unfitted")
def test_verdicts_follow_what_is_allowed():
    random = np.random.default_rng(3)
    steady = runs(random, scatter=0.002)
    slower = compare_builds(steady, runs(random, 1.2, scatter=0.002))
    assert {one.quantity for one in slower.worse} >= {"response_time", "throughput"}
    assert not compare_builds(steady, runs(random, 1.2, scatter=0.002), at_most=0.5).worse
    faster = compare_builds(steady, runs(random, 0.8, scatter=0.002))
    assert not faster.worse
    assert overall(faster, "response_time").is_clear
    noisy = compare_builds(runs(random, scatter=0.3), runs(random, scatter=0.3))
    assert noisy.undecided
    assert noisy.runs > 20
    assert "more runs would decide" in gated(noisy)


@pytest.mark.usefixtures("unfitted")
def test_as_many_runs_as_are_needed_are_not_asked_for_again():
    random = np.random.default_rng(5)
    near = compare_builds(runs(random, scatter=0.02), runs(random, 1.05, scatter=0.02))
    assert near.fewest == 3 >= near.runs
    assert near.undecided
    assert "3 runs of each load and build usually decide, but not here" in gated(near)
    assert "more runs" not in gated(near)
    assert "as many runs as these would show a change of 5% 4 times out of 5" in str(near)


def gated(found):
    """What a gate says of two builds."""
    return "; ".join(check.text for check in gate._of_builds(found))


@pytest.mark.usefixtures("unfitted")
def test_without_repeats_loads_are_the_measurements():
    random = np.random.default_rng(1)
    found = compare_builds(runs(random, repeats=1), runs(random, 1.1, repeats=1))
    noisy = [runs(random, repeats=1, scatter=0.3) for _ in range(2)]
    assert "measure each load more than once to decide" in gated(compare_builds(*noisy))
    one = overall(found, "response_time")
    assert not found.repeated
    assert found.runs is None
    assert one.low < 1.1 < one.high
    assert all(math.isnan(each.low) for each in found.by_load)
    assert "no load was repeated" in str(found)


@pytest.mark.slow
def test_saturations_are_compared_by_fits():
    """Ten clients and 5 ms beside a server of 1 ms, against one of 2 ms: half of what it takes."""

    def server(time):
        points = []
        for load in (1, 2, 3, 5, 7, 10, 15, 20):
            wait = 0.0
            for n in range(1, load + 1):  # mean value analysis of a delay and a queue
                response = time * (1 + wait)
                rate = n / (0.005 + response)
                wait = rate * response
            points.append(
                Point("wrk", Loop.CLOSED, population=load, throughput=rate,
                      response_time=load / rate, file=f"c{load}.txt")
            )  # fmt: skip
        return LoadTest(tuple(points))

    limit = overall(compare_builds(server(1e-3), server(2e-3)), "saturation_throughput")
    assert limit.ratio == pytest.approx(0.5, rel=0.02)
    assert limit.high < 1
    assert limit.is_worse_by(0.05)


def test_tests_that_cannot_be_paired_are_refused():
    random = np.random.default_rng(1)
    with pytest.raises(MeasurementError, match="no load in common: 1, 2, 4, 8 and 3, 5"):
        compare_builds(runs(random), runs(random, loads=(3, 5)))
    unknown = LoadTest((Point("x", throughput=1.0, response_time=1.0, file="a.txt"),))
    with pytest.raises(
        MeasurementError, match="the files do not say what the load of each point was"
    ):
        compare_builds(runs(random), unknown)
    with pytest.raises(InvalidParameter, match="--at-most is 0"):
        compare_builds(runs(random), runs(random), at_most=0)


def write(folder, slower):
    folder.mkdir()
    lines = ["users,throughput_ops_s,response_ms"]
    for load in LOADS:
        for near in (0.999, 1.001):
            time = 10 * load * slower * near
            lines.append(f"{load},{1000 * load / time:.4f},{time:.4f}")
    (folder / "curve.csv").write_text("\n".join(lines))
    return str(folder)


@pytest.mark.usefixtures("unfitted")
def test_the_command_sets_its_exit_code_only_where_a_limit_is_given(tmp_path):
    before, after = write(tmp_path / "before", 1.0), write(tmp_path / "after", 1.1)
    failed = headway("compare", before, after, "--at-most", "5%")
    assert failed.code == 1
    assert "worse by more than 5%: response time" in failed.out
    plain = headway("compare", before, after, "--json")
    assert plain.code == 0
    answer = json.loads(plain.out)
    assert answer["differences"][0]["ratio"] == pytest.approx(1.1, rel=1e-6)
    assert "response_time" in answer["worse"]
    allowed = headway("compare", before, after, "--at-most", "20%", "--csv")
    assert allowed.code == 0
    table = allowed.out.splitlines()
    assert table[0] == "quantity,load,first,second,ratio,low_ratio,high_ratio"
    words = refusal("compare", before)
    assert "give a model and --data FILE, or two load tests" in words
