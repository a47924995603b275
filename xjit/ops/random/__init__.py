"""Random numbers: bits by counter-based generators, draws from one stream of the process."""
