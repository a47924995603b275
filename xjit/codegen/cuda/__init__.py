"""Kernels for NVIDIA's graphics processors."""
