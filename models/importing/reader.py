"""Files of other tools by what they hold: a model, and what else the file says."""

from pathlib import Path

from headway.errors import ModelFileError, quoted
from headway.models.importing.building import Imported, imported
from headway.models.importing.jmva import read_jmva
from headway.models.importing.jsim import read_jsim
from headway.models.importing.pmif import read_pmif
from headway.models.importing.safe_xml import read_xml

_READERS = {
    "model": read_jmva,
    "archive": read_jsim,
    "sim": read_jsim,
    "QueueingNetworkModel": read_pmif,
}
"""Readers by the outermost element."""


def read_foreign(path: str | Path) -> Imported:
    """Read a model of JMT (JMVA or JSIMg, compressed or not), or of PMIF.

    Parameters
    ----------
    path
        Of the file.

    Raises
    ------
    ModelFileError
        For a file that is none, or holds what headway has not yet, by name.
    """
    file = Path(path)
    root = read_xml(file)
    if root.tag not in _READERS:
        known = "model (JMVA) and archive (JSIMg), PMIF's QueueingNetworkModel"
        msg = f"{file}: its outermost element is {quoted(root.tag)}; JMT's are {known}"
        raise ModelFileError(msg)
    network = _READERS[root.tag](root, file.stem, str(file))
    return imported(network, str(file))
