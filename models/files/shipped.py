"""Files that ship with headway: ready models in `catalogue/`, published tables in `data/`.

Models that other packages offer are in the catalogue as well.
"""

import os.path
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from headway.errors import PackageError, UnknownModel, nearest
from headway.lazy import offered, outside
from headway.models.files.intake import is_given
from headway.models.files.reading import parse_model
from headway.models.structure.model import Model

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

_MODELS = Path(__file__).parent.parent
_CATALOGUE = _MODELS / "catalogue"
_DATA = _MODELS / "data"

GROUP = "headway.models"
"""Entry points by which other packages add models: ``NAME = package`` with ``NAME.toml`` in it."""


def model_names() -> list[str]:
    """Names of the models in the catalogue, including those of other packages.

    Examples
    --------
    >>> "nfs-server" in model_names()
    True
    """
    return sorted({path.stem for path in _CATALOGUE.glob("*.toml")} | offered(GROUP).keys())


@lru_cache(maxsize=64)
def catalogue_model(name: str) -> Model:
    """A model of the catalogue.

    Raises
    ------
    UnknownModel
        With the nearest names.
    PackageError
        For a model of another package that cannot be used.

    Examples
    --------
    >>> catalogue_model("nfs-server").with_preset("raid").solve(800).bottleneck.item()
    'cpu'
    """
    if is_own(name):
        path = _CATALOGUE / f"{name}.toml"
        return parse_model(path.read_text(encoding="utf-8"), path.name)
    model: Model | None = outside(GROUP, name, _model_of)
    if model is None:
        msg = f"there is no model {name!r} in the catalogue{nearest(name, model_names())}"
        raise UnknownModel(msg)
    return model


def is_own(name: str) -> bool:
    """Whether a model of this name ships with headway.

    Examples
    --------
    >>> is_own("nfs-server"), is_own("../nfs-server")
    (True, False)
    """
    plain = name.replace("-", "").isalnum()
    return plain and os.path.isfile(_CATALOGUE / f"{name}.toml")  # noqa: PTH113 - of any length


def may_be_form(name: str) -> bool:
    """Whether a catalogue model has a table ``[form]``; a model of another package may have one.

    A third of those that ship have one: the others need not be parsed in order to know.

    Examples
    --------
    >>> may_be_form("server-pool"), may_be_form("nfs-server")
    (True, False)
    """
    return not is_own(name) or "\n[form" in (_CATALOGUE / f"{name}.toml").read_text("utf-8")


def _model_of(point: "EntryPoint") -> Model:
    """A model of another package: a file next to its modules."""
    from importlib.resources import files

    path = files(point.module) / f"{point.name}.toml"
    if not path.is_file():
        msg = f"there is no {point.name}.toml in {point.module}"
        raise PackageError(msg)
    model = parse_model(path.read_text(encoding="utf-8"), path.name)
    if model.name != point.name:
        msg = f"{path.name} is called {model.name!r}; make both the same"
        raise PackageError(msg)
    return model


def data_path(name: str) -> Path:
    """Path of a published table that ships with headway.

    Parameters
    ----------
    name
        Document and file, such as ``network_sensitivity/table_a_1_scsi_performance.csv``.

    Examples
    --------
    >>> data_path("network_sensitivity/table_a_1_scsi_performance.csv").is_file()
    True
    """
    return _DATA / name


def shipped_or_own(path: Path) -> Path:
    """The path of a user's file or folder, or else of one that ships with headway.

    Examples
    --------
    >>> shipped_or_own(Path("load_tests/wrk")) == data_path("load_tests/wrk")
    True
    """
    own = is_given(path) or os.path.exists(path)  # noqa: PTH110 - takes any name at all
    shipped = data_path(str(path))
    return shipped if not own and os.path.exists(shipped) else path  # noqa: PTH110


def shipped_name(path: Path) -> str:
    """The name of a file for messages: its place under ``data/`` if it ships, otherwise its path.

    Examples
    --------
    >>> shipped_name(data_path("load_tests/wrk")), shipped_name(Path("runs/wrk"))
    ('load_tests/wrk', 'runs/wrk')
    """
    ships = path.is_absolute() and _DATA in path.parents
    return path.relative_to(_DATA).as_posix() if ships else str(path)


Row: TypeAlias = dict[str, str]


def data_rows(name: str) -> list[Row]:
    """The rows of a published table as text, so that numbers keep their printed digits.

    Parameters
    ----------
    name
        Document and table, such as ``io_node_compute/table_3_barriers``.

    Examples
    --------
    >>> data_rows("io_node_compute/table_4_measured_execution")[0]["run_time_s"]
    '89.2'
    """
    from headway.models.files.separated import rows_of

    path = data_path(f"{name}.csv")
    (_, titles), *rows = rows_of(path.read_text(encoding="utf-8"), path.name)
    return [dict(zip(titles, cells, strict=True)) for _, cells in rows]
