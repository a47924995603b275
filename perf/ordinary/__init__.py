"""Ordinary programs: well-known kernels as people write them in NumPy, with writes in place, loops and masks.

`programs` has the functions, `by_hand` the loops that somebody writes who knows Numba, `jax_ports` what somebody
writes who knows JAX. A module of the latter two has the name of the module of `programs` that it belongs to.
"""
