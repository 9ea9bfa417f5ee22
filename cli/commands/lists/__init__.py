"""Commands that list what headway knows."""
