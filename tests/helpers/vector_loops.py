"""Loops over arrays that apply an expression of the kernel language: those of ``tools.accuracy``."""

from tools.accuracy.loops import AVX2, AVX512, LINUX, SSE2, Loop, kernel_text, loop, same_class, units

__all__ = ["AVX2", "AVX512", "LINUX", "SSE2", "Loop", "kernel_text", "loop", "same_class", "units"]
