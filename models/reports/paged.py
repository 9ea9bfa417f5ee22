"""What can be written as a page of its own."""

from headway.models.language.verbs import perform


class Paged:
    """An answer, or several answers to one question, that a page shows."""

    def to_html(self) -> str:
        """One page that needs nothing else; see `headway.models.reports.page`.

        Examples
        --------
        >>> from headway.models import catalogue_model
        >>> from headway.models.reports.alone import report_model
        >>> model = catalogue_model("server-single").at(delay="1 ms", service_time="1 ms")
        >>> "Assumptions" in report_model(model).to_html()
        True
        """
        text: str = perform(self, "html")
        return text
