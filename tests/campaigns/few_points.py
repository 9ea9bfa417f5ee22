"""The form chosen for five points, where AICc cannot judge three parameters.

    python -m tests.campaigns.few_points        15 curves each of three forms: docs/accuracy/fits.md

Five points of the curves of ``form_confusion``, at 1, 4, 8, 16 and 32 clients. AICc is infinite for
three parameters and a scatter from five points.

`headway.models.inference.server.FAR` names it.
"""

from collections.abc import Sequence

from headway.models import Measurements
from headway.models.inference.server import FAR, choose_form, ranked
from tests import campaigns
from tests.campaigns.form_confusion import CASES, POPULATION, Case, curve

KEPT = (0, 3, 5, 7, 9)
"""Indices of the five of ten points that are kept."""

NAMES = ("server-single", "server-closed", "server-usl")
"""Forms that make curves: one with two parameters, two with three."""

CURVES = 15


def few(case: Case, seed: int) -> Measurements:
    """Five points of a curve of a form."""
    whole = curve(case, seed)
    columns = whole.columns.values()
    titles = ",".join(column.header for column in columns)
    rows = "\n".join(",".join(f"{one.values[k]:.9g}" for one in columns) for k in KEPT)
    return Measurements.parse(f"{titles}\n{rows}\n", whole.source)


def both(task: tuple[Case, int]) -> tuple[bool, bool]:
    """Whether the form that made a curve is chosen: by AICc alone, and with all forms."""
    case, seed = task
    server = choose_form(few(case, seed))
    judged = ranked(server.candidates, far=0.0)
    return judged[0][0].model == case.form, server.form.model == case.form


def main() -> None:
    """Print one line per form: how often it is chosen, without and with forms AICc cannot judge."""
    parser = campaigns.parser(__doc__)
    parser.add_argument("curves", nargs="?", type=int, default=CURVES)
    options = parser.parse_args()
    print(f"chosen by AICc alone, and beyond it with {FAR:g} of the error")
    with campaigns.shared(options) as done:
        cases = [case for case in CASES if case.load == POPULATION and case.form in NAMES]
        tasks = [(case, seed) for case in cases for seed in range(options.curves)]
        ends = list(done(both, tasks))
    for place, case in enumerate(cases):
        print(_line(case.form, ends[place * options.curves : (place + 1) * options.curves]))
    print(_line("all", ends))


def _line(name: str, ends: Sequence[tuple[bool, bool]]) -> str:
    before, after = (sum(each) for each in zip(*ends, strict=True))
    return f"{name}: {before} and {after} of {len(ends)}"


if __name__ == "__main__":
    campaigns.run(__spec__)
