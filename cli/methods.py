"""Names of methods on the command line, from the table of methods."""

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

AUTO = "auto"


class MethodName(click.ParamType):  # type: ignore[type-arg]
    """The name of a method that gives means, or ``auto``."""

    name = "method"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Check that there is such a method; the table is read only where one is asked for."""
        if value != AUTO:
            from headway.errors import HeadwayError
            from headway.models import door as door  # some methods take models
            from headway.queueing.methods.registry import check_method

            try:
                check_method(value)
            except HeadwayError as error:
                self.fail(str(error), param, ctx)
        return str(value)

    def shell_complete(
        self,
        ctx: click.Context,  # noqa: ARG002 - click passes it
        param: click.Parameter,  # noqa: ARG002 - click passes it
        incomplete: str,
    ) -> "list[CompletionItem]":
        """Complete the names of methods that give means."""
        from click.shell_completion import CompletionItem

        from headway.models import door as door
        from headway.queueing.methods.method import Answers
        from headway.queueing.methods.registry import methods

        names = [row.name for row in methods().values() if Answers.MEANS in row.answers]
        return [CompletionItem(name) for name in (AUTO, *names) if name.startswith(incomplete)]
