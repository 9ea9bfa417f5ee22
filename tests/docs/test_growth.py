"""The page on how times grow has the tables of what was measured."""

from benchmarks.growth import CURVES, curve_table, stored, table
from tests.house import FOLDERS

PAGE = FOLDERS["headway.models"].parent / "docs" / "accuracy" / "growth.md"


def test_the_tables_are_those_of_the_stored_times():
    page = PAGE.read_text(encoding="utf-8")

    assert "\n".join(table()) in page
    for curve in ("classes", "jobs, percentiles, two classes return"):
        assert "\n".join(curve_table(curve)) in page


def test_what_grows_with_classes_is_the_sets_of_their_populations():
    six, eight = (row.seconds for row in stored()["classes"] if row.size in {6, 8})
    page = " ".join(PAGE.read_text(encoding="utf-8").split())
    assert f"grow {5**8 // 5**6} times, and the time {eight / six:.0f} times" in page


def test_each_size_of_each_curve_was_measured():
    found = {name: [row.size for row in rows] for name, rows in stored().items()}

    assert found == {curve.name: list(curve.sizes) for curve in CURVES}


def test_a_size_is_answered_as_it_was_when_measured():
    for curve in CURVES:
        size = curve.sizes[0]
        assert curve.make(size)[1] == stored()[curve.name][0].method
