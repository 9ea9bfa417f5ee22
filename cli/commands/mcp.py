"""``headway mcp``: commands as tools of an assistant, by the Model Context Protocol."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from headway.cli.main import COMMANDS, used
from headway.cli.output import print_tables

if TYPE_CHECKING:
    from mcp.server import Server

    from headway.models.tables.table import Table

FORMS = (
    "headway mcp --root .",
    "headway mcp --root . --list",
)

INSTRUCTIONS = """\
headway makes performance models of computer systems: it audits load tests, fits queueing models to
them, solves models, and finds the cheapest configuration that meets targets. A model is a name of
the catalogue, such as server or nfs-server, or a model file. Files are named relative to the folder
that is served; what ships with headway, such as load_tests/wrk, may be named too. Write units as in
650us, 3.4ms, 800op/s; answers are in SI units. Quote each number with its uncertainty:
answers have intervals, warnings, and labels of what is approximate."""


@used("mcp", *FORMS)
@click.option(
    "--root",
    required=True,
    metavar="FOLDER",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The only folder that tools read from and write to.",
)
@click.option("--list", "listed", is_flag=True, help="Show what would be served, and exit.")
def command(root: Path, listed: bool) -> None:  # noqa: FBT001 - a flag
    """Serve tools on standard input and output until the client leaves."""
    import os

    from headway.lazy import needed

    if listed:
        print_tables([_table()])
        return
    needed("headway mcp uses the protocol's SDK", "mcp")
    import anyio
    from mcp.server.stdio import stdio_server

    os.chdir(root)  # names of files are relative to the root

    async def serve() -> None:
        offered = server(Path.cwd())
        async with stdio_server() as (received, sent):
            await offered.run(received, sent, offered.create_initialization_options())

    anyio.run(serve)


def _table() -> "Table":
    from headway.cli.tools import TOOLS
    from headway.models.tables.table import Column, Table

    words = tuple(COMMANDS[name] for name in TOOLS)
    notes = ("a tool takes its command's options, and returns what the command prints with --json",)
    return Table("tools", (Column("tool", TOOLS), Column("what for", words)), notes)


def server(root: Path) -> "Server[Any]":
    """A server of the tools.

    Parameters
    ----------
    root
        The folder that files must lie in.
    """
    import mcp_types as types
    from anyio import Lock
    from anyio.to_thread import run_sync
    from mcp.server import Server

    from headway import __version__
    from headway.cli.tools import answered, tools

    turns = Lock()  # commands write to the one standard output

    async def listed(_context: Any, _asked: Any) -> types.ListToolsResult:
        return types.ListToolsResult(
            tools=[
                types.Tool(name=tool.name, description=tool.doc, input_schema=tool.schema)
                for tool in tools()
            ]
        )

    async def called(_context: Any, asked: Any) -> types.CallToolResult:
        async with turns:
            reply = await run_sync(answered, asked.name, asked.arguments or {}, root)
        said = [text for text in (reply.text, reply.notes) if text]
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=text) for text in said],
            structured_content=reply.document,
            is_error=reply.is_error,
        )

    return Server(
        "headway",
        version=__version__,
        instructions=INSTRUCTIONS,
        on_list_tools=listed,
        on_call_tool=called,
    )
