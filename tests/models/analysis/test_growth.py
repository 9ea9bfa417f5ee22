"""When resources saturate, as the load grows."""

import csv
import io
import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.errors import InvalidParameter
from headway.models import balance, catalogue_model
from headway.models.analysis.growth import Growth, Month, month
from tests.support.command import headway, refusal

ASK = ("balance", "nfs-server", "--preset", "raid")
GROWN = (*ASK, "--from", "800", "--per-year", "30%")


def test_years_by_hand():
    """The processor is full at 1/0.65 ms; 800 times 1.3 a year is that after 2.492 years."""
    full = json.loads(headway(*GROWN, "--json").out)["full"]

    assert [one["resource"] for one in full] == ["cpu", "disks"]
    assert full[0]["years"] == pytest.approx(math.log(1 / 650e-6 / 800) / math.log(1.3))
    assert full[0]["load"] * 1.0 == pytest.approx(800 * 1.3 ** full[0]["years"])


def test_dates_and_what_is_next():
    result = headway(*GROWN, "--start", "2026-11").out
    assert "cpu saturates in 2.49 years (2029-04); disks is next, in 4.84 years" in result
    rows = list(csv.DictReader(io.StringIO(headway(*GROWN, "--start", "2026-11", "--csv").out)))
    assert [row["month"] for row in rows] == ["2029-04", "2031-09"]


def test_what_is_full_already():
    out = headway(*ASK, "--from", "2000", "--per-year", "30%", "--start", "2026-11").out
    assert "cpu is saturated already; disks is next, in 1.34 years (2028-03)" in out


def test_machines_and_phases_each_have_their_line():
    out = headway("balance", "streaming-io", "--preset", "sort-cluster", "--preset", "sort-smp",
                  "--from", "8MB/s", "--per-year", "30%").out  # fmt: skip
    words = " ".join(out.split())
    assert "streaming-io (sort-smp) write: cpu saturates in 1.15 years; io bus is next" in words
    assert words.count("saturates in") == 4


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--from", "800"), "use --from and --per-year together"),
        (("--per-year", "30%"), "use --from and --per-year together"),
        (("--start", "2026-11"), "--start needs --from and --per-year"),
        (("--from", "0", "--per-year", "30%"), "the load to start from is 0"),
        (("--from", "800", "--per-year", "0"), "growth is 0"),
        (("--from", "800", "--per-year", "-3%"), "growth is -0.03"),
        (("--from", "800MB", "--per-year", "3%"), "it needs rate"),
        (("--from", "800", "--per-year", "30%", "--start", "2026-13"), "'2026-13' is not a month"),
        (("--from", "800", "--per-year", "30%", "--start", "soon"), "'soon' is not a month"),
    ],
)
def test_bad_input(more, says):
    assert says in refusal(*ASK, *more)


@settings(max_examples=50, derandomize=True, deadline=None)
@given(st.integers(1900, 2100), st.integers(1, 12), st.integers(0, 600))
def test_months_count_on(year, number, later):
    result = Month(year, number).after(later / 12)
    assert (result.year * 12 + result.number) - (year * 12 + number) == later
    assert month(str(result)) == result


def test_python_says_the_same():
    bars = balance(catalogue_model("nfs-server").with_preset("raid"))
    grown = Growth(bars, 800.0, 0.3)
    assert grown.rows() == json.loads(headway(*GROWN, "--json").out)["full"]
    assert len(grown.plot().axes[0].patches) == 2
    with pytest.raises(InvalidParameter, match="growth is nan"):
        Growth(bars, 800.0, math.nan)
