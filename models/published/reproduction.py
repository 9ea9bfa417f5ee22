"""Published tables recomputed cell by cell: what agrees, what cannot, and errors in print.

Each document has a module of its own, named in `DOCUMENTS`, with a tuple ``TABLES`` of
`headway.models.published.cells.PublishedTable`: data in, cells out.
"""

import importlib
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import TypeAlias

from headway.errors import UnknownModel, nearest
from headway.models.published.cells import Cell, Expectation, Outcome, PublishedTable
from headway.models.tables.shown import Answer
from headway.records import dataclass


class View(StrEnum):
    """A view of a reproduction."""

    SUMMARY = "summary"
    CELLS = "cells"
    ERRATA = "errata"


@dataclass(frozen=True)
class Document:
    """A document whose tables are recomputed.

    Parameters
    ----------
    name, title
        Its name on the command line, and its authors and title.
    module
        Module with its ``TABLES``.
    aliases
        Other names for it.
    """

    name: str
    title: str
    module: str
    aliases: tuple[str, ...] = ()

    @property
    def tables(self) -> tuple[PublishedTable, ...]:
        """Its tables; the module is imported on demand."""
        module = importlib.import_module(f"headway.models.published.documents.{self.module}")
        tables: tuple[PublishedTable, ...] = module.TABLES
        return tables


DOCUMENTS = (
    Document(
        "streaming-io",
        "Arpaci-Dusseau et al., The Architectural Costs of Streaming I/O",
        "streaming",
        ("000", "streaming_io"),
    ),
    Document(
        "logp",
        "Culler et al., Assessing Network Interfaces",
        "logp",
        ("001", "logp_microbenchmark"),
    ),
    Document(
        "scsi-disk",
        "Russell, End-User SCSI Disk Performance",
        "disks",
        ("002", "scsi_disk"),
    ),
    Document(
        "io-node",
        "Kotz, Exploring the use of I/O nodes for computation",
        "io_node",
        ("003", "io_node_compute"),
    ),
    Document(
        "thesis",
        "Martin, Application Sensitivity to Network Performance",
        "thesis",
        ("004", "network_sensitivity"),
    ),
)


@dataclass(frozen=True)
class Recomputed:
    """A table with its cells.

    Parameters
    ----------
    document, table
        The document and the table.
    cells
        Its cells, recomputed.
    """

    document: Document
    table: PublishedTable
    cells: tuple[Cell, ...]

    @property
    def name(self) -> str:
        """Document and table."""
        return f"{self.document.name}/{self.table.name}"

    def count(self, outcome: Outcome) -> int:
        """Cells with one outcome."""
        return sum(cell.outcome is outcome for cell in self.cells)

    @property
    def expected(self) -> list[Cell]:
        """Cells that should agree."""
        return [cell for cell in self.cells if cell.expectation is Expectation.AGREE]

    @property
    def errata(self) -> list[Cell]:
        """Misprinted cells."""
        return [cell for cell in self.cells if cell.expectation is Expectation.ERRATUM]

    @property
    def largest_difference(self) -> float | None:
        """Largest difference among the cells that should agree; None for text."""
        gaps = [abs(cell.difference) for cell in self.expected if cell.difference is not None]
        return max(gaps, default=None)

    @property
    def worst(self) -> float | None:
        """Largest difference over its tolerance among those cells; None for text."""
        pairs = [(c.difference, c.tolerance) for c in self.expected if c.tolerance > 0]
        return max((abs(gap) / most for gap, most in pairs if gap is not None), default=None)


@dataclass(frozen=True)
class Reproduction(Answer):
    """The requested tables, recomputed.

    Parameters
    ----------
    parts
        The tables.
    view
        What people are shown: one line per table, every cell, or the errata.

    Examples
    --------
    >>> reproduce("io-node/table-4")
    Reproduction(1 tables, 4 cells agree)
    """

    parts: tuple[Recomputed, ...]
    view: View = View.SUMMARY

    def __repr__(self) -> str:
        return f"Reproduction({len(self.parts)} tables, {self.count(Outcome.AGREES)} cells agree)"

    def count(self, outcome: Outcome) -> int:
        """Cells with one outcome in all tables.

        Examples
        --------
        >>> reproduction = reproduce("io-node/table-4")
        >>> reproduction.count(Outcome.AGREES), reproduction.count(Outcome.DIFFERS)
        (4, 0)
        """
        return sum(part.count(outcome) for part in self.parts)

    @property
    def holds(self) -> bool:
        """Whether every cell agrees that should.

        Examples
        --------
        >>> reproduce("io-node/table-4").holds
        True
        """
        return self.count(Outcome.DIFFERS) == 0


Choice: TypeAlias = tuple[Document, PublishedTable]


def published(name: str | None = None) -> list[Choice]:
    """The tables of a name: all, a document's, or one.

    Parameters
    ----------
    name
        A document (``thesis`` or ``004``), a table of it (``thesis/table-3.3``), or a table
        alone where only one document has it (``table-3.3`` or ``3.3``).

    Raises
    ------
    UnknownModel
        With the nearest names.

    Examples
    --------
    >>> [table.name for _, table in published("io-node")]
    ['table-2', 'table-3', 'table-4']
    """
    if name is None:
        return [(document, table) for document in DOCUMENTS for table in document.tables]
    head, _, rest = name.partition("/")
    for document in DOCUMENTS:
        if head in (document.name, *document.aliases):
            return _of_document(document, rest)
    matches = [pair for pair in published() if name in (pair[1].name, f"{_number(pair[1])}")]
    if len(matches) == 1:
        return matches
    known = [f"{document.name}/{table.name}" for document, table in published()]
    if matches:
        several = ", ".join(f"{document.name}/{table.name}" for document, table in matches)
        msg = f"{name!r} is a table of several documents: {several}"
        raise UnknownModel(msg)
    msg = f"there is no table {name!r}{nearest(name, [*known, *(d.name for d in DOCUMENTS)])}"
    raise UnknownModel(msg)


def _number(table: PublishedTable) -> str:
    return table.name.partition("-")[2]


def _of_document(document: Document, name: str) -> list[Choice]:
    tables = document.tables
    matches = [table for table in tables if name in ("", table.name, _number(table))]
    if not matches:
        msg = f"{document.name} has no table {name!r}{nearest(name, [t.name for t in tables])}"
        raise UnknownModel(msg)
    return [(document, table) for table in matches]


def recompute(
    chosen: Sequence[Choice], report: Callable[[str], None] | None = None
) -> tuple[Recomputed, ...]:
    """Recompute tables, one after the other.

    Parameters
    ----------
    chosen
        As `published` gives them.
    report
        Called with each table's name before it is recomputed.
    """
    parts = []
    for document, table in chosen:
        if report is not None:
            report(f"{document.name}/{table.name}")
        parts.append(Recomputed(document, table, tuple(table.recompute())))
    return tuple(parts)


def reproduce(name: str | None = None) -> Reproduction:
    """Recompute published tables and compare them with print.

    Parameters
    ----------
    name
        As for `published`.

    Examples
    --------
    >>> reproduction = reproduce("io-node/table-4")
    >>> reproduction.holds, reproduction.count(Outcome.AGREES)
    (True, 4)
    """
    view = View.SUMMARY if name is None else View.CELLS
    return Reproduction(recompute(published(name)), view)
