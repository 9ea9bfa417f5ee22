"""The look of figures: axes and their ticks, and the colours for light and dark pages."""
