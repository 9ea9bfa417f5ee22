"""The label of an autoscaler, and its page, follow from what was measured."""

import numpy as np
import pytest

from headway.queueing.transient.measured import (
    AUTOSCALED_ERROR,
    FLUID_ERROR,
    FLUID_NETWORK_ERROR,
    OFFERED_LOAD_ERROR,
    OFFERED_LOAD_NETWORK_ERROR,
    POINTWISE_NETWORK_ERROR,
)
from tests import campaigns
from tests.campaigns import autoscaled, drain_times, network_days
from tests.support.places import ROOT

ROWS = campaigns.stored_rows(ROOT / autoscaled.PAGE)
PAGE = (ROOT / "docs/accuracy/days.md").read_text(encoding="utf-8")


def commands(name, rows):
    """The commands that gave rows: one for each run of seeds."""
    seeds = sorted({int(row["seed"]) for row in rows})
    first = [seed for seed in seeds if seed - 1 not in seeds]
    last = [seed for seed in seeds if seed + 1 not in seeds]
    return "\n".join(
        f".venv/bin/python -m tests.campaigns.{name} --seed {one} --count {other - one + 1}"
        for one, other in zip(first, last, strict=True)
    )


def test_the_page_has_the_table_of_the_rows():
    for line in autoscaled.table(ROWS):
        assert line in PAGE
    assert commands("autoscaled", ROWS) in PAGE


def test_the_page_has_the_labels_of_other_methods():
    for error in (OFFERED_LOAD_ERROR, FLUID_ERROR):
        assert f"| {error.response_time}% |" in PAGE


def test_the_label_holds_all_that_was_measured():
    most = autoscaled.errors(ROWS, "response time").max()
    assert most <= AUTOSCALED_ERROR.response_time <= 1.1 * most
    for name, words in (
        ("response time", "90 of 100 within {:.0f}%"),
        ("replicas", "replicas within {:.0f}%"),
        ("minutes above target", "target within {:.0f}%"),
    ):
        usual = np.ceil(np.quantile(autoscaled.errors(ROWS, name), 0.9))
        assert words.format(usual) in AUTOSCALED_ERROR.region


@pytest.mark.parametrize(
    ("method", "label"),
    [
        ("offered load", OFFERED_LOAD_NETWORK_ERROR),
        ("pointwise", POINTWISE_NETWORK_ERROR),
        ("fluid", FLUID_NETWORK_ERROR),
    ],
)
def test_networks_have_labels_of_their_own(method, label):
    rows = campaigns.stored_rows(ROOT / network_days.PAGE)
    for name in network_days.NAMES:
        most = network_days.errors(rows, method, name).max()
        assert most <= getattr(label, name) <= 1.01 * most
    usual = np.ceil(np.percentile(network_days.errors(rows, method, "response_time"), 90))
    assert f"90 of 100 within {usual:.0f}%" in label.region
    for line in network_days.table(rows):
        assert line in PAGE


@pytest.mark.parametrize("seed", [1000])
def test_stored_figures_are_found_again(seed):
    stored = [float(row["found"]) for row in ROWS if int(row["seed"]) == seed]
    assert autoscaled.solved(seed) == pytest.approx(stored, rel=1e-3, abs=1e-6)


def test_the_page_has_how_far_times_to_drain_are_off():
    rows = campaigns.stored_rows(ROOT / drain_times.PAGE)
    assert commands("drain_times", rows) in PAGE
    for backlog in ("at the start", "of a bad state"):
        assert drain_times.line(rows, backlog) in PAGE
        assert np.median(drain_times.errors(rows, backlog)) < 10
    off = drain_times.errors(rows, "of a bad state")
    assert f"{(off < 10).sum()} of {len(off)} are within 10%" in PAGE
    assert (off < 10).mean() == pytest.approx(0.95, abs=0.05)
    apart = drain_times.in_standard_errors(rows)
    assert f"their root mean square is {np.sqrt((apart**2).mean()):.1f}" in PAGE
