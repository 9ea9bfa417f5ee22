"""Work that many tests need, done once a run whichever processes share the tests."""

import fcntl
import json
import os
from collections.abc import Callable
from typing import Any

import pytest


def once_a_run(folders: pytest.TempPathFactory, name: str, make: Callable[[], Any]) -> Any:
    """Give what `make` makes, by way of JSON: the first process that asks makes it.

    Parameters
    ----------
    folders
        Pytest's fixture ``tmp_path_factory``; with xdist each worker has a folder in the run's.
    name
        Of the file that keeps it.
    make
        Called without arguments; what it gives is written as JSON.
    """
    own = folders.getbasetemp()
    path = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / f"{name}.json"
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            path.write_text(json.dumps(make()))
    return json.loads(path.read_text())
