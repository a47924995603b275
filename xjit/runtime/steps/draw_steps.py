"""Adaptors to NumPy's own draws of random numbers, within a run of kernels, with no Python in between."""

from __future__ import annotations

import ctypes

import numpy as np

from xjit.ops.random.numpy_generators import PLACES, library, words_of
from xjit.runtime.loading.loader import LoadedKernel
from xjit.runtime.native import native_code
from xjit.runtime.native.draws_native import draws_text
from xjit.runtime.once import Once


class Draws:
    """Adaptors to the routines."""

    def __init__(self) -> None:
        self._native = Once(lambda: native_code.NativeModule(draws_text()))

    def kernel(self, name: str) -> LoadedKernel:
        """The adaptor of this name."""
        native = self._native()
        return LoadedKernel(native.function(name), name, native)


def _found() -> Draws | None:
    """Those for the NumPy of this process; None where it does not hand routines out, or they draw something else."""
    has_routines = native_code.supported() and library() is not None
    return Draws() if has_routines and _draws_as_numpy() else None


def _draws_as_numpy() -> bool:
    """Return whether a routine, over the words of a generator, goes on in the stream that NumPy draws."""
    own, theirs = np.random.default_rng(1), np.random.default_rng(1)
    wanted, made, words = theirs.standard_normal(3), np.empty(3), words_of(own)
    address = int(words[PLACES["random_standard_normal_fill"]])
    kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_void_p)
    kind(address)(words.ctypes.data, made.size, made.ctypes.data)
    return bool((made == wanted).all() and own.bit_generator.state == theirs.bit_generator.state)


numpy_draws: Once[Draws | None] = Once(_found)
"""Draws by NumPy's routines; None where those cannot be called by themselves."""
