"""Whole numbers out of quotients: n parts of size/n are n, in every form of a formula."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.kinds import apply
from headway.loggp import (
    LogGP,
    PacketTransfer,
    Pipeline,
    Stage,
    barrier_time,
    bulk_transfer_time,
    capacity,
)
from headway.models import ModelGraph, catalogue_model
from headway.models.solving.symbolic import numeric, symbol

PRESET = catalogue_model("pipeline").presets["gam"].values
STAGES = ("send_cpu", "send_interface", "wire", "receive_interface", "receive_cpu")
GAM = [(float(PRESET[f"{name}_occupancy"]), float(PRESET[f"{name}_gap"])) for name in STAGES]

counts = st.integers(1, 10**6)
sizes = st.floats(1e-9, 1e12)


@given(sizes, counts)
def test_n_packets_of_a_size_over_n_are_n(size, count):
    """The quotient of a quotient is off by up to two roundings, above or below."""
    ratio = size / (size / count)

    assert apply("ceil", ratio) == count
    assert apply("floor", ratio) == count
    assert PacketTransfer((1.0,), (0.0,), size, size / count).packets == count


@given(st.integers(1, 10**6), st.floats(2e-6, 1 - 2e-6))
def test_what_is_not_whole_is_rounded_up_or_down(whole, share):
    """1e-12 of a million is less than the least share here."""
    assert apply("ceil", whole + share) == whole + 1
    assert apply("floor", whole + share) == whole
    assert apply("ceil", -whole - share) == -whole
    assert apply("floor", -whole - share) == -whole - 1


@given(st.floats(allow_nan=False))
def test_no_rounding_is_off_by_one_or_more(value):
    """Also of numbers so large that 1e-12 of them is more than one."""
    up, down = apply("ceil", value), apply("floor", value)

    if math.isinf(value):
        assert up == down == value
    else:
        assert up == math.ceil(up)
        assert -0.5 <= up - value <= 1
        assert -0.5 <= value - down <= 1
        assert down <= up


@pytest.mark.parametrize(("transfer", "count"), [(65536.0, 49), (274.0, 102), (38000.0, 49)])
def test_published_pipeline_in_equal_packets(transfer, count):
    """65,536 B in packets of 65,536/49 were 50; 274 B in `best_packet` 103."""
    model = catalogue_model("pipeline").with_preset("gam")
    packet = transfer / count

    solution = model.at(transfer=transfer, packet=packet).solve()

    pipeline = Pipeline(tuple(Stage("s", o, g) for o, g in GAM))
    assert solution["packets"] == count
    assert solution["total_time"] == pytest.approx(
        pipeline.equal_packets(transfer, count).total_time, rel=1e-12
    )
    assert pipeline.best_packets(transfer, largest_packet=packet).packets >= count
    drawn = solution.plot().axes[0].get_title()
    assert f"{count} packets" in drawn


@given(st.integers(1, 3000))
def test_the_best_packet_given_back_makes_the_best_transfer(transfer):
    stages = tuple(zip(*GAM, strict=True))
    result = PacketTransfer(*stages, float(transfer), 1.0)

    again = PacketTransfer(*stages, float(transfer), result.best_packet)

    assert again.packets == result.best_packets
    assert again.packets == round(transfer / result.best_packet)
    # the rest is a difference of two numbers that are rounded
    assert again.total_time == pytest.approx(result.best_time, rel=1e-12)


@given(sizes.filter(lambda size: size >= 1), counts)
def test_the_rule_is_that_of_formulas_and_their_closed_forms(size, count):
    part = size / count
    graph = ModelGraph("g").declare("size", "part").output("parts", "ceil(size / part)")
    graph = graph.output("full", "floor(size / part)")
    model = graph.at(size=size, part=part)
    form = graph.closed_form("parts")
    names = [symbol("size"), symbol("part")]

    assert model.solve()["parts"] == count
    assert model.solve()["full"] == count
    assert numeric(form, names)(size, part) == count
    assert numeric(graph.closed_form("full"), names)(size, part) == count
    assert numeric(form, names)(np.array([size]), part).tolist() == [count]


@given(st.integers(1, 40), st.integers(1, 10**5))
def test_fragments_and_capacity(count, unit):
    machine = LogGP(count * (unit * 1e-9), 0.0, 0.0, unit * 1e-9, 0.0)

    assert capacity(machine) == count


def test_fragments_are_counted_by_the_rule():
    machine = LogGP(1e-6, 1.0, 1e-6, 1e-6, 0.0)

    assert bulk_transfer_time(machine, 8192, 4096) == 2
    assert bulk_transfer_time(machine, 8193, 4096) == 3


@pytest.mark.parametrize("power", [3, 29, 49])
def test_rounds_of_a_barrier_are_exact(power):
    machine = LogGP(1.0, 0.0, 0.0, 1.0, 0.0, 2**power)

    assert barrier_time(machine) == power
    assert barrier_time(LogGP(1.0, 0.0, 0.0, 1.0, 0.0, 2**power + 1)) == power + 1
