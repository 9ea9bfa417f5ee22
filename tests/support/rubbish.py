"""Tests are millions of objects that stay to the end: none is looked at as rubbish."""

import gc
from collections.abc import Generator

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect without looking for rubbish, and leave what was collected out of later searches."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
