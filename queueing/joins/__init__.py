"""The time until some of several branches are done, given what they share."""
