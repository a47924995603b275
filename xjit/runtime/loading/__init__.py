"""Compiled kernels on disk and in memory."""
