"""Networks in which a full station, or a full region, holds up who wants in."""
