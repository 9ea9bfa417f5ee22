"""Published tables recomputed: which cells agree, which do not, and the known errata."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_ROUNDING = 1e-9  # a difference this far beyond the tolerance is the rounding of a float


@dataclass(frozen=True)
class Cell:
    """A printed number beside the one that a law gives.

    Parameters
    ----------
    name
        Where it stands: row and column.
    printed, recomputed
        The two numbers, in the table's unit.
    erratum
        Why the printed number is a slip; empty for a cell that is believed.
    """

    name: str
    printed: float
    recomputed: float
    erratum: str = ""

    @property
    def difference(self) -> float:
        """How far apart the two numbers are."""
        return abs(self.recomputed - self.printed)


@dataclass(frozen=True)
class Reproduction:
    """A table recomputed.

    Parameters
    ----------
    table
        Its name.
    cells
        All of them.
    tolerance
        Difference up to which a cell counts as reproduced, in the table's unit.

    Examples
    --------
    >>> table = Reproduction("T", (Cell("a", 1.0, 1.01), Cell("b", 2.0, 3.0, "a slip")), 0.05)
    >>> len(table.cells), table.reproduced, [cell.name for cell in table.errata]
    (2, 1, ['b'])
    """

    table: str
    cells: tuple[Cell, ...]
    tolerance: float

    @property
    def errata(self) -> tuple[Cell, ...]:
        """Cells whose printed number is a slip."""
        return tuple(cell for cell in self.cells if cell.erratum)

    @property
    def missed(self) -> tuple[Cell, ...]:
        """Cells that neither agree nor are a known slip."""
        return tuple(cell for cell in self._believed if not self._agrees(cell))

    @property
    def reproduced(self) -> int:
        """How many cells agree, errata not counted."""
        return sum(map(self._agrees, self._believed))

    @property
    def largest_difference(self) -> float:
        """Largest difference of a cell that is no erratum."""
        return max((cell.difference for cell in self._believed), default=0.0)

    @property
    def _believed(self) -> list[Cell]:
        return [cell for cell in self.cells if not cell.erratum]

    def _agrees(self, cell: Cell) -> bool:
        return cell.difference <= self.tolerance + _ROUNDING


def resolution(text: str) -> float:
    """Half a unit of the last digit of a printed number.

    Examples
    --------
    >>> resolution("13.2"), resolution("38")
    (0.05, 0.5)
    """
    return 0.5 * 10.0 ** -len(text.partition(".")[2])


def unrounded_base(printed: Sequence[str], added: Iterable[float]) -> float:
    """Base run time with which base + added rounds to every printed number.

    The middle of what all cells allow; if they cannot all be met, the middle of the gap.

    Parameters
    ----------
    printed
        Printed run times, as text, since their digits tell how far they are known.
    added
        What the law adds in each cell [s].

    Examples
    --------
    >>> round(unrounded_base(["10.0", "10.5"], [0.0, 0.53]), 6)
    9.985
    """
    pairs = [
        (float(text) - add, resolution(text)) for text, add in zip(printed, added, strict=True)
    ]
    lowest = max(middle - half for middle, half in pairs)
    highest = min(middle + half for middle, half in pairs)
    return (lowest + highest) / 2
