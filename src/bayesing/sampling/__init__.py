"""Samplers that draw spins from a given Boltzmann machine, one a file."""
