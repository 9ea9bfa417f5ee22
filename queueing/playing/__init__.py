"""What event loops share: rows of arrays, random numbers, the calendar, lines, and estimates."""
