"""A column of words parts a table into systems, each a curve of its own."""

import json

import pytest

from headway import audit, read
from headway.errors import MeasurementError
from headway.models import Measurements, catalogue_model
from headway.models.reading.systems import systems_in, where
from tests.support.command import headway, refusal

ROWS = """system,clients,throughput_ops_s,response_ms
a,1,199,5.02
a,2,386,5.18
a,4,684,5.85
a,8,964,8.30
b,1,99,10.1
b,2,196,10.2
b,4,380,10.5
b,8,700,11.4
"""


FORMS = ("--forms", "server-pool")


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(ROWS)
    return path


@pytest.mark.slow
def test_each_system_is_fitted_by_itself(table):
    document = json.loads(headway("fit", "server", *FORMS, "--data", table, "--json").out)
    found = {one["data"].rpartition(", ")[2]: one for one in document["servers"]}
    assert set(found) == {"system a", "system b"}
    assert all(one["summary"]["rms_relative_error"] < 0.01 for one in found.values())


@pytest.mark.slow
def test_one_of_them_is_chosen(table):
    fitted = json.loads(
        headway("fit", "server", *FORMS, "--data", table, "--where", "system=b", "--json").out
    )
    assert len(fitted["points"]) in (4, 8)  # one output or two of four points
    assert "drift" not in headway("audit", table, "--where", "system=a").out
    assert len(read(table, where={"system": "a"}).points) == 4


def test_several_are_no_one_curve(table):
    """For an audit, a model and in Python; reading them is no question of curves."""
    words = "column system splits it into 2 systems (a, b); take one, such as --where system=a"
    assert words in refusal("audit", table)
    assert words in refusal("fit", "server-single", "--free", "service_time", "--data", table)
    assert words in refusal("compare", "server-single", "--data", table)
    assert len(read(table).points) == 8
    with pytest.raises(MeasurementError, match="--where system=a"):
        audit(read(table))
    with pytest.raises(MeasurementError, match="--where system=a"):
        catalogue_model("server-single").fit(Measurements.read(table), ["service_time"])


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        ("system=c", "no row has system 'c'; there are a, b"),
        ("sytem=a", "there is no column of words 'sytem'; did you mean system?"),
        ("clients=1", "there is no column of words 'clients'"),
        ("system", "write COLUMN=VALUE"),
    ],
)
def test_what_is_not_there_is_refused(table, choice, words):
    assert words in refusal("read", table, "--where", choice)


def test_a_word_that_is_everywhere_parts_nothing():
    one = Measurements.parse(ROWS.replace("b,", "a,"), "a.csv")
    assert systems_in(one) == {}
    assert len(where(one, {"system": "a"})) == 8


def test_words_that_name_no_system_part_nothing():
    notes = Measurements.parse(ROWS.replace("system", "remark"), "a.csv")
    assert systems_in(notes) == {}
