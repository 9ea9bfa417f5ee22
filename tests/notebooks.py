"""Run notebooks in a kernel, and ask what they found.

``python -m tests.notebooks [NAME]...`` runs notebooks, or those named, and stores what they show.
"""

import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from itertools import count
from pathlib import Path

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parent.parent / "notebooks"
PATIENT = {"timeout": None, "startup_timeout": 900, "iopub_timeout": 900}
"""Seconds; a busy machine is no fault of a notebook."""
QUIET = {"record_timing": False, "coalesce_streams": True}

DIGITS = Decimal("1e-6")
"""Relative: another processor adds up in another order."""

_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[-+]?\d+)?")
_MARKS = re.compile(r"<[^>]*>")

AFRESH = "get_ipython().reset()"
STRICT = "import warnings\nwarnings.simplefilter('error')"

FITTED = """
import json
import numpy as np

curves_fitted = {
    name: {
        "model": fit.form.model,
        "form": fit.form.name,
        "error": float(fit.best.comparison.summary["rms_relative_error"]),
        "warnings": list(fit.best.warnings),
    }
    for name, fit in fits.items()
}
systems_fitted = {
    system: {
        "errors": np.abs(fit.comparison.relative_error).tolist(),
        "bend": on_bends(fit.measurements).tolist(),
        "values": {name: float(value) for name, value in fit.values.items()},
        "cost": float(fit.optimum.cost),
        "free": list(fit.free),
    }
    for system, fit in systems.items()
}
table = SideBySide(tuple(fits.values())).tables()[0].text(200)
print(json.dumps({"curves": curves_fitted, "systems": systems_fitted, "table": table}))
"""
"""A cell for the end of ``vendor_curves``: what its fits found, for all tests that hold them."""


def key_numbers(notebook):
    return [
        output["data"]["text/plain"]
        for cell in notebook.cells
        if cell.cell_type == "code" and cell.source.rstrip().endswith("key_numbers")
        for output in cell.outputs
        if output.output_type == "execute_result"
    ]


def texts(notebook):
    """What each cell shows in words, by the cell's id and the kind of output."""
    by_name = {}
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            text = dict(output.get("data", {})) or {output.name: output.text}
            kinds = sorted(kind for kind in text if not kind.startswith("image/"))
            by_name |= {f"{cell.id} {kind}": _words(text[kind]) for kind in kinds}
    return by_name


def _words(words):
    """Words of an output, without marks of HTML, and pictures in it; spaces only part them."""
    return " ".join(_MARKS.sub(" ", words).split())


def unlike(stored, fresh):
    """Say where two texts differ by more than a unit in the last digit of their numbers."""
    if _NUMBER.split(stored) != _NUMBER.split(fresh):
        return f"{stored!r} is now {fresh!r}"
    for one, other in zip(_NUMBER.findall(stored), _NUMBER.findall(fresh), strict=True):
        step = Decimal(1).scaleb(max(Decimal(n).as_tuple().exponent for n in (one, other)))
        if abs(Decimal(one) - Decimal(other)) > max(step, DIGITS * abs(Decimal(one))):
            return f"{one} is now {other} in {fresh!r}"
    return ""


@contextmanager
def kernel() -> Iterator[NotebookClient]:
    """A kernel for notebooks, each of which finds it with no names but its own."""
    resources = {"metadata": {"path": str(FOLDER)}}
    client = NotebookClient(nbformat.v4.new_notebook(), **PATIENT, **QUIET, resources=resources)
    with client.setup_kernel():
        yield client


def run(path, client, last="print('null')"):
    """Run a notebook, warnings being errors, and a last cell; also what that prints."""
    fresh = nbformat.read(path, as_version=4)
    own = fresh.cells
    *before, after = (nbformat.v4.new_code_cell(source) for source in (AFRESH, STRICT, last))
    fresh.cells = [*before, *own, after]
    client.nb = fresh
    client.execute(cleanup_kc=False)
    fresh.cells = own
    return fresh, json.loads(after.outputs[0]["text"])


def executed(path, client, last="print('null')"):
    """Key numbers and texts of a notebook that is run, and what a last cell prints."""
    fresh, result = run(path, client, last)
    return {"key_numbers": key_numbers(fresh), "texts": texts(fresh), "found": result}


def store(path, client):
    """Run a notebook and store what it shows."""
    stored, (fresh, _) = nbformat.read(path, as_version=4), run(path, client)
    for cell, place in zip(
        (c for c in fresh.cells if c.cell_type == "code"), count(1), strict=False
    ):
        cell.execution_count = place
        for output in cell.outputs:
            if "execution_count" in output:
                output.execution_count = place
    fresh.metadata = stored.metadata
    nbformat.write(fresh, path)


if __name__ == "__main__":
    with kernel() as one:
        for chosen in sys.argv[1:] or [each.stem for each in sorted(FOLDER.glob("*.ipynb"))]:
            store(FOLDER / f"{chosen}.ipynb", one)
