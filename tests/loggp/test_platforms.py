"""LogGP parameters as published, and what messages cost with them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.errors import InvalidParameter
from headway.loggp import (
    PLATFORMS,
    LogGP,
    bulk_bandwidth,
    message_rate,
    one_message_time,
    request_reply_time,
)
from headway.models import Measurements, data_path

SHORT_NAMES = {"Berkeley NOW": "now", "Intel Paragon": "paragon", "Meiko CS-2": "meiko"}
TABLE = Measurements.read(data_path("network_sensitivity/table_2_1_loggp_baselines.csv"))


@pytest.mark.parametrize("row", range(3))
def test_platforms_are_those_of_table_2_1(row):
    machine = PLATFORMS[SHORT_NAMES[TABLE.labels["platform"][row]]]

    printed = {name: TABLE.column(name).values[row] for name in ("overhead", "gap", "latency")}
    # Tolerance: decimal to binary only.
    assert machine.overhead == pytest.approx(printed["overhead"], rel=1e-12)
    assert machine.gap == pytest.approx(printed["gap"], rel=1e-12)
    assert machine.latency == pytest.approx(printed["latency"], rel=1e-12)
    bandwidth = TABLE.column("bulk_bandwidth").values[row]
    assert bulk_bandwidth(machine) == pytest.approx(bandwidth, rel=1e-12)


parameters = st.floats(0, 1e-3)


@given(parameters, parameters, parameters, st.floats(1e-9, 1e-3))
def test_a_round_trip_is_two_messages(latency, send, receive, gap):
    machine = LogGP(latency, send, receive, gap, 1e-8)

    assert request_reply_time(machine) == 2 * one_message_time(machine)
    assert one_message_time(machine) == pytest.approx(latency + 2 * machine.overhead, rel=1e-12)
    assert message_rate(machine) * gap == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize(
    ("field", "value"), [("latency", -1.0), ("gap", float("nan")), ("processors", 0)]
)
def test_refused(field, value):
    numbers = dict.fromkeys(("latency", "send_overhead", "receive_overhead"), 1e-6)

    with pytest.raises(InvalidParameter, match=field):
        LogGP(**{**numbers, "gap": 1e-6, "gap_per_byte": 1e-9, field: value})
