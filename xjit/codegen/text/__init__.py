"""Kernels as text."""
