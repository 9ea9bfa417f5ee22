"""Tools for assistants, by the SDK's own client: what a tool answers is what its command writes.

The SDK takes long to import: only where a test calls it.
"""

import json
import os
import shlex
import sys

import pytest

from headway.cli.commands.mcp import server
from headway.cli.tools import LEFT_OUT, TOOLS
from headway.models.files.shipped import data_path
from tests.support.command import headway, refusal

CURVE = "throughput_ops_s,response_ms\n200,4.2\n600,4.3\n1000,4.4\n1400,5.6\n1600,7.5\n1700,11.2\n"
OUTSIDE = "cannot be read (it is outside the folder that files may be in)"


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A folder that is served, beside a file that is not."""
    served = tmp_path / "served"
    served.mkdir()
    (served / "curve.csv").write_text(CURVE)
    (tmp_path / "secret.csv").write_text(CURVE)
    (served / "leads-out.csv").symlink_to(tmp_path / "secret.csv")
    (served / "leads-out").symlink_to(tmp_path)
    monkeypatch.chdir(served)
    return served


def talk(place, questions):
    """Ask tools, and give back what they answer."""
    import anyio
    from mcp import Client

    async def session():
        async with Client(place) as client:
            return [await client.call_tool(tool, given) for tool, given in questions]

    return anyio.run(session)


def refused(root, *questions):
    answers = talk(server(root), questions)
    assert [answer.is_error for answer in answers] == [True] * len(questions)
    lines = [answer.content[0].text for answer in answers]
    assert not [line for line in lines if "\n" in line or "Traceback" in line]
    return lines


SHOP = {"model": "nfs-server", "preset": "raid"}
FITTED = {"model": "server-single", "data": ["curve.csv"], "free": "service_time,delay"}
ASKED = {
    "kinds": ({}, ""),
    "methods": (SHOP, "nfs-server --preset raid"),
    "read": ({"files": ["curve.csv"]}, "curve.csv"),
    "audit": ({"files": ["curve.csv", "load_tests/lock"]}, "curve.csv load_tests/lock"),
    "fit": (FITTED, "server-single --data curve.csv --free service_time,delay"),
    "solve": (
        SHOP | {"set": ["arrival_rate=400,500"], "percentile": "95,99"},
        "nfs-server --preset raid --set arrival_rate=400,500 --percentile 95,99",
    ),
    "size": (
        SHOP | {"target": ["response_time<=15ms"], "choose": ["disks=4:32"], "cost": "disks"},
        "nfs-server --preset raid --target 'response_time<=15ms' --choose disks=4:32 --cost disks",
    ),
    "check": (
        SHOP | {"set": ["arrival_rate=500"], "seed": 3, "half-width": 0.2},
        "nfs-server --preset raid --set arrival_rate=500 --seed 3 --half-width 0.2",
    ),
}
"""What each tool is asked, and how its command is asked the same."""


@pytest.mark.parametrize("tool", TOOLS)
def test_a_tool_answers_what_its_command_writes(root, tool):
    given, line = ASKED[tool]

    (answer,) = talk(server(root), [(tool, given)])

    assert not answer.is_error, answer.content
    written = headway(tool, *shlex.split(line), "--json").out
    assert answer.content[0].text == written.strip()
    assert answer.structured_content == json.loads(written)


def test_over_standard_input_and_output_tools_are_listed_and_called(root):
    import anyio
    from mcp import Client, StdioServerParameters, stdio_client

    arguments = ["-m", "headway.cli", "mcp", "--root", str(root)]
    place = stdio_client(
        StdioServerParameters(command=sys.executable, args=arguments, env=dict(os.environ))
    )

    async def session():
        async with Client(place) as client:
            listed = (await client.list_tools()).tools
            read = await client.call_tool("read", {"files": ["curve.csv"]})
            return client.server_info, client.instructions, listed, read

    info, instructions, listed, read = anyio.run(session)

    assert info.name == "headway"
    assert "folder" in instructions
    assert [tool.name for tool in listed] == list(TOOLS)
    assert ASKED.keys() == {*TOOLS}
    (solve,) = (tool for tool in listed if tool.name == "solve")
    said = solve.input_schema["properties"]
    assert said["uncertain"]["type"] == "boolean"
    assert said["draws"]["type"] == "integer"
    assert said["set"]["items"] == {"type": "string"}
    assert not LEFT_OUT & said.keys()
    assert "headway solve nfs-server --preset raid" in solve.description
    assert read.structured_content == json.loads(headway("read", "curve.csv", "--json").out)


def test_a_fitted_model_is_written_into_the_folder_and_solved_from_there(root):
    fitted, solved = talk(
        server(root),
        [("fit", FITTED | {"out": "kept.toml"}), ("solve", {"model": "kept.toml"})],
    )

    assert fitted.content[1].text == "wrote kept.toml"
    assert "headway fit --json --data=curve.csv --free=" in (root / "kept.toml").read_text()
    assert solved.structured_content["model"] == "server-single"


def test_files_outside_the_folder_are_neither_read_nor_written(root):
    trace = 'name = "m"\n[stations.cpu]\nkind = "MM1"\nservice_time = "1 ms"\n[arrivals]\n'
    (root / "told.toml").write_text(trace + 'cpu = { trace = "../secret.csv" }\n')
    above = str(root.parent / "secret.csv")

    lines = refused(
        root,
        ("read", {"files": ["../secret.csv"]}),
        ("read", {"files": [above]}),
        ("read", {"files": ["../*.csv"]}),
        ("audit", {"files": ["leads-out.csv"]}),
        ("audit", {"files": ["leads-out/secret.csv"]}),
        ("read", {"files": ["-"]}),
        ("read", {"files": ["/dev/stdin"]}),
        ("solve", {"model": "../model.toml"}),
        ("solve", {"model": "/etc/passwd"}),
        ("solve", {"model": "told.toml"}),
        ("fit", FITTED | {"data": [above]}),
        ("fit", FITTED | {"out": "../kept.toml"}),
    )

    assert lines[0] == f"../secret.csv: {OUTSIDE}"
    assert all("outside the folder" in line for line in lines), lines
    assert sorted(path.name for path in root.parent.iterdir()) == ["secret.csv", "served"]


def test_what_is_wrong_is_said_in_one_line_as_by_the_command(root):
    lines = refused(
        root,
        ("read", {"files": ["gone.csv"]}),
        ("solve", {"model": "nfs-serve"}),
        ("solve", SHOP | {"sett": ["a=1"]}),
        ("solve", {"set": ["arrival_rate=1"]}),
        ("sole", {}),
        ("size", {"model": "--help"}),
    )

    assert lines[0] == refusal("read", "gone.csv")
    assert lines[1] == refusal("solve", "nfs-serve")
    assert lines[2] == "solve has no argument 'sett'; did you mean set, start, preset?"
    assert lines[3] == refusal("solve", "--set", "arrival_rate=1")
    assert lines[4].startswith("there is no tool 'sole'; did you mean solve")
    assert "--target" in lines[5]


def test_what_ships_is_read_from_any_folder(root):
    (answer,) = talk(server(root), [("read", {"files": [str(data_path("load_tests/lock"))]})])

    assert not answer.is_error


def test_without_the_sdk_the_command_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "mcp", None)

    said = refusal("mcp", "--root", tmp_path)

    assert said.endswith("install: python -m pip install mcp")
