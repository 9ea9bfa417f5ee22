"""Which methods apply to a model, which one is chosen, and what each would cost and may miss."""

from headway.errors import GraphError, HeadwayError, Saturated
from headway.models.solving.classes.class_values import class_solution
from headway.models.solving.lowering import Lowered, check_stations, lower
from headway.models.solving.solutions.marks import QNA
from headway.models.structure.model import Model
from headway.models.structure.planning.variability import propagates
from headway.queueing.layers.methods.solve import solve_layers
from headway.queueing.layers.system import LayeredSystem
from headway.queueing.methods.choice import choose
from headway.queueing.methods.method import Error, MethodRow, Solvable, Subject
from headway.queueing.methods.registry import AUTO, methods
from headway.queueing.methods.solve import solved
from headway.records import dataclass


@dataclass(frozen=True)
class Applicable:
    """A method, and whether it applies to a model.

    Parameters
    ----------
    name, answers
        The method's name, and the outputs that it answers.
    applies
        Whether it applies.
    reason
        Why it does not, in one line; empty where it does.
    error
        Error of its answer; None where it does not apply.
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
        The method that is chosen where the user names none; empty where none applies.
    methods
        All methods, in the order of their table.
    """

    model: str
    chosen: str
    methods: tuple[Applicable, ...]


def methods_of(model: Model) -> ModelMethods:
    """Find which methods apply to a model, at its first operating point.

    Parameters
    ----------
    model
        A model of any kind but a program.

    Raises
    ------
    GraphError
        For a program, which no method solves.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> found = methods_of(catalogue_model("server-single").at(arrival_rate=10))
    >>> found.chosen, next(one.reason for one in found.methods if one.name == "recal")
    ('open', 'method recal is not for one class of jobs; use method auto')
    """
    if not model.graph.layers:
        check_stations(model)
    found: Lowered | str
    try:
        found = lower(model)
    except GraphError as refusal:
        found = str(refusal)
    entries = tuple(_applicable(row, model, found) for row in methods().values())
    return ModelMethods(model.name, _chosen(model, found), entries)


def _chosen(model: Model, found: Lowered | str) -> str:
    if isinstance(found, str):
        return ""
    if found.chains is not None:
        return str(class_solution(model, AUTO)[1].method)
    network = found.network
    if isinstance(network, LayeredSystem):
        return solve_layers(network)[1]
    if not network.has_closed and network.blocking is None and propagates(model.network.graph):
        return QNA
    try:
        return solved(network)[0].name
    except Saturated:
        return next(choose(network)).name
    except HeadwayError:
        return ""


def _applicable(row: MethodRow, model: Model, found: Lowered | str) -> Applicable:
    """Whether a method applies to a model; if its network is refused, that is the reason."""
    answers = tuple(sorted(answer.value for answer in row.answers))
    if Subject.MODEL in row.subjects and not model.graph.layers:
        reason, error = _asked(row, model)
        return Applicable(row.name, answers, not reason, reason, error)
    if isinstance(found, str):
        return Applicable(row.name, answers, applies=False, reason=found)
    network = found.read_by(row)
    reason = row.missing(network).replace("{asked}", row.name)
    if reason:
        return Applicable(row.name, answers, applies=False, reason=reason)
    cost = row.cost_of(network)
    if not cost.fits:
        limit = cost.obstacle or "it needs too much memory or time"
    else:
        limit = _limit(row, network) if cost.seconds <= TRIED else ""
    seconds = cost.seconds or None
    error = found.error_of(row)
    return Applicable(
        row.name,
        answers,
        applies=not limit,
        reason=limit,
        error=None if limit else error,
        seconds=None if limit else seconds,
    )


def _limit(row: MethodRow, network: Solvable) -> str:
    """What stops a method while it solves; empty if it answers."""
    try:
        return "" if row.solve(network) is not None else row.limits
    except Saturated:
        return ""
    except HeadwayError as refusal:
        return str(refusal)


TRIED = 1.0
"""Estimated time up to which a method is run, so that the error shown is the one it states [s]."""


def _asked(row: MethodRow, model: Model) -> tuple[str, Error | None]:
    """Ask a method for its answer: why it refuses, or the error that the answer states."""
    try:
        answer = row.ask(model)
    except HeadwayError as refusal:
        return str(refusal), None
    return "", row.error_of(answer)
