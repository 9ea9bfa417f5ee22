"""Every notebook runs from top to bottom and gives the numbers and texts that it shows."""

import importlib
import re

import nbformat
import pytest

from tests.notebooks import FOLDER, executed, kernel, key_numbers, texts, unlike
from tests.support.cases import mostly_slow

NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
FITS_ALL = "vendor_curves"
"""The notebook that fits every published curve."""
LONGEST = (FITS_ALL, "disks_and_parallel_files", "predicted_before_measured")
"""Their fits are tests of their own too: test_fit_server, test_disks, test_predicted_changes."""
QUICK = [path for path in NOTEBOOKS if path.stem not in LONGEST]


@pytest.fixture(scope="module")
def client():
    """One kernel for all notebooks: to start one and import its packages takes 4 s each time."""
    with kernel() as one:
        yield one


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("path", mostly_slow(NOTEBOOKS, QUICK), ids=lambda path: path.stem)
def test_notebook(path, request):
    stored = nbformat.read(path, as_version=4)

    # what the fits of this one found many tests hold: it runs once for all
    fresh = (
        request.getfixturevalue("vendor_notebook")
        if path.stem == FITS_ALL
        else executed(path, request.getfixturevalue("client"))
    )

    assert key_numbers(stored)
    assert fresh["key_numbers"] == key_numbers(stored)
    shown = texts(stored)
    assert list(fresh["texts"]) == list(shown)
    assert [u for name, text in shown.items() if (u := unlike(text, fresh["texts"][name]))] == []


@pytest.mark.parametrize(
    ("stored", "fresh", "words"),
    [
        ("3.5 ms of 20", "3.5 ms of 20", ""),
        ("3.5 ms", "3.6 ms", ""),
        ("0.6943403859891893", "0.6943403859891901", ""),
        ("3.5 ms", "3.7 ms", "3.5 is now 3.7 in '3.7 ms'"),
        ("3.5 ms", "3.5 us", "'3.5 ms' is now '3.5 us'"),
        ("-3%", "3%", "'-3%' is now '3%'"),
        ("1200 op/s", "1202 op/s", "1200 is now 1202 in '1202 op/s'"),
    ],
)
def test_texts_differ_by_a_word_or_more_than_the_last_digit(stored, fresh, words):
    assert unlike(stored, fresh) == words


LONGEST_CELL = 25
IMPORTED = re.compile(r"^\s*from (headway[\w.]*) import (?:\(([^)]*)\)|(.+))$", re.MULTILINE)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_only_public_names_are_imported(path):
    cells = [c for c in nbformat.read(path, as_version=4).cells if c.cell_type == "code"]
    found = [each for cell in cells for each in IMPORTED.findall(cell.source)]
    names = [(room, name) for room, *texts in found for name in re.findall(r"\w+", " ".join(texts))]

    assert found
    assert [
        (room, name)
        for room, name in names
        if name not in getattr(importlib.import_module(room), "__all__", ())
    ] == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_index_lists_each_notebook_by_its_question(path):
    title = nbformat.read(path, as_version=4).cells[0].source.splitlines()[0].removeprefix("# ")

    assert title.endswith("?")
    assert f"[{title}]({path.name})" in (FOLDER / "README.md").read_text()
    page = " ".join((FOLDER.parent / "docs/notebooks.md").read_text().split())
    assert f"[{title}](../notebooks/{path.name})" in page


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_outputs_are_stored_and_cells_short(path):
    """A page that shows notebooks runs nothing; and helper code belongs into the package."""
    cells = [c for c in nbformat.read(path, as_version=4).cells if c.cell_type == "code"]
    outputs = [output for cell in cells for output in cell.outputs]

    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert not any(output.output_type == "error" for output in outputs)
    assert max(len(cell.source.splitlines()) for cell in cells) <= LONGEST_CELL
