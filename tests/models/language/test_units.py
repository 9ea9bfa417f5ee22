import math
from decimal import Context, localcontext

import pint
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.errors import UnitError
from headway.models.language.titles import split_header
from headway.models.language.units import (
    compatible,
    quantity,
    readable,
    si_text,
    unit,
)

registry = pint.UnitRegistry()
registry.define("op = [operation]")
registry.define("message = [message]")
registry.define("job = [job]")

TIMES = ["s", "ms", "us", "ns", "min", "h"]
DATA = ["B", "kB", "MB", "GB", "KiB", "MiB", "GiB", "bit", "kbit", "Mbit", "Mibit"]
COUNTS = ["op", "message", "job"]
names = st.sampled_from(TIMES + DATA + COUNTS)


def in_si(expression):
    return registry.Quantity(1, expression).to_base_units()


@given(names, names, names, st.floats(1e-6, 1e6))
def test_products_and_quotients_agree_with_pint(first, second, third, value):
    text = f"{first}*{second}/{third}"
    peer = registry.Quantity(
        value, text.replace("h", "hour") if "h" in (first, second, third) else text
    )
    seconds, data, *counts = unit(text).dimension
    target = f"s**{seconds} * B**{data} * op**{counts[0]} * message**{counts[1]} * job**{counts[2]}"

    # Tolerance: a handful of multiplications in each.
    assert quantity(f"{value!r} {text}") == pytest.approx(peer.to(target).magnitude, rel=1e-12)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("650us", 650e-6),
        ("3.4 ms", 3.4e-3),
        ("800", 800.0),
        ("1 MB*s", 1e6),
        ("1.19MB/s", 1.19e6),
        ("3 /s", 3.0),
        ("2.4 message/op", 2.4),
        ("512 MiB", 512 * 2**20),
        ("40%", 0.4),
        ("8 Mbit/s", 1e6),
        ("1 KB", 1000.0),
        ("5 s^2", 5.0),
        ("-1e-3 s", -1e-3),
    ],
)
def test_quantities(text, value):
    assert quantity(text) == pytest.approx(value, rel=1e-12)


@given(names, names, st.floats(1e-290, 1e290))
def test_every_value_can_be_written_in_every_unit(first, second, value):
    for text in (first, f"1/{first}", f"{first}*{second}", f"{first}/{second}"):
        assert quantity(f"{unit(text).written(value)} {text}") == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.1 us", 1e-7),
        ("806.4093296368078 us", 806.4093296368078e-6),
        ("3 /ns", 3e9),
        ("1e-99999999999999999999 us", 0.0),
        ("1/3 min", 20.0),
        ("1e-330 TB", 0.0),
    ],
)
def test_quantities_are_rounded_once(text, value):
    assert quantity(text) == value


def test_quantities_do_not_turn_on_the_digits_that_others_set_for_decimals():
    with localcontext(Context(prec=3)):
        assert quantity("806.4093296368078 us") == 806.4093296368078e-6


@pytest.mark.parametrize(
    "text", ["", "abc", "nan s", "inf", "1e999 s", "1,5 s", "3 furlongs", "1 s $"]
)
def test_refused(text):
    with pytest.raises(UnitError):
        quantity(text)


def test_ambiguous_letters_are_refused_with_a_hint():
    with pytest.raises(UnitError, match="kB or KiB"):
        quantity("5 K")
    with pytest.raises(UnitError, match="bit or B"):
        quantity("5 b")


def test_wrong_dimension_names_both():
    with pytest.raises(UnitError, match=r"cpu_time is '3MB', which is data \(B\); it needs time"):
        quantity("3MB", unit("us"), "cpu_time")


def test_counts_may_be_left_out_but_not_exchanged():
    assert compatible(unit("1/s").dimension, unit("op/s").dimension)
    assert not compatible(unit("message/s").dimension, unit("op/s").dimension)


@pytest.mark.parametrize(
    ("column", "name", "text"),
    [
        ("throughput_ops_s", "throughput", "op/s"),
        ("response_ms", "response", "ms"),
        ("run_time_s", "run_time", "s"),
        ("gap_us_per_kb", "gap", "us/kB"),
        ("bandwidth_mb_s", "bandwidth", "MB/s"),
        ("size_bytes", "size", "B"),
        ("reads_percent", "reads", "%"),
        ("rate_per_s", "rate", "1/s"),
    ],
)
def test_headers(column, name, text):
    result, outcome = split_header(column)

    assert (result, str(outcome)) == (name, text)


@pytest.mark.parametrize("column", ["system", "burst_size", "s", "nodes"])
def test_headers_without_unit(column):
    assert split_header(column) == (column, None)


@given(names, names)
def test_si_text_reads_back(first, second):
    dimension = unit(f"{first}/{second}").dimension

    assert unit(si_text(dimension)).dimension == dimension


def test_readable_chooses_few_digits():
    assert str(readable(unit("s").dimension, 8.74e-3)) == "ms"
    assert str(readable(unit("op/s").dimension, 1538.0)) == "op/s"
    assert str(readable(unit("s").dimension, math.inf)) == "s"


@pytest.mark.parametrize("spoken", ["rps", "qps", "tps", "iops"])
def test_a_spoken_rate_is_refused_with_one_that_is_read(spoken: str) -> None:
    with pytest.raises(UnitError, match=r"is not known; write \w+/s") as refused:
        unit(spoken)
    assert unit(str(refused.value).rpartition(" ")[2]).scale == 1
