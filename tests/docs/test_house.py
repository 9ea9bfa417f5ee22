"""The house itself: imports go one way, rooms hold about a dozen files, pieces are small."""

import ast
import itertools
import re
from collections import Counter
from configparser import ConfigParser

import pytest

from tests.house import (
    FOLDERS,
    ROOT,
    circles,
    functions_in,
    import_graph,
    late_imports,
    main,
    modules,
    parsed,
    room_of,
    rooms,
)
from tests.support.pages import design

# Cohesion comes first: a file tells one algorithm, and what is kept low is branches (ruff's C901).
MOST_FILES, MOST_LINES, MOST_BODY = 20, 600, 80


@pytest.mark.slow
def test_imports_go_one_way(capsys):
    """Between modules, and between the rooms they stand in; `make layers` looks each time."""
    assert main([]) == 0
    assert ", 0 circles" in capsys.readouterr().out
    assert circles(rooms(import_graph(FOLDERS))) == []


LATE = "def f():\n    from headway.b import x\n"
TEXT = 'PLACE = "headway.b:x"\n'
TYPED = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from headway.b import x\n"


@pytest.mark.parametrize("way", [LATE, TEXT, TYPED, "import headway.b\n"])
def test_a_circle_is_seen_however_it_is_closed(tmp_path, way, capsys, monkeypatch):
    (tmp_path / "a.py").write_text(way)
    (tmp_path / "b.py").write_text("from headway.a import f\n")
    (tmp_path / "c.py").write_text("from headway.b import x\n")
    folders = {"headway": tmp_path}

    assert circles(import_graph(folders)) == [["headway.a", "headway.b"]]
    assert late_imports(folders) == (way is LATE)
    monkeypatch.setattr("tests.house.FOLDERS", folders)
    assert main([]) == 1
    assert "2 modules import each other: headway.a, headway.b" in capsys.readouterr().err


def test_rooms_that_import_each_other_are_a_circle_though_no_modules_do(
    tmp_path, capsys, monkeypatch
):
    for name in ("up/a", "up/b", "down/c", "down/d"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.py").write_text("")
    for room in ("up", "down"):
        (tmp_path / room / "__init__.py").write_text("")
    (tmp_path / "up" / "a.py").write_text("from headway.down.c import X\n")
    (tmp_path / "down" / "d.py").write_text("from headway.up.b import Y\n")

    monkeypatch.setattr("tests.house.FOLDERS", {"headway": tmp_path})
    assert main([]) == 1
    assert "2 rooms import each other: headway.down, headway.up" in capsys.readouterr().err


def test_words_that_are_no_place_are_no_import(tmp_path):
    (tmp_path / "a.py").write_text('"""Says headway.b:x in words."""\nX = "see headway.b"\n')
    (tmp_path / "b.py").write_text("from headway.a import X\n")
    assert circles(import_graph({"headway": tmp_path})) == []


def test_rooms_hold_few_files():
    known = modules(FOLDERS)
    files = Counter(room_of(name, known) for name in known)
    assert {room: count for room, count in files.items() if count > MOST_FILES} == {}


def test_files_and_functions_are_small():
    long = {}
    tests = itertools.chain((ROOT / "tests").rglob("*.py"), (ROOT / "benchmarks").rglob("*.py"))
    for path in (*modules(FOLDERS).values(), *tests):
        lines = len(path.read_text(encoding="utf-8").splitlines())
        if lines > MOST_LINES:
            long[str(path.relative_to(ROOT))] = lines
        for node in functions_in(parsed(path)):
            if _body(node) > MOST_BODY:
                long[f"{path.name}:{node.name}"] = _body(node)
    assert long == {}


def _body(function: ast.FunctionDef) -> int:
    """Lines of a function below its docstring."""
    first = function.body[1] if ast.get_docstring(function) and function.body[1:] else None
    start = (first or function.body[0]).lineno
    return (function.end_lineno or start) - start + 1


NOT_LISTED = re.compile(r"\*\*\s*\w+\s*[:,)]")
"""Where a function may take names that it does not list: few files need be parsed."""


CLOCKS = {
    "cli/output.py": "what goes on, and how long it has",
    "models/running/cluster.py": "machines that do not answer",
    "models/sweeping/kernel.py": "how long chunks took",
    "models/sweeping/sweeping.py": "progress, how long points took, and when to save",
}
"""Files that may look at a clock, and what for: no answer may depend on how fast a machine is."""


def test_clocks_decide_no_answer():
    """Work is counted in events, states and steps, which are the same on every machine."""
    found = {
        str(path.relative_to(ROOT))
        for path in modules(FOLDERS).values()
        if re.search(r"\b(perf_counter|monotonic|process_time|time\.time)\b", path.read_text())
    }
    assert found == set(CLOCKS)


def test_names_that_a_function_does_not_list_are_those_of_a_model():
    """Parameters of a model are given by name to `at` and `solve`, and to nothing else."""
    takes = {
        f"{name.rpartition('.')[2]}.{node.name}"
        for name, path in modules(FOLDERS).items()
        if NOT_LISTED.search(path.read_text(encoding="utf-8"))
        for node in functions_in(parsed(path))
        if node.args.kwarg and not node.name.startswith("_")
    }
    assert takes - {"symbols.doit"} == {"graph.at", "model.at", "model.solve"}  # doit is SymPy's


def test_every_room_is_installed():
    setup = ConfigParser()
    setup.read(ROOT / "setup.cfg", encoding="utf-8")
    rooms = {name for name, path in modules(FOLDERS).items() if path.stem == "__init__"}
    assert set(setup["options"]["packages"].split()) == rooms


DESIGN = design()


WALKED = re.compile(r"`((?:cli|models|queueing|loggp)/[\w/]+\.py)` `(\w+)`(?:, `(\w+)`)?")


def test_the_walks_pass_what_is_there():
    steps = WALKED.findall(DESIGN)
    assert len(steps) > 25
    for file, *names in steps:
        text = (ROOT / file).read_text(encoding="utf-8")
        for name in filter(None, names):
            assert re.search(rf"^(def|class) {name}\b|^{name}\b.* = ", text, re.MULTILINE), file


def test_every_file_that_the_design_names_is_there():
    named = re.findall(r"`((?:cli|models|queueing|loggp|tests|docs)/[\w/.]*\.\w+)`", DESIGN)
    assert [file for file in named if not (ROOT / file).exists()] == []
