"""Small networks by their whole Markov chain, if they have no product form."""
