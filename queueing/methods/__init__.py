"""How networks are solved: methods, the choice between them, and the solver."""
