"""Read other tools' files, recognised by content: the model, and what else the file says."""

from pathlib import Path
from xml.etree.ElementTree import Element

from headway.errors import ModelFileError, quoted
from headway.models.importing.building import Imported, imported
from headway.models.importing.jmva import read_jmva
from headway.models.importing.jsim import read_jsim
from headway.models.importing.lqn.results import LayeredFile, results_of
from headway.models.importing.pmif import read_pmif
from headway.models.importing.safe_xml import parse_xml, read_content, read_xml
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


TEXTS = (".in", ".lqn", ".xlqn")
"""Endings of the older form of layered services, which is not XML."""


def _layered_text(file: Path) -> Element:
    """The root that the text of a file stands for; of XML under such a name, its own."""
    content = read_content(file)
    if content.lstrip().startswith(b"<"):
        return parse_xml(content, str(file))
    from headway.models.importing.lqn.text import read_lqn_text

    return read_lqn_text(content.decode("utf-8", "replace"), str(file))


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
    if file.suffix.lower() == ".toml":
        mend = f"use it as it is, such as headway solve {file.name}"
        msg = f"{file}: is a model file of headway; {mend}"
        raise ModelFileError(msg)
    root = _layered_text(file) if file.suffix.lower() in TEXTS else read_xml(file)
    if root.tag == LAYERED:
        from headway.models.importing.lqn.lqnx import read_lqnx

        model = read_lqnx(root, file.stem, str(file))
        met = model.graph.layers.met if model.graph.layers else ()
        return LayeredFile(model, *results_of(root, met))
    if root.tag not in _READERS:
        known = "model (JMVA), archive (JSIMg), QueueingNetworkModel (PMIF), lqn-model (LQNX)"
        msg = f"{file}: unknown root element {quoted(root.tag)}; it must be one of {known}"
        raise ModelFileError(msg)
    network = _READERS[root.tag](root, file.stem, str(file))
    return imported(network, str(file))
