"""Conventions: whose latency, and that converting there and back changes nothing."""

import math
from dataclasses import replace

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from headway.errors import HeadwayError
from headway.loggp import PLATFORM_SOURCES, PLATFORMS, Convention, LogGP, convert, one_message_time

times = st.floats(1e-7, 1e-3)


def half_ping_pong(machine):
    """What a benchmark measures for one byte, said in each convention's own words."""
    overheads = machine.send_overhead + machine.receive_overhead
    return {
        Convention.PAPERS: machine.latency + overheads,
        Convention.NETGAUGE: machine.latency,
        Convention.PLOGP: machine.latency + machine.gap,
        Convention.SMPI: machine.latency + machine.gap_per_byte + machine.receive_overhead,
    }[machine.convention]


@given(times, times, times, times, st.floats(0, 1e-6), st.sampled_from(Convention))
def test_every_convention_means_the_same_measurement(latency, send, receive, gap, per_byte, target):
    machine = LogGP(latency + gap + per_byte, send, receive, gap, per_byte)

    converted = convert(machine, target)

    # four additions of rounded numbers: 1e-12 of the largest
    assert math.isclose(half_ping_pong(converted), one_message_time(machine), rel_tol=1e-12)
    assert math.isclose(one_message_time(converted), one_message_time(machine), rel_tol=1e-12)
    back = convert(converted, Convention.PAPERS)
    assert math.isclose(back.latency, machine.latency, rel_tol=1e-9)


def test_convention_may_be_given_by_name_and_works_on_arrays_and_symbols():
    machine = LogGP(np.array([20e-6, 30e-6]), 2e-6, 3e-6, 5e-6, 0, convention="netgauge")

    np.testing.assert_allclose(convert(machine, "papers").latency, [15e-6, 25e-6], rtol=1e-12)

    latency = sympy.Symbol("L", positive=True)
    symbolic = convert(replace(machine, latency=latency), Convention.PAPERS)
    assert float(symbolic.latency.subs(latency, 20e-6)) == pytest.approx(15e-6, rel=1e-12)


@pytest.mark.parametrize(
    ("machine", "target", "message"),
    [
        (LogGP(3e-6, 2e-6, 2e-6, 5e-6, 0, convention="netgauge"), "papers", "do not determine"),
        (LogGP(0.0, 2e-6, 2e-6, 3e-6, 0, convention="plogp"), "papers", "truncates negative"),
        (LogGP(1e-6, 1e-6, 1e-6, 9e-6, 0), "plogp", "do not determine"),
    ],
)
def test_undetermined_conversions_are_refused(machine, target, message):
    with pytest.raises(HeadwayError, match=message):
        convert(machine, target)


@pytest.mark.parametrize(
    "field", ["latency", "send_overhead", "receive_overhead", "gap", "gap_per_byte"]
)
def test_negative_parameters_are_refused_by_name(field):
    with pytest.raises(HeadwayError, match=f"{field} is -1"):
        replace(PLATFORMS["now"], **{field: -1.0})


@pytest.mark.parametrize("bad", [{"processors": 0}, {"processors": 1.5}, {"convention": "mine"}])
def test_other_bad_parameters_are_refused(bad):
    with pytest.raises(HeadwayError):
        replace(PLATFORMS["now"], **bad)


def test_every_platform_names_its_source():
    assert PLATFORM_SOURCES.keys() == PLATFORMS.keys()
