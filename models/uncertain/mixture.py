"""Draws of a model and its alternatives, each in proportion to its share of the support.

What is plausible for a system is a mixture: a model is chosen with the probability of its weight,
and then values of its parameters. Draws of all members together are draws of the mixture.
"""

from collections.abc import Mapping

import numpy as np

from headway.kinds import FloatArray
from headway.models.language.frozen import Kept
from headway.models.structure.alternatives import weighted
from headway.models.structure.model import Model
from headway.models.uncertain.beyond import further_weights
from headway.models.uncertain.sampling import draws
from headway.records import dataclass


@dataclass(frozen=True, eq=False)
class Member(Kept):
    """One model of a mixture, and plausible values of its parameters.

    Parameters
    ----------
    model
        The model, without alternatives.
    values
        Drawn values by parameter [SI], each of shape (count,).
    count
        Number of its draws.
    further
        Factor on each request beyond the highest measured load, by draw; shape (count,).
    """

    model: Model
    values: Mapping[str, FloatArray]
    count: int
    further: FloatArray


def mixture(model: Model, count: int = 1000, seed: int = 1) -> tuple[Member, ...]:
    """Draw a model and its alternatives with their parameters' values.

    Parameters
    ----------
    model
        A model with uncertain parameters, alternatives, or both.
    count, seed
        Number of draws in all, and their seed, as for `draws`.

    Returns
    -------
    The members, the model first; alternatives with a share of less than half a draw are left out.

    Raises
    ------
    InvalidParameter
        If nothing is uncertain, or a member has an interval with an unknown end and no draws.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> from headway.models.structure.alternatives import Alternative, together
    >>> one, pool = catalogue_model("server-single"), catalogue_model("server-pool")
    >>> one = one.uncertain({"delay": ("0.5 ms", "2 ms")})
    >>> members = mixture(together([Alternative(one, 0.75), Alternative(pool, 0.25)]), 1000)
    >>> [(member.model.name, member.count, list(member.values)) for member in members]
    [('server-single', 750, ['delay']), ('server-pool', 250, [])]
    """
    if not model.alternatives:
        drawn = draws(model, count, seed)
        return (Member(model, drawn, count, further_weights(count, seed)),)
    each = weighted(model)
    ends = np.round(count * np.cumsum([one.weight for one in each])).astype(int)
    counts = np.diff(ends, prepend=0).tolist()
    members = zip(each, counts, strict=True)
    return tuple(_member(one.model, number, seed) for one, number in members if number)


def _member(model: Model, count: int, seed: int) -> Member:
    """Draws of one of several models; none for a model whose parameters are all certain."""
    is_certain = all(p.interval is None for p in model.parameters.values())
    values = {} if is_certain else draws(model, count, seed)
    return Member(model, values, count, further_weights(count, seed))
