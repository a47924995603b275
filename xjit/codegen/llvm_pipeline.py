"""From LLVM IR text to an object file: target, passes, linking of inline functions, external symbols.

Uses llvmlite alone.  The passes are LLVM's own for speed, with loop vectorisation and interleaving and
without unrolling, which costs compile time and code size and gains nothing on these loops.
"""

from __future__ import annotations

import functools
import platform
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import llvmlite.binding as llvm
from llvmlite.binding.newpassmanagers import NewPassManager

from xjit import config
from xjit.codegen import elf, vector_width
from xjit.codegen.emitters import CpuTraits, Registers
from xjit.dataclass import dataclass

SPEED_LEVEL = 2
FLAGS = f"O{SPEED_LEVEL} vectorize interleave slp no-unroll static"
"""What the passes are told; part of an object's key."""

_EXACT_MATH = (
    *("fma", "fmod", "sqrt", "rint", "roundeven", "floor", "ceil", "trunc", "round", "fabs", "copysign"),
    *("ldexp", "fmin", "fmax"),
)
ALLOWED_EXTERNALS = frozenset(
    ("memset", "memcpy", "memmove", *_EXACT_MATH, *(f"{name}f" for name in _EXACT_MATH)),
)
"""Symbols an object may leave to the process: the C library's, which every Python process has.

Only such as every C library computes alike: results do not depend on which one a machine has.
"""


class UnresolvedSymbolError(RuntimeError):
    """An object refers to symbols that are not on the allow-list; loading it would end the process."""


@dataclass(frozen=True, slots=True)
class Target:
    """A processor that code is made for."""

    triple: str
    cpu: str
    features: str

    @property
    def traits(self) -> CpuTraits:
        """What instruction selection in our own emitters depends on."""
        architecture = self.triple.partition("-")[0]
        x86, features = architecture in ("x86_64", "i686"), self.features.split(",")
        half = "+f16c" in features if x86 else architecture in ("aarch64", "arm64")
        fma = not x86 or "+fma" in features
        registers = Registers(vector_width.register_bits(features), masks="+avx512vl" in features)
        return CpuTraits(fma, architecture, half, registers)


def host() -> Target:
    """The processor of this machine, as LLVM sees it, with vectors as wide as XJIT_VECTOR_BITS says.

    ValueError if that is neither empty nor 128, 256 or 512.
    """
    return _host(config.text("XJIT_VECTOR_BITS"))


# Gathers take 1.4 times as long as single loads of elements in cache, and twice as long along large arrays.
_SINGLE_LOADS = "+prefer-no-gather"


@functools.cache
def _host(vector_bits: str) -> Target:
    initialize()
    features = llvm.get_host_cpu_features().flatten() if platform.machine() else ""
    return preferring(vector_bits, Target(llvm.get_process_triple(), llvm.get_host_cpu_name(), features))


def preferring(vector_bits: str, target: Target) -> Target:
    """A processor with what its code is to prefer: vectors of some width, and no gathers."""
    names = target.features.split(",")
    words = [_SINGLE_LOADS] if "+avx2" in names else []
    words += vector_width.preference(vector_bits, target.cpu, names)
    return replace(target, features=",".join([target.features, *words]))


@functools.cache
def initialize() -> None:
    """Prepares LLVM for the native target, once per process."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    llvm.initialize_native_asmparser()


@functools.lru_cache(maxsize=8)
def target_machine(target: Target) -> Any:
    """The code generator for a target, one per process."""
    return new_target_machine(target)


def new_target_machine(target: Target) -> Any:
    """A fresh code generator, for those who take ownership of it."""
    initialize()
    return llvm.Target.from_triple(target.triple).create_target_machine(
        cpu=target.cpu, features=target.features, opt=SPEED_LEVEL, reloc="static", codemodel="jitdefault"
    )


@functools.lru_cache(maxsize=8)
def data_layout(target: Target) -> str:
    """The data layout string that modules for a target carry."""
    return str(target_machine(target).target_data)


def optimise(module: Any, target: Target, *, vectorise: bool = True, pairs: bool = True) -> None:
    """Runs the passes over a parsed module, in place; ``pairs`` lets them join equal neighbours outside of loops."""
    options = llvm.create_pipeline_tuning_options(SPEED_LEVEL)
    options.loop_vectorization = vectorise
    options.slp_vectorization = vectorise and pairs
    options.loop_interleaving = vectorise
    options.loop_unrolling = False
    builder = llvm.create_pass_builder(target_machine(target), options)
    run_passes(builder.getModulePassManager(), module, builder)


def run_passes(passes: Any, module: Any, builder: Any) -> None:
    """Runs passes over a module, in place, and frees them."""
    try:
        passes.run(module, builder)
    finally:
        # Its class inherits two ways to free itself, of which llvmlite's own clean-up finds the empty one: 40 to 70
        # KiB would stay behind for each module.
        NewPassManager._dispose(passes)
        passes.detach()


def parse(text: str, target: Target) -> Any:
    """A module from its IR text."""
    module = llvm.parse_assembly(text)
    module.triple = target.triple
    module.data_layout = data_layout(target)
    return module


_FUSABLE = re.compile(r"= (fadd|fsub|fmul) ")


def allow_contraction(text: str) -> str:
    """Lets multiplications and additions of unoptimised IR text become fused operations.

    >>> allow_contraction("%x = fmul double %a, %b")
    '%x = fmul contract double %a, %b'
    """
    return _FUSABLE.sub(r"= \1 contract ", text)


def link(module: Any, texts: Sequence[str]) -> None:
    """Links the IR of inline functions into a module; nothing outside it sees them."""
    if not texts:
        return
    public = {function.name for function in module.functions if not function.is_declaration}
    for text in texts:
        module.link_in(llvm.parse_assembly(text))
    for function in module.functions:
        if not function.is_declaration and function.name not in public:
            function.linkage = "internal"


def link_as_is(module: Any, text: str) -> None:
    """Links IR into a module with the linkage that it states."""
    module.link_in(llvm.parse_assembly(text))


def inline_calls(module: Any, target: Target) -> None:
    """Inlines the functions that are marked so, and runs no other pass."""
    passes = llvm.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    options = llvm.create_pipeline_tuning_options(SPEED_LEVEL)
    run_passes(passes, module, llvm.create_pass_builder(target_machine(target), options))


def text_to_link(module: Any, symbol: str, *, out_of_line: bool = False) -> str:
    """The text of an optimised module for linking into others, its function marked to be inlined or never to be."""
    attribute = "noinline" if out_of_line else "alwaysinline"
    # In the text, since some versions of llvmlite add the attribute to the result instead of the function.
    definition = rf'^(define [^\n]*@"?{re.escape(symbol)}"?\([^\n]*?)( #\d+)? \{{$'
    return re.sub(definition, rf"\1 {attribute}\2 {{", str(module), count=1, flags=re.MULTILINE)


def declared_symbols(module: Any) -> tuple[str, ...]:
    """Functions that a module declares and calls, LLVM's own intrinsics left out."""
    names = (function.name for function in module.functions if function.is_declaration)
    return tuple(sorted(name for name in names if not name.startswith("llvm.")))


def emit_object(module: Any, target: Target) -> tuple[bytes, tuple[str, ...]]:
    """Machine code of an optimised module and its external symbols; refuses those a process may not have."""
    code = bytes(target_machine(target).emit_object(module))
    symbols = elf.symbols(code)
    externals = declared_symbols(module) if symbols is None else symbols.undefined
    check_externals(externals)
    return code, externals


def check_externals(symbols: Sequence[str]) -> None:
    """Raises UnresolvedSymbolError unless every symbol is on the allow-list."""
    unknown = sorted(set(symbols) - ALLOWED_EXTERNALS)
    if unknown:
        raise UnresolvedSymbolError(f"the object needs symbols that are not allowed: {', '.join(unknown)}")
