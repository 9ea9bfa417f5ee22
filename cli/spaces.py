"""Spaces of a sweep from ``--set``, ``--sample`` and ``--points``."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from headway.cli.options import measured
from headway.cli.sweeps import axis, ends, name_and_value, named_parameter
from headway.errors import InvalidParameter
from headway.models.language.units import Unit
from headway.models.structure.model import Model
from headway.models.sweeping.axes import Between, Choices, Steps
from headway.models.sweeping.listed import drawn_from
from headway.models.sweeping.making import suited
from headway.models.sweeping.samples import KINDS, Sample
from headway.models.sweeping.spaces import Grid, Space
from headway.models.sweeping.tables import listed_in
from headway.records import dataclass

DRAWN = "drawn"
"""The kind of sample that draws the uncertain parameters of a model."""

SAMPLE_KINDS = (*KINDS, DRAWN)
"""Values of ``--kind``."""

_LOGARITHMIC = ":log"

Values = Steps | Choices | Between


@dataclass(frozen=True)
class SpaceOptions:
    """Options of the command line that describe a space.

    Parameters
    ----------
    settings
        ``--set``: ``a=1:100:1``, ``b=2,4,8``, ``c=5ms:9ms``, ``d=1:1000:log``, ``e=3``.
    sample
        ``--sample``: number of points; None for a grid.
    kind
        Kind of sample: one of `SAMPLE_KINDS`.
    seed
        Random seed of the sample.
    points
        ``--points``: a file with a point in each row.
    """

    settings: Sequence[str] = ()
    sample: int | None = None
    kind: str = KINDS[0]
    seed: int = 1
    points: Path | None = None


def model_and_space(model: Model, options: SpaceOptions) -> tuple[Model, Space]:
    """Set the single values of a model, and make a space of the rest.

    In a grid, a range without a step has steps of 1; in a sample, it is continuous between its
    ends, ``:log`` makes it logarithmic, and counts are whole numbers.

    Raises
    ------
    InvalidParameter, UnknownParameter, UnitError, MeasurementError
        For malformed settings, unknown names, wrong units, a file that cannot be read, and if
        nothing is swept.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> options = SpaceOptions(["arrival_rate=1:1e9", "disks=2,4", "delay=1ms"])
    >>> model, space = model_and_space(catalogue_model("nfs-server"), options)
    >>> space.size, space.names, model.parameters["delay"].value
    (2000000000, ('arrival_rate', 'disks'), 0.001)
    """
    fixed, swept = model_and_spreads(model, options)
    return fixed, suited(_space(fixed, swept, options), fixed)


def model_and_spreads(model: Model, options: SpaceOptions) -> tuple[Model, dict[str, Values]]:
    """Set the single values of a model, and return the range of each other parameter.

    Errors are those of `model_and_space` for names, text and units.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> options = SpaceOptions(["delay=1:2ms", "disks=8"], sample=100)
    >>> model_and_spreads(catalogue_model("nfs-server"), options)[1]
    {'delay': Between(low=0.001, high=0.002, logarithmic=False, whole=False)}
    """
    given = dict(_once(_values_of(model, text, options) for text in options.settings))
    single = _singles(given)
    spreads = {name: own for name, own in given.items() if name not in single}
    return model.at(single) if single else model, spreads


def _once(pairs: Iterator[tuple[str, Values]]) -> Iterator[tuple[str, Values]]:
    """Refuse a name that is given twice."""
    earlier = set()
    for name, spread in pairs:
        if name in earlier:
            msg = f"--set {name} is given twice; write a list as {name}=1,2,4"
            raise InvalidParameter(msg)
        earlier.add(name)
        yield name, spread


def _values_of(model: Model, text: str, options: SpaceOptions) -> tuple[str, Values]:
    name, value = name_and_value(text)
    unit = named_parameter(model, name).unit
    if options.sample is not None:
        return name, _sampled(value, unit, name)
    if value.endswith(_LOGARITHMIC):
        msg = f"{name} is {value!r}; a logarithmic range needs --sample N"
        raise InvalidParameter(msg)
    return name, axis(value, unit, name)


def _sampled(value: str, unit: Unit, name: str) -> Values:
    bare = value.removesuffix(_LOGARITHMIC)
    numbers = ends(bare, unit, name) if ":" in bare else []
    if len(numbers) != 2:
        return axis(value, unit, name)
    try:
        return Between(numbers[0], numbers[1], logarithmic=bare != value)
    except InvalidParameter as error:
        msg = f"{name} is {value!r}: {error}"
        raise InvalidParameter(msg) from None


def _space(model: Model, swept: Mapping[str, Values], options: SpaceOptions) -> Space:
    if options.points is not None:
        return _in_file(model, options.points, options, swept)
    if options.sample is not None and options.kind == DRAWN:
        return _drawn(model, options.sample, options.seed, swept)
    if not swept:
        msg = "nothing to sweep; give --set NAME=START:STOP:STEP or NAME=A,B,C, or --points FILE"
        raise InvalidParameter(msg)
    if options.sample is not None:
        return Sample(swept, options.sample, options.kind, options.seed)
    return Grid({name: given for name, given in swept.items() if not isinstance(given, Between)})


def _drawn(model: Model, count: int, seed: int, swept: Iterable[str]) -> Space:
    for name in swept:
        msg = (
            f"{name} has several values, but --kind drawn samples the uncertain "
            "parameters; set one value"
        )
        raise InvalidParameter(msg)
    return drawn_from(model, count, seed)


def _in_file(model: Model, file: Path, options: SpaceOptions, swept: Iterable[str]) -> Space:
    if options.sample is not None:
        raise InvalidParameter(
            "give --points, which lists points, or --sample, which generates them; not both"
        )
    for name in swept:
        msg = f"{name} is swept, but {file} lists the points; set one value, or add a column"
        raise InvalidParameter(msg)
    space = listed_in(measured(file), model)
    for name in sorted({name_and_value(text)[0] for text in options.settings} & {*space.names}):
        msg = f"both --set and a column of {file} give {name}; keep one"
        raise InvalidParameter(msg)
    return space


def _singles(stated: Mapping[str, Values]) -> dict[str, float]:
    """Values of parameters that are not swept."""
    return {
        name: float(own.values(0, 1)[0])
        for name, own in stated.items()
        if not isinstance(own, Between) and own.count == 1
    }
