"""A day under an autoscaler: beside simulated days, known courses, files, and refusals."""

import json

import numpy as np
import pytest

from headway.errors import HeadwayError
from headway.models import ModelGraph, parse_model
from headway.models.files.writing import to_toml
from headway.models.over.days import Day
from headway.models.over.over import over_model
from headway.queueing import MM1, MMm
from headway.queueing.transient.autoscaler import Autoscaler
from tests.oracles.autoscaled import simulated
from tests.support.cases import mostly_slow
from tests.support.command import headway, refusal

POOL = ModelGraph("pool").declare("servers").station("cpu", MMm(0.1, "servers"))
SLOW = ModelGraph("slow").declare("servers").station("cpu", MMm(0.4, "servers"))
STEP = Day((0.0, 120.0, 480.0), (15.0, 60.0))


FAST = ModelGraph("fast").declare("servers").station("cpu", MMm(2e-5, "servers"))

OWN = """metric = "rate"
target = 10
asks_for = "floor(seen * ready / spare) + 1"
"""


def scaled(metric="utilisation", servers=3, pool=POOL, **numbers):
    """A pool under an autoscaler."""
    return pool.autoscale("servers", {"maximum": 20, **numbers}, metric).at(servers=servers)


RISE = Day((0.0, 120.0, 480.0), (4.0, 16.0))


def two(first, second, **numbers):
    """A pool behind which another queue stands, under an autoscaler."""
    graph = ModelGraph("two").declare("n").station("a", MMm(0.4, first))
    graph = graph.station("b", MMm(0.001, second)).route("a", "b")
    return graph.autoscale("n", {"target": 0.6, "maximum": 20, **numbers}).at(n=3)


@pytest.fixture(scope="module")
def oracle():
    """Replicas asked for in each interval of 15 s, simulated otherwise: means of 100 days."""
    law = {"target": 0.6, "tolerance": 0.1, "minimum": 1, "maximum": 20, "delay": 2, "window": 20}
    _, replicas, *_ = simulated(np.repeat([4.0, 16.0], [8, 24]), 15.0, law, 0.4, 3, 100, 1)
    return replicas.mean(axis=1)


@pytest.mark.parametrize(
    "model",
    [
        scaled(target=0.6, pool=SLOW, start_delay=30.0, price=1.0),
        two("n", 1, start_delay=30.0, price=1.0),
    ],
    ids=["alone", "in a network"],
)
def test_an_autoscaler_is_played_by_its_rule(model, oracle):
    """A load that rises fourfold at once: in a network it does the same at its own station."""
    played = over_model(model, RISE, every=120, method="simulation", percentiles=())
    means = oracle.reshape(4, 8).mean(axis=1)
    assert played["replicas"] == pytest.approx(means, rel=0.1)
    assert played.cost == pytest.approx(oracle.sum() * 15 / 3600, rel=0.05)
    assert played.scaling.growth == pytest.approx(4, rel=1e-9)
    assert json.loads(played.to_json())["autoscaler"]["replicas"][0] == 3


def test_servers_and_their_use_are_those_that_are_ready():
    model = scaled(target=0.6, pool=SLOW, start_delay=30.0)
    options = {"every": 120, "percentiles": ()}
    followed, played = (
        over_model(model, RISE, **options, method=each) for each in ("forward", "simulation")
    )
    for name in ("servers", "utilisation"):
        assert played[name] == pytest.approx(followed[name], rel=0.1)


@pytest.mark.parametrize(("metric", "target"), [("queue", 1.2), ("rate", 1.5)])
def test_what_an_autoscaler_sees_is_counted(metric, target):
    model = scaled(metric, target=target, pool=SLOW, start_delay_scv=1.0, start_delay=10.0)
    options = {"every": 240, "percentiles": ()}
    followed, played = (
        over_model(model, RISE, **options, method=each) for each in ("auto", "simulation")
    )
    assert played["replicas"] == pytest.approx(followed["replicas"], rel=0.1)


def test_clients_who_give_up_meet_an_autoscaler():
    """Without it the load would saturate; with it most are answered in the end."""
    graph = SLOW.impatient({"timeout": 3.0, "retries": 1})
    model = graph.autoscale("servers", {"target": 0.6, "maximum": 20}).at(servers=3)
    found = over_model(model, RISE, every=120, percentiles=())
    assert found.method == "simulation"
    assert found["goodput"][1] < 0.9 * 16
    assert found["goodput"][-1] == pytest.approx(16, rel=0.05)


@pytest.mark.parametrize(
    ("target", "delay", "window"), mostly_slow([(0.6, 2, 20), (0.5, 4, 8)], 1, tuples=True)
)
def test_days_are_as_simulated_ones(target, delay, window):
    """15 minutes whose load rises fourfold: replicas within 5%, response times within 15%."""
    rates = np.repeat(4 + 12 * np.sin(np.pi * (np.arange(15) + 0.5) / 15), 4)
    edges = tuple((15.0 * np.arange(61)).tolist())
    delays = {"start_delay": 15.0 * delay, "stabilisation": 15.0 * window}
    model = scaled(target=target, pool=SLOW, **delays)
    found = over_model(model, Day(edges, tuple(rates.tolist())), every=900, percentiles=())
    law = {"target": target, "tolerance": 0.1, "minimum": 1, "maximum": 20}
    law |= {"delay": delay, "window": window}
    _, replicas, came, times, _ = simulated(rates, 15.0, law, 0.4, 3, 40, 1)
    assert found["replicas"][0] == pytest.approx(replicas.mean(), rel=0.05)
    assert found.day.response_time[0] == pytest.approx(times.sum() / came.sum(), rel=0.15)


def test_a_backlog_is_gone_as_in_simulated_days():
    """150 jobs behind at 3 replicas, more of which are ready after 30 s: within 4% of 200 days."""
    law = {"target": 0.6, "tolerance": 0.1, "minimum": 1, "maximum": 20, "delay": 2, "window": 20}
    *_, waits = simulated(np.full(12, 5.0), 15.0, law, 0.4, 3, 200, 1, start=150)
    gone = waits.sum(axis=0)
    model = scaled(target=0.6, pool=SLOW, start_delay=30.0)
    found = over_model(model, Day((0.0, 180.0), (5.0,)), start="backlog=150", percentiles=())
    assert found.drained.mean == pytest.approx(gone.mean(), rel=0.04)
    for percent in (10, 50, 90):
        assert found.drained.percentile(percent) == pytest.approx(
            np.percentile(gone, percent), rel=0.04
        )
    assert "150 requests behind, at this rate and capacity: empty after" in str(found)


def test_a_backlog_is_gone_as_without_an_autoscaler_that_may_change_nothing():
    day = Day((0.0, 600.0, 1800.0), (15.0, 15.0))
    kept = over_model(scaled(servers=2, maximum=2, target=0.6), day, start="backlog=200").drained
    law = over_model(POOL.at(servers=2), day, start="backlog=200").drained
    assert kept.mean == pytest.approx(law.mean, rel=1e-4)
    for percent in (2.5, 50, 97.5):
        assert kept.percentile(percent) == pytest.approx(law.percentile(percent), rel=5e-3)


def test_a_metric_that_chance_leaves_alone_has_a_known_course():
    """8,000 jobs a second for each replica: 2, then 4 at the look after the rise, ready in 60 s."""
    model = scaled("rate", 2, FAST, target=8000, start_delay=60.0, price=0.6)
    found = over_model(model, Day((0.0, 300.0, 600.0), (16e3, 31e3)), every=15)
    assert found.scaling.times.tolist() == [0.0, 315.0]
    assert found.scaling.replicas == pytest.approx([2.0, 4.0], rel=1e-6)
    assert found["servers"][[24, 25]] == pytest.approx([2.0, 4.0], rel=1e-6)  # from 375 s on
    assert found.cost == pytest.approx(0.6 * (2 * 315 + 4 * 285) / 3600, rel=1e-6)
    assert found.scaling.growth == pytest.approx(31 / 16, rel=1e-9)
    assert found.scaling.changes == pytest.approx(1.0, rel=1e-6)
    assert found.scaling.needless == pytest.approx(0.0, abs=1e-6)


def test_start_delays_follow_a_law():
    """2 replicas are asked for at 315 s, and are ready after the mean of one of four quarters."""
    model = scaled("rate", 2, FAST, target=8000, start_delay=60.0, start_delay_scv=1.0)
    found = over_model(model, Day((0.0, 300.0, 600.0), (16e3, 31e3)), every=15)
    assert found.scaling.replicas == pytest.approx([2.0, 4.0], rel=1e-6)
    ready = np.array(Autoscaler("rate", 1.0, 9, start_delay=60.0, start_delay_scv=1.0).delays)
    late = np.clip((found.periods.ends[:, None] - 315 - ready) / 15, 0, 1).mean(axis=1)
    assert found["servers"] == pytest.approx(2 + 2 * late, abs=1e-6)


def test_a_rule_of_ones_own_asks_for_replicas():
    """One for each 9.5 jobs a second, and one to spare."""
    text = MODEL.replace('metric = "utilisation"\ntarget = "60%"\n', OWN)
    text = text.replace("servers = 2\n[stations", "servers = 5\nspare = 9.5\n[stations")
    text = text.replace('"1 min"', '{ mean = "5 s", scv = 0.5 }')
    found = over_model(parse_model(text), Day((0.0, 300.0, 600.0), (33.0, 62.0)), every=15)
    again = over_model(parse_model(to_toml(parse_model(text))), Day((0.0, 30.0, 60.0), (33.0, 9.0)))
    # the first 5 stay for 5 minutes; 7 are asked for then, and an 8th by a chance of 1% a look
    assert found["replicas"][[5, -1]] == pytest.approx([5.0, 7.1], abs=0.25)
    assert again.scaling.law.start_delay_scv == 0.5


def test_times_over_targets_are_told():
    found = over_model(
        scaled(target=0.6, start_delay=30.0), STEP, target=0.3, every=120, percentiles=()
    )
    slow = over_model(
        scaled(target=0.6, start_delay=60.0), STEP, target=0.3, every=120, percentiles=()
    )
    assert 0 < found.time_over < slow.time_over < 900
    assert 0 < found.scaling.over <= slow.scaling.over
    assert "replicas" in str(found)


@pytest.mark.slow
def test_removals_that_were_needless_are_found():
    """No window, a queue as metric, and a delay: what was removed is missed at once."""
    still = Day((0.0, 150.0, 300.0), (5.0, 5.0))
    hasty = scaled("queue", 6, target=4, stabilisation=0.0, start_delay=45.0, pool=SLOW)
    calm = scaled("queue", 6, target=4, start_delay=45.0, pool=SLOW)
    found = over_model(hasty, still)
    assert found.scaling.needless > 1
    assert "oscillates" in str(found)
    assert over_model(calm, still).scaling.needless == 0


MODEL = """
name = "pool"
[parameters]
servers = 2
[stations.cpu]
kind = "MMm"
service_time = "100 ms"
servers = "servers"
[autoscaler]
scales = "servers"
metric = "utilisation"
target = "60%"
maximum = 9
start_delay = "1 min"
"""


def test_a_model_file_has_an_autoscaler_and_is_written_back():
    model = parse_model(MODEL)
    found = over_model(model, STEP, every=240, percentiles=())
    again = over_model(parse_model(to_toml(model)), STEP, every=240, percentiles=())
    assert found.scaling.law.start_delay == 60
    assert again["replicas"] == pytest.approx(found["replicas"], rel=1e-9)


def test_the_command_tells_what_the_autoscaler_does(tmp_path):
    model, day = tmp_path / "pool.toml", tmp_path / "day.csv"
    model.write_text(MODEL + "price = 0.1\n", encoding="utf-8")
    day.write_text("time,rate\n0,15\n120,60\n", encoding="utf-8")
    options = ("--over", str(day), "--target", "300 ms", "--every", "120")
    found = json.loads(headway("solve", str(model), *options, "--json").out)
    assert found["autoscaler"]["replicas"][0] == pytest.approx(2, rel=1e-9)
    assert found["day"]["cost"] > 0
    assert found["day"]["time_over_target"] > 0
    assert found["periods"][0]["replicas"] >= 2
    assert "autoscaler: 2 to" in headway("solve", str(model), *options).out


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("maximum = 9", "maximum = 9\nminimum = 12", "minimum is 12, above the maximum of 9"),
        ('target = "60%"', "target = 0", "target is 0; it must be above 0"),
        ('"1 min"', '"-1 s"', "start_delay is -1"),
        ('target = "60%"', "", "the key 'target' is missing"),
        ('scales = "servers"', 'scales = "server"', "not a parameter; did you mean servers"),
        ("maximum", "max", "unknown key max"),
        ('"1 min"', '"1 GB"', "start_delay"),
    ],
)
def test_bad_tables_are_refused_in_one_line(old, new, words, tmp_path):
    model, day = tmp_path / "pool.toml", tmp_path / "day.csv"
    model.write_text(MODEL.replace(old, new), encoding="utf-8")
    day.write_text("time,rate\n0,15\n300,60\n", encoding="utf-8")
    assert words in refusal("solve", str(model), "--over", str(day))


@pytest.mark.parametrize(
    ("model", "options", "words"),
    [
        (scaled(target=0.6), {"method": "fluid"}, "followed by method forward"),
        (two("n", 1), {"method": "forward"}, "use method simulation"),
        (two("n", "n"), {"method": "simulation"}, "the servers of one station.*a and servers of b"),
        (two("n", 1, warm_up=5.0), {}, "leave warm_up out"),
        (scaled(target=0.6, warm_up=5.0), {"method": "simulation"}, "leave warm_up out"),
        (
            ModelGraph("fast").declare("n").station("a", MM1("1 / n"))
            .autoscale("n", {"target": 0.6, "maximum": 99}).at(n=90),
            {"method": "simulation"},
            "in a simulation an autoscaler sets the servers of one station",
        ),
    ],
)  # fmt: skip
def test_what_no_law_follows_is_refused(model, options, words):
    with pytest.raises(HeadwayError, match=words):
        over_model(model, STEP, **options)
