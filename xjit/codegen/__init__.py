"""Kernels as text in a small language, and what compiles that text to machine code."""
