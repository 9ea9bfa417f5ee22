"""What monitors, histograms and traces wrote: how busy a resource was, and how long things took."""
