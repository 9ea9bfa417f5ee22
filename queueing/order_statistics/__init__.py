"""Order statistics: the time until k of n branches are done, given what they share."""
