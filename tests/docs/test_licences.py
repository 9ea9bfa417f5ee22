"""Every folder of shipped data states its source and licence, and the page lists them all."""

import re

import pytest

from tests import licences

FOLDERS = sorted(path for path in licences.DATA.iterdir() if any(path.glob("*.md")))
FREE = re.compile(r"(CC0-1\.0|BSD-3-Clause|Apache-2\.0)\b")


def test_the_page_has_the_table_of_today():
    page = licences.PAGE.read_text()

    assert licences.written(page) == page
    assert page.count("\n| `") == len(FOLDERS) > 10


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_licence_is_free_and_its_text_is_beside_the_data(folder):
    _, licence = licences.stated(folder)

    assert FREE.match(licence) or licence == "none, facts as printed in the source"
    named = re.findall(r"in `((?:\w+/)?LICENSE)`", licence)
    assert licence.count("Apache") == len(named)
    kept = {str(path.relative_to(folder)) for path in folder.rglob("LICENSE")}
    assert kept == set(named)


def test_a_folder_that_states_none_is_named(tmp_path):
    (tmp_path / "README.md").write_text("# Numbers\n\nSource: somewhere.\n")

    with pytest.raises(ValueError, match=r"README\.md: add a paragraph with Source"):
        licences.stated(tmp_path)
