"""The label of layers, and its page, follow from what was measured."""

import numpy as np
import pytest

from headway.models import find_model
from headway.queueing.layers import measured
from headway.queueing.layers.chain import by_chain
from headway.queueing.layers.decomposed.decomposition import by_layers
from tests import campaigns
from tests.campaigns import branch_errors, large_layer_errors, layer_errors, phase_errors
from tests.support.places import ROOT

CAMPAIGNS = layer_errors, large_layer_errors, phase_errors, branch_errors
FILES = sorted((ROOT / "tests/data/lqn").glob("*.lqnx"))


def _errors(number, campaign=layer_errors):
    rows = campaigns.stored_rows(ROOT / campaign.PAGE)
    return np.abs([float(row["error"]) for row in rows if row["number"] == number])


def test_the_label_holds_all_that_was_measured():
    """The largest errors, and what nine of ten and 99 of 100 stay below."""
    for number, usual, rare, most in (
        ("throughput", measured.USUAL_THROUGHPUT, measured.RARE_THROUGHPUT, measured.THROUGHPUT),
        ("response_time", measured.USUAL_TIMES, measured.RARE_TIMES, measured.TIMES),
    ):
        errors = _errors(number, large_layer_errors)
        rarest = max(np.quantile(_errors(number, each), 0.99) for each in CAMPAIGNS)
        assert errors.size > 200
        assert np.quantile(errors, 0.9) <= usual <= 2 * np.quantile(errors, 0.9)
        assert np.quantile(errors, 0.99) <= rare <= 1.5 * rarest
        assert errors.max() <= most <= 1.5 * errors.max()
        for campaign in CAMPAIGNS:
            each = _errors(number, campaign)
            assert np.quantile(each, 0.9) <= usual
            assert np.quantile(each, 0.99) <= rare


@pytest.mark.parametrize("campaign", CAMPAIGNS)
def test_the_page_has_the_table_of_the_rows(campaign):
    """Line by line."""
    rows = [list(row.values()) for row in campaigns.stored_rows(ROOT / campaign.PAGE)]
    page = (ROOT / "docs/accuracy/layers.md").read_text(encoding="utf-8")
    for line in layer_errors.table(rows):
        assert line in page
    numbers = "throughput", "response_time"
    rare = [np.quantile(_errors(number, campaign), 0.99) for number in numbers]
    said = "throughputs are within {:.0f}%, and times of entries within {:.0f}%"
    assert said.format(*np.ceil(rare)) in page


def test_stored_errors_are_found_again():
    """Of a few systems, to a tenth of a percent."""
    stored = campaigns.stored_rows(ROOT / layer_errors.PAGE)
    for seed in ("8", "9", "10"):
        before = [float(row["error"]) for row in stored if row["seed"] == seed]
        again = [float(row[3]) for row in layer_errors.errors(int(seed))]
        assert np.allclose(before, again, atol=0.1)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_files_of_others_are_within_the_label(path):
    """Throughput by layers against the whole chain: what 99 of 100 stay below."""
    model = find_model(str(path))
    system = model.graph.layers.at("one", model.inputs)
    exact, near = by_chain(system), by_layers(system)
    for name, task in system.tasks.items():
        if task.clients:
            error = 100 * abs(float(near.throughput(name)) / exact.throughput(name) - 1)
            assert error <= measured.RARE_THROUGHPUT
