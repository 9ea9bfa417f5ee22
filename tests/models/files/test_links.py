"""Links of model files: platforms and conventions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.errors import HeadwayError, ModelFileError
from headway.loggp import PLATFORMS, Convention, LogGP, convert
from headway.models import ModelGraph, parse_model

FILE = """
name = "link"
[parameters]
{parameters}
[links.lan]
{keys}
[outputs]
latency = "lan.latency + 0 * ({use})"
"""
NUMBERS = """
latency = "{latency} s"
send_overhead = "2.9 us"
receive_overhead = "1.9 us"
gap = {gap}
gap_per_byte = "26 ns/B"
"""


def link(keys, parameters="", use="0"):
    return parse_model(FILE.format(keys=keys, parameters=parameters, use=use))


@pytest.mark.parametrize("name", sorted(PLATFORMS))
def test_every_platform_can_be_named(name):
    assert link(f'platform = "{name}"').solve()["latency"] == pytest.approx(
        PLATFORMS[name].latency, rel=1e-12
    )


@given(st.sampled_from(sorted(Convention)), st.floats(1e-6, 1e-3))
def test_latencies_are_turned_into_those_of_the_papers(convention, latency):
    machine = LogGP(latency, 2.9e-6, 1.9e-6, 4.8e-6, 26e-9)
    converted = convert(machine, convention)
    keys = NUMBERS.format(latency=repr(converted.latency), gap='"4.8 us"')

    solution = link(keys + f'convention = "{convention}"').solve()
    graph = ModelGraph("link").link("lan", converted).output("latency", "lan.latency")

    # one subtraction of numbers up to 10 us, and 15 printed digits
    assert solution["latency"] == pytest.approx(latency, abs=1e-18, rel=1e-12)
    assert graph.at().solve()["latency"] == pytest.approx(latency, abs=1e-18, rel=1e-12)


def refused(keys, parameters="", use="0"):
    with pytest.raises(ModelFileError, match=r"model:\d+ \[links.lan") as caught:
        link(keys, parameters, use)
    return str(caught.value)


def test_bad_conventions():
    numbers = NUMBERS.format(latency="1e-5", gap='"4.8 us"')

    assert "one of papers, netgauge" in refused(numbers + 'convention = "mine"')
    assert "delete convention" in refused('platform = "now"\nconvention = "smpi"')
    small = NUMBERS.format(latency="1e-6", gap='"4.8 us"')
    assert "latency would be" in refused(small + 'convention = "netgauge"')
    free = NUMBERS.format(latency="1e-5", gap='"g"') + 'convention = "netgauge"'
    message = refused(free, 'g = "4 us"', "g")
    assert "gap is the formula 'g'" in message
    assert "in convention papers" in message


def test_formulas_in_the_papers_convention_are_welcome():
    numbers = NUMBERS.format(latency="1e-5", gap='"g"') + 'convention = "papers"'

    assert link(numbers, 'g = "4 us"', "g").solve()["latency"] == 1e-5


def test_negative_parameters_and_no_processors():
    with pytest.raises(HeadwayError, match="latency is -1"):
        link(NUMBERS.format(latency="-1", gap='"4.8 us"'))
    with pytest.raises(HeadwayError, match="processors is 0"):
        link('platform = "now"\nprocessors = 0')
