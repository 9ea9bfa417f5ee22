"""The tree of parameters in JSIMg files, by class where the file gives them by class."""

from xml.etree.ElementTree import Element

from headway.errors import LONGEST, ModelFileError, quoted
from headway.records import dataclass


@dataclass(frozen=True)
class ForeignParameter:
    """A parameter or part of one.

    Parameters
    ----------
    kind, name
        Last part of the path of its Java class, and its name.
    value
        Its text; None if it has parts instead.
    parts
        Parts, each with its class of jobs; empty for all classes.
    """

    kind: str
    name: str
    value: str | None
    parts: tuple[tuple[str, "ForeignParameter"], ...] = ()

    def part(self, *names: str) -> "ForeignParameter | None":
        """The first part with one of these names or kinds."""
        return next((p for _, p in self.parts if p.name in names or p.kind in names), None)

    def text(self, name: str) -> str | None:
        """The value of the part with this name."""
        part = self.part(name)
        return None if part is None else part.value

    @property
    def is_empty(self) -> bool:
        """Whether it has no values other than null."""
        has_value = self.value not in (None, "", "null")
        return not has_value and all(part.is_empty for _, part in self.parts)

    @property
    def values(self) -> list[str]:
        """All the values in it, in order."""
        own = [] if self.value is None else [self.value]
        return own + [text for _, part in self.parts for text in part.values]


def entry(element: Element) -> ForeignParameter:
    """Read a ``parameter`` or ``subParameter``."""
    parts: list[tuple[str, ForeignParameter]] = []
    job_class = ""
    for child in element:
        if child.tag == "refClass":
            job_class = (child.text or "").strip()
        elif child.tag == "subParameter":
            parts.append((job_class, entry(child)))
    value = element.find("value")
    kind = (element.get("classPath") or "").rpartition(".")[2][:LONGEST]
    text = None if value is None else (value.text or "").strip()
    return ForeignParameter(kind, (element.get("name") or "")[:LONGEST], text, tuple(parts))


def by_class(
    entry: ForeignParameter, classes: tuple[str, ...], place: str
) -> dict[str, ForeignParameter]:
    """Parts by class of jobs; parts without a class name are matched in order.

    Raises
    ------
    ModelFileError
        For classes that do not exist, or parts that cannot be matched with a class.
    """
    if entry.parts and not any(name for name, _ in entry.parts):
        if len(entry.parts) != len(classes):
            msg = f"{place}: {entry.name} does not say which class each of its parts is for"
            raise ModelFileError(msg)
        return dict(zip(classes, (part for _, part in entry.parts), strict=True))
    unknown = [name for name, _ in entry.parts if name not in classes]
    if unknown:
        msg = f"{place}: {entry.name}: there is no class {quoted(unknown[0])}"
        raise ModelFileError(msg)
    return dict(entry.parts)
