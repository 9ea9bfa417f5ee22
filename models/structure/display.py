"""What a notebook shows of a model: a picture with tables, and a panel of sliders."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from headway.models.language.verbs import perform
from headway.models.tables.shown import Shown

if TYPE_CHECKING:
    from headway.models.reports.live.widget import ModelPanel


class ModelDisplay(Shown):
    """How a model shows itself in a notebook."""

    def _repr_html_(self) -> str:
        """Show the model in a notebook: its graph as a picture, its formulas, then its tables."""
        html: str = perform(self, "html")
        return html

    def _repr_latex_(self) -> str | None:
        """Show its formulas in a notebook that is printed; None without closed forms."""
        latex: str | None = perform(self, "latex")
        return latex

    def panel(
        self,
        free: Sequence[str] | None = None,
        over: str | None = None,
        output: str | None = None,
    ) -> "ModelPanel":
        """Open a panel in a notebook: sliders for the parameters, and the resulting curve.

        The solver draws each curve, so the panel takes any network. ``panel.model`` is the model
        with the values of the sliders, ``panel.code()`` the Python code that makes it.

        Parameters
        ----------
        free
            Names of the parameters with a slider; by default all.
        over
            The parameter on the curve's axis; by default the load.
        output
            The output that the curve shows, such as ``response_time_p95`` or ``cpu.utilisation``;
            by default the response time, or a program's first output.

        Raises
        ------
        PackageError
            If anywidget is not installed.
        InvalidParameter, UnknownParameter
            For a parameter without a value or with several, and for unknown names.

        Examples
        --------
        >>> from headway.models import catalogue_model
        >>> panel = catalogue_model("server-single").at(delay="1 ms").panel()
        >>> panel.values = {"service_time": "0.5 ms"}
        >>> print(panel.code())
        import headway
        <BLANKLINE>
        model = headway.load("server-single")
        model = model.at(service_time="0.5 ms")
        """
        panel: ModelPanel = perform(self, "panel", free, over, output)
        return panel
