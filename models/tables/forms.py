"""The forms of every answer, from its description: tables, rows, JSON and CSV."""

from typing import Any

from headway.models.language.scales import Scale
from headway.models.language.verbs import perform
from headway.models.tables.description import Description, Row
from headway.models.tables.table import Table


def described(answer: object) -> Description:
    """The description of an answer, by the ``describe`` of its kind.

    Examples
    --------
    >>> from headway.models import balance, catalogue_model
    >>> model = catalogue_model("server-single").at(delay="1 ms", service_time="1 ms")
    >>> len(described(balance(model)).records().rows())
    1
    """
    description: Description = perform(answer, "describe")
    return description


def scale(answer: object) -> Scale:
    """The units in which an answer is shown."""
    return described(answer).scale()


def tables(answer: object, scale: Scale | None = None) -> list[Table]:
    """The tables of an answer, in its own units or those of the page that shows it."""
    description = described(answer)
    return description.tables(description.scale() if scale is None else scale)


def rows(answer: object) -> list[Row]:
    """The rows of an answer, in SI."""
    return described(answer).records().rows()


def document(answer: object) -> dict[str, Any]:
    """The JSON document of an answer."""
    description = described(answer)
    return dict(description.document(description.records().rows()))


def csv(answer: object) -> str:
    """The rows of an answer as CSV, in SI."""
    description = described(answer)
    return (description.csv or description.records().csv)()
