"""Small networks by their whole Markov chain, where no product form holds."""
