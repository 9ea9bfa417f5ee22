"""Every error a user can cause: what is wrong, where, and how to mend it, in one line."""


class HeadwayError(ValueError):
    """Base of the errors below: bad input, never a defect of headway itself."""


class InvalidParameter(HeadwayError):
    """A value outside its law's domain, such as a service time of zero."""


class UnknownParameter(HeadwayError):
    """A name that nothing in the model bears."""


class UnknownModel(HeadwayError):
    """A model or preset that is neither in the catalogue nor a readable file."""


class UnitError(HeadwayError):
    """A unit that is not known, or is of the wrong dimension."""


class FormulaError(HeadwayError):
    """A formula that cannot be read, or holds what formulas may not hold."""


class GraphError(HeadwayError):
    """Stations, routes or bindings that do not make a network."""


class Saturated(HeadwayError):
    """An operating point that a station cannot sustain."""


class MeasurementError(HeadwayError):
    """Measured data that cannot be read or do not suffice."""


class ModelFileError(HeadwayError):
    """A model file that breaks the format."""


class OutputError(HeadwayError):
    """A result that cannot be written where it was asked for."""
