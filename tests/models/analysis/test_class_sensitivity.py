"""Derivatives of what classes do, held to mean value analysis in 40 digits, differentiated."""

import json
from functools import cache

import mpmath
import pytest

from headway.models.importing.finding import find_model
from tests.support.command import headway

TEXT = """
name = "both"
[parameters]
a = 0.1
b = 0.2
d = 0.05
z = 0.5
[classes.web]
{web}
[classes.batch]
{batch}
[stations.cpu]
kind = "MM1"
visits = 1
discipline = "ps"
service_time = {{web = "a", batch = "b"}}
[stations.disk]
kind = "MM1"
visits = 1
service_time = "d"
"""
HERE = {"a": 0.1, "b": 0.2, "d": 0.05, "z": 0.5}
KINDS = {
    "closed": ("population = 3", 'population = 4\nthink_time = "z"'),
    "mixed": ("arrival_rate = 3", 'population = 4\nthink_time = "z"'),
    "open": ("arrival_rate = 3", "arrival_rate = 2"),
}


def exact(kind, a, b, d, z):
    """Throughput and response time of both classes, by exact mean value analysis."""
    demands, rates = ((a, d), (b, d)), {"closed": (0, 0), "mixed": (3, 0), "open": (3, 2)}[kind]
    jobs = {"closed": (3, 4), "mixed": (0, 4), "open": (0, 0)}[kind]
    think = (0, z)
    free = [1 - sum(r * row[k] for r, row in zip(rates, demands, strict=True)) for k in (0, 1)]

    @cache
    def solved(n):
        """Queue lengths of closed jobs, and by class throughput and response time."""
        queue, rows = [mpmath.mpf(0)] * 2, []
        for c in (0, 1):
            if not n[c]:
                rows.append((mpmath.mpf(0), mpmath.mpf(0)))
                continue
            before = solved(tuple(m - (m > 0) * (i == c) for i, m in enumerate(n)))[0]
            stay = [demands[c][k] / free[k] * (1 + before[k]) for k in (0, 1)]
            rate = n[c] / (think[c] + sum(stay))
            rows.append((rate, sum(stay)))
            queue = [q + rate * s for q, s in zip(queue, stay, strict=True)]
        return queue, rows

    queue, rows = solved(jobs)
    for c in (0, 1):
        if rates[c]:
            stay = sum(demands[c][k] * (1 + queue[k]) / free[k] for k in (0, 1))
            rows[c] = (mpmath.mpf(rates[c]), stay)
    return rows


@pytest.mark.parametrize("kind", KINDS)
def test_derivatives_of_classes_are_those_of_the_exact_solution(kind, tmp_path):
    path = tmp_path / "both.toml"
    path.write_text(TEXT.format(web=KINDS[kind][0], batch=KINDS[kind][1]))
    effects = find_model(str(path)).sensitivity().effects
    checked = 0
    with mpmath.workdps(40):
        here = {name: mpmath.mpf(value) for name, value in HERE.items()}
        for c, name in enumerate(("web", "batch")):
            for part, output in enumerate(("throughput", "response_time")):
                if f"class {name}.{output}" not in effects:
                    continue  # an open class gets through what arrives
                for by in HERE:
                    slope = mpmath.diff(
                        lambda x, c=c, part=part, by=by: exact(kind, **{**here, by: x})[c][part],
                        here[by],
                    )
                    value = exact(kind, **here)[c][part]
                    effect = effects[f"class {name}.{output}"][by]
                    elasticity = float(slope * here[by] / value)
                    assert effect.elasticity == pytest.approx(elasticity, rel=1e-9, abs=1e-9)
                    # what it says of itself: estimated, so held to ten times that
                    missed = abs(effect.elasticity - elasticity)
                    assert missed <= 10 * effect.error + 1e-12
                    assert effect.error < 1e-7
                    checked += 1
    assert checked == {"closed": 16, "mixed": 12, "open": 8}[kind]


def test_errors_of_derivatives_are_told_in_json_and_csv(tmp_path):
    path = tmp_path / "both.toml"
    path.write_text(TEXT.format(web=KINDS["closed"][0], batch=KINDS["closed"][1]))
    document = json.loads(headway("sensitivity", str(path), "--json").out)
    entry = document["outputs"]["class web.throughput"]["a"]
    assert 0 <= entry["error"] < 1e-7
    assert headway("sensitivity", str(path), "--csv").out.splitlines()[0].endswith(",error")
