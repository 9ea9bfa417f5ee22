"""Methods of solution, the choice between them, and the solver."""
