"""Lazy imports: a command imports only what it uses.

A package's stub, the file ``__init__.pyi`` beside its ``__init__.py``, is the only list of its
public names. Type checkers read the stub; here it is read when the first name is looked up.

Tables of headway contain places, ``module:name``. Other packages add to a table by entry points,
which are looked up only for a name that is not in the table, or for a list of all names.

The libraries below NumPy read their number of threads when NumPy is first imported.
"""

import os
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache, lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from headway.errors import PackageError


THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)
"""Environment variables for the number of threads, read when NumPy is first imported."""


def public_names(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make a package's ``__getattr__`` and ``__dir__`` from its stub.

    Parameters
    ----------
    package
        The package's full name.
    file
        Its ``__init__.py``. The stub is beside it, with a line for each public name: ``from .module
        import Name as Name``.

    Examples
    --------
    >>> import headway.queueing
    >>> find, names = public_names("headway.queueing", headway.queueing.__file__)
    >>> find("erlang_b")(servers=2, offered_load=1.0)
    0.2
    >>> names()[:4]
    ['Abilities', 'Batch', 'BatchK', 'Bottleneck']
    >>> find("MMk")
    Traceback (most recent call last):
        ...
    AttributeError: module 'headway.queueing' has no attribute 'MMk'; did you mean MMm, MM1?
    """

    @cache
    def homes() -> dict[str, tuple[str, str]]:
        return _homes(file)

    def names() -> list[str]:
        return sorted(homes())

    def find(name: str) -> Any:
        if name == "__all__":
            return names()
        if name not in homes():
            raise _unknown(package, name, homes())
        module, own = homes()[name]
        return getattr(import_module(module, package), own)

    return find, names


_TABLES: dict[str, tuple[str, ...]] = {}


def open_table(group: str, place: str) -> None:
    """Register the place of a tuple of headway's own rows, which is imported when first looked up.

    Parameters
    ----------
    group, place
        The entry-point group by which other packages add rows, and ``module:name``.
    """
    if place not in tables(group):
        _TABLES[group] = (*tables(group), place)


def tables(group: str) -> tuple[str, ...]:
    """Places of headway's own rows of a group.

    Examples
    --------
    >>> import headway.queueing
    >>> tables("headway.methods")[0]
    'headway.queueing.table:METHODS'
    """
    return _TABLES.get(group, ())


def loaded(place: str) -> Any:
    """Import the object at a place.

    Parameters
    ----------
    place
        ``module:name``.

    Examples
    --------
    >>> loaded("headway.errors:quoted")("3 MB")
    "'3 MB'"
    """
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


def offered(group: str) -> dict[str, "tuple[EntryPoint, ...]"]:
    """What other packages offer, by name, without importing any of it.

    Parameters
    ----------
    group
        A group of entry points, such as ``headway.stations``.

    Examples
    --------
    >>> list(offered("headway.lawyers"))
    []
    """
    offers: dict[str, tuple[EntryPoint, ...]] = {}
    for point in _points(group):
        offers[point.name] = (*offers.get(point.name, ()), point)
    return dict(sorted(offers.items()))


def outside(group: str, name: str, load: "Callable[[EntryPoint], Any]") -> Any:
    """Load what another package offers under a name; None if no package does.

    Parameters
    ----------
    group, name
        An entry-point group, and a name in it.
    load
        Function that turns the entry point into a result; its exceptions are blamed on the package.

    Raises
    ------
    PackageError
        With the name of the package, if its contribution cannot be used, and for a name that two
        packages offer.

    Examples
    --------
    >>> outside("headway.lawyers", "Portia", lambda point: point.load()) is None
    True
    """
    points = offered(group).get(name, ())
    if len(points) > 1:
        raise _contended(points)
    for point in points:
        try:
            return load(point)
        except Exception as error:  # other packages' code may raise anything
            raise blame(point, error) from error
    return None


def blame(point: "EntryPoint", error: Exception) -> "PackageError":
    """The error that says which package failed, and why; errors of Python with their type."""
    from headway.errors import HeadwayError, PackageError

    text = " ".join(str(error).split())
    why = text if isinstance(error, HeadwayError) else f"{type(error).__name__}: {text}"
    return PackageError(
        f"package {package_of(point)}: {point.name!r} ({point.group}) cannot be used: "
        f"{why}; fix or uninstall the package"
    )


def needed(what: str, *names: str) -> list[Any]:
    """Import packages that headway needs only for some questions.

    Parameters
    ----------
    what
        What needs them, for the message.
    names
        Names of the packages.

    Raises
    ------
    PackageError
        If one is not installed; the message has the command that installs them.

    Examples
    --------
    >>> [json] = needed("a page", "json")
    >>> json.loads("[1]")
    [1]
    """
    from headway.errors import PackageError

    try:
        return [import_module(name) for name in names]
    except ImportError:
        packages = " and ".join(names)
        msg = f"{what}, which needs {packages}; install: python -m pip install {' '.join(names)}"
        raise PackageError(msg) from None


def package_of(point: "EntryPoint") -> str:
    """Name of the package of an entry point."""
    return point.dist.name if point.dist and point.dist.name else "of unknown name"


def _contended(points: "tuple[EntryPoint, ...]") -> "PackageError":
    from headway.errors import PackageError

    packages, point = " and ".join(sorted(map(package_of, points))), points[0]
    return PackageError(
        f"packages {packages} both offer {point.name!r} ({point.group}); uninstall one of them"
    )


def _points(group: str) -> "tuple[EntryPoint, ...]":
    """Entry points of a group; looked up again if packages were added or removed."""
    return _points_in(group, tuple(map(_changed, sys.path)))


def _changed(folder: str) -> tuple[str, int]:
    """A folder of packages, and the time when something in it was added or removed."""
    try:
        return folder, os.stat(folder or ".").st_mtime_ns  # noqa: PTH116 - takes any name at all
    except (OSError, ValueError):
        return folder, 0


@lru_cache(maxsize=32)
def _points_in(group: str, folders: tuple[tuple[str, int], ...]) -> "tuple[EntryPoint, ...]":
    """Entry points of a group; a package whose list of entry points is damaged is ignored."""
    if not any(_may_offer(group, folder or ".") for folder, _ in folders):
        return ()
    from importlib.metadata import distributions, entry_points

    try:
        return tuple(entry_points(group=group))
    except (TypeError, ValueError):
        points: list[EntryPoint] = []
        for package in distributions():
            with suppress(TypeError, ValueError):
                points += package.entry_points.select(group=group)
        return tuple(points)


def _may_offer(group: str, folder: str) -> bool:
    """Whether packages in a folder may have entry points of a group, judged from their lists.

    Usually none has, which this finds in a third of the time that importing `importlib.metadata`
    takes. Anything other than a plain folder of packages is left to that module.
    """
    if not os.path.isdir(folder):  # noqa: PTH112 - takes any name at all
        return os.path.isfile(folder)  # noqa: PTH113 - an archive
    if folder.endswith(".egg"):
        return True
    names: list[str] = []
    with suppress(OSError):  # a folder that cannot be listed offers nothing
        names = os.listdir(folder)  # noqa: PTH208 - pathlib takes as long to load
    lists = (f"{folder}/{n}" for n in names if n.lower().endswith((".dist-info", ".egg-info")))
    sign = f"[{group}]".encode()
    return any(sign in _entry_points_of(place) for place in lists)


def _entry_points_of(package: str) -> bytes:
    """The list of entry points of a package; empty if it has none."""
    with suppress(OSError), open(f"{package}/entry_points.txt", "rb") as lines:  # noqa: PTH123
        return lines.read()
    return b""


def _homes(file: str) -> dict[str, tuple[str, str]]:
    """For each name in the stub beside a file, its module and its name there."""
    import ast
    from pathlib import Path

    stub = Path(file).with_suffix(".pyi")
    lines = ast.parse(stub.read_text(encoding="utf-8")).body
    imports = [line for line in lines if isinstance(line, ast.ImportFrom)]
    return {
        name.asname or name.name: (f".{line.module}", name.name)
        for line in imports
        for name in line.names
    }


def _unknown(package: str, name: str, known: Iterable[str]) -> AttributeError:
    from headway.errors import nearest

    msg = f"module {package!r} has no attribute {name!r}{nearest(name, known)}"
    return AttributeError(msg, name=name)


def one_thread() -> None:
    """Use one thread, unless the environment says otherwise.

    headway's matrices are small: more threads would wait for each other longer than they compute,
    and take processors from other work.

    Examples
    --------
    >>> one_thread()
    >>> set(THREADS) <= set(os.environ)
    True
    """
    for name in THREADS:
        os.environ.setdefault(name, "1")
