"""How fits are shown: of one model, of the forms of a server, and what they forecast."""
