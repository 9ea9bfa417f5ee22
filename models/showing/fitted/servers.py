"""Fitted servers described: the form that was chosen, its fit, and what that says."""

import math
from dataclasses import replace
from itertools import chain, repeat
from typing import Any

from headway.errors import InvalidParameter
from headway.models.inference.certainty.identify import FAR
from headway.models.inference.fit import Fit
from headway.models.inference.quantities import ServerQuantity
from headway.models.inference.server import ServerFit, compared
from headway.models.language.digits import in_unit, with_unit
from headway.models.language.scales import Scale, units_of
from headway.models.language.units import unit
from headway.models.showing.fitted.fits import main_tables, quantity_document
from headway.models.tables.description import Description
from headway.models.tables.forms import described, document
from headway.models.tables.table import Column, Table

_LITTLE = 0.001  # a weight below which its size means nothing


def describe(server_fit: ServerFit) -> Description:
    """The rows and the CSV of the chosen form's fit."""
    best = server_fit.best
    return Description(
        records=lambda: described(best).records(),
        scale=lambda: _scale(server_fit),
        tables=lambda scale: _tables(server_fit, scale),
        document=lambda _: _document(server_fit),
        csv=best.to_csv,
    )


def _scale(server_fit: ServerFit) -> Scale:
    """The units of the chosen form's fit, and of the server's quantities."""
    known = ((t.value, unit(t.unit)) for t in server_fit.quantities if t.determined)
    return units_of(server_fit.best).completed(known)


def _tables(server_fit: ServerFit, scale: Scale) -> list[Table]:
    """The chosen form with its equation, its fit, what that says of the server, and others."""
    parameters, *more = main_tables(server_fit.best, scale)
    fitted = [replace(parameters, title=""), *more]  # the title's words are already above
    derived = _quantity_table(server_fit, scale)
    return [_chosen_table(server_fit), *fitted, derived, _forms_table(server_fit)]


def _chosen_table(server_fit: ServerFit) -> Table:
    """The form that was chosen, and its equation in words."""
    best, count = server_fit.best, len(server_fit.candidates)
    among = f", the best of {count} forms" if count > 1 else ""
    left_out = left_out_error(best)
    errors = f"RMS error {rms_error(best)}" + (
        f", leave-one-out error {left_out}" if left_out != "-" else ""
    )
    title = f"{best.measurements.source}: {server_fit.form.name}{among} ({errors})"
    if not best.describes:
        title = (
            f"{best.measurements.source}: no form describes these data: the best of {count}, "
            f"{server_fit.form.name}, is {rms_error(best)} off (RMS)"
        )
    return Table(title, (), tuple(_equation(server_fit)))


def _equation(server_fit: ServerFit) -> list[str]:
    """The response time as a sum, one term per line, and the throughput if that was measured."""
    signs = chain(["response time ="], repeat("              +"))
    lines = [f"{sign} {term}" for sign, term in zip(signs, server_fit.form.equation, strict=False)]
    if lines and server_fit.best.comparison.output == "throughput":
        lines.append("throughput    = population / (response time + think_time)")
    return lines


def _forms_table(server_fit: ServerFit) -> Table:
    """One line per form, the chosen one first; below it, what the forms are that may be right."""
    weights = server_fit.weights.tolist()
    rows = [
        (form.name, rms_error(fit), left_out_error(fit), _share(weight, fit), len(fit.free))
        for (form, fit), weight in zip(server_fit.candidates, weights, strict=True)
    ]
    titles = ("form", "RMS error", "leave-one-out", "AICc weight", "free")
    cells = zip(*rows, strict=True)
    columns = tuple(Column(title, cell) for title, cell in zip(titles, cells, strict=True))
    likely = (
        pair
        for pair, weight in zip(server_fit.candidates, weights, strict=True)
        if weight >= _LITTLE or pair[1] is server_fit.best
    )
    explained = {form.model: f"{form.model}: {fit.model.doc}" for form, fit in likely}
    notes = (
        _choice(server_fit),
        *_passed_over(server_fit),
        *_untried(server_fit),
        *_without_law(server_fit),
        *explained.values(),
    )
    return Table("", columns, notes)


def _passed_over(server_fit: ServerFit) -> list[str]:
    """Name forms that fit as well but are not chosen, as the data leave a parameter open."""
    return [
        f"not chosen: {form.name}; the data do not determine {' and '.join(fit.out_of_reach)} "
        f"(at a bound, or {FAR:.0f} times beyond all measurements)"
        for form, fit in server_fit.passed_over
    ]


def _untried(server_fit: ServerFit) -> list[str]:
    """Name the forms that were left out because points repeat loads."""
    if not server_fit.untried:
        return []
    names, shift = (
        ", ".join(form.name for form in server_fit.untried),
        server_fit.best.uncertainty.shift,
    )
    return [
        f"not tried: {names}; {shift.points} points at {shift.loads} loads do not support "
        f"{min(len(form.free) for form in server_fit.untried)} free parameters: measure more loads"
    ]


def _without_law(server_fit: ServerFit) -> list[str]:
    """Name the forms that were left out because they have no law of what was measured."""
    names = ", ".join(form.name for form, _ in server_fit.left_out)
    return (
        [f"left out: {names}; they have no distribution of response times, so no percentiles"]
        if names
        else []
    )


def _choice(server_fit: ServerFit) -> str:
    """Say what was chosen and why, and which form was next."""
    support = server_fit.weights[1:3]
    some = zip(server_fit.candidates[1:3], support, strict=True)
    others = [form.name for (form, _), weight in some if weight >= _LITTLE]
    runners = f"; runners-up: {', '.join(others)}" if others else ""
    passed = server_fit.passed_over
    sound = (c for c in server_fit.candidates if not any(c is one for one in passed))
    least, fit = min(sound, key=compared)
    why = "(lowest AICc of those that the data determine)" if passed else "(lowest AICc)"
    if server_fit.best.leave_one_out_rms < fit.leave_one_out_rms and fit is not server_fit.best:
        more = server_fit.best.aicc - fit.aicc
        but = (
            f"whose AICc is lower by {more:.1f}"
            if math.isfinite(more)
            else "which AICc cannot rank"
        )
        why = f"(smaller leave-one-out error than {least.name}, {but})"
    return (
        f"chosen: {server_fit.form.name} {why}{runners}"
        if len(server_fit.candidates) > 1
        else f"chosen: {server_fit.form.name}"
    )


def rms_error(fit: Fit) -> str:
    """The root mean square of the relative errors, in words."""
    return f"{fit.comparison.summary['rms_relative_error']:.2%}"


def left_out_error(fit: Fit) -> str:
    """The root mean square error of points left out one by one, as far as it means anything."""
    error = fit.leave_one_out_rms
    return f"{error:.1%}" if error < 10 else "-"


def _share(weight: float, fit: Fit) -> str:
    """A weight, as far as it means anything; none if AICc cannot judge."""
    if math.isinf(fit.aicc):
        return "-"
    return f"{weight:.1%}" if weight >= _LITTLE else f"below {_LITTLE:.1%}"


def _quantity_table(server_fit: ServerFit, scale: Scale) -> Table:
    names = tuple(t.name for t in server_fit.quantities)
    texts = tuple(
        quantity_text(t, scale) + _where_to_look(server_fit, t) for t in server_fit.quantities
    )
    columns = (Column("derived quantity", names), Column("value (95% interval)", texts))
    return Table("", columns)


def _where_to_look(server_fit: ServerFit, quantity: ServerQuantity) -> str:
    """What to measure in order to know the saturation throughput, if the data stop short of it."""
    if quantity is not server_fit.saturation or quantity.determined:
        return ""
    try:
        ahead = server_fit.next_loads()
    except InvalidParameter:
        return ""
    if not ahead.loads.size:
        return ""
    where = with_unit(in_unit(float(ahead.loads[0]), ahead.unit), ahead.unit)
    return f"; to know more, measure at {where}"


def quantity_text(quantity: ServerQuantity, scale: Scale, largest: float | None = None) -> str:
    """A value and its interval, in the unit that suits the largest of the values with it."""
    if not quantity.determined:
        least = scale.text(quantity.low, unit(quantity.unit))
        return "not determined" + (f": at least {least}" if quantity.low > 0 else "")
    return quantity.shown(scale.suited(unit(quantity.unit), largest or quantity.value))


def _document(server_fit: ServerFit) -> dict[str, Any]:
    """The fit's document, with the choice and what it says."""
    return {
        **document(server_fit.best),
        "saturation_throughput": quantity_document(server_fit.saturation),
        "form": server_fit.form.name,
        "untried": [form.name for form in server_fit.untried],
        "left_out": [{"form": form.name, "reason": why} for form, why in server_fit.left_out],
        "candidates": [
            {
                "form": form.name,
                "rms_relative_error": fit.comparison.summary["rms_relative_error"],
                "leave_one_out_rms_relative_error": fit.leave_one_out_rms,
                "aicc": fit.aicc,
                "weight": weight,
                "free_parameters": len(fit.free),
            }
            for (form, fit), weight in zip(
                server_fit.candidates, server_fit.weights.tolist(), strict=True
            )
        ],
        "server": {
            quantity.name.replace(" ", "_"): quantity_document(quantity)
            for quantity in server_fit.quantities
        },
    }
