"""LogGP links of a model file."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from headway.errors import nearest
from headway.models.files.building import schema
from headway.models.files.building.entries import Entries
from headway.models.files.building.places import KeyLines
from headway.models.files.building.schema import PARAMETER, word
from headway.models.files.building.shapes import KeyTable, TableKey
from headway.models.language.parameters import Parameter
from headway.models.structure.graph import ModelGraph
from headway.models.structure.model import Model
from headway.models.structure.parts.links import (
    LINK_DOCS,
    LINK_PARTS,
    LINK_UNITS,
    by_sides,
    settable,
)

if TYPE_CHECKING:
    from headway.loggp.machine.parameters import Convention


def link_keys() -> KeyTable:
    """The keys of a link."""
    from headway.loggp.machine.parameters import Convention
    from headway.loggp.machine.platforms import PLATFORMS

    machines, meanings = word(*PLATFORMS), word(*Convention)
    return {
        "platform": TableKey(machines, "A published machine that supplies the link's numbers."),
        "convention": TableKey(
            meanings, "How the latency is defined; as in the papers by default."
        ),
        **{part: TableKey(PARAMETER, doc) for part, doc in LINK_DOCS.items()},
    }


class Links(Entries):
    """Adds links to a graph."""

    def __init__(self, entry: schema.ModelEntry, place: KeyLines) -> None:
        super().__init__(entry, place)
        self.links = {n: _texts(table) for n, table in entry.links.items()}

    def link(self, graph: ModelGraph, name: str) -> ModelGraph:
        """Add a LogGP link."""
        from headway.loggp.machine.parameters import LogGP
        from headway.loggp.machine.platforms import PLATFORMS

        table = dict(self.links[name])
        platform = table.pop("platform", None)
        if platform is not None and platform not in PLATFORMS:
            msg = f"unknown platform {platform!r}{nearest(str(platform), PLATFORMS)}"
            raise self.place.error(msg, "links", name, "platform")
        convention = self._convention(name, table.pop("convention", None), platform)
        self.check_names("links", name, table, link_keys())
        with self.place("links", name):
            values = by_sides(self.numbers(graph, "links", name, table, LINK_UNITS))
        if platform is not None:
            graph = graph.link(name, replace(PLATFORMS[str(platform)], **values))
            link = replace(graph.links[name], platform=str(platform))
            return replace(graph, links={**graph.links, name: link})
        missing = [part for part in LINK_PARTS[:-1] if part not in values]
        if missing:
            msg = f"{missing[0]} is missing; give all five numbers or a platform"
            raise self.place.error(msg, "links", name)
        return graph.link(name, LogGP(**values, convention=convention))

    def linked(self, model: Model) -> Model:
        """The numbers of links with the file's descriptions; an overhead for both stays one."""
        both = [f"{name}.overhead" for name, table in self.links.items() if "overhead" in table]
        model = model.exposing(*(name for name in both if name in settable(model.graph.links, {})))
        parameters = dict(model.parameters)
        for link, table in self.entry.links.items():
            for part, entry in table.items():
                name = f"{link}.{part}"
                if name in parameters:
                    parameters[name] = self._described(link, part, parameters[name], entry)
                elif any(given is not None for given in (entry.min, entry.max, entry.ci95)):
                    msg = f"{name} has a formula; delete its bounds and ci95"
                    raise self.place.error(msg, "links", link, part)
        return replace(model, parameters=parameters)

    def _described(
        self, link: str, part: str, known: Parameter, entry: schema.ParameterEntry
    ) -> Parameter:
        """A number of a link in its own unit, with its own bounds and description."""
        with self.place("links", link, part):
            own = self.parameter(known.name, entry)
        return replace(
            known,
            unit=own.unit if own.unit.text else known.unit,
            minimum=max(known.minimum, own.minimum),
            maximum=own.maximum,
            doc=own.doc or known.doc,
            source=own.source or known.source,
            interval=own.interval,
        )

    def _convention(self, name: str, text: Any, platform: Any) -> "Convention":
        """The convention that a link's latency follows."""
        from headway.loggp.machine.parameters import Convention

        place = ("links", name, "convention")
        if text is None:
            return Convention.PAPERS
        if text not in set(Convention):
            msg = f"unknown convention {text!r}; it must be one of {', '.join(Convention)}"
            raise self.place.error(msg, *place)
        if platform is not None:
            msg = f"{platform} is published in convention papers; delete convention"
            raise self.place.error(msg, *place)
        return Convention(text)


def _texts(table: Mapping[str, schema.ParameterEntry]) -> dict[str, Any]:
    """The forms of a link's numbers: quantities, formulas, or words."""
    return {key: e.value if e.formula is None else e.formula for key, e in table.items()}
