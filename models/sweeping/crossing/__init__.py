"""Global sensitivity: crossed samples of the parameters, solved as a sweep."""
