"""Memory for large arrays, kept for the next one.

Fresh memory of the system costs more than most kernels that fill it: every page is cleared and mapped on first
touch.  Large outputs and temporaries of compiled programs therefore come from a recycling allocator
(:mod:`xjit.runtime.native.allocator_native`) that NumPy knows as a memory handler: arrays own their memory as usual,
and when one dies its memory is held for the next of about that size.  Data starts at a multiple of 64 bytes; blocks
of some megabytes ask for huge pages.
"""

from __future__ import annotations

import ctypes
import os
import sys

from xjit.alignment import HANDLER_NAME, SMALLEST_BYTES
from xjit.runtime.native import native_code, native_parts
from xjit.runtime.native.allocator_native import ALLOCATOR_TEXT, SLOTS
from xjit.runtime.once import Once
from xjit.runtime.parallel.control_groups import ControlGroups

_MOST_HELD_BYTES = 1 << 30
_SHARE_OF_MEMORY = 8
_HUGE_PAGE = 2 << 20
_HUGE_BYTES = 4 << 20


class Allocator:
    """One set of held blocks and the native functions that hand them out."""

    def __init__(self, limit: int) -> None:
        self._native = native_code.NativeModule(
            native_parts.SPIN_LOCK_TEXT + ALLOCATOR_TEXT,
            SLOTS=SLOTS,
            SLOT_WORDS=3 * SLOTS,
            SMALLEST=SMALLEST_BYTES,
            HUGE_BYTES=_HUGE_BYTES,
            HUGE_PAGE=_HUGE_PAGE,
            HANDLER_NAME=HANDLER_NAME + r"\00" * (127 - len(HANDLER_NAME)),
        )
        self._drop_all = ctypes.CFUNCTYPE(None)(self._native.function("drop_all"))
        self._native.bind(
            held_limit=limit,
            raw_allocate=native_code.c_function_address(ctypes.pythonapi, "PyMem_RawMalloc"),
            raw_free=native_code.c_function_address(ctypes.pythonapi, "PyMem_RawFree"),
            advise=_madvise_address(),
        )
        self.take = self._native.function("take")
        """Address of ``void *take(size_t)``; may be called without the interpreter lock."""
        self.give = self._native.function("give")
        """Address of ``void give(void *)``, which takes back what ``take`` returned."""
        self.handler = self._capsule()
        """NumPy's wrapping of the allocator as a memory handler, a capsule."""
        self._held = self._native.word("held_bytes")
        self._limit = self._native.word("held_limit")
        self._lock = self._native.half_word("spin_lock")
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._unlock)

    @property
    def held_bytes(self) -> int:
        """Bytes of dead arrays that are held for the next ones."""
        return self._held.value

    @property
    def limit(self) -> int:
        """The most bytes that are ever held."""
        return self._limit.value

    @limit.setter
    def limit(self, count: int) -> None:
        self._limit.value = max(count, 0)
        self.clear()

    def clear(self) -> None:
        """Return all held memory to the system."""
        self._drop_all()

    def _capsule(self) -> object:
        address = ctypes.CFUNCTYPE(ctypes.c_void_p)(self._native.function("handler_address"))()
        create = ctypes.pythonapi.PyCapsule_New
        create.restype = ctypes.py_object
        create.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        capsule: object = create(address, _CAPSULE_NAME, None)
        return capsule

    def _unlock(self) -> None:
        """In a forked child nobody else can be inside."""
        self._lock.value = 0


_CAPSULE_NAME = b"mem_handler"  # NumPy's name for it; the capsule keeps a pointer to these very bytes

shared_allocator = Once(lambda: Allocator(_default_limit()))
"""The allocator of this process, made on first use."""


def clear() -> None:
    """Return all held memory to the system."""
    if shared_allocator.made:
        shared_allocator().clear()


def _default_limit() -> int:
    """An eighth of the memory this process may use, at most one gibibyte."""
    try:
        memory = float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):  # not on this system
        memory = float(_MOST_HELD_BYTES)
    allowed = ControlGroups().memory()
    memory = memory if allowed is None else min(memory, allowed)
    return min(_MOST_HELD_BYTES, int(memory) // _SHARE_OF_MEMORY)


def _madvise_address() -> int:
    """Address of the C library's ``madvise``; 0 where huge pages are not asked for."""
    if sys.platform != "linux" or os.environ.get("NUMPY_MADVISE_HUGEPAGE") == "0":
        return 0
    return native_code.c_function_address(ctypes.CDLL(None), "madvise")
