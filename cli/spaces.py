"""Spaces of a sweep from ``--set``, ``--sample`` and ``--points``."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
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

DRAWN = "drawn"
"""The kind of a sample of the uncertain parameters of a model."""

SAMPLE_KINDS = (*KINDS, DRAWN)
"""What ``--kind`` may say."""

_LOGARITHMIC = ":log"

Told = Steps | Choices | Between


@dataclass(frozen=True)
class Asked:
    """A space as a command line asks for it.

    Parameters
    ----------
    settings
        ``--set``: ``a=1:100:1``, ``b=2,4,8``, ``c=5ms:9ms``, ``d=1:1000:log``, ``e=3``.
    sample
        ``--sample``: how many points; None for a grid.
    kind
        How it is sampled: one of `SAMPLE_KINDS`.
    seed
        Of the sample.
    points
        ``--points``: a file, each row of which is a point.
    """

    settings: Sequence[str] = ()
    sample: int | None = None
    kind: str = KINDS[0]
    seed: int = 1
    points: Path | None = None


def model_and_space(model: Model, asked: Asked) -> tuple[Model, Space]:
    """Give a model its single values, and make a space of the rest.

    In a grid a range without a step has steps of 1; in a sample it is anything between its ends,
    ``:log`` makes it even by ratios, and what counts something is whole.

    Raises
    ------
    InvalidParameter, UnknownParameter, UnitError, MeasurementError
        For text that is no setting, unknown names, wrong units, a file that cannot be read, and
        where nothing is swept.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> asked = Asked(["arrival_rate=1:1e9", "disks=2,4", "delay=1ms"])
    >>> model, space = model_and_space(catalogue_model("nfs-server"), asked)
    >>> space.size, space.names, model.parameters["delay"].value
    (2000000000, ('arrival_rate', 'disks'), 0.001)
    """
    fixed, swept = model_and_spreads(model, asked)
    return fixed, suited(_space(fixed, swept, asked), fixed)


def model_and_spreads(model: Model, asked: Asked) -> tuple[Model, dict[str, Told]]:
    """Give a model its single values, and tell what each other parameter is spread over.

    Errors are those of `model_and_space` for names, text and units.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> asked = Asked(["delay=1:2ms", "disks=8"], sample=100)
    >>> model_and_spreads(catalogue_model("nfs-server"), asked)[1]
    {'delay': Between(low=0.001, high=0.002, logarithmic=False, whole=False)}
    """
    told = dict(_once(_told(model, text, asked) for text in asked.settings))
    single = _singles(told)
    spreads = {name: own for name, own in told.items() if name not in single}
    return model.at(single) if single else model, spreads


def _once(pairs: Iterator[tuple[str, Told]]) -> Iterator[tuple[str, Told]]:
    """Refuse a name that is told twice."""
    seen = set()
    for name, spread in pairs:
        if name in seen:
            msg = f"--set {name} is given twice; write a list as {name}=1,2,4"
            raise InvalidParameter(msg)
        seen.add(name)
        yield name, spread


def _told(model: Model, text: str, asked: Asked) -> tuple[str, Told]:
    name, value = name_and_value(text)
    unit = named_parameter(model, name).unit
    if asked.sample is not None:
        return name, _sampled(value, unit, name)
    if value.endswith(_LOGARITHMIC):
        msg = f"{name} is {value!r}; a logarithmic range needs --sample N"
        raise InvalidParameter(msg)
    return name, axis(value, unit, name)


def _sampled(value: str, unit: Unit, name: str) -> Told:
    bare = value.removesuffix(_LOGARITHMIC)
    numbers = ends(bare, unit, name) if ":" in bare else []
    if len(numbers) != 2:
        return axis(value, unit, name)
    try:
        return Between(numbers[0], numbers[1], logarithmic=bare != value)
    except InvalidParameter as error:
        msg = f"{name} is {value!r}: {error}"
        raise InvalidParameter(msg) from None


def _space(model: Model, swept: Mapping[str, Told], asked: Asked) -> Space:
    if asked.points is not None:
        return _in_file(model, asked.points, asked, swept)
    if asked.sample is not None and asked.kind == DRAWN:
        return _drawn(model, asked.sample, asked.seed, swept)
    if not swept:
        msg = "nothing to sweep; give --set NAME=START:STOP:STEP or NAME=A,B,C, or --points FILE"
        raise InvalidParameter(msg)
    if asked.sample is not None:
        return Sample(swept, asked.sample, asked.kind, asked.seed)
    return Grid({name: told for name, told in swept.items() if not isinstance(told, Between)})


def _drawn(model: Model, count: int, seed: int, swept: Iterable[str]) -> Space:
    for name in swept:
        msg = (
            f"{name} has several values, but --kind drawn samples the uncertain "
            "parameters; set one value"
        )
        raise InvalidParameter(msg)
    return drawn_from(model, count, seed)


def _in_file(model: Model, file: Path, asked: Asked, swept: Iterable[str]) -> Space:
    if asked.sample is not None:
        raise InvalidParameter(
            "--points lists points and --sample generates them; give one of the two"
        )
    for name in swept:
        msg = f"{name} is swept, but {file} lists the points; set one value, or add a column"
        raise InvalidParameter(msg)
    space = listed_in(measured(file), model)
    for name in sorted({name_and_value(text)[0] for text in asked.settings} & {*space.names}):
        msg = f"--set gives {name}, and so does a column of {file}; keep one"
        raise InvalidParameter(msg)
    return space


def _singles(stated: Mapping[str, Told]) -> dict[str, float]:
    """Values of what is not swept."""
    return {
        name: float(own.values(0, 1)[0])
        for name, own in stated.items()
        if not isinstance(own, Between) and own.count == 1
    }
