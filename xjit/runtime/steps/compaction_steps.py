"""Routines that put elements that a mask chooses next to each other, or repeat them, within a run of kernels."""

from __future__ import annotations

from xjit.runtime.loading.loader import LoadedKernel
from xjit.runtime.native import native_code
from xjit.runtime.native.compaction_native import compaction_text
from xjit.runtime.native.repetition_native import repetition_text
from xjit.runtime.once import Once


class Compactions:
    """The routines, by their names."""

    def __init__(self) -> None:
        self._native = native_code.NativeModule(compaction_text() + repetition_text())

    def kernel(self, name: str) -> LoadedKernel:
        """The routine of this name."""
        return LoadedKernel(self._native.function(name), name, self._native)


compactions: Once[Compactions | None] = Once(lambda: Compactions() if native_code.supported() else None)
"""The routines of this process; None where there is no native code."""
