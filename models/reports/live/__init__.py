"""The panel in a notebook: sliders over a live model, which is solved again at each change."""
