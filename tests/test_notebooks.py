"""Every notebook runs from top to bottom and gives the key numbers it shows."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = Path(__file__).parent.parent / "notebooks"


def key_numbers(notebook):
    return [
        output["data"]["text/plain"]
        for cell in notebook.cells
        if cell.cell_type == "code" and cell.source.rstrip().endswith("key_numbers")
        for output in cell.outputs
        if output.output_type == "execute_result"
    ]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.ipynb")), ids=lambda path: path.stem)
def test_notebook(path):
    stored = nbformat.read(path, as_version=4)
    fresh = nbformat.read(path, as_version=4)

    NotebookClient(fresh, timeout=300, resources={"metadata": {"path": str(FOLDER)}}).execute()

    assert key_numbers(stored)
    assert key_numbers(fresh) == key_numbers(stored)
