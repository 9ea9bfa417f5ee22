"""The time until k of n branches are done, given what they share: order statistics."""
