"""What every answer can be asked: tables, rows, JSON, CSV, a figure."""

from typing import Any

from headway.models.language.verbs import perform
from headway.models.tables.strict import strict_json
from headway.models.tables.table import Table


class Shown:
    """What shows itself as tables: as text, and as HTML in a notebook; and as a figure."""

    def tables(self) -> list[Table]:
        """The tables that make it up."""
        found: list[Table] = perform(self, "tables")
        return found

    def plot(self) -> Any:
        """Draw it, as a matplotlib Figure."""
        return perform(self, "plot")

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.tables()))

    def _repr_html_(self) -> str:
        return "".join(table.to_html() for table in self.tables())


class Answer(Shown):
    """An answer: shown, and written for programs."""

    def rows(self) -> list[dict[str, Any]]:
        """A dict a row of the answer, all numbers in SI; docs/reference/json.md names the keys."""
        found: list[dict[str, Any]] = perform(self, "rows")
        return found

    def to_json(self) -> str:
        """Strict JSON, in SI, by the contract in docs/reference/json.md."""
        return strict_json(perform(self, "document"))

    def to_csv(self) -> str:
        """CSV in SI, the unit at the end of each column's name."""
        found: str = perform(self, "csv")
        return found
