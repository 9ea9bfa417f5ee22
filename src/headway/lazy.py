"""Names of a package imported when they are first used: a command pays for what it needs."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(package: str, homes: Mapping[str, tuple[str, ...]]) -> Callable[[str], Any]:
    """Make a package's ``__getattr__``.

    Parameters
    ----------
    package
        The package's full name.
    homes
        Names by the module of the package that holds them.

    Examples
    --------
    >>> find = lazy_names("headway", {"errors": ("HeadwayError",)})
    >>> find("HeadwayError").__name__
    'HeadwayError'
    """
    home = {name: module for module, names in homes.items() for name in names}

    def find(name: str) -> Any:
        if name not in home:
            msg = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(msg)
        return getattr(import_module(f"{package}.{home[name]}"), name)

    return find
