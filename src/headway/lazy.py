"""What is imported when it is first used: a command pays for what it needs.

A package's stub, the file ``__init__.pyi`` beside its ``__init__.py``, is the one list of its
public names. Type checkers read it as it is; here it is read when the first name is asked for.

Tables of headway hold places, ``module:name``. What other packages add to a table they offer as
entry points, which are looked up only for a name that the table does not hold, or for a list of
all names.

The libraries below NumPy read how many threads they use when it is first imported.
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
"""Environment variables that set it; they are read when NumPy is first imported."""


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
    """Say where a tuple of rows of headway's own stands; it is imported when it is first asked for.

    Parameters
    ----------
    group, place
        The entry points by which other packages add to it, and ``module:name``.
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
    """Import what stands at a place.

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
    """What other packages offer, by name, nothing of it imported.

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
    """Load what another package offers under a name; None where no package does.

    Parameters
    ----------
    group, name
        A group of entry points, and one in it.
    load
        Makes of the entry point what is wanted; whatever it raises is the package's fault.

    Raises
    ------
    PackageError
        Naming the package, for what it offers and cannot be used, and for a name that two
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
        except Exception as error:  # another's code fails as it will
            raise blame(point, error) from error
    return None


def blame(point: "EntryPoint", error: Exception) -> "PackageError":
    """Say of which package something is that failed, and why: errors of Python with their kind."""
    from headway.errors import HeadwayError, PackageError

    text = " ".join(str(error).split())
    why = text if isinstance(error, HeadwayError) else f"{type(error).__name__}: {text}"
    return PackageError(
        f"package {package_of(point)}: {point.name!r} ({point.group}) cannot be used: "
        f"{why}; fix or uninstall the package"
    )


def needed(what: str, *names: str) -> list[Any]:
    """Import packages that headway needs only for what is asked.

    Parameters
    ----------
    what
        What asks for them, for the message.
    names
        The packages.

    Raises
    ------
    PackageError
        Where one is not installed; tells the command that installs them.

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
    """Name of the package that an entry point is of."""
    return point.dist.name if point.dist and point.dist.name else "of unknown name"


def _contended(points: "tuple[EntryPoint, ...]") -> "PackageError":
    from headway.errors import PackageError

    packages, point = " and ".join(sorted(map(package_of, points))), points[0]
    return PackageError(
        f"packages {packages} both offer {point.name!r} ({point.group}); uninstall one of them"
    )


def _points(group: str) -> "tuple[EntryPoint, ...]":
    """Entry points of a group; looked up again where packages came or went."""
    return _points_in(group, tuple(map(_changed, sys.path)))


def _changed(folder: str) -> tuple[str, int]:
    """A folder of packages, and when something in it was added or removed."""
    try:
        return folder, os.stat(folder or ".").st_mtime_ns  # noqa: PTH116 - takes any name at all
    except (OSError, ValueError):
        return folder, 0


@lru_cache(maxsize=32)
def _points_in(group: str, folders: tuple[tuple[str, int], ...]) -> "tuple[EntryPoint, ...]":
    """Entry points of a group; those of a package whose list of them is spoilt do not count."""
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
    """Whether packages in a folder may offer something under a group, by a look at their lists.

    Most often nobody does, which this finds in a third of the time that `importlib.metadata` takes
    to be imported. What is no plain folder of packages is left for that to read.
    """
    if not os.path.isdir(folder):  # noqa: PTH112 - takes any name at all
        return os.path.isfile(folder)  # noqa: PTH113 - an archive
    if folder.endswith(".egg"):
        return True
    names: list[str] = []
    with suppress(OSError):  # a folder that may not be listed offers nothing
        names = os.listdir(folder)  # noqa: PTH208 - pathlib takes as long to load
    lists = (f"{folder}/{n}" for n in names if n.lower().endswith((".dist-info", ".egg-info")))
    sign = f"[{group}]".encode()
    return any(sign in _entry_points_of(place) for place in lists)


def _entry_points_of(package: str) -> bytes:
    """What a package offers, as its list says it; nothing where it has none."""
    with suppress(OSError), open(f"{package}/entry_points.txt", "rb") as lines:  # noqa: PTH123
        return lines.read()
    return b""


def _homes(file: str) -> dict[str, tuple[str, str]]:
    """Read which module each name of the stub beside a file is from, and its name there."""
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

    headway's matrices are small: further threads wait for each other longer than they compute,
    and take the processor from what else runs.

    Examples
    --------
    >>> one_thread()
    >>> set(THREADS) <= set(os.environ)
    True
    """
    for name in THREADS:
        os.environ.setdefault(name, "1")
