"""The campaign of servers that no form describes, tried on one whose law is known."""

from dataclasses import replace

import numpy as np
import pytest

from headway.models.structure.outputs import percent_of
from headway.models.uncertain.beyond import HELD
from tests.campaigns.strange_sizes import (
    MISSES,
    PLACE,
    RATIOS,
    SIZES,
    STATISTICS,
    WAYS,
    Band,
    Sized,
    Trial,
    band_row,
    read,
    report,
    size_row,
    store,
    summary,
)
from tests.support.pages import accuracy
from tests.support.strange_servers import TRIED, Pool


class Single(Pool):
    """M/M/1, which a form describes."""

    @classmethod
    def drawn(cls, _random):
        return cls(1, 1.0)


@pytest.fixture
def kind(monkeypatch):
    monkeypatch.setitem(TRIED, "single", Single)
    return "single"


@pytest.mark.parametrize("load", [0.5, 0.8])
def test_the_rate_under_a_limit(kind, load):
    """The response time is exponential, of the mean 1/(1 - load); 4% are five standard errors."""
    for output, factor in zip(STATISTICS, (1.0, np.log(100)), strict=True):
        rate = Trial(kind, 0).sustained(STATISTICS[output], factor / (1 - load))
        assert rate == pytest.approx(load, rel=0.04)


@pytest.mark.slow
def test_a_server_of_a_form_is_sized_and_predicted_well(kind):
    trial = Trial(kind, 1)
    sizes, bands = list(trial.sizes("response_time")), list(trial.bands())
    assert [size.way for size in sizes] == list(WAYS)
    for size in sizes:
        assert size.answer is not None, size.refusal
        assert size.needed <= size.answer <= size.needed + 2
    assert [band.ratio for band in bands] == list(RATIOS)
    for band in bands[:-1]:  # the last is at 98%, where no run tells the mean well
        assert abs(band.truth - 1 / (1 - band.share)) < 4 * band.error
        assert band.low < 1 / (1 - band.share) < band.high


def test_tables_count_what_holds_in_stored_rows(kind, tmp_path):
    sizes = [
        Sized(kind, seed, "response_time", "model file", 4, reach, answer, refusal)
        for seed, (reach, answer, refusal) in enumerate(
            [(0.9, 4, ""), (1.1, 8, ""), (1.2, 3, ""), (1.3, None, "2.5 too few")]
        )
    ]
    row = size_row(sizes)
    assert row == "2 of 3 | 1 | 1 | 1.00 | 1.80 | 1.15 | 1 of 1 | 1 of 2"
    bands = [
        Band(kind, 0, "server", 0.01, True, r, 0.7 * r, 2.0, 0.1, low, 1.0, 3.0, 1.0)
        for r, low in zip(RATIOS, (1.9, 1.9, 2.1, 1.0, 2.1), strict=True)
    ]
    assert band_row(bands) == "100% | 100% | 0% | 100% | 0%"
    both = [replace(size, output=o, way=w) for size in sizes for o in STATISTICS for w in WAYS]
    for row, rows in ((Sized, both), (Band, bands)):
        store(tmp_path / "rows.csv", row, rows)
        assert read(tmp_path / "rows.csv", row) == rows
    lines = list(report(both, bands))
    assert f"{RATIOS[0]} | " + " | ".join(["+0.693"] * 5) + " | 100%" in lines
    assert lines[-1] == "2 refused by bands of all forms: # too few"


def test_the_page_has_what_was_stored():
    lines = summary(read(PLACE / SIZES, Sized), read(PLACE / MISSES, Band))

    page = accuracy()
    missing = [what for what, value in lines.items() if f"| {what} | {value} |" not in page]
    assert not missing


@pytest.mark.parametrize("output", STATISTICS)
def test_sizes_say_how_often_they_held(output):
    stored = read(PLACE / SIZES, Sized)
    asked = [one for one in stored if (one.output, one.way) == (output, "model file")]
    answered = [one.holds for one in asked if one.answer is not None]

    held = HELD[percent_of(output) is not None]
    assert held == pytest.approx(float(np.mean(answered)), abs=5e-4)
