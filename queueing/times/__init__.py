"""How long: distributions of times as transforms, and their way back to chances."""
