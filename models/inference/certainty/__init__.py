"""How certain a fit is: intervals, other minima, and what the data leave open."""
