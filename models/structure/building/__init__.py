"""How a graph is built: what each step checks and reads."""
