"""Kernel text to machine code: the one door to Numba and LLVM.  Importing it imports neither.

    module = compile_kernel(source)
    kernel = xjit.runtime.loader.load_object(module.object_code, module.symbol)

Numba serves as front end (:mod:`xjit.codegen.numba_frontend`), llvmlite as back end
(:mod:`xjit.codegen.llvm_pipeline`).  Nothing here caches objects; :func:`object_key` gives the key to cache
under.
"""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from xjit.codegen import fingerprint, inline_functions, intrinsics
from xjit.codegen.inline_functions import InlineFunction, parse_signature

if TYPE_CHECKING:
    from xjit.codegen.numba_frontend import Frontend

KERNEL = "kernel"
KERNEL_ARGUMENTS = ("i64", "i64", "table")

# One compilation at a time: Numba and LLVM hold locks of their own, so more threads would only wait there.
_LOCK = threading.RLock()


@dataclass(frozen=True, slots=True)
class CompiledModule:
    """An object file with one public function.

    ``llvm_ir`` is the optimised IR, kept on request; ``externals`` are symbols that the process provides.
    """

    object_code: bytes
    symbol: str
    llvm_ir: str | None
    seconds: float
    externals: tuple[str, ...] = ()


def compile_kernel(source: str, *, keep_ir: bool = False) -> CompiledModule:
    """Compiles kernel text with one function ``kernel(lo, hi, table)``.

    Raises TypeError (KernelTypeError or Numba's TypingError wrapped in it) when the text does not follow the
    language, UnresolvedSymbolError when the machine code would need an unknown symbol.

    >>> text = "def kernel(lo, hi, table):\\n    x = ptr_f64(table, 0)\\n    st(x, lo, f64(1.0))\\n"
    >>> compile_kernel(text).symbol
    'kernel'
    """
    with _compiling() as seconds:
        inline_functions.load_library()
        used = inline_functions.used_in(source)
        scope = intrinsics.namespace() | {function.name: function for function in used}
        scope["__name__"] = __name__
        exec(compile(source, "<kernel>", "exec"), scope)
        return _build(scope[KERNEL], KERNEL_ARGUMENTS, "void", KERNEL, used, keep_ir, seconds)


def compile_native(
    function: Callable[..., Any], signature: str, symbol: str, *, keep_ir: bool = False
) -> CompiledModule:
    """Compiles a function of the kernel language to a C function, such as ``"i64(i64,i64,i64)"``.

    The function finds intrinsics, inline functions and number constants through its own globals.
    """
    result, arguments = parse_signature(signature)
    with _compiling() as seconds:
        used = inline_functions.reachable(function)
        return _build(function, arguments, result, symbol, used, keep_ir, seconds)


def inline_function_ir(name: str) -> str:
    """Optimised LLVM IR text of an inline function; made once, then taken from memory or the store."""
    function = inline_functions.lookup(name)
    if function is None:
        raise KeyError(f"there is no inline function named {name}")
    with _compiling():
        return _inline_ir(function)


def object_key(source: str) -> str:
    """The cache key of a kernel's object: text, inline functions, compiler, its settings, processor."""
    inline_functions.load_library()
    parts = [function.key() for function in inline_functions.used_in(source)]
    return fingerprint.digest("kernel", source, *parts, *_environment())


def native_key(function: Callable[..., Any], signature: str, symbol: str) -> str:
    """The cache key of the object that :func:`compile_native` would make."""
    return fingerprint.digest("native", symbol, signature, inline_functions.function_key(function), *_environment())


def use_store(store: inline_functions.Store | None) -> None:
    """Where the IR of inline functions is kept between processes; None keeps it in memory only."""
    inline_functions.set_store(store)


def _environment() -> tuple[str, ...]:
    from xjit.codegen import llvm_pipeline

    target = llvm_pipeline.host()
    return (fingerprint.compiler(), llvm_pipeline.FLAGS, target.triple, target.cpu, target.features)


@contextmanager
def _compiling() -> Iterator[Callable[[], float]]:
    """One compilation at a time and no garbage collection meanwhile, which costs more than a small kernel."""
    start = time.perf_counter()
    with _LOCK:
        collecting = gc.isenabled()
        gc.disable()
        try:
            yield lambda: time.perf_counter() - start
        finally:
            if collecting:
                gc.enable()


_FRONTEND: list[Frontend] = []


def _frontend() -> Frontend:
    if not _FRONTEND:
        from xjit.codegen import llvm_pipeline
        from xjit.codegen.numba_frontend import Frontend

        _FRONTEND.append(Frontend(llvm_pipeline.host().traits))
    return _FRONTEND[0]


def _translate(
    function: Callable[..., Any],
    arguments: Sequence[str],
    result: str,
    symbol: str,
    used: Sequence[InlineFunction],
) -> str:
    frontend = _frontend()
    for inline in used:
        frontend.declare(inline)
    text: str = frontend.translate(function, arguments, result, symbol)
    return text


def _build(
    function: Callable[..., Any],
    arguments: Sequence[str],
    result: str,
    symbol: str,
    used: Sequence[InlineFunction],
    keep_ir: bool,
    seconds: Callable[[], float],
) -> CompiledModule:
    from xjit.codegen import llvm_pipeline

    text = _translate(function, arguments, result, symbol, used)
    target = llvm_pipeline.host()
    module = llvm_pipeline.link(text, [_inline_ir(inline) for inline in used], target)
    llvm_pipeline.optimise(module, target)
    optimised_ir = str(module) if keep_ir else None
    code, externals = llvm_pipeline.emit_object(module, target)
    return CompiledModule(code, symbol, optimised_ir, seconds(), externals)


_INLINE_IR: dict[str, str] = {}


def _inline_ir(function: InlineFunction) -> str:
    key = fingerprint.digest("inline", function.name, function.key(), *_environment())
    text = _INLINE_IR.get(key) or inline_functions.stored(key)
    if text is None:
        text = _make_inline_ir(function)
        inline_functions.keep(key, text)
    _INLINE_IR[key] = text
    return text


def _make_inline_ir(function: InlineFunction) -> str:
    from xjit.codegen import llvm_pipeline

    used = inline_functions.reachable(function.function)
    text = _translate(function.function, function.arguments, function.result, function.symbol, used)
    target = llvm_pipeline.host()
    module = llvm_pipeline.link(text, [_inline_ir(inline) for inline in used], target)
    return llvm_pipeline.inline_text(module, function.symbol, target)
