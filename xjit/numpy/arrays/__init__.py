"""Functions that make and rearrange arrays."""
