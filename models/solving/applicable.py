"""Which methods apply to a model, which would be taken, what each would cost and may miss."""

from dataclasses import dataclass

from headway.errors import HeadwayError
from headway.models.solving.lowering import lower
from headway.models.solving.solutions.marks import QNA
from headway.models.structure.model import Model
from headway.models.structure.planning.variability import propagates
from headway.queueing.methods.method import Error, MethodRow, Subject
from headway.queueing.methods.registry import methods
from headway.queueing.methods.solve import answered_by
from headway.queueing.network.network import Network


@dataclass(frozen=True)
class Applicable:
    """A method and a model.

    Parameters
    ----------
    name, answers
        The method, and what it can answer.
    applies
        Whether it applies.
    reason
        Why it does not, in one line; empty where it does.
    error
        How far its answer may be off; None where it does not apply.
    seconds
        Estimated time [s]; None where nothing estimates it.
    """

    name: str
    answers: tuple[str, ...]
    applies: bool
    reason: str = ""
    error: Error | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class ModelMethods:
    """The methods for a model.

    Parameters
    ----------
    model
        Its name.
    chosen
        The method that is taken where none is asked for.
    methods
        All of them, in the order of their table.
    """

    model: str
    chosen: str
    methods: tuple[Applicable, ...]


def methods_of(model: Model) -> ModelMethods:
    """Find which methods apply to a model, at its first operating point.

    Parameters
    ----------
    model
        Any but a program.

    Raises
    ------
    GraphError
        For a program, which no method solves.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> found = methods_of(catalogue_model("server-single").at(arrival_rate=10))
    >>> found.chosen, next(one.reason for one in found.methods if one.name == "recal")
    ('open', 'no class is closed; use method open')
    """
    network = lower(model)
    entries = tuple(_applicable(row, model, network) for row in methods().values())
    return ModelMethods(model.name, _chosen(model, network), entries)


def _chosen(model: Model, network: Network) -> str:
    if not network.has_closed and network.blocking is None and propagates(model.network.graph):
        return QNA
    return answered_by(network).name


def _applicable(row: MethodRow, model: Model, network: Network) -> Applicable:
    answers = tuple(sorted(answer.value for answer in row.answers))
    if Subject.MODEL in row.subjects:
        reason = _asked(row, model)
        return Applicable(
            row.name, answers, not reason, reason, None if reason else row.error_of(network)
        )
    reason = row.missing(network).replace("{asked}", row.name)
    if reason:
        return Applicable(row.name, answers, applies=False, reason=reason)
    cost = row.cost_of(network)
    limit = "" if cost.fits else cost.obstacle or "it needs too much memory or time"
    seconds = cost.seconds or None
    error = row.error_of(network)
    return Applicable(
        row.name, answers, applies=not limit, reason=limit, error=error, seconds=seconds
    )


def _asked(row: MethodRow, model: Model) -> str:
    """Ask a model for what a method answers: what refuses says why."""
    try:
        row.ask(model)
    except HeadwayError as error:
        return str(error)
    return ""
