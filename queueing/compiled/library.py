"""The compiled kernels: each has a twin in Python that does the same, and replaces it if missing.

Installing builds the kernels in C if there is a compiler. Without one, or with
``HEADWAY_COMPILED=0`` in the environment, the twins do the same more slowly. docs/dependencies.md
says why C, and what each kernel saves.
"""

import os
from collections.abc import Callable
from typing import Any, TypeVar, cast

Twin = TypeVar("Twin", bound=Callable[..., None])

SWITCH = "HEADWAY_COMPILED"
"""Environment variable that disables the kernels by the value 0."""

TWINS: dict[str, Callable[..., None]] = {}
"""The Python function of each kernel whose module was imported, by name."""


def _library() -> Any:
    """The extension module; None if it was not built or is switched off."""
    if os.environ.get(SWITCH) == "0":
        return None
    try:
        from headway.queueing.compiled import _kernels
    except ImportError:
        return None
    return _kernels


LIBRARY = _library()


def compiled(twin: Twin) -> Twin:
    """Replace a function by the kernel of its name, if kernels were built.

    A kernel takes the same arguments by position: arrays of float64 or int64 in C order, into some
    of which it writes, and plain numbers.

    Parameters
    ----------
    twin
        The Python function; its name is that of the kernel, with a leading underscore if only its
        own module calls it.

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
