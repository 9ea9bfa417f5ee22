"""``headway signature``: signatures of measured curves."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from headway.cli.main import COMMANDS, Group, typed
from headway.cli.numbers import Whole
from headway.cli.options import (
    Format,
    complete_operation,
    format_options,
    hint_options,
    load_limits,
    measured,
    range_options,
)
from headway.cli.output import present, progress
from headway.cli.pictures import Drawing, plot_option

if TYPE_CHECKING:
    from headway.models.reading.hints import Hints


@click.group(
    "signature",
    cls=Group,
    help=COMMANDS["signature"],
    epilog=typed(
        "headway signature sfs curve.csv",
        "headway signature logp signature.csv --rtt 12.8us",
    ),
)
def command() -> None:
    """Derive signatures from measured curves."""


@command.command(
    "sfs",
    epilog=typed(
        "headway signature sfs curve.csv",
        "headway signature sfs curve.csv --from 190 --to 1060",
    ),
)
@click.argument("file", type=click.Path(path_type=Path))
@range_options
@hint_options
@format_options
@plot_option
def sfs(
    file: Path,
    x: str | None,
    y: str | None,
    low: str | None,
    high: str | None,
    hints: "Hints",
    output_format: Format | None,
    plot: Drawing | None,
) -> None:
    """Derive base, slope and saturation from a curve.

    FILE has response times by throughput, as SFS measures them; the overall response time is SFS's.
    """
    from headway.models.signatures.sfs import MeasuredSignature, Range, curve

    answer = MeasuredSignature.of(
        curve(measured(file, hints), x, y), Range(*load_limits(low, high))
    )
    present(answer, output_format, plot)


@command.command(
    "utilisation",
    epilog=typed(
        "headway signature utilisation curve.csv --x reads_ops_s",
        "headway signature utilisation curve.csv --x reads_ops_s,writes_ops_s",
    ),
)
@click.argument("file", type=click.Path(path_type=Path))
@range_options
@hint_options
@format_options
def utilisation(
    file: Path,
    x: str | None,
    y: str | None,
    low: str | None,
    high: str | None,
    hints: "Hints",
    output_format: Format | None,
) -> None:
    """Estimate service demands from utilisations.

    FILE has utilisations of resources and rates X of operations. The service demands D of the
    operations follow from the utilisation law: U is the sum of X D.
    """
    from headway.models.signatures.sfs import Range
    from headway.models.signatures.utilisation import MeasuredUse

    within = Range(*load_limits(low, high))
    present(MeasuredUse.of(measured(file, hints), x, y, within), output_format, None)


@command.command(
    "logp",
    epilog=typed(
        "headway signature logp signature.csv --rtt 12.8us",
        "headway signature logp signature.csv --rtt 12.8us --plot signature.svg",
    ),
)
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--rtt", metavar="TIME", help="Round-trip time, if FILE has no column rtt_us.")
@click.option("--window", type=Whole(), metavar="N", help="Messages outstanding each way (4).")
@hint_options
@format_options
@plot_option
def logp(
    file: Path,
    rtt: str | None,
    window: int | None,
    hints: "Hints",
    output_format: Format | None,
    plot: Drawing | None,
) -> None:
    """Derive overheads, gap and latency (LogP).

    FILE is a CSV of burst_size, delay_us and cost_us. The cost is the mean time to issue one
    request of a burst, including its delay (computation). Repeated rows give intervals.
    """
    from headway.loggp.measuring.signature import WINDOW
    from headway.models.language.units import quantity, unit
    from headway.models.signatures.logp import MeasuredLogp

    trip = None if rtt is None else quantity(rtt, unit("us"), "--rtt")
    answer = MeasuredLogp.of(measured(file, hints), trip, WINDOW if window is None else window)
    present(answer, output_format, plot)


@command.command(
    "loggp",
    epilog=typed(
        "headway signature loggp netgauge.out",
        "headway signature loggp netgauge.out --pin 64KiB",
    ),
)
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--pin",
    "pins",
    multiple=True,
    metavar="SIZE",
    help="A size at which the lines break; repeatable.",
)
@hint_options
@format_options
@plot_option
def loggp(
    file: Path,
    pins: tuple[str, ...],
    hints: "Hints",
    output_format: Format | None,
    plot: Drawing | None,
) -> None:
    """Fit lines by message size (LogGP).

    FILE is a CSV of size_bytes and time_us, or the output of a benchmark. A line of its own
    describes each range of sizes; headway finds where they break.
    """
    from headway.models.files.intake import read_text
    from headway.models.files.shipped import shipped_or_own
    from headway.models.language.units import quantity, unit
    from headway.models.measured.measurements import LARGEST_FILE
    from headway.models.reading.hints import NO_HINTS
    from headway.models.signatures.loggp import MeasuredSizes, read_sizes, samples
    from headway.models.signatures.timings import described_series

    pinned = [quantity(pin, unit("B"), "--pin") for pin in pins]
    if hints == NO_HINTS:
        series = read_sizes(read_text(shipped_or_own(file), LARGEST_FILE), str(file))
    else:
        series = described_series(measured(file, hints))
    with progress("resampling", samples(series)) as advance:
        answer = MeasuredSizes.of(series, str(file), pinned, advance)
    present(answer, output_format, plot)


@command.command(
    "collective",
    epilog=typed(
        "headway signature collective n2.txt n4.txt",
        "headway signature collective n2.txt n4.txt --at n=8,size=64MiB",
    ),
)
@click.argument("files", type=click.Path(path_type=Path), nargs=-1, required=True)
@click.option(
    "--operation",
    default="",
    metavar="NAME",
    help="Only this operation, such as all_reduce.",
    shell_complete=complete_operation,
)
@click.option(
    "--type", "datatype", default="", metavar="NAME", help="Only this type, such as half."
)
@click.option(
    "--place",
    type=click.Choice(("out-of-place", "in-place")),
    default="out-of-place",
    help="Results out-of-place (default) or in-place.",
)
@click.option(
    "--processors",
    default="",
    metavar="N[,N...]",
    help="Processors of each file that does not say, in order.",
)
@click.option("--per-machine", type=Whole(), metavar="N", help="Processors of one machine.")
@click.option(
    "--at",
    "at",
    multiple=True,
    metavar="n=N,size=SIZE",
    help="Predict there, such as n=16,size=256MiB; repeatable.",
)
@format_options
@plot_option
def collective(
    files: tuple[Path, ...],
    operation: str,
    datatype: str,
    place: str,
    processors: str,
    per_machine: int | None,
    at: tuple[str, ...],
    output_format: Format | None,
    plot: Drawing | None,
) -> None:
    """Fit collective operations by size and processors.

    FILES are outputs of nccl-tests, the OSU or Intel MPI Benchmarks, or tables of operation, type,
    gpus, size_bytes and time_us (CSV, Parquet). A law for each range of sizes describes all
    numbers of processors.
    """
    from headway.kinds import check_count
    from headway.models.reading.texts import file_text
    from headway.models.signatures.collective import MeasuredCollective, asked_of
    from headway.models.signatures.collective_files import Chosen, counts_of_option

    check_count("--per-machine", 1 if per_machine is None else per_machine)
    asked = [asked_of(text) for text in at]
    chosen = Chosen(operation, datatype, place, counts_of_option(processors))
    texts = [file_text(path) for path in files]
    answer = MeasuredCollective.of(texts, chosen, per_machine or 0, asked)
    present(answer, output_format, plot)


@command.command(
    "storage",
    epilog=typed(
        "headway signature storage results",
        "headway signature storage results --utilisation 70%",
    ),
)
@click.argument("files", type=click.Path(path_type=Path), nargs=-1, required=True)
@click.option(
    "--utilisation",
    "asked",
    default="90%",
    metavar="AU",
    help="Utilisation that accelerators must keep (90%).",
)
@hint_options
@format_options
@plot_option
def storage(
    files: tuple[Path, ...],
    asked: str,
    hints: "Hints",
    output_format: Format | None,
    plot: Drawing | None,
) -> None:
    """Find how many accelerators storage can feed.

    FILES are summaries of MLPerf Storage, folders of them, or a table of them. Each system has the
    stall of a batch, and the least and largest number of accelerators that stay as busy as asked.
    """
    from headway.models.language.units import ONE, quantity
    from headway.models.reading.loadtest import read_load_test
    from headway.models.signatures.storage import MeasuredStorage

    share = quantity(asked, ONE, "--utilisation")
    test = read_load_test([str(file) for file in files], hints=hints)
    answer = MeasuredStorage.of(test.points, share)
    present(answer, output_format, plot)
