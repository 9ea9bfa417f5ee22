"""Run notebooks in a kernel, and ask what they found."""

import json
from pathlib import Path

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parent.parent / "notebooks"
PATIENT = {"timeout": None, "startup_timeout": 900, "iopub_timeout": 900}
"""Seconds; a busy machine is no fault of a notebook."""

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


def executed(path, last="print('null')"):
    """Run a notebook, warnings being errors; its key numbers, and what a last cell prints."""
    fresh = nbformat.read(path, as_version=4)
    cells = [nbformat.v4.new_code_cell(STRICT), *fresh.cells, nbformat.v4.new_code_cell(last)]
    fresh.cells = cells
    resources = {"metadata": {"path": str(FOLDER)}}
    NotebookClient(fresh, **PATIENT, resources=resources).execute()
    return {"key_numbers": key_numbers(fresh), "found": json.loads(cells[-1].outputs[0]["text"])}
