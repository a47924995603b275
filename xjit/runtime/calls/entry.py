"""The call path from Python to kernels: check arguments, allocate outputs, run kernels, return.

:func:`make_entry` turns a :class:`~xjit.runtime.calls.records.FastProgram` into a builtin function that does all of
this in native code (:mod:`xjit.runtime.native.entry_native`).  Before the first one is made, the layout of the
interpreter's and NumPy's objects is checked and a small program is run against NumPy; where anything differs
from what is expected, :class:`~xjit.runtime.calls.entry_python.PythonEntry` does the same work in Python.
"""

from __future__ import annotations

import ctypes
import functools
import os
import threading
import time
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from xjit import jobs
from xjit.alignment import SMALL_PART, SMALLEST_BYTES
from xjit.runtime.calls import entry_layout
from xjit.runtime.calls.entry_selftest import SELFTEST_TEXT, large_arrays_work, native_entry_works
from xjit.runtime.calls.entry_words import PATIENCE, byte_count, check, frame_words, pack
from xjit.runtime.calls.records import ArraySpec, FastProgram, Result
from xjit.runtime.miss import MISS
from xjit.runtime.native import native_code
from xjit.runtime.native.dispatch_native import DISPATCH_TEXT
from xjit.runtime.native.entry_native import ENTRY_TEXT
from xjit.runtime.native.guarded_native import GUARDED_TEXT
from xjit.runtime.once import Once

Entry: TypeAlias = Callable[..., Result]
"""The result of :func:`make_entry`."""

_METH_FASTCALL = 0x80
_METH_KEYWORDS = 0x02
_MAXIMUM_FRAME_WORDS = 4096  # 32 KiB of stack
_PYTHON_FUNCTIONS = {
    "increment": "Py_IncRef",
    "decrement": "Py_DecRef",
    "int_value": "PyLong_AsLongLongAndOverflow",
    "tuple_new": "PyTuple_New",
    "tuple_set": "PyTuple_SetItem",
    "no_memory": "PyErr_NoMemory",
    "call_object": "PyObject_CallObject",
    "raise_object": "PyErr_SetObject",
    "save_thread": "PyEval_SaveThread",
    "restore_thread": "PyEval_RestoreThread",
    "check_signals": "PyErr_CheckSignals",
    "thread_ident": "PyThread_get_thread_ident",
    "raise_none": "PyErr_SetNone",
    "flag_get": "PyThread_tss_get",
    "temps_allocate": "PyMem_RawMalloc",
    "temps_release": "PyMem_RawFree",
    "method_new": "PyMethod_New",
    "vectorcall": "PyObject_Vectorcall",
    "error_fetch": "PyErr_Fetch",
    "error_normalize": "PyErr_NormalizeException",
    "error_restore": "PyErr_Restore",
    "set_traceback": "PyException_SetTraceback",
    "get_traceback": "PyException_GetTraceback",
    "dict_get": "PyDict_GetItemWithError",
    "error_occurred": "PyErr_Occurred",
    "float_new": "PyFloat_FromDouble",
    "int_new": "PyLong_FromLongLong",
}


def make_entry(program: FastProgram) -> Entry:
    """A callable that runs ``program`` on the arguments it was made for.

    It takes exactly the program's inputs, by position, and returns the output array (``program.single``), a
    tuple of output arrays, or :data:`~xjit.runtime.miss.MISS` when any argument differs from its
    specification: another type than ``numpy.ndarray`` itself, another dtype, shape, strides, not aligned, or for
    a scalar another type than exactly ``float``, ``int`` (within 64 bits) or ``bool``, or when a condition of the
    program does not hold.  Outputs are new, writable
    arrays that own their memory.  It may be called from many threads at once.

    Raises ``ValueError`` when the program contradicts itself; the callable raises ``MemoryError`` when an
    output or a temporary cannot be allocated.
    """
    check(program)
    runtime = native_entries()
    if runtime is None or frame_words(program) > _MAXIMUM_FRAME_WORDS:
        from xjit.runtime.calls.entry_python import PythonEntry

        entry: Entry = PythonEntry(program)
    else:
        entry = runtime.make(program)
    if not program.lasting:
        return entry
    from xjit.runtime.parallel.stand_ins import LastingEntry

    return LastingEntry(entry)


class NativeEntries:
    """Makes builtin functions out of programs; holds the native code they share."""

    def __init__(self) -> None:
        constants = {**entry_layout.OFFSETS, "MACHINE_BYTE_ORDER": entry_layout.MACHINE_BYTE_ORDER}
        constants["SMALL_PART"] = SMALL_PART
        self._recycles: bool | None = None
        self._native = native_code.NativeModule(
            ENTRY_TEXT + DISPATCH_TEXT + GUARDED_TEXT + SELFTEST_TEXT, **constants
        )
        self._method = _MethodDefinition(b"entry", self._native.function("entry"), _METH_FASTCALL, None)
        self._guarded = _MethodDefinition(b"guarded", self._native.function("guarded"), _METH_FASTCALL, None)
        self._native.bind(
            array_type=id(np.ndarray),
            float_type=id(float),
            int_type=id(int),
            true_object=id(True),
            false_object=id(False),
            miss_object=id(MISS),
            none_object=id(None),
            array_new=entry_layout.array_new_address(),
            set_handler=entry_layout.set_handler_address(),
            array_return=entry_layout.array_return_address(),
            array_resize=entry_layout.array_resize_address(),
            **{word: _python_function(name) for word, name in _PYTHON_FUNCTIONS.items()},
        )
        self._native.bind(clock=_clock(), clock_number=getattr(time, "CLOCK_MONOTONIC", 0))
        self._native.bind(interrupt_type=id(KeyboardInterrupt))
        self._native.bind(main_thread=threading.main_thread().ident or 0)
        if hasattr(os, "register_at_fork"):  # the thread that forks is the child's main thread
            os.register_at_fork(after_in_child=lambda: self._native.bind(main_thread=threading.get_ident()))

    @property
    def selftest_kernel(self) -> int:
        """Address of the kernel of :mod:`xjit.runtime.calls.entry_selftest`."""
        return self._native.function("selftest_kernel")

    def make(self, program: FastProgram) -> Entry:
        """The builtin function of one program."""
        unlocked = program.heavy
        if program.code:
            self._native.bind(instructions_runner=instructions_runner().function("run_instructions"))
        if any(call.chunk < call.extent and not call.resumed for call in program.kernels) or program.is_tiled:
            from xjit.runtime.parallel import pool as pools

            pool = pools.shared_pool()
            for native in (self._native, *([instructions_runner()] if program.code else [])):
                native.bind(launcher=pool.launcher, lone_launcher=pool.lone_launcher)
            unlocked = unlocked or pool.sleeps_in_python
        if program.lasting:
            from xjit.runtime.parallel.stand_ins import flag_key

            self._native.bind(flag_key=flag_key())
        if max([program.block[1], *map(byte_count, program.arrays)], default=0) >= SMALLEST_BYTES:
            self._recycle()
        entry: Entry = _builtin(self._method, pack(program, unlocked), program)
        return entry

    def make_guarded(self, words: bytes, program: object) -> Callable[..., Any]:
        """The builtin function of a :class:`~xjit.runtime.calls.guarded.GuardedProgram`, packed in words."""
        return _builtin(self._guarded, words, program)

    def make_dispatch(
        self, owner: type, offsets: tuple[int, int], call: Callable[..., Any], after: Callable[..., Any]
    ) -> Any:
        """A method ``__call__`` of a class; ``offsets`` are those of the entries and of the names in its objects."""
        self._dispatched = call, after  # kept alive
        self._native.bind(entries_offset=offsets[0], names_offset=offsets[1])
        self._native.bind(python_call=id(call), after_failure=id(after))
        text = f"__call__($self, /, *args, **kwargs)\n--\n\n{call.__doc__}".encode()
        flags = _METH_FASTCALL | _METH_KEYWORDS
        self._dispatch = _MethodDefinition(b"__call__", self._native.function("dispatch"), flags, text)
        create = ctypes.pythonapi.PyDescr_NewMethod
        create.restype = ctypes.py_object
        create.argtypes = [ctypes.py_object, ctypes.c_void_p]
        return create(owner, ctypes.addressof(self._dispatch))

    def _recycle(self) -> None:
        """From now on take large outputs and the temporaries from the recycling allocator."""
        if self._recycles is None:
            jobs.run(self._begin_to_recycle)

    def _begin_to_recycle(self) -> None:
        if self._recycles is not None:
            return
        from xjit.runtime.allocator import shared_allocator

        allocator = shared_allocator()
        self._native.bind(
            large_handler=id(allocator.handler), temps_allocate=allocator.take, temps_release=allocator.give
        )
        self._recycles, works = True, None
        try:
            works = large_arrays_work(self.make)
        finally:
            self._recycles = works
            if not works:
                self._native.bind(
                    large_handler=0,
                    temps_allocate=_python_function("PyMem_RawMalloc"),
                    temps_release=_python_function("PyMem_RawFree"),
                )


class _Record(bytes):
    """The packed words of a program; keeps the program, and through it kernels and dtypes, alive."""

    program: object


def _builtin(method: _MethodDefinition, words: bytes, program: object) -> Callable[..., Any]:
    """A builtin function that finds the words of a program in its ``self``."""
    record = _Record(words)
    record.program = program
    create = ctypes.pythonapi.PyCFunction_NewEx
    create.restype = ctypes.py_object
    create.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    made: Callable[..., Any] = create(ctypes.addressof(method), record, None)
    return made


class _MethodDefinition(ctypes.Structure):
    """The interpreter's PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("documentation", ctypes.c_char_p),
    )


def allocate(spec: ArraySpec) -> np.ndarray[Any, Any]:
    """A new uninitialised array, its memory recycled when it is large.

    For host steps that hand out arrays as large as those of compiled programs.  Raises ``MemoryError``.
    """
    array = _allocation(spec)()
    assert isinstance(array, np.ndarray)
    return array


def room(dtype: np.dtype[Any], ends: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """A new array for as many elements as the last of the ends says, and the view of its first element.

    Lengths are rounded up by less than an eighth, so that few of them occur. Raises ``MemoryError``.
    """
    count = max(int(ends[-1]), 1)
    least = max(count.bit_length() - _ROOM_BITS, 0)
    made = allocate(ArraySpec(dtype, (-(-count >> least) << least,), (dtype.itemsize,)))
    return made, made[:1]


_ROOM_BITS = 4
"""The leading bits of the lengths of rooms; all others are zero."""


@functools.lru_cache(maxsize=1024)
def _allocation(spec: ArraySpec) -> Entry:
    return make_entry(FastProgram((), (spec,), (), (), True))


def _tested_entries() -> NativeEntries | None:
    """The native half, None where its layout check or its self-test fails."""
    if not entry_layout.layout_is_known():
        return None
    try:
        runtime = NativeEntries()
    except LookupError:  # an interpreter or a NumPy without one of the functions
        return None
    return runtime if native_entry_works(runtime.make, runtime.selftest_kernel) else None


def _clock() -> int:
    """Address of ``clock_gettime``; 0 on systems without one, where signals wait for the end of a program."""
    return native_code.c_function_address(ctypes.CDLL(None), "clock_gettime") if os.name == "posix" else 0


def _python_function(name: str) -> int:
    address = native_code.c_function_address(ctypes.pythonapi, name)
    if not address:
        raise LookupError(f"this interpreter exports no {name}")
    return address


def _instructions_runner() -> native_code.NativeModule:
    from xjit.runtime.native.instructions_native import INSTRUCTIONS_TEXT

    return native_code.NativeModule(INSTRUCTIONS_TEXT, PATIENCE=PATIENCE)


instructions_runner = Once(_instructions_runner)
"""The native code that runs programs with loops and branches, loaded for the first of them."""

native_entries: Once[NativeEntries | None] = Once(_tested_entries)
"""The maker of the entries of this process; None if :class:`PythonEntry` is used instead."""
