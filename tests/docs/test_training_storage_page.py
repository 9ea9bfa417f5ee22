"""The page of MLPerf Storage shows what its command prints."""

import pytest

from headway.models import data_path
from headway.models.analysis.audit import audit
from headway.models.reading.loadtest import read_load_test
from tests.campaigns.training_storage import configurations, counts, law, left_out
from tests.house import FOLDERS

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
