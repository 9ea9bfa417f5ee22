"""What ships with headway: ready models in `catalogue/`, published tables in `data/`."""

import os.path
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import TypeAlias

from headway.errors import UnknownModel, nearest
from headway.models.files.intake import STDIN
from headway.models.files.reading import parse_model, read_model
from headway.models.files.separated import rows_of
from headway.models.structure.model import Model

_CATALOGUE = Path(str(files("headway.models") / "catalogue"))
_DATA = Path(str(files("headway.models") / "data"))


def model_names() -> list[str]:
    """Names of the models in the catalogue.

    Examples
    --------
    >>> "nfs-server" in model_names()
    True
    """
    return sorted(path.stem for path in _CATALOGUE.glob("*.toml"))


@lru_cache(maxsize=64)
def catalogue_model(name: str) -> Model:
    """A model of the catalogue.

    Raises
    ------
    UnknownModel
        With the nearest names.

    Examples
    --------
    >>> catalogue_model("nfs-server").with_preset("raid").solve(800).bottleneck.item()
    'cpu'
    """
    path = _CATALOGUE / f"{name}.toml"
    if name not in model_names():
        msg = f"there is no model {name!r} in the catalogue{nearest(name, model_names())}"
        raise UnknownModel(msg)
    return parse_model(path.read_text(encoding="utf-8"), path.name)


def find_model(name_or_path: str) -> Model:
    """A model of the catalogue by name, or a model file by path.

    Raises
    ------
    UnknownModel, ModelFileError
        If there is neither, or the file breaks the format.

    Examples
    --------
    >>> find_model("server-single").name
    'server-single'
    >>> find_model("lop")
    Traceback (most recent call last):
        ...
    headway.errors.UnknownModel: there is no model 'lop' in the catalogue; did you mean lopc?
    """
    if name_or_path in model_names():
        return catalogue_model(name_or_path)
    is_path = name_or_path.endswith(".toml") or "/" in name_or_path or name_or_path == STDIN
    if is_path or os.path.isfile(name_or_path):  # noqa: PTH113 - takes any name at all
        return read_model(name_or_path)
    return catalogue_model(name_or_path)


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


Row: TypeAlias = dict[str, str]


def data_rows(name: str) -> list[Row]:
    """The rows of a published table as text, so that numbers keep the digits of print.

    Parameters
    ----------
    name
        Document and table, such as ``io_node_compute/table_3_barriers``.

    Examples
    --------
    >>> data_rows("io_node_compute/table_4_measured_execution")[0]["run_time_s"]
    '89.2'
    """
    path = data_path(f"{name}.csv")
    (_, titles), *rows = rows_of(path.read_text(encoding="utf-8"), path.name)
    return [dict(zip(titles, cells, strict=True)) for _, cells in rows]
