"""Kernels: the nests of several groups, what they launch, and kernels of one structure."""
