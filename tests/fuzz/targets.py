"""What is done with a spoilt text: it is read, and what was read is used a little.

A target raises what it will; only `HeadwayError` is a right way to refuse.
"""

import contextlib
import io
import shlex
from itertools import islice
from pathlib import Path
from unittest import mock

import numpy as np

from headway.cli.commands.next import FINISHED
from headway.cli.commands.reproduce import DIFFERENT
from headway.cli.main import main
from headway.cli.sweeps import sweep
from headway.errors import is_hidden
from headway.models import Measurements, catalogue_model
from headway.models.analysis.audit import audit
from headway.models.analysis.balance import balance
from headway.models.analysis.imported import import_model
from headway.models.analysis.sensitivity import sensitivity
from headway.models.files.intake import read_text
from headway.models.files.reading import read_model
from headway.models.language.formula import formula
from headway.models.language.units import quantity, unit
from headway.models.measured.measurements import LARGEST_FILE
from headway.models.reading import gather
from headway.models.reading.hints import Hints
from headway.models.reading.loadtest import read_load_test
from headway.models.reading.texts import file_text
from headway.models.showing.models import closed_forms
from headway.models.signatures.collective import MeasuredCollective
from headway.models.signatures.loggp import MeasuredSizes, read_sizes
from headway.models.signatures.logp import MeasuredLogp
from headway.models.signatures.sfs import MeasuredSignature, curve
from tests.fuzz import seeds

_RARE = 0.05
_COSTLY = 0.01


def _shown(answer):
    """Every form of an answer."""
    str(answer), repr(answer), answer.to_json(), answer.to_csv()


def read_quantity(chance, path):
    """A number with a unit."""
    text = _text(path)
    result = quantity(text, chance.choice((None, unit("s"), unit("op/s"))))
    assert abs(result) < float("inf")


def read_sweep(chance, path):
    """The value of a setting."""
    swept = sweep(_text(path), chance.choice((unit("s"), unit("op/s"), unit(""))), "x")
    assert swept.size >= 1
    assert np.isfinite(swept).all()


def read_formula(_chance, path):
    """A formula, at some numbers."""
    read = formula(_text(path))
    read.evaluate(dict.fromkeys(read.names, 2.0))
    read.evaluate(dict.fromkeys(read.names, np.array([0.0, 1.0])))


def read_table(chance, path):
    """A table or a page of measurements, its signature, a comparison, and sometimes a fit."""
    result = Measurements.read(path)
    repr(result), result.sha256, result.invalid
    for fact in result.facts.values():
        assert fact.value is None or abs(fact.value) < float("inf")
    model = catalogue_model("server-single")
    if chance.random() < _COSTLY:
        _shown(model.fit(result, ["service_time"]))
    elif chance.random() < 0.5:
        _shown(model.at(service_time=1e-3, delay=1e-3).compare(result))
    else:
        _shown(MeasuredSignature.of(curve(result)))


def read_a_model(chance, path):
    """A model file, its tables, its text again, a solution, and sometimes more."""
    model = read_model(path)
    str(model)
    again = path.with_suffix(".again")
    again.write_text(model.to_toml(), encoding="utf-8")
    assert read_model(again).to_toml() == model.to_toml()
    missing = [name for name, p in model.parameters.items() if p.value is None]
    model = model.at(dict.fromkeys(missing, 1.0))
    if chance.random() < _RARE:
        _shown(sensitivity(model))
    elif chance.random() < _RARE and len(model.graph.stations) < 4:
        closed_forms(model)
    elif chance.random() < _RARE:
        _shown(balance(model))
    elif chance.random() < _RARE:
        _shown(model.closed(3).solve())
    else:
        _shown(model.solve())


def read_tool(chance, path):
    """What a tool wrote: its points, a table and an audit of them, and sometimes every form."""
    load_test = read_load_test([str(path)])
    repr(load_test.measurements), load_test.to_json()
    audited = audit(load_test)
    if chance.random() < 0.1:
        _shown(load_test), _shown(audited)


def read_archive(chance, path):
    """What an archive holds, as points; files that cannot be read are left out, or refused."""
    load_test = read_load_test([str(path)], hints=Hints(skip_bad=chance.random() < 0.5))
    repr(load_test.measurements), load_test.to_json()


def read_log(chance, path):
    """A log of requests, as if it were too long to be read whole, and an audit of it."""
    with mock.patch.object(gather, "LARGEST_FILE", 100):
        load_test = read_load_test([str(path)])
    str(load_test), load_test.to_json()
    _shown(audit(load_test)) if chance.random() < 0.5 else None


def read_import(_chance, path):
    """A model of another tool, solved and compared with the results in its file."""
    _shown(import_model(path))


def read_messages(_chance, path):
    """Times by message size, and the lines through them."""
    _shown(MeasuredSizes.of(read_sizes(read_text(path, LARGEST_FILE), str(path)), str(path)))


def read_collective(_chance, path):
    """Times of collective operations, the law through them, and the next number of GPUs."""
    _shown(MeasuredCollective.of([file_text(path)], asked=[(8, 2.0**20)]))


def read_bursts(_chance, path):
    """Costs of bursts, and what is read off them."""
    _shown(MeasuredLogp.of(Measurements.read(path), 1e-5))


OWN_CODES = {"reproduce": DIFFERENT, "gate": 1, "next": FINISHED}
"""Commands that answer by an exit code too."""


def run_command(chance, path):
    """A command line in this process: an answer, or one line and exit code 2."""
    folder = path.parent
    files = _files(folder)
    try:
        words = shlex.split(_text(path))[:30]
    except ValueError:
        words = _text(path).split()
    names = [next((str(f) for n, f in files.items() if f"{{{n}}}" in w), w) for w in words]
    words = [_inside(word, folder) for word in names if "\0" not in word]
    if chance.random() < _RARE:
        words += ["--plot", str(folder / f"x.{chance.choice(('svg', 'png', 'pdf', 'bmp'))}")]
    code, out, err = _run(words)
    lines = err.splitlines()
    assert not [c for c in out + err if is_hidden(c) and c != "\n"], "controls are shown"
    ends = {OWN_CODES[word] for word in words if word in OWN_CODES}
    assert code in {0, 2, *ends}, f"exit code {code}"
    if code == 2:
        assert not out, "an answer beside a refusal"
        assert len(lines) == 1, f"{len(lines)} lines"
        assert lines[0].startswith("error: ")


def _inside(word, folder):
    """A word that writes nothing outside a folder."""
    is_path = word.endswith((".svg", ".png", ".pdf", ".html", ".toml")) or "/" in word
    is_shipped = (
        not word.startswith("-") and "/dev" not in word and not word.startswith(str(folder))
    )
    return str(folder / Path(word).name) if is_path and is_shipped and "=" not in word else word


def _run(words):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(words)
        except SystemExit as stop:
            code = stop.code
    return code, out.getvalue(), err.getvalue()


def _files(folder):
    """Whole files that commands can name."""
    texts = {
        "model": ("model.toml", seeds.STATIONS),
        "plain": ("plain.toml", seeds.PLAIN),
        "curve": ("curve.csv", seeds.CURVE),
        "closed": ("closed.csv", seeds.CLOSED),
        "page": ("page.txt", seeds.texts()["page"][0]),
        "logp": ("logp.csv", seeds.texts()["bursts"][0]),
        "sizes": ("sizes.out", seeds.NETGAUGE),
    }
    for name, text in texts.values():
        if not (folder / name).exists():
            (folder / name).write_text(text, encoding="utf-8")
    return {key: folder / name for key, (name, _) in texts.items()}


def _text(path):
    return path.read_bytes().decode("utf-8", "surrogateescape")


TARGETS = {
    "quantity": (read_quantity, 4),
    "sweep": (read_sweep, 4),
    "formula": (read_formula, 8),
    "table": (read_table, 22),
    "page": (read_table, 14),
    "model": (read_a_model, 32),
    "sizes": (read_messages, 2),
    "collective": (read_collective, 2),
    "bursts": (read_bursts, 2),
    "command": (run_command, 12),
    "tool": (read_tool, 20),
    "archive": (read_archive, 12),
    "log": (read_log, 12),
    "import": (read_import, 6),
}
"""What each kind of text is given to, and how often of all their numbers."""


def pick(chance):
    """A kind of text by its share."""
    names, weights = zip(*((name, weight) for name, (_, weight) in TARGETS.items()), strict=True)
    return next(islice(chance.choices(names, weights), 1))
