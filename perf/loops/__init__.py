"""The programs as loops by hand under Numba: `parallel=True`, NumPy's floating-point rules, one pass where one does.

They are what somebody writes who knows Numba: threads share the outer loop, intermediate values stay in
registers, float32 stays float32. Importing `perf.loops.table` imports Numba.
"""
