"""How clients give up and retry, given by formulas."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from headway.errors import GraphError, nearest
from headway.kinds import Amount
from headway.models.language.formula import Formula
from headway.queueing.flows.clients import Clients, check_returns
from headway.records import dataclass


@dataclass(frozen=True)
class ClientTerms:
    """How clients of a class give up and retry, with a formula for each number.

    Parameters
    ----------
    numbers
        Formulas by the names of the fields of `Clients`.
    notices
        Whether servers notice that a client has gone.

    Raises
    ------
    GraphError
        For an unknown name.
    """

    numbers: tuple[tuple[str, Formula], ...]
    notices: bool = False

    def __post_init__(self) -> None:
        known = [each.name for each in fields(Clients) if each.name != "server_notices"]
        for name, _ in self.numbers:
            if name not in known:
                msg = f"clients have no {name!r}{nearest(name, known)}"
                raise GraphError(msg)

    @property
    def names(self) -> frozenset[str]:
        """Names in its formulas."""
        return frozenset[str]().union(*(read.names for _, read in self.numbers))

    @property
    def text(self) -> str:
        """The numbers as people write them: ``timeout 0.1, retries 3``."""
        texts = [f"{name} {read.text}" for name, read in self.numbers]
        return ", ".join([*texts, *(["server notices"] if self.notices else [])])

    def check_returns(self, *, loses: bool) -> None:
        """Refuse retries if no attempt can fail, whatever the parameters are.

        Parameters
        ----------
        loses
            Whether stations refuse jobs.

        Raises
        ------
        InvalidParameter
            In one line.
        """
        some: dict[str, Any] = {
            name: 1.0 if read.names else read.evaluate({}) for name, read in self.numbers
        }
        check_returns(Clients(**some), loses=loses)

    def evaluate(self, values: Mapping[str, Amount]) -> Clients:
        """The clients at all operating points.

        Raises
        ------
        InvalidParameter
            For numbers outside their domain.
        """
        found = {name: read.evaluate(values) for name, read in self.numbers}
        return Clients(**found, server_notices=self.notices)
