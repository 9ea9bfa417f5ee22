"""Methods of every answer: tables, rows, JSON, CSV, a figure."""

from io import StringIO
from typing import Any

from headway.lazy import needed
from headway.models.language.verbs import perform
from headway.models.tables.table import Table


class Shown:
    """A value that is shown as tables (text, or HTML in a notebook) and as a figure."""

    def tables(self) -> list[Table]:
        """The tables that show it.

        Examples
        --------
        >>> from headway.models import catalogue_model
        >>> model = catalogue_model("server-single").at(delay="1 ms", service_time="1 ms")
        >>> solution = model.solve(500)
        >>> len(solution.tables()), solution.tables()[0].title
        (2, 'server-single')
        """
        tables: list[Table] = perform(self, "tables")
        return tables

    def plot(self, log: str | None = None, dark: bool = False) -> Any:  # noqa: FBT001, FBT002
        """Draw a matplotlib Figure.

        Parameters
        ----------
        log
            Logarithmic axes: ``x``, ``y``, ``xy`` or ``none``. By default, an axis is logarithmic
            if its largest value is over 100 times the least and half of its values are below a
            tenth of the largest.
        dark
            Use colours for a dark page.

        Raises
        ------
        InvalidParameter
            For logarithmic axes with values that are not all positive.

        Examples
        --------
        >>> from headway.models import catalogue_model
        >>> figure = catalogue_model("server-single").at(delay="1 ms", service_time="1 ms").plot()
        >>> type(figure).__name__
        'Figure'
        """
        return perform(perform(self, "plot"), "finish", log, dark)

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.tables()))

    def _repr_html_(self) -> str:
        return "".join(table.to_html() for table in self.tables())


class Answer(Shown):
    """An answer, for people and for programs."""

    def rows(self) -> list[dict[str, Any]]:
        """The rows of the answer as dicts, in SI; docs/reference/json.md names the keys.

        Examples
        --------
        >>> from headway.models import catalogue_model
        >>> model = catalogue_model("server-single").at(delay="1 ms", service_time="1 ms")
        >>> [row["outputs"]["response_time"] for row in model.solve([0.0, 500.0]).rows()]
        [0.002, 0.003]
        """
        rows: list[dict[str, Any]] = perform(self, "rows")
        return rows

    def to_json(self) -> str:
        """Strict JSON in SI units, as specified in docs/reference/json.md.

        Examples
        --------
        >>> import json
        >>> from headway.models import catalogue_model
        >>> model = catalogue_model("server-single").at(delay="1 ms", service_time="1 ms")
        >>> solution = model.solve(500)
        >>> json.loads(solution.to_json())["points"][0]["outputs"]["response_time"]
        0.003
        """
        from headway.models.tables.strict import strict_json

        return strict_json(perform(self, "document"))

    def to_csv(self) -> str:
        """CSV in SI units, with the unit at the end of each column name.

        Examples
        --------
        >>> from headway.models import catalogue_model
        >>> model = catalogue_model("server-single").at(delay="1 ms", service_time="1 ms")
        >>> solution = model.solve(500)
        >>> header, row = solution.to_csv().split()
        >>> header.split(",")[:3], row.split(",")[:3]
        (['arrival_rate_ops_per_s', 'delay_s', 'service_time_s'], ['500.0', '0.001', '0.001'])
        """
        text: str = perform(self, "csv")
        return text

    def to_frame(self) -> Any:
        """A pandas DataFrame with the rows and columns of `to_csv`, in SI units.

        Raises
        ------
        PackageError
            If pandas is not installed.

        Examples
        --------
        >>> from headway.models import catalogue_model
        >>> model = catalogue_model("server-single").at(delay="1 ms", service_time="1 ms")
        >>> frame = model.solve([0.0, 500.0]).to_frame()
        >>> frame[["arrival_rate_ops_per_s", "response_time_s"]].to_numpy().tolist()
        [[0.0, 0.002], [500.0, 0.003]]
        """
        [pandas] = needed("a data frame", "pandas")
        return pandas.read_csv(StringIO(self.to_csv()), keep_default_na=False, na_values=[""])
