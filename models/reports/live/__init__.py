"""The panel in a notebook: sliders over a live model, solved anew at each change."""
