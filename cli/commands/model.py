"""``headway model``: a model of services from their traces."""

from pathlib import Path

import click

from headway.cli.main import used
from headway.cli.options import Format, format_options
from headway.cli.output import present, progress
from headway.cli.pictures import Drawing, plot_option
from headway.errors import InvalidParameter

FORMS = (
    "headway model traces/open-065.otlp.jsonl.gz",
    "headway model traces/open-065.otlp.jsonl.gz --out shop.toml",
)


@used("model", *FORMS)
@click.argument("traces", nargs=-1, required=True, metavar="TRACES...")
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE.toml",
    help="Write the model to a file.",
)
@click.option(
    "--sampled",
    multiple=True,
    metavar="SHARE|LOAD=SHARE",
    help="Share of traces that were kept, if the spans do not say: 10%, or monday=0.1.",
)
@click.option(
    "--metrics",
    metavar="FILE",
    help="Processors that each service (not each entry) kept busy: CSV, or JSON from Prometheus.",
)
@click.option(
    "--clients",
    multiple=True,
    metavar="N|LOAD=N",
    help="Clients of a closed test, whose answers they wait for: 16, or monday=16.",
)
@click.option("--think", metavar="TIME", help="Time that they think before they ask again.")
@click.option(
    "--window", metavar="TIME", help="Split a long file into windows of this length, such as 60s."
)
@plot_option
@format_options
def command(
    traces: tuple[str, ...],
    out: Path | None,
    sampled: tuple[str, ...],
    metrics: str | None,
    clients: tuple[str, ...],
    think: str | None,
    window: str | None,
    plot: Drawing | None,
    output_format: Format | None,
) -> None:
    """Make a model from traces, and compare its response times with theirs."""
    from headway.models.language.units import quantity, unit
    from headway.models.reading.gather import megabytes
    from headway.models.tracing.traced import by_load, model_traces

    if think is not None and not clients:
        raise InvalidParameter("--think is the time of clients; add --clients with their number")
    length = None if window is None else quantity(window, unit("s"), "--window")
    with progress("reading", megabytes(traces)) as advance:
        answer = model_traces(
            traces,
            out.stem if out else "services",
            by_load(sampled, "--sampled"),
            length,
            metrics,
            by_load(clients, "--clients"),
            quantity(think or "0 s", unit("s"), "--think"),
            advance,
        )
    files = [] if out is None else [(out, answer.text.encode())]
    present(answer, output_format, plot, files=files)
