"""Read other tools' files, recognised by content: the model, and what else the file says."""

from pathlib import Path

from headway.errors import ModelFileError, quoted
from headway.models.importing.building import Imported, imported
from headway.models.importing.jmva import read_jmva
from headway.models.importing.jsim import read_jsim
from headway.models.importing.lqnx_results import LayeredFile, results_of
from headway.models.importing.pmif import read_pmif
from headway.models.importing.safe_xml import read_xml
from headway.models.structure.model import Model

_READERS = {
    "model": read_jmva,
    "archive": read_jsim,
    "sim": read_jsim,
    "QueueingNetworkModel": read_pmif,
}
"""Readers by root element."""

LAYERED = "lqn-model"
"""Root element of layered services."""


def model_of(path: str | Path) -> Model:
    """Read a model of another tool: a network of stations, or layered services.

    Raises
    ------
    ModelFileError
        As `read_foreign`.
    """
    return read_foreign(path).model


def read_foreign(path: str | Path) -> Imported | LayeredFile:
    """Read a JMT model (JMVA or JSIMg, compressed or not), a PMIF model, or layered services.

    Parameters
    ----------
    path
        Path of the file.

    Raises
    ------
    ModelFileError
        For a file of another kind, or for parts that headway does not support; names them.
    """
    file = Path(path)
    root = read_xml(file)
    if root.tag == LAYERED:
        from headway.models.importing.lqnx import read_lqnx

        return LayeredFile(read_lqnx(root, file.stem, str(file)), *results_of(root))
    if root.tag not in _READERS:
        known = "model (JMVA), archive (JSIMg), QueueingNetworkModel (PMIF), lqn-model (LQNX)"
        msg = f"{file}: unknown root element {quoted(root.tag)}; it must be one of {known}"
        raise ModelFileError(msg)
    network = _READERS[root.tag](root, file.stem, str(file))
    return imported(network, str(file))
