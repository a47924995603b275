"""From a Python function to a graph: traced values, recorded reads, and the guards of a trace."""
