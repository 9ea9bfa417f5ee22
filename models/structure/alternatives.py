"""Alternatives: several models of one system, each with its share of the support.

A curve may leave open not only the values of a model's parameters, but also which model is right. A
fitted model carries those others that fit about as well. All are given the same values and asked
the same question. A model that lacks what the question names is set aside; if that is the first,
the one of the others with the largest weight takes its place.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Generic, Protocol, TypeVar

from headway.errors import HeadwayError, UnknownParameter
from headway.kinds import FloatArray
from headway.models.language.frozen import Kept
from headway.models.language.parameters import Parameter
from headway.records import dataclass


class OneOfSeveral(Protocol):
    """What may be one of several: a model, as far as its alternatives need it."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def parameters(self) -> Mapping[str, Parameter]:
        """Its parameters."""

    @property
    def alternatives(self) -> "tuple[Alternative[Any], ...]":
        """Other models that are asked the same."""

    @property
    def set_aside(self) -> Mapping[str, float]:
        """Weights of the alternatives that cannot answer, by name."""

    def at(self, values: Mapping[str, Any] | None = None, /) -> Any:
        """Give parameters values."""

    def exposing(self, *names: str) -> Any:
        """Return a model that has these among its parameters."""


One = TypeVar("One", bound=OneOfSeveral)


@dataclass(frozen=True, eq=False)
class Alternative(Kept, Generic[One]):
    """Another model of the same system.

    Parameters
    ----------
    model
        The model, with plausible values of its own.
    weight
        Its share of the support, above 0 and below 1; the first model has the rest.
    """

    model: One
    weight: float


def weighted(model: One) -> tuple[Alternative[One], ...]:
    """A model without its alternatives, and then each of them, with weights that sum to 1.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> one = catalogue_model("server-single")
    >>> [each.weight for each in weighted(one)]
    [1.0]
    """
    rest = 1.0 - sum(one.weight for one in model.alternatives)
    first: Any = model
    if model.alternatives:
        first = replace(first, alternatives=(), set_aside={})
    return (Alternative(first, rest), *model.alternatives)


def together(members: Sequence[Alternative[One]], before: Mapping[str, float] | None = None) -> One:
    """The first model, with the others as its alternatives.

    Parameters
    ----------
    members
        Models with weights, which are normalised to 1.
    before
        Weights, by name, of models that were set aside before.
    """
    whole = sum(one.weight for one in members)
    others = tuple(replace(one, weight=one.weight / whole) for one in members[1:])
    first: Any = members[0].model
    made: One = replace(first, alternatives=others, set_aside=dict(before or {}))
    return made


def each_changed(model: One, change: Callable[[One], One]) -> One:
    """Change a model and its alternatives alike, setting aside those that cannot be changed so.

    Parameters
    ----------
    model
        A model, with or without alternatives.
    change
        The change made to each: a value given, a network closed, or a question tried.

    Raises
    ------
    HeadwayError
        The first model's error, if none can be changed.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> one, pool = catalogue_model("server-single"), catalogue_model("server-pool")
    >>> both = together([Alternative(one, 0.6), Alternative(pool, 0.4)])
    >>> able = each_changed(both, lambda model: model.at(servers=4))
    >>> able.name, dict(able.set_aside)
    ('server-pool', {'server-single': 0.6})
    """
    if not model.alternatives:
        return change(model)
    members = weighted(model)
    changed = [(one, _tried(one.model, change)) for one in members]
    able = [replace(one, model=made) for one, made in changed if made is not None]
    if not able:
        return change(members[0].model)
    if changed[0][1] is None:
        able.sort(key=lambda one: -one.weight)
    aside = dict(model.set_aside)
    known = 1.0 - sum(aside.values())
    for one, made in changed:
        if made is None:
            aside[one.model.name] = aside.get(one.model.name, 0.0) + known * one.weight
    return together(able, aside)


def given_values(model: One, values: Mapping[str, Any]) -> One:
    """Give parameters of a model and its alternatives the same values.

    A parameter must have the same meaning in all of them: `servers` that share one queue are not
    `servers` with a queue each, so models with the other kind are set aside.

    Parameters
    ----------
    model
        A model with alternatives.
    values
        Values by name, as for `Model.at`.
    """
    speaker = next((one.model for one in weighted(model) if _has(one.model, values)), model)
    meant = {name: parameter.doc for name, parameter in speaker.parameters.items()}

    def at(one: One) -> One:
        for name in values:
            if name in meant and name in one.parameters and one.parameters[name].doc != meant[name]:
                msg = f"{one.name} means something else by {name}"
                raise UnknownParameter(msg)
        changed: One = one.at(values)
        return changed

    return each_changed(model, at)


def _has(model: One, names: Iterable[str]) -> bool:
    """Whether a model can be given values by these names."""
    return _tried(model, lambda one: one.exposing(*names)) is not None


def able_to(model: One, ask: Callable[[One], object]) -> One:
    """Set aside those of a model and its alternatives that refuse a question.

    Parameters
    ----------
    model
        A model with alternatives; one without is taken to answer.
    ask
        Raises a `HeadwayError` if the question is refused.
    """

    def answering(one: One) -> One:
        ask(one)
        return one

    return each_changed(model, answering) if model.alternatives else model


def _tried(model: One, change: Callable[[One], One]) -> One | None:
    """A model after a change; None if the change is refused."""
    try:
        return change(model)
    except HeadwayError:
        return None


def still_drawn(
    drawn: Mapping[str, FloatArray], parameters: Mapping[str, Parameter]
) -> Mapping[str, FloatArray]:
    """Those plausible values whose parameters are still uncertain.

    Examples
    --------
    >>> import numpy as np
    >>> still_drawn({"delay": np.ones(3)}, {"delay": Parameter("delay", 1.0)})
    {}
    """
    sure = {name for name in drawn if parameters[name].interval is None}
    return {n: values for n, values in drawn.items() if n not in sure} if sure else drawn
