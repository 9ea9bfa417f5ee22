"""Names of a package imported when they are first used: a command pays for what it needs.

A package's stub, the file ``__init__.pyi`` beside its ``__init__.py``, is the one list of its
public names. Type checkers read it as it is; here it is read when the first name is asked for.
"""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any


def public_names(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make a package's ``__getattr__`` and ``__dir__`` from its stub.

    Parameters
    ----------
    package
        The package's full name.
    file
        Its ``__init__.py``. The stub stands beside it, with a line for each public name:
        ``from .module import Name as Name``.

    Examples
    --------
    >>> import headway.queueing
    >>> find, names = public_names("headway.queueing", headway.queueing.__file__)
    >>> find("erlang_b")(servers=2, offered_load=1.0)
    0.2
    >>> names()[:4]
    ['Abilities', 'Bottleneck', 'Bounds', 'ClosedSolution']
    >>> find("MMk")
    Traceback (most recent call last):
        ...
    AttributeError: module 'headway.queueing' has no attribute 'MMk'; did you mean MMm, MM1?
    """

    @cache
    def homes() -> dict[str, str]:
        return _homes(file)

    def names() -> list[str]:
        return sorted(homes())

    def find(name: str) -> Any:
        if name == "__all__":
            return names()
        if name not in homes():
            raise _unknown(package, name, homes())
        return getattr(import_module(homes()[name], package), name)

    return find, names


def _homes(file: str) -> dict[str, str]:
    """Read which module each name of the stub beside a file is from."""
    import ast
    from pathlib import Path

    stub = Path(file).with_suffix(".pyi")
    lines = ast.parse(stub.read_text(encoding="utf-8")).body
    imports = [line for line in lines if isinstance(line, ast.ImportFrom)]
    return {name.name: f".{line.module}" for line in imports for name in line.names}


def _unknown(package: str, name: str, known: dict[str, str]) -> AttributeError:
    from headway.errors import nearest

    msg = f"module {package!r} has no attribute {name!r}{nearest(name, known)}"
    return AttributeError(msg, name=name)
