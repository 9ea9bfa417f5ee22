"""The signature: predicted from parameters, and the parameters read off it again."""

import csv

import numpy as np
import pytest
import sympy
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from headway.errors import HeadwayError
from headway.loggp import (
    PLATFORMS,
    GapLimit,
    LogGP,
    Regime,
    issue_cost,
    issue_times,
    read_signature,
    regime,
    request_reply_time,
    steady_issue_cost,
)
from tests.support.places import ROOT

DATA = ROOT / "models/data"
BURSTS = 2 ** np.arange(9)


def rows(name):
    with (DATA / name).open(newline="") as file:
        return list(csv.DictReader(file))


def design(machine, window=4):
    """Bursts and delays that suffice: none, and two beyond what sets the pace."""
    steady = float(steady_issue_cost(machine, 0.0, window))
    delays = np.repeat([0.0, steady, 1.5 * steady], BURSTS.size)
    return np.tile(BURSTS, 3), delays


def measured(machine, noise=0.0, repeats=1, seed=0):
    bursts, delays = (np.tile(column, repeats) for column in design(machine))
    random = np.random.default_rng(seed)
    cost = issue_cost(machine, bursts, delays) * (1 + noise * random.standard_normal(bursts.size))
    trips = request_reply_time(machine) * (1 + noise * random.standard_normal(repeats))
    return bursts, delays, cost, trips


def table_2_2():
    for row in rows("network_sensitivity/table_2_2_calibration.csv"):
        overhead, latency = (float(row[f"observed_{n}_us"]) for n in ("overhead", "latency"))
        gap = float(row["desired_us"]) if row["varied_parameter"] == "gap" else 5.8
        yield LogGP(latency, overhead, overhead, gap, 0.0)


def check_recovered(machine):
    signature = read_signature(*measured(machine))

    # the issue asks for 1e-9 of each parameter; times of a burst are sums of 256 steps
    scale = request_reply_time(machine)
    assert signature.send_overhead.value == pytest.approx(machine.send_overhead, rel=1e-9)
    assert signature.receive_overhead.value == pytest.approx(machine.receive_overhead, rel=1e-9)
    assert signature.latency.value == pytest.approx(machine.latency, rel=1e-9, abs=1e-12 * scale)
    assert signature.gap.value == pytest.approx(steady_issue_cost(machine), rel=1e-9)
    return signature


@pytest.mark.parametrize("machine", list(table_2_2()), ids=str)
def test_parameters_of_table_2_2_come_back(machine):
    check_recovered(machine)


@settings(max_examples=60, deadline=None)
@given(st.floats(1, 105), st.floats(1, 105), st.floats(1, 105), st.floats(1, 105))
def test_parameters_over_its_range_come_back(latency, send, receive, gap):
    # just above o_s + o_r the steady state sets in only after 2 W g / (g - o_s - o_r)
    # requests, beyond any burst measured here
    busy = send + receive
    assume(not busy < gap < 1.15 * busy)
    # the same just above the window's limit
    one_way = latency + busy
    assume(not one_way / 4 < max(gap, busy) < 1.15 * one_way / 4)

    machine = LogGP(latency, send, receive, gap, 0.0)
    result = check_recovered(machine)

    if result.limited_by is GapLimit.NETWORK:
        assert result.gap.value == pytest.approx(gap, rel=1e-9)


def test_observed_gaps_of_table_2_2_come_out_of_the_discrete_model():
    misses = {}
    for row in rows("network_sensitivity/table_2_2_calibration.csv"):
        varied, level = row["varied_parameter"], float(row["desired_us"])
        if varied == "overhead" or (varied == "latency" and level >= 55):
            overhead, latency = (float(row[f"observed_{n}_us"]) for n in ("overhead", "latency"))
            times = issue_times(LogGP(latency, overhead, overhead, 5.8, 0.0), 128)
            gap = (times[127] - times[63]) / 64
            misses[varied, level] = abs(gap - float(row["observed_gap_us"]))

    # 2 o where o > g, and (L + 2 o) / 4 at high latency: printed to 0.1 us, so 2 o is known
    # to 0.1; one published point is 2 us off (source-models N7 and N8)
    assert misses.pop(("overhead", 77.9)) == pytest.approx(2.0, abs=0.1)
    assert len(misses) == 10
    assert max(misses.values()) <= 0.2 + 1e-9


def test_what_limits_the_gap_is_named():
    limits = {
        GapLimit.NETWORK: LogGP(5.0, 2.0, 2.0, 8.0, 0.0),
        GapLimit.OVERHEAD: LogGP(5.0, 100.0, 100.0, 8.0, 0.0),
        GapLimit.WINDOW: LogGP(100.0, 2.0, 2.0, 8.0, 0.0),
    }
    for limit, machine in limits.items():
        assert read_signature(*measured(machine)).limited_by is limit


def test_intervals_hold_the_truth_at_their_nominal_rate():
    machine = LogGP(6.5, 1.4, 2.2, 7.6, 0.0)
    truth = {"send_overhead": 1.4, "receive_overhead": 2.2, "gap": 7.6, "latency": 6.5}
    trials = 400

    hits = dict.fromkeys(truth, 0)
    for seed in range(trials):
        signature = read_signature(*measured(machine, noise=0.02, repeats=12, seed=seed))
        for name, value in truth.items():
            low, high = getattr(signature, name).interval
            hits[name] += low <= value <= high

    # 95% nominal; three standard errors of a share over 400 trials are 3.3%
    for name, count in hits.items():
        assert 0.917 <= count / trials <= 0.983, name


def test_without_repeats_there_is_no_interval():
    signature = read_signature(*measured(PLATFORMS["now"]))

    assert signature.gap.interval is None


def test_paragon_text_values_come_out():
    """o_r = 2.2 us and L = 6.35 to 6.45 us; Table 4's L of 7.5 us is a slip."""
    by_name = {
        (row["platform"], row["quantity"], row["section"]): float(row["value"])
        for row in rows("logp_microbenchmark/in_text_logp_values.csv")
        if row["platform"] == "Intel Paragon"
        and row["value"]
        and row["section"].startswith("Small")
    }
    text = {quantity: value for (_, quantity, _), value in by_name.items()}
    trips = rows("logp_microbenchmark/table_3_round_trip_times.csv")[0]
    table_4 = rows("logp_microbenchmark/table_4_logp_parameters.csv")[0]

    # a signature that shows just what the text reads: costs o_s, g, and g' at D
    bursts = np.tile([1.0, 1000.0, 2000.0], 2)
    delays = np.repeat([0.0, text["added_computation"]], 3)
    slopes = np.repeat([text["gap"], text["gap_with_computation"]], 3)
    cost = np.where(bursts == 1, text["send_overhead"] + delays, slopes)
    for trip, latency in (("min_round_trip_us", 6.35), ("max_round_trip_us", 6.45)):
        signature = read_signature(bursts, delays, cost, float(trips[trip]))
        assert signature.receive_overhead.value == pytest.approx(2.2, rel=1e-9)
        assert signature.latency.value == pytest.approx(latency, rel=1e-9)
        assert float(table_4["latency_us"]) - signature.latency.value > 1  # the slip


def test_regimes_follow_one_another():
    machine = PLATFORMS["paragon-1996"]

    values = [regime(machine, burst) for burst in range(1, 40)]

    order = [Regime.SEND_ONLY, Regime.TRANSITION, Regime.STEADY]
    assert [order.index(r) for r in values] == sorted(order.index(r) for r in values)
    assert values[0] is Regime.SEND_ONLY
    assert values[-1] is Regime.STEADY


@settings(deadline=None, max_examples=60)
@given(st.floats(0, 105), st.floats(0.5, 105), st.floats(0.5, 105), st.floats(0.5, 105))
def test_a_burst_starts_at_send_overhead_and_ends_at_the_steady_cost(latency, send, receive, gap):
    machine = LogGP(latency, send, receive, gap, 0.0)
    times = issue_times(machine, 400)

    assert times[0] == send
    assert np.all(np.diff(times) >= send * (1 - 1e-12))
    busy = send + receive
    if not busy < gap < 1.15 * busy:
        slope = (times[399] - times[399 - 160]) / 160
        assert slope == pytest.approx(steady_issue_cost(machine), rel=0.06)
        # no long burst can be cheaper than the steady cost allows, but for the first window
        assert slope >= min(busy, steady_issue_cost(machine)) * (1 - 1e-9)


def test_no_window_means_no_stall():
    machine = LogGP(1000.0, 2.0, 3.0, 50.0, 0.0)

    assert np.all(np.diff(issue_times(machine, 30, window=None)) == 2.0)
    assert issue_times(machine, 30).max() > 1000


def test_symbols_and_arrays_have_no_signature():
    for part in (sympy.Symbol("L", positive=True), np.array([1.0, 2.0])):
        with pytest.raises(HeadwayError, match="plain numbers"):
            issue_times(LogGP(part, 1.0, 1.0, 1.0, 0.0), 4)
    with pytest.raises(HeadwayError, match="window is 0"):
        issue_times(PLATFORMS["now"], 4, window=0)


def only(bursts, delays):
    """A design with these bursts, and with or without delays."""
    columns = measured(PLATFORMS["now"])
    chosen = np.isin(columns[0], bursts) & np.isin(columns[1] > 0, delays)
    return (*(column[chosen] for column in columns[:3]), columns[3])


@pytest.mark.parametrize(
    ("bursts", "delays", "message"),
    [
        (BURSTS, [False], "delay of at least 2.9 us"),
        (BURSTS, [True], "add delay 0 with burst_size 1"),
        (BURSTS[6:], [False, True], "add delay 0 with burst_size 1"),
        ([1, 2], [False, True], "do not reach a steady state; add two longer ones"),
        ([1, 256], [False, True], "do not reach a steady state"),
    ],
)
def test_missing_measurements_are_named(bursts, delays, message):
    with pytest.raises(HeadwayError, match=message):
        read_signature(*only(bursts, delays))


def test_other_bad_signatures_are_refused():
    bursts, delays, cost, trip = measured(PLATFORMS["now"])
    for bad in (
        (bursts, delays, -cost, trip),
        (bursts, delays, cost[:-1], trip),
        (bursts * 0, delays, cost, trip),
        (bursts, -1 - delays, cost, trip),
        (bursts, delays, cost, 0.0),
        (bursts, delays, cost / bursts**2, trip),
        (bursts, delays, cost, trip / 10),
    ):
        with pytest.raises(HeadwayError) as error:
            read_signature(*bad)
        assert "\n" not in str(error.value)
