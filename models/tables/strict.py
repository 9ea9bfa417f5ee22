"""Strict JSON, which every reader accepts."""

import math
from collections.abc import Mapping
from typing import Any


def strict_json(document: Any) -> str:
    """Write strict JSON: infinite and undefined numbers become null.

    Examples
    --------
    >>> print(strict_json({"a": float("inf")}))
    {
      "a": null
    }
    """
    import json

    return json.dumps(_clean(document), indent=2, allow_nan=False)


def _clean(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _clean(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
