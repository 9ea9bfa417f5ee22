"""Several servers, each fitted alone, and all by one form for comparison."""

from collections.abc import Sequence
from functools import cached_property

from headway.models.inference.forms import Form
from headway.models.inference.server import ServerFit
from headway.models.tables.shown import Answer
from headway.numerals import significant
from headway.records import dataclass


@dataclass(frozen=True)
class SideBySide(Answer):
    """Several servers, each fitted alone, and all by one form for comparison."""

    servers: tuple[ServerFit, ...]

    def __repr__(self) -> str:
        return f"SideBySide({', '.join(name_of(server) for server in self.servers)})"

    @property
    def describes(self) -> bool:
        """Whether every server's chosen form describes its data; see `Fit.describes`."""
        return all(server.describes for server in self.servers)

    @cached_property
    def common(self) -> Form:
        """The form with the lowest total AICc whose quantities all servers determine."""
        totals: dict[Form, float] = {}
        for server in self.servers:
            for form, fit in server.candidates:
                totals[form] = totals.get(form, 0.0) + fit.aicc
        shared = [f for f in totals if all(f in dict(s.candidates) for s in self.servers)]
        shared.sort(key=lambda form: totals[form])
        clear = (f for f in shared if all(t.determined for s in self._by(f) for t in s.quantities))
        return next(clear, shared[0])

    def common_fits(self) -> list[ServerFit]:
        """Every server by the common form."""
        return self._common_fits

    @cached_property
    def _common_fits(self) -> list[ServerFit]:
        return self._by(self.common)

    def _by(self, form: Form) -> list[ServerFit]:
        return [ServerFit(((form, dict(s.candidates)[form]),)) for s in self.servers]


def name_of(server: ServerFit) -> str:
    """The name of a server: that of its file, without folder and ending."""
    return server.best.measurements.source.rpartition("/")[2].removesuffix(".csv")


def differences(fits: Sequence[ServerFit]) -> list[str]:
    """List the quantities in which servers differ beyond their 95% intervals, and the others."""
    sentences = []
    first = fits[0]
    for other in fits[1:]:
        apart, alike = [], []
        for mine, theirs in zip(first.quantities, other.quantities, strict=True):
            ratio = theirs.value / mine.value if mine.value else float("nan")
            clear = mine.determined and theirs.determined
            if clear and (mine.high < theirs.low or theirs.high < mine.low):
                apart.append(f"{mine.name} (x {significant(ratio, 3)})")
            else:
                alike.append(mine.name)
        sentence = (
            f"{name_of(other)} differs from {name_of(first)} in {', '.join(apart) or 'nothing'}"
        )
        sentences.append(sentence + (f"; not distinguished: {', '.join(alike)}" if alike else ""))
    return sentences
