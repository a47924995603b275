"""The call path from Python to kernels."""
