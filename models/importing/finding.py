"""Models by whatever names them: the catalogue's names, paths of model files and of JMT's."""

import os.path

from headway.models.files.intake import STDIN
from headway.models.files.reading import read_model
from headway.models.files.shipped import catalogue_model, is_own
from headway.models.structure.model import Model

ENDINGS = (".jmva", ".jsimg", ".jsimgz", ".pmif", ".xml")
"""How the names of other tools' files end: JMT's, analytic, simulated and compressed; PMIF's."""


def find_model(name_or_path: str) -> Model:
    """A model of the catalogue by name, or a model file by path: TOML, or of JMT by its ending.

    Raises
    ------
    UnknownModel, ModelFileError, PackageError
        If there is neither, the file breaks the format, or another package's cannot be used.

    Examples
    --------
    >>> find_model("server-single").name
    'server-single'
    >>> find_model("lop")
    Traceback (most recent call last):
        ...
    headway.errors.UnknownModel: there is no model 'lop' in the catalogue; did you mean lopc?
    """
    if is_own(name_or_path):
        return catalogue_model(name_or_path)
    if is_foreign(name_or_path):
        from headway.models.importing.reader import read_foreign  # most commands need no XML

        return read_foreign(name_or_path).model
    is_path = name_or_path.endswith(".toml") or "/" in name_or_path or name_or_path == STDIN
    if is_path or os.path.isfile(name_or_path):  # noqa: PTH113 - takes any name at all
        return read_model(name_or_path)
    return catalogue_model(name_or_path)


def is_foreign(path: str) -> bool:
    """Whether a path is that of another tool's model.

    Examples
    --------
    >>> is_foreign("shop.jsimg"), is_foreign("Shop.JMVA"), is_foreign("shop.toml")
    (True, True, False)
    """
    return path.lower().endswith(ENDINGS)
