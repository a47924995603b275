"""Numba as front end: from kernel text to LLVM IR."""
