"""How figures look: axes and their ticks, and the colours of light and dark."""
