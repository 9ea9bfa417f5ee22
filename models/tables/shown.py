"""What every answer can be asked: tables, rows, JSON, CSV, a figure."""

from io import StringIO
from typing import Any

from headway.lazy import needed
from headway.models.language.verbs import perform
from headway.models.tables.strict import strict_json
from headway.models.tables.table import Table


class Shown:
    """What shows itself as tables: as text, and as HTML in a notebook; and as a figure."""

    def tables(self) -> list[Table]:
        """The tables that make it up.

        Examples
        --------
        >>> from headway.models import catalogue_model
        >>> model = catalogue_model("server-single").at(delay="1 ms", service_time="1 ms")
        >>> solution = model.solve(500)
        >>> len(solution.tables()), solution.tables()[0].title
        (2, 'server-single')
        """
        found: list[Table] = perform(self, "tables")
        return found

    def plot(self, log: str | None = None, dark: bool = False) -> Any:  # noqa: FBT001, FBT002
        """Draw it, as a matplotlib Figure.

        Parameters
        ----------
        log
            Logarithmic axes: ``x``, ``y``, ``xy`` or ``none``. If it is not given, those are whose
            largest value is over 100 times the least while half of them are below its tenth.
        dark
            Draw in the colours of a dark page.

        Raises
        ------
        InvalidParameter
            For axes that cannot be logarithmic, as their values are not all positive.

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
    """An answer: shown, and written for programs."""

    def rows(self) -> list[dict[str, Any]]:
        """A dict a row of the answer, all numbers in SI; docs/reference/json.md names the keys.

        Examples
        --------
        >>> from headway.models import catalogue_model
        >>> model = catalogue_model("server-single").at(delay="1 ms", service_time="1 ms")
        >>> [row["outputs"]["response_time"] for row in model.solve([0.0, 500.0]).rows()]
        [0.002, 0.003]
        """
        found: list[dict[str, Any]] = perform(self, "rows")
        return found

    def to_json(self) -> str:
        """Strict JSON, in SI, by the contract in docs/reference/json.md.

        Examples
        --------
        >>> import json
        >>> from headway.models import catalogue_model
        >>> model = catalogue_model("server-single").at(delay="1 ms", service_time="1 ms")
        >>> solution = model.solve(500)
        >>> json.loads(solution.to_json())["points"][0]["outputs"]["response_time"]
        0.003
        """
        return strict_json(perform(self, "document"))

    def to_csv(self) -> str:
        """CSV in SI, the unit at the end of each column's name.

        Examples
        --------
        >>> from headway.models import catalogue_model
        >>> model = catalogue_model("server-single").at(delay="1 ms", service_time="1 ms")
        >>> solution = model.solve(500)
        >>> header, row = solution.to_csv().split()
        >>> header.split(",")[:3], row.split(",")[:3]
        (['arrival_rate_ops_per_s', 'delay_s', 'service_time_s'], ['500.0', '0.001', '0.001'])
        """
        found: str = perform(self, "csv")
        return found

    def to_dataframe(self) -> Any:
        """A pandas DataFrame with the rows and columns of `to_csv`, in SI.

        Raises
        ------
        PackageError
            If pandas is not installed.

        Examples
        --------
        >>> from headway.models import catalogue_model
        >>> model = catalogue_model("server-single").at(delay="1 ms", service_time="1 ms")
        >>> frame = model.solve([0.0, 500.0]).to_dataframe()
        >>> frame[["arrival_rate_ops_per_s", "response_time_s"]].to_numpy().tolist()
        [[0.0, 0.002], [500.0, 0.003]]
        """
        [pandas] = needed("a data frame", "pandas")
        return pandas.read_csv(StringIO(self.to_csv()), keep_default_na=False, na_values=[""])
