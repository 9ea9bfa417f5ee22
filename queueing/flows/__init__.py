"""How jobs flow: operational laws, traffic equations, chances of ways."""
