"""Find models by catalogue name, by the path of a model file, or by the path of a JMT file."""

import os.path

from headway.errors import ModelFileError, UnknownModel
from headway.models.files.intake import STDIN
from headway.models.files.reading import read_model
from headway.models.files.shipped import catalogue_model, is_own
from headway.models.structure.model import Model

ENDINGS = (".jmva", ".jsimg", ".jsimgz", ".pmif", ".lqnx", ".lqxo", ".in", ".lqn", ".xlqn", ".xml")
"""Endings of other tools' files: JMT's analytic, simulation and compressed ones; PMIF's, LQNS's."""


def find_model(name_or_path: str) -> Model:
    """Find a catalogue model by name, or read a model file (TOML, or another tool's) by path.

    Raises
    ------
    UnknownModel, ModelFileError, PackageError
        If there is no such model or file, the file is malformed, or another package's model fails.

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
        from headway.models.importing.reader import model_of  # most commands need no XML

        return model_of(name_or_path)
    is_path = name_or_path.endswith(".toml") or "/" in name_or_path or name_or_path == STDIN
    if is_path or os.path.isfile(name_or_path):  # noqa: PTH113 - takes any name at all
        return read_model(name_or_path)
    try:
        return catalogue_model(name_or_path)
    except UnknownModel:
        if not os.path.isdir(name_or_path):  # noqa: PTH112 - as above
            raise
    msg = f"{name_or_path}: is a folder; give the path of a model file in it"
    raise ModelFileError(msg)


def is_foreign(path: str) -> bool:
    """Whether a path has the ending of another tool's model files.

    Examples
    --------
    >>> is_foreign("shop.jsimg"), is_foreign("Shop.JMVA"), is_foreign("shop.toml")
    (True, True, False)
    """
    return path.lower().endswith(ENDINGS)
