"""Those that run a program: xjit, NumPy itself, and where they are installed JAX, numexpr, PyTorch and loops under
Numba.

Each prepares a program for given arrays once (compiling, moving data to its own device arrays) and
returns a call without arguments that computes the whole result anew.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import shutil
import signal
import threading
import types
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from perf.measuring.timing import Call, bound, timed
from perf.programs import Arrays, Function, Program, over_module

EVERY_SIZE = ("S", "M", "L", "XL")
TORCH_SECONDS = 30
SECONDS_WORTH_THREADS = 1e-4


class LeftOut(Exception):
    """A peer does not run a program; the message says why."""


class CannotSay(LeftOut):
    """The program has not been written for the peer, or cannot be."""


@dataclass(frozen=True, slots=True)
class Runner:
    """One way to run programs. `prepare` raises `LeftOut` for what it cannot run; it takes part at `sizes`."""

    name: str
    package: str
    prepare: Callable[[Program, Arrays], Call]
    sizes: Sequence[str] | None = None

    @property
    def installed(self) -> bool:
        """Return whether the package is there."""
        return importlib.util.find_spec(self.package) is not None

    @property
    def version(self) -> str:
        """The version of the package."""
        return str(importlib.import_module(self.package).__version__)

    def takes(self, size: str) -> bool:
        """Return whether it takes part at a size."""
        return self.sizes is None or size in self.sizes or size not in EVERY_SIZE


def prepare_numpy(program: Program, arrays: Arrays) -> Call:
    """Return the program as it stands."""
    return bound(program.function, arrays)


def prepare_xjit(program: Program, arrays: Arrays) -> Call:
    """Return the program under `@xjit`, compiled."""
    from xjit import xjit

    call = bound(xjit(program.function), arrays)
    call()
    return call


def fallback_of(program: Program, arrays: Arrays) -> str | None:
    """Return why xjit runs the program, or a step of it, through NumPy; None where all of it is compiled."""
    from xjit import xjit
    from xjit.errors import CaptureError, FallbackWarning

    compiled = xjit(program.function)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", FallbackWarning)
        try:
            compiled(*arrays)
        except CaptureError as problem:
            return str(problem).splitlines()[0]
    if not compiled.stats().fallbacks:
        return None
    reasons = [str(one.message).splitlines()[0] for one in said if issubclass(one.category, FallbackWarning)]
    return "; ".join(reasons) or "without a reason"


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


def prepare_torch(program: Program, arrays: Arrays) -> Call:
    """Return the program compiled by torch.compile, on PyTorch's own tensors."""
    if (reason := no_torch()) is not None:
        raise LeftOut(reason)
    torch = importlib.import_module("torch")
    torch.set_num_threads(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
    torch.compiler.reset()
    function = torch.compile(over_tensors(program.function), fullgraph=True, dynamic=False)
    refused = importlib.import_module("torch._dynamo.exc").TorchDynamoException
    with warnings.catch_warnings():
        # It says of inputs that others also see that they must not be written to; nobody does.
        warnings.simplefilter("ignore")
        call = bound(function, tuple(torch.from_numpy(array) for array in arrays))
        try:
            with at_most(TORCH_SECONDS):
                call()
        except (TimeoutError, refused) as problem:
            raise LeftOut(why_not(problem)) from problem
    return call


def why_not(problem: BaseException) -> str:
    """Return in words what stopped torch.compile, which wraps what is raised while it works."""
    text = str(problem).strip().splitlines()
    if isinstance(problem, TimeoutError) or "TimeoutError" in "".join(text):
        return f"torch.compile had not compiled it after {TORCH_SECONDS} s"
    return f"torch.compile: {text[0] if text else type(problem).__name__}"


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise TimeoutError in the main thread when the block takes longer, where the system has alarms."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def too_long(number: int, frame: types.FrameType | None) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, too_long)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def no_torch() -> str | None:
    """Return why torch.compile cannot compile anything here; None where it can."""
    if shutil.which(os.environ.get("CXX", "g++")) is None and shutil.which("clang++") is None:
        return "torch.compile finds no C++ compiler (g++, clang++ or CXX)"
    return None


def over_tensors(function: Function) -> Function:
    """Return `function` for tensors.

    PyTorch compiles NumPy's names itself; SciPy's functions it does not know, so that a formula with them is
    rebuilt over the module `torch`.
    """
    torch = importlib.import_module("torch")
    if "special" in function.__globals__:
        return over_module(function, torch, torch.special)

    def on_tensors(*tensors: Any) -> Any:
        result = function(*[tensor.numpy() for tensor in tensors])
        if isinstance(result, tuple):
            return tuple(torch.as_tensor(part) for part in result)
        return torch.as_tensor(result)

    return on_tensors


def prepare_numexpr(program: Program, arrays: Arrays) -> Call:
    """Return the program as numexpr evaluates it, where it has been written in that language."""
    if program.expression is None:
        raise CannotSay("no expression")
    numexpr = importlib.import_module("numexpr")
    variables, evaluate = program.named(arrays), numexpr.evaluate
    if isinstance(program.expression, str):
        text = program.expression
        return lambda: evaluate(text, local_dict=variables, global_dict={})
    first, second = program.expression
    return lambda: (
        evaluate(first, local_dict=variables, global_dict={}),
        evaluate(second, local_dict=variables, global_dict={}),
    )


def prepare_loops(program: Program, arrays: Arrays) -> Call:
    """Return the program as loops by hand under Numba, compiled, where it has been written so.

    Threads share the loops where NumPy takes long enough for them to be worth it.
    """
    loops = importlib.import_module("perf.loops.table").LOOPS
    if program.name not in loops:
        raise CannotSay("no loops")
    loop = loops[program.name]
    if quick(bound(program.function, arrays)):
        loop = importlib.import_module("perf.loops.parallel").serial(loop)
    call = bound(loop, arrays)
    with warnings.catch_warnings():
        # What Numba thinks of an order of axes or of a product.
        warnings.simplefilter("ignore")
        call()
    return call


def quick(call: Call) -> bool:
    """Return whether a call, at best, takes less than threads are worth."""
    return timed(call, 1) < 0.1 and min(timed(call, 1) for _ in range(5)) < SECONDS_WORTH_THREADS


NUMPY = Runner("NumPy", "numpy", prepare_numpy)
XJIT = Runner("xjit", "xjit", prepare_xjit)
JAX = Runner("JAX", "jax", prepare_jax)
# It compiles every shape anew, for seconds: only where the time of a call matters to it.
TORCH = Runner("torch.compile", "torch", prepare_torch, ("L",))
NUMEXPR = Runner("numexpr", "numexpr", prepare_numexpr)
LOOPS = Runner("Numba loops", "numba", prepare_loops)
RUNNERS = (NUMPY, XJIT, JAX, TORCH, NUMEXPR, LOOPS)


def installed() -> tuple[Runner, ...]:
    """Return the runners whose packages are there."""
    return tuple(runner for runner in RUNNERS if runner.installed)
