"""Parts shared by event loops: rows of arrays, random numbers, calendar, lines, and estimates."""
