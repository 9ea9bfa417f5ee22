"""Models over a day: against steady states, simulations and forward equations, and refusals."""

import json
from math import exp, pi

import numpy as np
import pytest

from headway.errors import GraphError, HeadwayError, InvalidParameter
from headway.models import ModelGraph, parse_model
from headway.models.over.days import IN_UTC, Day, day_of_text, nice_step
from headway.models.over.over import over_model
from headway.models.over.sizing import size_over
from headway.queueing import MG1, MM1, Delay, MMm, MMmK
from headway.queueing.flows.courses import RateTable
from tests.support.command import headway, refusal

DAY = Day((0.0, 60.0, 120.0), (50.0, 300.0))
ROOM = ModelGraph("room").station("cpu", MMmK(0.01, 2, 4))
POOL = ModelGraph("pool").declare("servers").station("cpu", MMm(0.01, "servers"))
TANDEM = ModelGraph("two").station("web", MMm(0.01, 4)).station("db", MM1(0.002)).route("web", "db")


@pytest.mark.parametrize(
    ("title", "step"),
    [("hours", 3600), ("min", 60), ("Day", 86400), ("elapsed", 1), ("week", 604800), ("h", 3600)],
)
def test_times_are_in_the_unit_that_their_column_is_called(title, step):
    assert day_of_text(f"{title},rate_per_s\n0,3\n1,5\n", "day.csv").edges == (0, step, 2 * step)


def test_a_log_of_several_units_is_refused():
    times = [1.7e9 * 1000 ** (k % 2) + k for k in range(200)]
    with pytest.raises(HeadwayError, match="more than ten years; give all times in one unit"):
        day_of_text("timestamp\n" + "\n".join(f"{at:.0f}" for at in times), "log.csv")


def test_times_without_a_unit_are_refused():
    with pytest.raises(HeadwayError, match="'month' has no unit of time; name it time_s"):
        day_of_text("month,rate_per_s\n0,3\n1,5\n", "day.csv")


def test_a_slow_day_is_its_steady_states():
    long = Day((0.0, 3600.0, 7200.0), (100.0, 300.0))
    found = over_model(POOL.at(servers=4), long, every=3600)
    for k, rate in enumerate(long.rates):
        steady = POOL.at(servers=4).solve(rate).with_percentiles([95, 99])
        assert found["response_time"][k] == pytest.approx(steady.response_time, rel=2e-3)
        law = found.periods.percentiles[95.0][k]
        assert law == pytest.approx(steady["response_time_p95"], rel=2e-3)
    assert found.method == "forward"
    assert not found.approximation


def test_the_share_over_a_target_is_that_of_the_steady_law():
    one = ModelGraph("one").station("cpu", MM1(0.1)).at()
    found = over_model(one, Day((0.0, 5e4, 1e5), (5.0, 5.0)), target="0.5 s", every=1e5)
    assert found.over_target == pytest.approx(exp(-0.5 / 0.2), rel=1e-6)  # M/M/1
    assert found.day.arrival_rate[0] == pytest.approx(5.0, rel=1e-9)


def test_delays_add_their_time():
    line = (
        ModelGraph("line").station("net", Delay(0.5)).station("cpu", MM1(0.1)).route("net", "cpu")
    )
    found = over_model(line.at(), Day((0.0, 5e4, 1e5), (5.0, 5.0)), every=1e5)
    assert found["response_time"][0] == pytest.approx(0.7, rel=1e-6)


@pytest.mark.parametrize("method", ["offered load", "pointwise", "fluid"])
def test_approximations_are_near_where_days_are_slow(method):
    long = Day((0.0, 3600.0, 7200.0), (100.0, 200.0))
    exact = over_model(POOL.at(servers=4), long, every=3600)
    near = over_model(POOL.at(servers=4), long, every=3600, method=method)
    error = np.abs(near["response_time"] / exact["response_time"] - 1)
    assert (error < (0.2 if method == "fluid" else 0.01)).all()
    assert method in near.approximation


def test_a_network_is_followed_by_offered_loads():
    found = over_model(TANDEM.at(), Day((0.0, 1e4, 2e4), (100.0, 300.0)), every=1e4)
    for k, rate in enumerate((100.0, 300.0)):
        exact = TANDEM.at().solve(rate).response_time
        assert found["response_time"][k] == pytest.approx(exact, rel=1e-3)
    assert found.method == "offered load"


def test_a_network_beyond_its_capacity_is_a_fluid():
    found = over_model(TANDEM.at(), Day((0.0, 60.0, 120.0), (100.0, 450.0)), every=60)
    assert found.method == "fluid"
    grown = 50 * 60  # beyond the 400/s of its pool
    assert found["queue_length"][1] == pytest.approx(grown / 2, rel=0.05)


def test_a_simulated_day_is_as_its_forward_equations():
    small = Day((0.0, 20.0, 40.0), (30.0, 110.0))
    one = ModelGraph("one").station("cpu", MM1(0.01)).at()
    exact = over_model(one, small, every=20, start="empty", target=0.2)
    played = over_model(one, small, every=20, start="empty", target=0.2, method="simulation")
    assert played["throughput"] == pytest.approx(exact["throughput"], rel=0.03)
    assert played["queue_length"][1] == pytest.approx(exact["queue_length"][1], rel=0.3)
    assert played.method == "simulation"
    assert "within" in played.approximation


def test_rates_and_capacity_are_formulas_of_t():
    graph = ModelGraph("one").declare("t").station("cpu", MMm(1.0, "where(t < 50, 1, 3)"))
    found = graph.arrive("cpu", "0.4 + t / 100").at(t=0).over(100.0, every=50)
    assert found["arrival_rate"] == pytest.approx([0.65, 1.15], rel=1e-9)
    assert found["servers"] == pytest.approx([1, 3], rel=1e-12)
    assert "capacity does not change after an arrival" in found.approximation


def test_a_rate_may_be_a_wave():
    graph = ModelGraph("one").declare("t").station("cpu", MMm(0.1, 3))
    wave = graph.arrive("cpu", "10 * (1 + sin(2 * pi * t / 100) / 2)").at(t=0).over(100.0, every=50)
    # the mean of a sine over half its period is 2 / pi
    assert wave["arrival_rate"] == pytest.approx([10 + 10 / pi, 10 - 10 / pi], rel=1e-9)
    assert wave["throughput"].mean() == pytest.approx(10, rel=1e-3)


def test_rates_of_a_model_file_are_its_day():
    table = RateTable((0.0, 60.0), (50.0, 300.0), 120.0)
    graph = ModelGraph("own").station("cpu", MMm(0.01, 4)).arrive("cpu", course=table)
    own = graph.at().over(120.0, every=60)
    given = over_model(POOL.at(servers=4), DAY, every=60)
    assert own["queue_length"] == pytest.approx(given["queue_length"], rel=1e-9)


@pytest.mark.parametrize("start", ["backlog=2000", 2000])
def test_a_backlog_drains(start):
    found = over_model(POOL.at(servers=4), DAY, start=start, every=60)
    mean = (2000 - 4) / (400 - 50)
    assert found.drained.mean == pytest.approx(mean, rel=1e-3)
    assert "2,000 requests behind, at this rate and capacity: empty after 5.7 s" in str(found)


def test_jobs_without_a_place_are_lost():
    room = ModelGraph("room").station("cpu", MMmK(1.0, 1, 1)).at()
    found = over_model(room, Day((0.0, 500.0, 1000.0), (1.0, 3.0)), every=500)
    assert found["loss_probability"] == pytest.approx([0.5, 0.75], rel=2e-3)  # Erlang B


def test_what_never_fills_loses_nothing():
    """Not the rounding of what comes less what enters."""
    room = ModelGraph("room").station("cpu", MMmK(0.0095, 4, 1_000_000)).at()
    day = Day((0.0, 5.0, 10.0, 15.0), (300.0, 300.0, 100.0))
    found = json.loads(over_model(room, day).to_json())["periods"]
    assert {one["loss_probability"] for one in found} <= {0.0, None}


@pytest.mark.parametrize(
    ("graph", "options", "words"),
    [
        (TANDEM, {"method": "forward"}, "follows one queue, and there are 2"),
        (POOL, {"method": "pointwise", "start": "empty"}, "no memory of a start"),
        (POOL, {"method": "exact"}, "is not for a load that follows time"),
        (POOL, {"start": "backlog=-1"}, "whole number"),
        (POOL, {"start": "full"}, "steady, empty, or backlog"),
        (ROOM, {"start": 5}, "5 jobs at the start, but it has places for 4"),
        (ROOM, {"start": 5, "method": "simulation"}, "5 jobs at the start, but"),
        (POOL, {"every": 1e9}, "no longer than the day"),
        (POOL, {"target": 0}, "above 0"),
        (ModelGraph("g").station("cpu", MG1(0.001, 4.0)), {"method": "forward"}, "not exponential"),
        (
            ModelGraph("g").station("cpu", MM1(0.001), discipline="ps"),
            {"method": "pointwise"},
            "in order of arrival",
        ),
    ],
)
def test_what_no_method_follows_is_refused_in_one_line(graph, options, words):
    model = graph.at(servers=4) if graph is POOL else graph.at()
    with pytest.raises(HeadwayError, match=words) as caught:
        over_model(model, DAY, **options)
    assert "\n" not in str(caught.value)


def test_clients_that_give_up_are_left_to_a_simulation():
    """Which is played unasked where the day is short, so pages and sizes of it have an answer."""
    text = MODEL + '[parameters]\narrival_rate = 5\n[arrivals]\ncpu = { patience = "1 s" }\n'
    model = parse_model(text)
    with pytest.raises(HeadwayError, match="clients give up"):
        over_model(model, DAY, method="forward")
    with pytest.raises(HeadwayError, match="clients give up"):
        over_model(model, Day((0.0, 100.0), (1e6,)))
    found = over_model(model, Day((0.0, 10.0), (450.0,)))
    assert found.method == "simulation"
    assert 0 < found["abandonment"].max() < 1


def test_a_shipped_day_multiplies_the_mean():
    found = over_model(POOL.at(servers=4, arrival_rate=100), "office")
    assert found.day.arrival_rate[0] == pytest.approx(100, rel=1e-4)
    assert found["arrival_rate"].max() > 200


def test_a_start_above_capacity_has_no_steady_state():
    with pytest.raises(HeadwayError, match="--start empty"):
        over_model(POOL.at(servers=4), Day((0.0, 1.0, 2.0), (500.0, 5.0)), method="forward")


def test_closed_networks_have_no_day():
    with pytest.raises(HeadwayError, match="jobs circulate"):
        over_model(POOL.at(servers=4).closed(5), DAY)


def test_a_log_becomes_rates():
    seconds = np.sort(np.random.default_rng(1).uniform(0, 3600, 40_000))
    text = "timestamp,status\n" + "".join(f"{s:.3f},200\n" for s in seconds)
    day = day_of_text(text, "log.csv")
    assert sum(day.rates) / len(day.rates) == pytest.approx(40_000 / 3600, rel=0.02)
    web = "".join(
        f'10.0.0.1 - - [25/Nov/2026:08:{s // 60:02d}:{s % 60:02d} +0000] "GET / HTTP/1.1" 200 5\n'
        for s in range(300)
    )
    assert day_of_text(web, "access.log").rates == pytest.approx([1.0] * 2, rel=0.01)


def test_times_in_another_zone_are_said_to_be_in_utc():
    def table(zone):
        return "time,rate\n" + "".join(f"2026-03-29T0{h}:00{zone},{h}\n" for h in (1, 2, 3))

    plain, away = (day_of_text(table(zone), "day.csv") for zone in ("", "+02:00"))
    assert (plain.note, away.note) == ("", IN_UTC)
    assert away.edges == tuple(at - 7200 for at in plain.edges)
    stamp = '10.0.0.1 - - [25/Nov/2026:08:00:{:02d} {}] "GET / HTTP/1.1" 200 5\n'
    for zone, said in (("+0000", False), ("+0200", True)):
        log = "".join(stamp.format(s % 60, zone) for s in range(120))
        assert (IN_UTC in day_of_text(log, "access.log").note) == said
    one = ModelGraph("one").station("cpu", MM1(0.01)).at()
    for method in ("auto", "simulation"):
        short = Day((0.0, 5.0, 10.0), (5.0, 9.0), away.note)
        assert IN_UTC in over_model(one, short, every=5, method=method).notes


def test_periods_have_lengths_that_people_count_in():
    assert [nice_step(length, 24) for length in (86400, 3600, 120, 10)] == [3600, 300, 5, 0.5]
    assert nice_step(1e-5, 24) == 1e-5  # one period, where even the shortest step is longer


def written(folder, name, text):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


MODEL = """
name = "pool"
[stations.cpu]
kind = "MMm"
service_time = "10 ms"
servers = 4
"""


def test_the_command_has_periods_and_the_whole(tmp_path):
    model = written(tmp_path, "pool.toml", MODEL)
    day = written(tmp_path, "day.csv", "time,rate\n0,50\n60,300\n")
    options = ("--over", day, "--target", "50 ms", "--every", "30")
    found = json.loads(headway("solve", model, *options, "--json").out)
    ends = [(one["from"], one["to"]) for one in found["periods"]]
    assert ends == [(0, 30), (30, 60), (60, 90), (90, 120)]
    names = {"arrival_rate", "throughput", "response_time", "queue_length", "over_target"}
    assert set(found["periods"][0]) >= names
    assert found["day"]["arrival_rate"] == pytest.approx(175, rel=1e-6)
    assert found["method"] == "forward"
    assert found["worst"]["from"] >= 60
    csv = headway("solve", model, "--over", day, "--csv").out
    assert csv.startswith("from_s,to_s,arrival_rate_ops_per_s")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--target", "1s"], "--target needs --over"),
        (["--start", "empty"], "--start needs --over"),
        (["--over", "no.csv"], "no such file"),
        (["--over", "24h"], "nothing in it changes with time"),
    ],
)
def test_the_command_refuses_in_one_line(options, words, tmp_path):
    model = written(tmp_path, "pool.toml", MODEL)
    assert words in refusal("solve", model, *options)


@pytest.mark.parametrize("start", ["backlog=-5", "backlog=2.5", "backlog=1e9", "later", -5, 2.5])
def test_a_start_that_cannot_be_is_refused(start):
    with pytest.raises(HeadwayError, match=f"start is '(backlog=)?{start}'"):
        over_model(parse_model(MODEL), DAY, start=start)


def test_a_model_of_classes_has_no_day():
    text = MODEL + "[classes.web]\narrival_rate = 1\n[classes.batch]\narrival_rate = 2\n"
    with pytest.raises(HeadwayError, match="has classes"):
        over_model(parse_model(text), DAY)


def test_the_size_of_a_day_is_the_smallest_that_keeps_its_targets():
    graph = ModelGraph("pool").declare("servers").station("cpu", MMm(0.01, "servers"))
    choose = {"servers": range(2, 9)}
    targets = ["response_time_over_50ms<=1%", "worst.response_time_p95<=40ms"]
    size = size_over(graph.at(), DAY, targets, choose, "servers", every=60)

    def keeps(servers):
        found = over_model(graph.at(servers=servers), DAY, 0.05, every=60, percentiles=(95.0,))
        worst = found.periods.percentiles[95.0].max()
        return found.over_target <= 0.01 and worst <= 0.04

    best = int(size.best.values["servers"])
    assert keeps(best)
    assert not keeps(best - 1)
    assert "followed over 120 s by method forward" in str(size)


def test_clients_who_give_up_are_not_passed_over_by_a_size():
    """Three servers of 300/s for 450/s answer a few in time, and those quickly."""
    text = MODEL.replace("servers = 4", 'servers = "n"') + (
        "[parameters]\nn = 1\narrival_rate = 5\n"
        '[arrivals]\ncpu = { timeout = "100 ms", retries = 2 }\n'
    )
    given = parse_model(text), Day((0.0, 10.0), (450.0,))
    choose = {"n": [3, 8]}
    size = size_over(*given, ["response_time_over_80ms<=1%"], choose, "n")
    assert size.best.values == {"n": 8}
    for target in ("response_time<=80ms", "worst.response_time_p95<=80ms"):
        with pytest.raises(InvalidParameter, match="its clients give up, and .*only those who are"):
            size_over(*given, [target], choose, "n")


def test_the_command_sizes_over_a_day(tmp_path):
    text = MODEL.replace("servers = 4", 'servers = "n"') + "[parameters]\nn = 1\n"
    model = written(tmp_path, "pool.toml", text)
    day = written(tmp_path, "day.csv", "time,rate\n0,50\n60,300\n")
    options = ("--target", "worst.response_time<=16ms", "--choose", "n=1:8", "--cost", "2*n")
    given = ("--over", day, *options, "--every", "60")
    found = json.loads(headway("size", model, *given, "--json").out)
    assert found["cheapest"]["values"] == {"n": 4}
    assert found["cheapest"]["cost"] == 8
    assert "none of 2 configurations" in refusal(
        "size", model, "--over", day, *options[:2], "--choose", "n=1:2", "--cost", "n"
    )
    assert "--every needs --over" in refusal("size", model, *options, "--every", "60")
    other = ("--target", "throughput>=5", *options[2:])
    assert "targets of a day are" in refusal("size", model, "--over", day, *other)


@pytest.mark.parametrize("ticks", [1, 10**3, 10**6, 10**9])
def test_a_log_counts_time_in_parts_of_a_second_since_1970(ticks):
    begin = 1772409540  # 1 March 2026, 23:59
    lines = "".join(f"{(10 * begin + k) * ticks // 10}\n" for k in range(600))
    day = day_of_text("timestamp\n" + lines, "log.csv")
    assert day.edges[0] == pytest.approx(begin, abs=1e-3)
    assert np.mean(day.rates) == pytest.approx(10, rel=0.02)
    model = ModelGraph("one").station("cpu", MM1(0.01)).at()
    assert "23:59:00" in str(over_model(model, day, every=10))


def test_nobody_comes_to_a_simulated_day_before_its_rate_says_so():
    """In 20 days 4 jobs are expected, 2 being their standard deviation; not one a day and more."""
    day = Day((0.0, 10.0, 20.0), (0.02, 0.0))
    model = ModelGraph("one").station("cpu", MM1(0.001)).at()
    found = over_model(model, day, every=10, start="empty", method="simulation")
    assert found["throughput"][0] * 20 * 10 < 12


def test_a_backlog_and_servers_of_a_formula_are_played():
    graph = ModelGraph("one").declare("t").station("cpu", MMm(0.01, "where(t < 5, 1, 3)"))
    model, day = graph.at(t=0), Day((0.0, 5.0, 10.0), (130.0, 130.0))
    options = {"every": 2.5, "start": "backlog=150"}
    exact = over_model(model, day, **options)
    played = over_model(model, day, **options, method="simulation")
    for name in ("throughput", "queue_length", "utilisation"):
        assert played[name] == pytest.approx(exact[name], rel=0.1)
    assert played["servers"] == pytest.approx([1, 1, 3, 3], rel=1e-12)


def test_servers_of_a_network_change_while_it_is_played():
    """A second queue that is short of servers for 8 s: what gathers there, and goes with more."""
    graph = ModelGraph("two").declare("t").station("web", MM1(0.001))
    graph = graph.station("cpu", MMm(0.01, "where(t < 8, 1, 4)")).route("web", "cpu")
    day = Day((0.0, 8.0, 16.0), (150.0, 150.0))
    found = over_model(graph.at(t=0), day, every=8, start="empty", method="simulation")
    assert found["throughput"] == pytest.approx([100, 200], rel=0.04)
    assert found["queue_length"][0] == pytest.approx(200, rel=0.1)


@pytest.fixture(scope="module")
def calm():
    """M/M/1 at half its load, whose clients wait 0.1 s and go; nobody comes at the end."""
    text = '[stations.cpu]\nkind = "MM1"\nservice_time = "20 ms"\n[parameters]\narrival_rate = 25\n'
    model = parse_model('name = "calm"\n' + text + '[arrivals]\ncpu = { timeout = "100 ms" }\n')
    day = Day((0.0, 200.0, 210.0, 220.0), (25.0, 0.0, 0.0))
    return over_model(model, day, every=200, target="0.05 s", method="simulation")


def test_requests_answered_in_time_are_those_of_the_law_of_times(calm):
    """P(R > t) = e^(-(mu - lambda) t) of M/M/1; whoever gives up has waited longest."""
    gone, late = exp(-2.5), exp(-1.25)
    assert calm["goodput"][0] == pytest.approx(25 * (1 - gone), rel=0.02)
    assert calm["throughput"][0] == pytest.approx(25, rel=0.02)
    assert calm["abandonment"][0] == pytest.approx(gone, rel=0.05)
    assert calm["wasted_work"][0] > gone
    assert calm["attempts"][0] == pytest.approx(1, rel=1e-12)
    assert calm.periods.over_target[0] == pytest.approx(late, rel=0.04)


def test_shares_of_nobody_are_unknown(calm):
    assert np.isnan(calm["attempts"][1])
    document = json.loads(calm.to_json())
    assert document["periods"][1]["attempts"] is None
    assert document["day"]["goodput"] < 25
    assert "goodput of a whole day" in str(calm)
    with pytest.raises(KeyError):
        calm["clients"]


def test_a_target_of_a_network_is_answered_by_simulation():
    day = Day((0.0, 1.0, 2.0), (100.0, 300.0))
    found = over_model(TANDEM.at(), day, every=1, target="20 ms", percentiles=())
    assert found.method == "simulation"
    assert 0 < found.over_target < 1
    long = Day((0.0, 1e4, 2e4), (100.0, 300.0))
    with pytest.raises(InvalidParameter, match="use method simulation"):
        over_model(TANDEM.at(), long, every=1e4, target="20 ms")


def test_other_changes_are_not_played():
    graph = ModelGraph("one").declare("t").station("cpu", MM1("where(t < 50, 0.1, 0.2)"))
    with pytest.raises(GraphError, match="only servers may follow time"):
        over_model(graph.at(t=0), Day((0.0, 100.0), (3.0,)), method="simulation")
