"""Model files: TOML text to a model. They are data only; formulas never reach ``eval``."""

import re
import tomllib
from pathlib import Path
from typing import Any

from headway.errors import (
    MeasurementError,
    ModelFileError,
)
from headway.models.files.builder import Builder
from headway.models.files.building import schema
from headway.models.files.building.places import KeyLines
from headway.models.files.intake import read_text
from headway.models.structure.model import Model

LARGEST_FILE = 1_000_000
"""Most bytes of a model file, which is written by hand."""

MOST_ENTRIES = 10_000
"""Most parameters, stations, routes and so on, counted together."""

_LINE = re.compile(r"at line (\d+), column")
_QUANTITY = re.compile(r"\s*([\w.-]+)\s*=\s*([\d.]+\s*[A-Za-z/%]+)\s*(#.*)?")


def read_model(path: str | Path) -> Model:
    """Read a model file.

    Raises
    ------
    ModelFileError
        With file, line, and remedy, for anything that is wrong in it.

    Examples
    --------
    >>> from importlib.resources import files
    >>> path = files("headway.models") / "catalogue" / "server-single.toml"
    >>> read_model(path).at(delay=0.001, service_time=0.001).solve(500).response_time
    0.003
    """
    try:
        text = read_text(Path(path), LARGEST_FILE)
    except MeasurementError as error:
        raise ModelFileError(str(error)) from None
    return parse_model(text, str(path))


def parse_model(text: str, source: str = "model") -> Model:
    """Read the text of a model file.

    Parameters
    ----------
    text
        TOML by the schema in docs/model-files.md.
    source
        Its name, for messages.

    Examples
    --------
    >>> model = parse_model('''
    ... name = "one"
    ... [parameters]
    ... arrival_rate = "100 /s"
    ... [stations.cpu]
    ... kind = "MM1"
    ... service_time = "5 ms"
    ... ''')
    >>> model.solve().response_time
    0.01
    """
    place = KeyLines(text, source)
    return Builder(_entry(text, place), place).model()


def _entry(text: str, place: "KeyLines") -> schema.ModelEntry:
    try:
        document = tomllib.loads(text)
    # ValueError is also raised for whole numbers of excessive length
    except (ValueError, RecursionError) as error:
        msg = f"not TOML: {str(error)[:200]}{_unquoted(text, str(error))}"
        raise place.error(msg) from None
    if wrong := too_many(document):
        msg = f"{wrong}; split the model"
        raise place.error(msg)
    try:
        return schema.structure(document)
    except schema.Fault as fault:
        raise place.error(fault.what, *fault.keys) from None


def _unquoted(text: str, error: str) -> str:
    """How to write a quantity that stands without quotation marks, if that is what is wrong."""
    line = _LINE.search(error)
    found = line and _QUANTITY.fullmatch([*text.split("\n"), ""][int(line[1]) - 1].rstrip())
    return f'; write {found[1]} = "{found[2]}"' if found else ""


def too_many(document: dict[str, Any]) -> str:
    """Describe entries beyond the limit of a model file; empty if there are none."""
    count = sum(len(table) for table in document.values() if isinstance(table, dict | list))
    if count <= MOST_ENTRIES:
        return ""
    return f"{count:,} entries are more than the limit of {MOST_ENTRIES:,}"
