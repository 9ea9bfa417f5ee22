"""Text at the edge: which text is a number, and what a terminal gets to see of strangers' text."""

import math
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.errors import HeadwayError, UnitError, is_hidden, quoted, visible
from headway.kinds import number_of, resolution
from headway.models.language.units import quantity


@pytest.mark.parametrize(
    ("text", "value"),
    [("3", 3.0), (" +3.40 ", 3.4), (".5", 0.5), ("5.", 5.0), ("1E3", 1000.0), ("-2e-3", -0.002)],
)
def test_numbers_in_decimal_digits(text, value):
    assert number_of(text) == value


@pytest.mark.parametrize(
    "text", ["1_0", "٣", "１２", "0x1f", "1e", "e3", "", ".", "--1", "1 0", "1,5", "²", "1e1_0"]
)
def test_what_python_would_take_for_a_number_is_none(text):
    assert number_of(text) is None
    with pytest.raises(UnitError):
        quantity(text)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_float_reads_back(value):
    assert number_of(repr(value)) == value


def test_zero_has_no_sign():
    assert math.copysign(1, number_of("-0")) == 1
    assert math.copysign(1, quantity("-0 ms")) == 1


@pytest.mark.parametrize("digits", ["0e400", "0e" + "9" * 5000, "1e-" + "9" * 5000])
def test_a_resolution_of_any_exponent(digits):
    assert resolution(digits) in (math.inf, 0.0)


@given(st.text())
def test_nothing_hidden_is_left(text):
    shown = visible(text)

    assert not any(map(is_hidden, shown))
    shown.encode("utf-8")  # half characters would not
    assert visible(shown) == shown


@given(st.text(alphabet=st.characters(min_codepoint=32, max_codepoint=126)))
def test_plain_text_stays(text):
    assert visible(text) == text


def test_controls_of_both_blocks_and_directions_are_hidden():
    assert all(is_hidden(chr(code)) for code in (*range(32), *range(127, 160), 0x202E, 0x2066))
    assert not any(is_hidden(c) for c in "µΩ·→é漢" if unicodedata.category(c) != "Cc")


def test_errors_show_what_they_name():
    assert "\x1b" not in str(HeadwayError("\x1b[31mred"))
    assert str(HeadwayError("\x1b[31mred")) == r"\x1b[31mred"


def test_messages_stay_short():
    assert len(quoted("9" * 5000)) < 70
