"""Which laws are compiled: a twin in Python says all that its kernel does, and serves without it.

Installing builds the kernels in C where there is a compiler. Where there is none, or with
``HEADWAY_COMPILED=0`` in the environment, the twins do the same more slowly. docs/dependencies.md
says why C, and what each kernel saves.
"""

import os
from collections.abc import Callable
from typing import Any, TypeVar, cast

Twin = TypeVar("Twin", bound=Callable[..., None])

SWITCH = "HEADWAY_COMPILED"
"""Environment variable that keeps to Python by the value 0."""

TWINS: dict[str, Callable[..., None]] = {}
"""The function in Python of each kernel whose module was imported, by name."""


def _library() -> Any:
    """The extension module, or None where it was not built or is switched off."""
    if os.environ.get(SWITCH) == "0":
        return None
    try:
        from headway.queueing.compiled import _kernels
    except ImportError:
        return None
    return _kernels


LIBRARY = _library()


def compiled(twin: Twin) -> Twin:
    """Take the kernel of a function's name in its place, where kernels were built.

    A kernel takes the same arguments by position: arrays of float64 or int64 in C order, into some
    of which it writes, and plain numbers.

    Parameters
    ----------
    twin
        The function in Python; its name is that of the kernel, with an underscore before it
        where only its own module calls it.

    Examples
    --------
    >>> @compiled
    ... def doubled(result):
    ...     result *= 2
    >>> TWINS.pop("doubled").__name__
    'doubled'
    """
    name = twin.__name__.removeprefix("_")
    TWINS[name] = twin
    return cast(Twin, getattr(LIBRARY, name, twin))
