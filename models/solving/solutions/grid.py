"""Labelled arrays of a solution over a grid of operating points."""

from typing import Any

from headway.models.language.verbs import perform


class OverGrid:
    """An answer over a grid of operating points."""

    def to_xarray(self) -> Any:
        """Make an xarray Dataset in SI, with the swept parameters as dimensions.

        Each result is a variable with its unit in ``attrs["units"]``; inputs that were not swept
        are in the Dataset's ``attrs``, with model, method and approximation.

        Raises
        ------
        PackageError
            If xarray is not installed.

        Examples
        --------
        A sweep of two parameters, the second one in a row of its own::

            solved = model.solve(arrival_rate=[100, 200, 300], delay=[[1e-3], [2e-3]])
            solved.to_xarray().response_time.sel(delay=1e-3)
        """
        return perform(self, "to_xarray")
