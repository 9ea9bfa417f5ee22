"""Frozen dataclasses made in a short time are those that `dataclasses` makes."""

import copy
import dataclasses
import inspect
import pickle
from dataclasses import FrozenInstanceError, dataclass, field
from typing import ClassVar

import pytest

from headway import records


class Plain:
    """Every kind of field."""

    unit: ClassVar[str] = "s"
    set: float
    name: str = "cpu"
    rates: list[float] = field(default_factory=list)
    made: dict[str, float] = field(init=False, default_factory=dict)
    hidden: int = field(default=3, repr=False, compare=False)
    later: int = field(init=False, default=7)


class Checked:
    """What has methods of its own keeps them."""

    value: float
    twice: float = field(init=False)

    def __post_init__(self):
        object.__setattr__(self, "twice", 2 * self.value)

    def __eq__(self, other):
        return isinstance(other, Checked) and abs(self.value) == abs(other.value)

    def __repr__(self):
        return f"<{self.value}>"


class Hashed:
    """A hash of its own."""

    value: float

    def __hash__(self):
        return 5


class Empty:
    """No field at all."""


ARGUMENTS = {
    Plain: [((1.5,), {}), ((1.5, "disk", (2.0,)), {"hidden": 9}), ((), {"set": 1.5})],
    Checked: [((1.0,), {}), ((-1.0,), {}), ((2.0,), {})],
    Hashed: [((1.0,), {}), ((2.0,), {})],
    Empty: [((), {})],
}

FLAGS = [{}, {"eq": False}, {"repr": False}]


def made(kind, make, **flags):
    """The same class, declared by one of the two."""
    twin = type(kind.__name__, kind.__bases__, dict(vars(kind)))
    return make(frozen=True, **flags)(twin)


def both(kind, flags):
    """The class by `dataclasses`, and here."""
    return made(kind, dataclass, **flags), made(kind, records.dataclass, **flags)


def relations(cls, cases):
    """What objects show, how they compare, and which are the same in a set."""
    objects = [cls(*arguments, **named) for arguments, named in cases]
    shown = [repr(one) for one in objects] if "__repr__" in vars(cls) else []
    equal = [one == other for one in objects for other in [*objects, 1.0]]
    fields = [dataclasses.asdict(one) for one in objects]
    try:
        kept = len(set(objects)), len({hash(one) for one in objects})
    except TypeError:
        kept = "unhashable"
    return shown, equal, fields, kept


@pytest.mark.parametrize("flags", FLAGS, ids=str)
@pytest.mark.parametrize("kind", ARGUMENTS)
def test_objects_are_those_of_dataclasses(kind, flags):
    theirs, ours = both(kind, flags)

    assert relations(ours, ARGUMENTS[kind]) == relations(theirs, ARGUMENTS[kind])
    assert ours.__match_args__ == theirs.__match_args__
    assert ours.__dataclass_params__.frozen
    assert [f.name for f in dataclasses.fields(ours)] == [
        f.name for f in dataclasses.fields(theirs)
    ]


@pytest.mark.parametrize("kind", ARGUMENTS)
def test_arguments_are_those_of_dataclasses(kind):
    theirs, ours = both(kind, {})
    signatures = [inspect.signature(cls).parameters.values() for cls in (theirs, ours)]
    ones, others = (
        [(p.name, p.kind, p.annotation, repr(p.default)) for p in s] for s in signatures
    )

    assert ones == others
    for wrong in [(1.0,) * 9, (), (1.0, "x", (), 4, 5)]:
        try:
            theirs(*wrong)
        except TypeError:
            with pytest.raises(TypeError):
                ours(*wrong)


def test_nothing_is_assigned_or_deleted():
    _, ours = both(Plain, {})
    one = ours(1.0)
    for name in ("set", "other"):
        with pytest.raises(FrozenInstanceError, match=f"cannot assign to field '{name}'"):
            setattr(one, name, 2.0)
        with pytest.raises(FrozenInstanceError, match=f"cannot delete field '{name}'"):
            delattr(one, name)


def test_a_subclass_that_is_no_dataclass_has_attributes_of_its_own():
    class Below(both(Plain, {})[1]):
        pass

    one = Below(1.0)
    one.other = 2.0
    del one.other
    with pytest.raises(FrozenInstanceError):
        one.set = 2.0


@pytest.mark.parametrize("above", [dataclass, records.dataclass])
@pytest.mark.parametrize("below", [dataclass, records.dataclass])
def test_either_inherits_fields_of_the_other(above, below):
    base = made(Plain, above)

    @below(frozen=True)
    class Below(base):
        extra: float = 4.0

        def __repr__(self):
            return "below"

    one = Below(1.0, extra=5.0)
    assert [f.name for f in dataclasses.fields(Below)][-1] == "extra"
    assert (one.set, one.extra, repr(one)) == (1.0, 5.0, "below")
    assert one == Below(1.0, extra=5.0) != base(1.0)
    assert dataclasses.replace(one, set=3.0).set == 3.0
    with pytest.raises(FrozenInstanceError):
        one.extra = 1.0


def test_those_that_are_not_frozen_are_made_by_dataclasses():
    @records.dataclass
    class Open:
        value: float

    @records.dataclass(slots=True)
    class Slim:
        value: float

    one = Open(1.0)
    one.value = 2.0
    assert one == Open(2.0)
    assert not hasattr(Slim(1.0), "__dict__")


@records.dataclass(frozen=True)
class Kept:
    """At the module's top, to be pickled."""

    value: float
    inner: object = None


def test_objects_are_copied_pickled_and_shown_within_themselves():
    one = Kept(1.0, [2.0])
    assert pickle.loads(pickle.dumps(one)) == one == copy.deepcopy(one)  # noqa: S301
    one.inner.append(one)
    assert repr(one) == "Kept(value=1.0, inner=[2.0, ...])"
