"""Let a bare checkout run the tests: build ``headway`` from its folders if not installed."""

import importlib.util
import os
import sys
from pathlib import Path

pytest_plugins = ("tests.support.chance", "tests.support.rubbish")

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
