"""Rivals that draw from a posterior: Gibbs samplers, several chains, and whether to believe them."""
