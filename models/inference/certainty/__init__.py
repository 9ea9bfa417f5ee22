"""How sure a fit is: intervals, other valleys, what data do not tell."""
