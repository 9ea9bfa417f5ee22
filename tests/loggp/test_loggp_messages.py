"""Message costs: published figures, limits, and the same law in symbols and arrays."""

import csv
import math

import numpy as np
import pytest
import sympy

from headway.errors import HeadwayError
from headway.loggp import (
    PLATFORMS,
    LogGP,
    MessageLine,
    MpiMessages,
    bulk_transfer_time,
    capacity,
    effective_gap,
    full_fragments,
    long_message_time,
    many_to_one_gap,
    one_message_time,
    overlap_share,
    request_reply_time,
    small_messages,
    train_time,
    windowed_gap,
)
from tests.support.places import ROOT

DATA = ROOT / "models/data"


def rows(name):
    with (DATA / name).open(newline="") as file:
        return list(csv.DictReader(file))


def calibration(parameter):
    """Rows of Table 2.2 for one varied parameter: (machine as observed, observed gap)."""
    for row in rows("network_sensitivity/table_2_2_calibration.csv"):
        if row["varied_parameter"] == parameter:
            overhead, gap, latency = (
                float(row[f"observed_{name}_us"]) for name in ("overhead", "gap", "latency")
            )
            yield LogGP(latency, overhead, overhead, 5.8, 0), gap


def test_platforms_stand_as_printed_in_table_2_1():
    printed = rows("network_sensitivity/table_2_1_loggp_baselines.csv")

    for row, name in zip(printed, ("now", "paragon", "meiko"), strict=True):
        machine = PLATFORMS[name]
        assert math.isclose(machine.overhead * 1e6, float(row["overhead_us"]))
        assert math.isclose(machine.gap * 1e6, float(row["gap_us"]))
        assert math.isclose(machine.latency * 1e6, float(row["latency_us"]))
        assert math.isclose(1e-6 / machine.gap_per_byte, float(row["bulk_bandwidth_mb_s"]))


def test_spine_router_stands_as_printed_in_table_6_2():
    row, spine = rows("network_sensitivity/table_6_2_spine_loggp.csv")[0], PLATFORMS["spine-router"]

    printed = [float(row[f"{name}_us"]) for name in ("overhead", "gap", "latency")]
    np.testing.assert_allclose(
        [spine.overhead * 1e6, spine.gap * 1e6, spine.latency * 1e6], printed, rtol=1e-12
    )
    assert math.isclose(1e-6 / spine.gap_per_byte, float(row["bulk_bandwidth_mb_s"]))


def test_mean_overheads_of_the_thesis_are_those_of_the_microbenchmark():
    for name in ("paragon", "meiko"):
        # Table 2.1 is printed to 0.1 us: half a unit
        assert abs(PLATFORMS[f"{name}-1996"].overhead - PLATFORMS[name].overhead) <= 0.0501e-6


@pytest.mark.parametrize("name", ["paragon-1996", "meiko-1996", "myrinet-1996"])
def test_round_trip_closes_with_the_measured_one(name):
    titles = {"paragon": "Intel Paragon", "meiko": "Meiko CS-2", "myrinet": "Myrinet"}
    measured = {
        row["platform"]: row for row in rows("logp_microbenchmark/table_3_round_trip_times.csv")
    }[titles[name.removesuffix("-1996")]]

    # half a unit of each printed digit of L, o_s and o_r, twice: 0.1 us at the ends
    round_trip = request_reply_time(PLATFORMS[name]) * 1e6
    assert float(measured["min_round_trip_us"]) - 0.1 <= round_trip
    assert round_trip <= float(measured["max_round_trip_us"]) + 0.1


def test_printed_paragon_latency_does_not_close():
    printed = {r["platform"]: r for r in rows("logp_microbenchmark/table_4_logp_parameters.csv")}
    row = printed["Intel Paragon"]
    machine = LogGP(
        *(float(row[f"{n}_us"]) for n in ("latency", "send_overhead", "receive_overhead", "gap")), 0
    )

    assert request_reply_time(machine) > 20.1 + 2


def test_overhead_beyond_the_gap_sets_the_interval_as_in_table_2_2():
    misses = [abs(effective_gap(machine) - gap) for machine, gap in calibration("overhead")]

    # overheads and gaps are printed to 0.1 us, so 2 o is known to 0.1 and the gap to 0.05;
    # one published point (77.9 us) lies 2 us off by its own measurement
    assert sorted(misses)[-2] <= 0.2 + 1e-9
    assert max(misses) <= 2.0 + 1e-9


def test_window_sets_the_interval_at_high_latency_as_in_table_2_2():
    for machine, gap in calibration("latency"):
        high = machine.latency >= 55
        # within 0.2 us from 55 us on; the knee below is soft, up to 1.2 us (source-models N8)
        assert abs(windowed_gap(machine) - gap) <= (0.2 if high else 1.2) + 1e-9


def test_capacity_counts_whole_messages_and_never_none():
    machine = LogGP(np.array([0.0, 5.0, 5.8, 105.5]), 0, 0, 5.8, 0)

    assert capacity(machine).tolist() == [1, 1, 1, 19]
    assert capacity(LogGP(1.0, 0, 0, 0.0, 0)) == math.inf
    assert capacity(LogGP(0.0, 0, 0, 0.0, 0)) == 1
    assert capacity(LogGP(0.3e-6, 0, 0, 0.1e-6, 0)) == 3


def test_laws_are_the_same_in_symbols_and_in_arrays():
    latency, send, receive, gap, per_byte = sympy.symbols("L o_s o_r g G", positive=True)
    symbolic = LogGP(latency, send, receive, gap, per_byte)
    numbers = {latency: 5.0, send: 2.0, receive: 3.0, gap: 6.0, per_byte: 0.5}
    numeric = LogGP(*(np.full(3, float(v)) for v in numbers.values()))
    laws = [
        one_message_time,
        lambda m: long_message_time(m, 7),
        lambda m: train_time(m, 5),
        lambda m: bulk_transfer_time(m, 9000),
        capacity,
        windowed_gap,
        lambda m: many_to_one_gap(m, 3),
    ]

    for law in laws:
        np.testing.assert_allclose(law(numeric), float(law(symbolic).subs(numbers)), rtol=1e-12)


def simulate_train(machine, messages):
    """Sender, network and receiver message by message."""
    sent = received = -math.inf
    free = 0.0
    for _ in range(messages):
        sent = max(free, sent + machine.gap)
        free = sent + machine.send_overhead
        arrived = free + machine.latency
        received = max(arrived, received + max(machine.gap, machine.receive_overhead))
    return received + machine.receive_overhead


@pytest.mark.parametrize("parts", [(5, 2, 3, 6), (5, 7, 3, 6), (5, 2, 9, 6), (0, 1, 1, 0)])
def test_a_train_agrees_with_its_message_by_message_simulation(parts):
    machine = LogGP(*map(float, parts), 0)

    for messages in (1, 2, 7):
        assert math.isclose(train_time(machine, messages), simulate_train(machine, messages))


def test_contention_at_a_receiver_is_near_the_published_ratios():
    for row in rows("logp_microbenchmark/table_5_contention.csv"):
        senders = int(row["senders"])
        predicted = many_to_one_gap(PLATFORMS["now"], senders) / PLATFORMS["now"].gap
        # published: 6 for 7 senders, 16.8 for 15
        assert abs(float(row["gap_ratio_k_to_1"]) / predicted - 1) < 0.15


def test_npb_messages_decompose_exactly():
    for row in rows("network_sensitivity/table_4_1_npb_communication.csv"):
        assert small_messages(int(row["mpi_device_messages"])) == int(
            row["active_message_small_messages"]
        )
        assert full_fragments(int(row["mpi_device_bytes"])) == int(
            row["active_message_4k_fragments"]
        )


def test_mpi_message_has_two_regimes():
    mpi = MpiMessages(MessageLine(20.0, 38.0), MessageLine(80.0, 38.0))
    sizes = np.array([4096, 4097])

    added = mpi.time(sizes, added_overhead=1.0, added_latency=10.0) - mpi.time(sizes)

    np.testing.assert_allclose(added, [1.0, 4 + 2 + 20], rtol=1e-12)
    size = sympy.Symbol("n", positive=True)
    assert float(mpi.time(size).subs(size, 4096)) == pytest.approx(mpi.time(4096), rel=1e-12)


def test_bandwidth_approaches_its_asymptote():
    line = MessageLine(20e-6, 38e6)

    assert line.delivered_bandwidth(760) == pytest.approx(19e6, rel=1e-12)  # n_1/2 = T_0 R
    assert line.delivered_bandwidth(1e12) == pytest.approx(38e6, rel=1e-6)


@pytest.mark.parametrize(
    "call",
    [
        lambda: long_message_time(PLATFORMS["now"], 0),
        lambda: bulk_transfer_time(PLATFORMS["now"], 0),
        lambda: train_time(PLATFORMS["now"], 0),
        lambda: many_to_one_gap(PLATFORMS["now"], 0),
        lambda: windowed_gap(PLATFORMS["now"], 0),
        lambda: overlap_share(2.0, 1.0),
        lambda: overlap_share(2.0, 0.0),
        lambda: MessageLine(-1, 1),
        lambda: MessageLine(1, 0),
        lambda: MessageLine(1, 1).time(0),
    ],
)
def test_bad_input_is_refused_in_one_line(call):
    with pytest.raises(HeadwayError) as error:
        call()
    assert "\n" not in str(error.value)
