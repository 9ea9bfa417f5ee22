"""Models whose full stations block, or whose stations have a common limit."""
