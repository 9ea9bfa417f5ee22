"""The ``headway`` command: imports each command only when it is used."""

import atexit
import errno
import gc
import io
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NoReturn

import click

from headway import __version__
from headway.cli.once import refuse_repeats
from headway.errors import HeadwayError, OutputError, PackageError, shortened, visible
from headway.lazy import loaded, offered, one_thread, outside, package_of

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from click.shell_completion import CompletionItem

BAD_INPUT = 2
INTERRUPTED = 130
HELP = "--help"

COMMANDS = {
    "models": "List the catalogue of ready-made models.",
    "kinds": "List kinds of station, disciplines, files, and findings.",
    "methods": "List methods of solution, or those that apply to a model.",
    "read": "Read the output of load generators and monitors as one curve.",
    "audit": "Check whether a load test can be trusted.",
    "model": "Make a model of services from their traces.",
    "show": "Show a model: parameters, graph, assumptions, closed forms.",
    "import": "Import a model of JMT, PMIF or LQNS.",
    "solve": "Solve a model at one or many operating points.",
    "check": "Compare a solution with a simulation of the same model.",
    "balance": "Show the load at which each resource of a machine saturates.",
    "retries": "Find the load above which retries can bring a server down.",
    "compare": "Compare a model with measured data, or two builds.",
    "gate": "Judge a build by its load test, in a CI pipeline.",
    "fit": "Fit parameters to measured data, with confidence intervals.",
    "next": "Suggest the load to measure next, under a limit.",
    "sensitivity": "Show how each parameter affects outputs, and the bottleneck.",
    "size": "Find the cheapest configuration that meets targets.",
    "sweep": "Solve millions of points and keep summaries of them.",
    "signature": "Derive a signature from measurements: SFS, LogP, LogGP.",
    "report": "Write a page: question, answer, curve, how sure it is.",
    "reproduce": "Recompute the published tables and list their errata.",
    "export": "Write predictions beside measurements, for Grafana.",
    "mcp": "Serve commands as tools for an assistant, within one folder.",
}
"""Each command and its line of help; the module of the same name contains it."""

ROOMS = {
    "import": "importing",
    "models": "lists.models",
    "kinds": "lists.kinds",
    "methods": "lists.methods",
    "size": "planning.size",
    "sweep": "planning.sweep",
}
"""Modules of commands in folders of their own."""

GROUP = "headway.commands"
"""Entry points by which other packages add commands: ``NAME = module:command``."""


class Interrupted(Exception):
    """The user pressed Ctrl-C."""


class ReaderGone(Exception):
    """The reader has closed the output."""


@contextmanager
def own_endings() -> Iterator[None]:
    """Keep click from exiting with its own messages and codes."""
    try:
        yield
    except KeyboardInterrupt:
        raise Interrupted from None
    except BrokenPipeError:
        raise ReaderGone from None
    except OSError as error:  # files have their own messages: this is printed output
        _abandon()
        msg = f"standard output: cannot be written ({error.strerror or error})"
        raise OutputError(msg) from None


def _abandon() -> None:
    """Discard what is still to be flushed."""
    if not isinstance(sys.stdout, ClosedOutput):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class ClosedOutput(io.TextIOBase):
    """Replacement for a standard output that the shell has closed."""

    def write(self, _text: str, /) -> int:
        """Refuse, as the system would."""
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))


_LINES = "\b"
"""What keeps the lines of a paragraph apart in help and on pages."""

_ROOM = " " * len("Usage: ")


def typed(*forms: str) -> str:
    """The most used forms of a command, as its epilog."""
    return "\n".join([_LINES, *forms])


def forms_of(command: click.Command) -> list[str]:
    """The most used forms of a command, each on one line."""
    forms = (command.epilog or "").replace("\\\n", " ").splitlines()[1:]
    return [" ".join(form.split()) for form in forms]


class Formed(click.Command):
    """A command whose usage begins with the forms that its epilog has."""

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the most used forms, then all that may be typed."""
        every = " ".join([ctx.command_path, *self.collect_usage_pieces(ctx)])
        lines = [*(self.epilog or "").splitlines()[1:], every]
        formatter.write(f"Usage: {f'{chr(10)}{_ROOM}'.join(lines)}\n")

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write nothing: it is in the usage."""


def used(name: str, *forms: str) -> Callable[[Callable[..., Any]], click.Command]:
    """Make a command of `COMMANDS` of a function.

    Parameters
    ----------
    name
        Its name.
    forms
        Its most used forms, as they are typed; a backslash ends a line that goes on.
    """
    return click.command(name, cls=Formed, help=COMMANDS[name], epilog=typed(*forms))


class Group(Formed, click.Group):
    """A group that suggests commands, the same with every version of click."""

    command_class = Formed

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command, or suggest the nearest; a group that is asked nothing shows its help."""
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            import difflib

            names = self.list_commands(ctx)
            near = difflib.get_close_matches(args[0], names, 2)
            other = f"did you mean {', '.join(near)}?" if near else f"there are {', '.join(names)}"
            ctx.fail(f"there is no command {args[0]!r}; {other}")
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None and command.no_args_is_help:
            rest = rest or [HELP]
        return name, command, rest


class LazyGroup(Group):
    """A group that knows the names of its commands without importing them."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the options; ``--help`` writes already here, and so does a greeting."""
        with own_endings():
            if not args and not ctx.resilient_parsing:
                click.echo(GREETING)
                ctx.exit()
            return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command."""
        with own_endings():
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Names in the order of use."""
        return list(all_commands())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import the module of a command."""
        if cmd_name in COMMANDS:
            module = ROOMS.get(cmd_name, cmd_name)
            own: click.Command = loaded(f"headway.cli.commands.{module}:command")
            return own
        command: click.Command | None = outside(GROUP, cmd_name, _command_of)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command, and refuse options given twice."""
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None and not ctx.resilient_parsing:
            refuse_repeats(command, name, rest, ctx)
        return name, command, rest

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands from their table, so that help imports none of them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(all_commands().items()))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """Offer the commands from their table, so that completion imports none of them."""
        from click.shell_completion import CompletionItem

        named = all_commands().items()
        items = [CompletionItem(name, help=words) for name, words in named]
        options = click.Command.shell_complete(self, ctx, incomplete)
        return [item for item in items if item.value.startswith(incomplete)] + options


def all_commands() -> dict[str, str]:
    """Every command and its line of help; commands of other packages show the package's name."""
    others = {n: f"From package {package_of(points[0])}." for n, points in offered(GROUP).items()}
    return {**COMMANDS, **{name: others[name] for name in others if name not in COMMANDS}}


def _command_of(point: "EntryPoint") -> click.Command:
    command = point.load()
    if not isinstance(command, click.Command):
        msg = f"{point.value} is not a click command"
        raise PackageError(msg)
    return command


_MANY = 100_000
"""Objects made between two collections of garbage: more than imports make, up to 70,000."""

GREETING = """\
headway says what load a computer system can carry, and how sure the answer is.

  headway audit load_tests/wrk          Can this load test be trusted?
  headway fit server --data load_tests/wrk
                                        Where does the server saturate?
  headway solve nfs-server --preset raid --set arrival_rate=500
                                        How fast is this design at that load?

headway --help lists all commands; headway COMMAND --help says how each is used."""
"""What one sees who types the name alone: commands that run as they stand."""

FORMS = typed(
    "headway fit server --data load_tests/wrk",
    "headway solve nfs-server --preset raid --set arrival_rate=200",
)


@click.group(cls=LazyGroup, epilog=FORMS, context_settings={"help_option_names": ["-h", HELP]})
@click.version_option(__version__, prog_name="headway")
def cli() -> None:
    """Predict, explain and fit the performance of computer systems with analytic models.

    MODEL is a name from the catalogue (headway models) or the path of a model file. Write
    units as in 650us, 3.4ms, 512MB, 800op/s; a bare number is in SI units.
    """


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line; bad input ends with one line on stderr and exit code 2."""
    _stand_in()
    if arguments is None:
        one_thread()
        gc.set_threshold(_MANY)
        _quieten()
        _hear()
        atexit.register(gc.freeze)  # the system takes all memory back at once
    try:
        typed = sys.argv[1:] if arguments is None else arguments
        code = cli.main(typed, prog_name="headway", standalone_mode=False, obj=list(typed))
        with own_endings():
            sys.stdout.flush()
    except (HeadwayError, click.ClickException) as error:
        _leave(_message(error), BAD_INPUT)
    except (click.Abort, KeyboardInterrupt, Interrupted):
        _leave("interrupted", _interrupted())
    except ReaderGone:
        _abandon()
        sys.exit(0)
    sys.exit(_interrupted() if code == INTERRUPTED else code if isinstance(code, int) else 0)


def _stand_in() -> None:
    """Replace streams that the shell has closed."""
    if sys.stdout is None:
        sys.stdout = ClosedOutput()
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123


_HEARD: list[int] = []
"""Signals that asked this process to end, in order."""


def _hear() -> None:
    """End when the system asks (``kill``, a batch system, a closed terminal) as on Ctrl-C.

    What is done is then kept, and the processes that were started end. What the caller ignores, as
    `nohup` does, stays ignored.
    """
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _heard)


def _heard(number: int, _frame: object) -> NoReturn:
    _HEARD.append(number)
    raise KeyboardInterrupt


def _interrupted() -> int:
    """The exit code of what a signal ended: 128 and its number, as shells give it."""
    return 128 + _HEARD[0] if _HEARD else INTERRUPTED


def _quieten() -> None:
    """Silence arithmetic warnings: answers themselves show what is infinite or unknown."""
    import warnings

    warnings.simplefilter("ignore", RuntimeWarning)


def _message(error: Exception) -> str:
    text = str(error)
    if isinstance(error, click.UsageError):
        from headway.cli.refused import usage

        text = usage(error, forms_of(error.ctx.command) if error.ctx else ())
    elif isinstance(error, click.ClickException):
        text = error.format_message()
    return shortened(visible(" ".join(text.split())))


def _leave(message: str, code: int) -> NoReturn:
    with suppress(OSError):
        click.echo(f"error: {message}", err=True)
    sys.exit(code)
