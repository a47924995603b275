"""Processors that code is made for: this machine as LLVM sees it, and LLVM's code generators for it."""

from __future__ import annotations

import functools
import platform
from collections import deque
from typing import Any

import llvmlite.binding as llvm
from llvmlite.binding import ffi

from xjit import config, jobs
from xjit.dataclass import dataclass
from xjit.llvm import vector_width

SPEED_LEVEL = 2


@dataclass(frozen=True, slots=True)
class Registers:
    """Vector registers: their width, and whether masks say which elements are read and written."""

    bits: int = 128
    masks: bool = False


@dataclass(frozen=True, slots=True)
class CpuTraits:
    """The traits of a processor that the instructions written depend on. ``half``: vectors are converted to and from
    floats of 16 bits.
    """

    fma: bool
    architecture: str
    half: bool = False
    registers: Registers = Registers()


@dataclass(frozen=True, slots=True)
class Target:
    """A processor that code is made for."""

    triple: str
    cpu: str
    features: str

    @property
    def traits(self) -> CpuTraits:
        """Return what instruction selection in our own emitters depends on."""
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


def plain() -> Target:
    """The oldest processor of this machine's family, and nothing that later ones have."""
    initialize()
    return Target(llvm.get_process_triple(), "x86-64" if platform.machine() in ("x86_64", "AMD64") else "generic", "")


def preferring(vector_bits: str, target: Target) -> Target:
    """A processor with what its code is to prefer: vectors of some width, and no gathers."""
    names = target.features.split(",")
    words = [_SINGLE_LOADS] if "+avx2" in names else []
    words += vector_width.preference(vector_bits, target.cpu, names)
    return Target(target.triple, target.cpu, ",".join([target.features, *words]))


@functools.cache
def initialize() -> None:
    """Prepares LLVM for the native target, once per process."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    llvm.initialize_native_asmparser()


def target_machine(target: Target) -> Any:
    """The code generator for a target; each of the threads that share a job has its own."""
    return _target_machine(target, jobs.worker())


@functools.lru_cache(maxsize=16)
def _target_machine(target: Target, worker: int) -> Any:
    return new_target_machine(target)


def parsed(text: str) -> Any:
    """A module of IR text; those of threads that share a job have nothing in common."""
    worker = jobs.worker()
    left = _left(worker)
    while left:
        _dispose(left.popleft())
    module = llvm.parse_assembly(text, _context(worker))
    if worker:
        module._dispose = functools.partial(_free, worker, module._ptr)
    return module


def _free(worker: int, module: Any) -> None:
    """Frees a module, or leaves it to the one whose context it is of, which may be at work in it.

    Garbage is collected in any thread: a module in a cycle, such as that of an exception's frames, dies anywhere.
    """
    if jobs.worker() == worker:
        _dispose(module)
    else:
        _left(worker).append(module)


def _dispose(module: Any) -> None:
    ffi.lib.LLVMPY_DisposeModule(module)


@functools.cache
def _left(worker: int) -> deque[Any]:
    """Modules of a worker that others let go."""
    return deque()


@functools.cache
def _context(worker: int) -> Any:
    return llvm.create_context() if worker else llvm.get_global_context()


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
