"""Those that run a program: xjit, NumPy itself, and the peers JAX, numexpr and PyTorch where they are installed.

Each prepares a program for given arrays once (compiling, moving data to its own device arrays) and
returns a call without arguments that computes the whole result anew.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import shutil
import warnings
from collections.abc import Callable
from dataclasses import dataclass

from perf.programs import Arrays, Program, over_module
from perf.timing import Call, bound


@dataclass(frozen=True, slots=True)
class Runner:
    """One way to run programs. `prepare` returns None for a program that it cannot express."""

    name: str
    package: str
    prepare: Callable[[Program, Arrays], Call | None]

    @property
    def installed(self) -> bool:
        """Whether the package is there."""
        return importlib.util.find_spec(self.package) is not None

    @property
    def version(self) -> str:
        """The version of the package."""
        return str(importlib.import_module(self.package).__version__)


def prepare_numpy(program: Program, arrays: Arrays) -> Call:
    """Return the program as it stands."""
    return bound(program.function, arrays)


def prepare_xjit(program: Program, arrays: Arrays) -> Call:
    """Return the program under `@xjit`, compiled. Raises RuntimeError when NumPy ran in its place."""
    from xjit import xjit

    compiled = xjit(program.function)
    call = bound(compiled, arrays)
    call()
    if compiled.stats().fallbacks:
        raise RuntimeError(f"{program.name}: xjit fell back to NumPy")
    return call


def prepare_jax(program: Program, arrays: Arrays) -> Call:
    """Return the program jitted by JAX, on JAX's own device arrays, waiting for the result."""
    jax = importlib.import_module("jax")
    jax.config.update("jax_enable_x64", True)
    modules = (importlib.import_module(name) for name in ("jax.numpy", "jax.scipy.special"))
    function = jax.jit(over_module(program.function, *modules))
    call = bound(function, tuple(jax.device_put(array) for array in arrays))
    wait = jax.block_until_ready
    wait(call())
    return lambda: wait(call())


def prepare_torch(program: Program, arrays: Arrays) -> Call | None:
    """Return the program compiled by torch.compile, on PyTorch's own tensors; None where it has no C++ compiler."""
    torch = importlib.import_module("torch")
    if shutil.which(os.environ.get("CXX", "g++")) is None and shutil.which("clang++") is None:
        return None
    torch.set_num_threads(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
    function = torch.compile(over_module(program.function, torch, torch.special))
    call = bound(function, tuple(torch.from_numpy(array) for array in arrays))
    try:
        call()
    except importlib.import_module("torch._dynamo.exc").TorchDynamoException as problem:
        warnings.warn(f"torch.compile could not compile {program.name}: {problem}", stacklevel=2)
        return None
    return call


def prepare_numexpr(program: Program, arrays: Arrays) -> Call | None:
    """Return the program as numexpr evaluates it, where it has been written in that language."""
    if program.expression is None:
        return None
    numexpr = importlib.import_module("numexpr")
    code = program.function.__code__
    names = dict(zip(code.co_varnames[: code.co_argcount], arrays, strict=True))
    text, variables, evaluate = program.expression, {**names, **program.constants}, numexpr.evaluate
    return lambda: evaluate(text, local_dict=variables, global_dict={})


NUMPY = Runner("NumPy", "numpy", prepare_numpy)
XJIT = Runner("xjit", "xjit", prepare_xjit)
JAX = Runner("JAX", "jax", prepare_jax)
TORCH = Runner("torch.compile", "torch", prepare_torch)
NUMEXPR = Runner("numexpr", "numexpr", prepare_numexpr)
RUNNERS = (NUMPY, XJIT, JAX, NUMEXPR)


def installed() -> tuple[Runner, ...]:
    """Return the runners whose packages are there."""
    return tuple(runner for runner in RUNNERS if runner.installed)
