"""Fitted servers as tables and JSON, one by itself and several side by side."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, repeat
from typing import Any

import numpy as np

from headway.errors import InvalidParameter
from headway.models.inference.fit import Fit
from headway.models.inference.quantities import ServerQuantity
from headway.models.inference.server import ServerFit, compared
from headway.models.inference.side_by_side import SideBySide, differences, name_of
from headway.models.language.digits import in_unit, with_unit
from headway.models.language.scales import Scale
from headway.models.language.units import unit
from headway.models.showing.audits import finding_lines
from headway.models.showing.fitted.fits import (
    fit_document,
    fit_scale,
    limit_document,
    main_tables,
)
from headway.models.tables.table import Column, Table


def server_scale(server_fit: ServerFit) -> Scale:
    """The units of the chosen form's fit, and of what it tells of the server."""
    known = ((t.value, unit(t.unit)) for t in server_fit.quantities if t.determined)
    return fit_scale(server_fit.best).completed(known)


def server_tables(server_fit: ServerFit, scale: Scale | None = None) -> list[Table]:
    """The chosen form with its equation, its fit, what that tells of the server, and the others."""
    scale = scale or server_scale(server_fit)
    parameters, *more = main_tables(server_fit.best, scale)
    fitted = [replace(parameters, title=""), *more]  # what the title says stands above
    derived = _quantity_table(server_fit, scale)
    return [_chosen_table(server_fit), *fitted, derived, _forms_table(server_fit)]


def server_rows(server_fit: ServerFit) -> list[dict[str, Any]]:
    """A dict a free parameter of the chosen form."""
    return server_fit.best.rows()


def server_csv(server_fit: ServerFit) -> str:
    """A CSV row a free parameter of the chosen form."""
    return server_fit.best.to_csv()


def _chosen_table(server_fit: ServerFit) -> Table:
    """What was chosen, and its equation in words."""
    best, count = server_fit.best, len(server_fit.candidates)
    among = f", the best of {count} forms" if count > 1 else ""
    left_out = _left_out(best)
    errors = f"RMS error {_rms(best)}" + (
        f", leave-one-out error {left_out}" if left_out != "-" else ""
    )
    title = f"{best.measurements.source}: {server_fit.form.name}{among} ({errors})"
    return Table(title, (), tuple(_equation(server_fit)))


def _equation(server_fit: ServerFit) -> list[str]:
    """The response time as a sum, a term a line, and the throughput where that was measured."""
    signs = chain(["response time ="], repeat("              +"))
    lines = [f"{sign} {term}" for sign, term in zip(signs, server_fit.form.equation, strict=False)]
    if lines and server_fit.best.comparison.output == "throughput":
        lines.append("throughput    = population / (response time + think_time)")
    return lines


def _forms_table(server_fit: ServerFit) -> Table:
    """A line a form, the chosen one first, and below it what those are that may be right."""
    weights = server_fit.weights.tolist()
    rows = [
        (form.name, _rms(fit), _left_out(fit), _share(weight), len(fit.free))
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
        *_untried(server_fit),
        *_without_law(server_fit),
        *explained.values(),
    )
    return Table("", columns, notes)


def _untried(server_fit: ServerFit) -> list[str]:
    """Say which forms were left out because points repeat loads."""
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
    """Say which forms were left out because they have no law of what was measured."""
    names = ", ".join(form.name for form, _ in server_fit.left_out)
    return (
        [f"left out: {names}; they have no distribution of response times, so no percentiles"]
        if names
        else []
    )


def _choice(server_fit: ServerFit) -> str:
    """Say what was chosen and why, and what came next."""
    others = [form.name for form, _ in server_fit.candidates[1:3]]
    runners = f"; runners-up: {', '.join(others)}" if others else ""
    least, fit = min(server_fit.candidates, key=compared)
    why = "(lowest AICc)"
    if server_fit.best.leave_one_out_rms < fit.leave_one_out_rms and fit is not server_fit.best:
        more = server_fit.best.aicc - fit.aicc
        why = (
            f"(smaller leave-one-out error than {least.name}, although that has an AICc lower by "
            f"{more:.1f})"
        )
    return (
        f"chosen: {server_fit.form.name} {why}{runners}"
        if others
        else f"chosen: {server_fit.form.name}"
    )


def _runner_up(server_fit: ServerFit) -> str:
    return server_fit.candidates[1][0].name if len(server_fit.candidates) > 1 else "-"


def _rms(fit: Fit) -> str:
    return f"{fit.comparison.summary['rms_relative_error']:.2%}"


def _share(weight: float) -> str:
    """A weight, as far as it says anything."""
    return f"{weight:.1%}" if weight >= _LITTLE else f"below {_LITTLE:.1%}"


def _quantity_table(server_fit: ServerFit, scale: Scale) -> Table:
    names = tuple(t.name for t in server_fit.quantities)
    texts = tuple(
        _quantity_text(t, scale) + _where_to_look(server_fit, t) for t in server_fit.quantities
    )
    columns = (Column("derived quantity", names), Column("value (95% interval)", texts))
    return Table("", columns)


def _where_to_look(server_fit: ServerFit, quantity: ServerQuantity) -> str:
    """What to measure to know the saturation throughput, where the data stop short of it."""
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


def _quantity_text(quantity: ServerQuantity, scale: Scale, largest: float | None = None) -> str:
    """Value and interval, in the unit that suits the largest value beside it."""
    if not quantity.determined:
        least = scale.text(quantity.low, unit(quantity.unit))
        return "not determined" + (f": at least {least}" if quantity.low > 0 else "")
    return quantity.shown(scale.suited(unit(quantity.unit), largest or quantity.value))


def server_document(server_fit: ServerFit) -> dict[str, Any]:
    """The JSON contract's document for `fit`, with the choice and what it tells."""
    return {
        **fit_document(server_fit.best),
        "saturation_throughput": limit_document(server_fit.saturation),
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
            quantity.name.replace(" ", "_"): {
                "value": _value(quantity),
                "ci95": [quantity.low, quantity.high],
                "determined": quantity.determined,
            }
            for quantity in server_fit.quantities
        },
    }


_LITTLE = 0.001  # a weight below which its size says nothing

MOST_COLUMNS = 4
"""Servers that one table holds side by side; of more only the chosen forms are shown."""


def side_tables(fits: SideBySide) -> list[Table]:
    """Each server's chosen form, all by one form, and in what they differ."""
    scale = side_scale(fits)
    if len(fits.servers) > MOST_COLUMNS:
        return [_winners_table(fits.servers, scale)]
    return [_winners_table(fits.servers, scale), _side_table(fits, scale)]


def side_rows(fits: SideBySide) -> list[dict[str, Any]]:
    """One dict a server."""
    return [server_document(server) for server in fits.servers]


def side_document(fits: SideBySide) -> dict[str, Any]:
    """Every server's document, and in what they differ."""
    return {
        "model": fits.common.family,
        "servers": side_rows(fits),
        "common_form": fits.common.name,
        "differences": differences(fits.common_fits()),
    }


def side_csv(fits: SideBySide) -> str:
    """A CSV row a server and quantity, in SI."""
    cells = [
        (
            server.best.measurements.source,
            t.name,
            _value(t),
            t.low,
            t.high,
            *server.best.comparison.axes,
        )
        for server in fits.common_fits()
        for t in server.quantities
    ]
    titles = ("server", "quantity", "value", "low", "high", "x", "y")
    pairs = zip(titles, zip(*cells, strict=True), strict=True)
    return Table("", tuple(Column(title, column) for title, column in pairs)).to_csv()


def side_scale(side: SideBySide) -> Scale:
    """One unit a dimension for several servers side by side, that of the files where it suits."""
    few = len(side.servers) <= MOST_COLUMNS
    servers = [*side.servers, *(side.common_fits() if few else ())]
    measured = [one.measured.unit for s in side.servers for one in s.best.comparison.each]
    return Scale.of(((t.value, unit(t.unit)) for s in servers for t in s.quantities), measured)


def _winners_table(servers: Sequence[ServerFit], scale: Scale) -> Table:
    bases, time, rate = [_value_of(s, "base") for s in servers], unit("ms"), unit("op/s")
    columns = (
        Column("server", tuple(name_of(s) for s in servers)),
        Column("chosen form", tuple(s.form.name for s in servers)),
        Column("RMS error", tuple(_rms(s.best) for s in servers)),
        Column("leave-one-out", tuple(_left_out(s.best) for s in servers)),
        Column(f"saturation [{scale.unit(rate)}]", tuple(_limit_of(s, scale) for s in servers)),
        Column(f"base [{scale.unit(time)}]", tuple(scale.bare(base, time) for base in bases)),
        Column("runner-up", tuple(_runner_up(s) for s in servers)),
    )
    errors = [s.best.comparison.summary["rms_relative_error"] for s in servers]
    notes = [
        f"median RMS error {np.median(errors):.2%}, "
        f"{sum(error <= 0.1 for error in errors)} of {len(errors)} within 10%"
    ]
    notes += sorted({str(s.best.comparison.axes) for s in servers})
    if len(servers) <= MOST_COLUMNS:
        notes += [f"{name_of(s)}: {text}" for s in servers for text in s.best.warnings_in(scale)]
        notes += [
            f"{name_of(s)}: {text}"
            for s in servers
            for text in finding_lines(s.best.comparison.findings, scale)
        ]
    return Table("servers, each with its best form", columns, tuple(notes))


def _left_out(fit: Fit) -> str:
    error = fit.leave_one_out_rms
    return f"{error:.1%}" if error < 10 else "-"


def _value_of(server: ServerFit, begins: str) -> float:
    return next(t.value for t in server.quantities if t.name.startswith(begins))


def _limit_of(server: ServerFit, scale: Scale) -> str:
    limit = next(t for t in server.quantities if t.name.startswith("saturation"))
    shown = scale.bare(limit.value if limit.determined else limit.low, unit(limit.unit))
    return shown if limit.determined else f"at least {shown}"


def _side_table(side: SideBySide, scale: Scale) -> Table:
    fits = side.common_fits()
    rows = list(zip(*(s.quantities for s in fits), strict=True))
    largest = [max(quantity.value for quantity in row) for row in rows]
    columns = [Column("quantity", tuple(row[0].name for row in rows))]
    for each in fits:
        pairs = zip(each.quantities, largest, strict=True)
        columns.append(
            Column(name_of(each), tuple(_quantity_text(t, scale, most) for t, most in pairs))
        )
    title = f"all by one form, {side.common.name}"
    return Table(title, tuple(columns), tuple(differences(fits)))


def _value(quantity: ServerQuantity) -> float | None:
    return quantity.value if quantity.determined else None
