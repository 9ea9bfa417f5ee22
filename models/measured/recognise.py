"""Files of measurements: what kind one is shows in its content, never in its name.

Known are tidy CSV, SPEC result pages (LADDIS, SPECsfs97, SPECsfs97_R1, SPECsfs2008,
SPECstorage 2020) saved as text or HTML, and the benchmarks' own ``sfssum`` and ``sfsres``
files. Nothing is fetched and nothing is executed.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from headway.errors import MeasurementError
from headway.models.files.intake import read_bytes
from headway.models.measured.measurements import LARGEST_FILE, Measurements
from headway.models.measured.pages import html_as_text
from headway.models.measured.runs import (
    SFSRES,
    SFSSUM_2008,
    SFSSUM_2020,
    SFSSUM_CSV,
    read_sfsres,
    read_sfssum_2008,
    read_sfssum_2020,
    read_sfssum_csv,
    read_sfssum_xml,
)
from headway.models.measured.spec import SPEC_PAGE, read_page

Reader = Callable[[str, str], Measurements]

_HTML = re.compile(r"<!doctype html|<html\b|<body\b|<table\b", re.IGNORECASE)
_CSV_HEADER = re.compile(r"(?:\s*#.*\n)*\s*(?!business,requested)\w+(,\w+)+\s*$", re.MULTILINE)
_XML = re.compile(r"\s*<(\?xml|!DOCTYPE|!ENTITY|summary\b)", re.IGNORECASE)


def read_measurements(path: Path) -> Measurements:
    """Read a file of measurements, whatever its kind.

    Parameters
    ----------
    path
        A file of at most 20 MB.

    Returns
    -------
    Measurements; `facts` holds what the page discloses of the system, `kind` what it was.

    Raises
    ------
    MeasurementError
        With file, line and remedy, for whatever cannot be read in it.
    """
    return read_any(_decoded(path), str(path))


def read_any(text: str, source: str) -> Measurements:
    r"""Read text of any known kind.

    Parameters
    ----------
    text
        The content of a file.
    source
        Its name, for messages.

    Examples
    --------
    >>> page = "SPECsfs97.v2 = 300 Ops/Sec (Overall Response Time = 1.0 msec)\n100 0.9\n300 1.5\n"
    >>> found = read_any(page, "page.txt")
    >>> found.kind, found.column("response").values.tolist()
    ('SPEC result page', [0.0009, 0.0015])
    """
    if _HTML.search(text[:20_000]):
        return _marked(read_page, html_as_text(text, source), source, "SPEC result page")
    for kind, belongs, reader in () if _CSV_HEADER.match(text) else _KINDS:
        if belongs(text):
            return _marked(reader, text, source, kind)
    return _marked(Measurements.parse, text, source, "CSV")


def _marked(reader: Reader, text: str, source: str, kind: str) -> Measurements:
    return replace(reader(text, source), kind=kind)


def _decoded(path: Path) -> str:
    """Decode as UTF-8; old SPEC pages are in the code page of their time."""
    content = read_bytes(path, LARGEST_FILE)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        if b"SPEC" in content and b"\0" not in content:
            return content.decode("cp1252", errors="replace")
        msg = f"{path}: not a text file in UTF-8"
        raise MeasurementError(msg) from None


_KINDS: tuple[tuple[str, Callable[[str], object], Reader], ...] = (
    ("sfssum (XML)", _XML.match, read_sfssum_xml),
    ("sfssum (CSV)", SFSSUM_CSV.search, read_sfssum_csv),
    ("sfsres", SFSRES.search, read_sfsres),
    ("sfssum", SFSSUM_2008.match, read_sfssum_2008),
    ("sfssum", SFSSUM_2020.search, read_sfssum_2020),
    ("SPEC result page", SPEC_PAGE.search, read_page),
)
