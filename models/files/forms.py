"""The table ``[form]`` of a model file, read and written."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from headway.errors import nearest
from headway.models.files.building import schema
from headway.models.files.building.places import KeyLines
from headway.models.language.formula import Formula, formula
from headway.models.language.units import unit
from headway.models.structure.forms import CURVE, FACTS, Derived, FormTable, Variant
from headway.models.structure.loads import Load

Names = Collection[str]


def form_of(entry: schema.FormEntry | None, known: Names, place: KeyLines) -> FormTable | None:
    """Read the table of a model with these parameters; None if there is no table.

    Raises
    ------
    ModelFileError
        For names that are not parameters, start formulas that use anything but `CURVE`, formulas of
        facts that use anything but facts, and unknown loads.
    """
    if entry is None:
        return None
    _check(entry.disclosed, known, place, "disclosed")
    limit = entry.saturation
    ends = {"start": entry.start, "least": entry.least, "most": entry.most}
    start, least, most = (_of_curve(table, known, place, key) for key, table in ends.items())
    return FormTable(
        entry.family,
        tuple(_variant(tried, known, entry.disclosed, place) for tried in entry.tried),
        start,
        _formula(limit, known, place, "saturation") if limit else None,
        tuple(_derived(name, each, known, place) for name, each in entry.derived.items()),
        entry.equation,
        {
            n: _formula(str(text), FACTS, place, "disclosed", n)
            for n, text in entry.disclosed.items()
        },
        least,
        most,
    )


def _of_curve(
    table: Mapping[str, schema.Scalar], known: Names, place: KeyLines, key: str
) -> dict[str, Formula]:
    """Formulas in terms of a curve, by parameter."""
    _check(table, known, place, key)
    return {name: _formula(str(text), CURVE, place, key, name) for name, text in table.items()}


def _variant(entry: schema.TriedEntry, known: Names, facts: Names, place: KeyLines) -> Variant:
    if entry.load not in set(Load):
        msg = f"load is {entry.load!r}; it must be one of {', '.join(Load)}"
        raise place.error(msg, "form", "tried", "load")
    _check(entry.free, known, place, "tried", "free")
    _check(entry.without, known, place, "tried", "without")
    _check(entry.disclosed, facts, place, "tried", "disclosed")
    read = entry.free, entry.without, entry.equation, entry.disclosed
    return Variant(Load(entry.load), entry.order, *read)


def _derived(name: str, entry: schema.DerivedEntry, known: Names, place: KeyLines) -> Derived:
    read = _formula(entry.formula, known, place, "derived", name)
    with place("form", "derived", name, "unit"):
        return Derived(name, read, unit(entry.unit))


def _formula(text: str, known: Names, place: KeyLines, *path: str) -> Formula:
    with place("form", *path):
        read = formula(text)
    _check(read.names, known, place, *path)
    return read


def _check(names: Iterable[str], known: Names, place: KeyLines, *path: str) -> None:
    for name in sorted(names):
        if name not in known:
            msg = f"unknown name {name!r}{nearest(name, known)}"
            raise place.error(msg, "form", *path)


def form_table(form: FormTable) -> dict[str, Any]:
    """The table in the form in which it is read, without empty entries."""
    table = {
        "family": form.family,
        "saturation": form.saturation.text if form.saturation else "",
        "tried": [_tried(variant) for variant in form.variants],
        "start": {name: read.text for name, read in form.start.items()},
        "derived": {each.name: _derived_entry(each) for each in form.derived},
        "equation": list(form.equation),
        "disclosed": {name: read.text for name, read in form.disclosed.items()},
        "least": {name: read.text for name, read in form.least.items()},
        "most": {name: read.text for name, read in form.most.items()},
    }
    return _filled(table)


def _derived_entry(derived: Derived) -> dict[str, Any]:
    return _filled({"formula": derived.formula.text, "unit": derived.unit.text})


def _tried(variant: Variant) -> dict[str, Any]:
    order = int(variant.order) if variant.order.is_integer() else variant.order
    table = {"load": variant.load.value, "order": order, "free": list(variant.free)}
    more = {
        "without": variant.without,
        "equation": variant.equation,
        "disclosed": variant.disclosed,
    }
    return table | _filled({key: list(entry) for key, entry in more.items()})


def _filled(table: Mapping[str, Any]) -> dict[str, Any]:
    return {key: entry for key, entry in table.items() if entry}
