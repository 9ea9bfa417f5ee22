"""Open classes of different times: labels of means and percentiles hold where simulated."""

import numpy as np
import pytest

from headway.queueing.closed.measured import IN_LOOPS, IN_ROWS
from headway.queueing.sojourn.routed_network import UNLIKE_TOGETHER
from tests.campaigns import open_class_errors as campaign

ROWS = {(row.family, row.number): row for row in campaign.stored()}
STATED = 0.06  # labels are rounded to a tenth


@pytest.mark.slow
def test_labels_are_the_largest_errors():
    for labels, sizes in zip((IN_ROWS, IN_LOOPS), campaign.largest(ROWS.values()), strict=True):
        assert [max(each) for each in sizes] == pytest.approx(labels, abs=STATED)


def test_every_answer_states_its_region():
    for row in list(ROWS.values())[::10]:
        solution = campaign.model(row.drawn).solve()
        if solution.approximation:
            assert str(row.region) in solution.approximation


@pytest.mark.slow
@pytest.mark.parametrize("number", [2, 9, 10, 12])
def test_percentiles_in_loops_miss_no_more_than_is_said(number):
    row = ROWS["exponential loops", number]
    assert UNLIKE_TOGETHER in campaign.model(row.drawn).solve().with_percentile(99).approximation
    errors = np.abs(row.share_errors())
    assert errors[:, :3].max() <= 19
    assert errors[:, 3].max() <= 22


def test_the_simulation_gives_pollaczek_and_khinchines_wait(monkeypatch):
    monkeypatch.setattr(campaign, "EVENTS", 100_000)
    drawn = campaign._example(1, 1, 0.0, 0.25, 0.5)
    monkeypatch.setattr(campaign, "network", lambda *_: drawn)
    rows = campaign.simulate(("examples", 0))
    wait = drawn.rates @ drawn.times[0] ** 2 * 1.25 / 2 / (1 - 0.5)
    means = [float(row[3]) for row in rows]
    assert means == pytest.approx(drawn.times[0] + wait, rel=0.05)
