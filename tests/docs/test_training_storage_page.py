"""The page of MLPerf Storage shows what its command prints."""

import json

import pytest

from headway.models import data_path
from headway.models.analysis.audit import audit
from headway.models.reading.loadtest import read_load_test
from tests.campaigns.training_storage import configurations, counts, law, left_out
from tests.house import FOLDERS
from tests.support.tool_files import sample

PAGE = FOLDERS["headway.models"].parent / "docs/accuracy/mlperf-storage.md"


@pytest.fixture(scope="module")
def every():
    return configurations()


def test_each_configuration_stands_on_the_page(every):
    page = PAGE.read_text()
    assert counts(every) in page
    assert "\n".join(law(every)) in page


@pytest.mark.slow
def test_loads_left_out_stand_on_the_page(every):
    assert "\n".join(left_out(every)) in PAGE.read_text()


def test_each_configuration_that_breaks_the_law_is_named_by_the_audit(every):

    test = read_load_test([str(data_path("mlperf_storage/runs.csv"))])
    found = [f for f in audit(test).findings if f.kind == "utilisation_contradicts"]
    broken = {(c.name, c.accelerators) for c in every if c.error and abs(c.error) > 0.01}
    named = {(test.points[f.points[0]].name, int(test.points[f.points[0]].load)) for f in found}
    assert named == broken
    assert all(test.points[f.points[0]].name in f.text for f in found)


def test_the_first_step_explains_how_far_throughput_is_from_the_law():
    """X Z / (N AU) = (1 - F/T) n / (n - 1) of 36 accelerators, 7 samples a step."""
    told = json.loads(sample("mlperf_storage", "unet3d-h100.json"))
    metric, batch = told["metric"], 7 * told["num_accelerators"]
    steps = told["num_files_train"] // batch
    rate = metric["train_throughput_mean_samples_per_second"]
    epoch = steps * batch / rate
    kept = rate / batch * 0.323 / (metric["train_au_mean_percentage"] / 100)
    first = 1 - kept * (steps - 1) / steps
    assert f"That was {100 * first:.1f}% of an epoch, {first * epoch:.1f} s" in PAGE.read_text()
    assert f"with n = {steps}" in PAGE.read_text()
