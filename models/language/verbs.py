"""What can be asked of a value that rooms above implement: solving, showing, drawing, fitting.

A value knows the verb, but not who implements it. `headway.models.door` has the table of both, and
hands it over here when `headway.models` is imported; only `who_does` reads it.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from headway.errors import PackageError
from headway.lazy import loaded, outside

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "headway.renderers"
"""Entry points by which other packages implement verbs: ``KIND.VERB = module:function``."""

DESCRIBE = "describe"
"""The verb from which all forms of an answer follow."""

_PLACES: dict[tuple[str, str], str] = {}
_FORMS: dict[str, str] = {}


def open_door(places: Mapping[str, Mapping[str, str]], forms: Mapping[str, str] = {}) -> None:
    """Register the functions behind the verbs of kinds of values.

    Parameters
    ----------
    places
        Functions as ``module:name``, by verb, then by the name of the kind of value. An entry for a
        kind also applies to kinds derived from it.
    forms
        Functions by verb for every kind that has a description: its tables, rows, JSON and CSV.

    Examples
    --------
    >>> class Hand: ...
    >>> open_door({"Hand": {"count": "builtins:repr"}})
    >>> perform(Hand(), "count")[:5]
    '<head'
    """
    _PLACES.update(
        {(kind, verb): place for kind, verbs in places.items() for verb, place in verbs.items()}
    )
    _FORMS.update(forms)


class NotOffered(TypeError):
    """No function does what is asked of a kind of value, in headway or another package."""


def perform(value: object, verb: str, *details: Any) -> Any:
    """Perform a verb of a value.

    Parameters
    ----------
    value
        A model or an answer.
    verb
        The verb.
    details
        Further arguments of the function.

    Raises
    ------
    TypeError
        If no function does this with such a value.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> perform(catalogue_model("server-single"), "solve", "auto").method
    'open'
    """
    return who_does(type(value), verb)(value, *details)


def who_does(kind: type, verb: str) -> Callable[..., Any]:
    """Find the function behind a verb of a kind of value, imported on demand.

    Raises
    ------
    NotOffered
        If there is no function, and no other package offers one.
    PackageError
        If a package offers one, but it cannot be used.

    Examples
    --------
    >>> from headway.models import Measurements
    >>> who_does(Measurements, "read").__name__
    'read_with'
    """
    for find in (_own, _from_outside):
        for asked, place in ((verb, None), (DESCRIBE, _FORMS.get(verb))):
            function = find(kind, asked) if asked == verb or place else None
            if function is not None:
                return loaded(place) if place else function
    msg = f"headway cannot {verb} a {kind.__name__}"
    raise NotOffered(msg)


def _own(kind: type, verb: str) -> Callable[..., Any] | None:
    """The function among headway's own."""
    for known in kind.__mro__:
        place = _PLACES.get((known.__name__, verb))
        if place is not None:
            function: Callable[..., Any] = loaded(place)
            return function
    return None


def _from_outside(kind: type, verb: str) -> Callable[..., Any] | None:
    """The function among those that other packages offer for their own answers."""
    for known in kind.__mro__:
        function: Callable[..., Any] | None = outside(GROUP, f"{known.__name__}.{verb}", _function)
        if function is not None:
            return function
    return None


def _function(point: "EntryPoint") -> Callable[..., Any]:
    function: object = point.load()
    if callable(function):
        return function
    msg = f"{point.value} is not a function"
    raise PackageError(msg)
