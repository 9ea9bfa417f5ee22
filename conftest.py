"""Let a bare checkout run the tests: build ``headway`` from its folders if not installed."""

import gc
import importlib.util
import os
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

pytest_plugins = ("tests.support.chance",)

ROOT = Path(__file__).parent
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as commands do; NumPy is not imported yet

if importlib.util.find_spec("headway") is None:
    home = ROOT / "src/headway"
    spec = importlib.util.spec_from_file_location(
        "headway", home / "__init__.py", submodule_search_locations=[str(home), str(ROOT)]
    )
    assert spec is not None
    assert spec.loader is not None
    sys.modules["headway"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules["headway"])


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Tests are millions of objects that stay to the end: none is looked at as rubbish."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
