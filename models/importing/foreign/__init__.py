"""What a file of another tool says, and how its parts are read: names, numbers, times."""
