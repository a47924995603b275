"""The bits of results, as a table of hashes, to be compared between processors and widths of vectors.

    python -m tools.bits                          # every result with the hash of its bits
    XJIT_VECTOR_BITS=128 python -m tools.bits     # the same with vectors of 128 bits
    python -m tools.bits --save one.json
    python -m tools.bits --compare one.json       # exit status 1 if bits differ from those saved elsewhere
    python -m tools.bits --save one.json --resume # what a run that was stopped has left to do

Reductions, scans, products that are sums, elementary functions, over element types, lengths and memory layouts. What
a library computes (BLAS, SciPy's functions of complex numbers) is left out: the bits are those of the library.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import json
import platform
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.special

import xjit
from xjit.codegen.cpu import llvm_pipeline

Array = np.ndarray[Any, Any]
Function = Callable[..., Any]
Call = Callable[[], Any]
Hashes = Mapping[str, str]
Keep = Callable[[Hashes], None]

# Results after which a table is saved: minutes of work under emulation.
PIECE = 100

FLOATS = ("float16", "float32", "float64", "complex64", "complex128")
TYPES = (*FLOATS, "int8", "int32", "uint64", "bool")
ROW_LENGTHS = (3, 8, 9, 31, 100, 777)
REDUCTIONS: Mapping[str, Function] = {
    "sum": np.sum,
    "prod": lambda x, axis: np.prod(_near_one(x), axis=axis),
    "mean": np.mean,
    "var": np.var,
    "std": np.std,
    "min": np.min,
    "max": np.max,
    "ptp": lambda x, axis: np.max(x, axis=axis) - np.min(x, axis=axis),
    "argmin": np.argmin,
    "nansum": np.nansum,
    "any": np.any,
    "count_nonzero": np.count_nonzero,
    "mean of squares": lambda x, axis: np.mean(np.square(x), axis=axis),
    "sum of exponentials": lambda x, axis: np.sum(np.exp(x), axis=axis),
    "sum of sines": lambda x, axis: np.sum(np.sin(x), axis=axis),
    "norm": lambda x, axis: np.sqrt(np.sum(np.abs(x) ** 2, axis=axis)),
}
SCANS: Mapping[str, Function] = {
    "cumsum": np.cumsum,
    "cumprod": lambda x, axis: np.cumprod(_near_one(x), axis=axis),
    "running maximum": np.maximum.accumulate,
}
PRODUCTS: Mapping[str, Function] = {
    "vector with vector": lambda x: x[0] @ x[1],
    "matrix with vector": lambda x: x @ x[0],
    "vector with matrix": lambda x: x[:, 0] @ x,
    "distances": lambda x: np.sum((x[:, None, :16] - x[None, :, :16]) ** 2, axis=-1),
    "nearest": lambda x: np.min(np.sum((x[:, None, :24] - x[None, :, :24]) ** 2, axis=-1), axis=1),
    "softmax": lambda x: np.exp(x) / np.sum(np.exp(x), axis=1, keepdims=True),
    "rows and columns": lambda x: (np.sum(x, axis=1)[:, None] - x).sum(axis=0),
}
UNARY: tuple[Function, ...] = (
    *(np.exp, np.exp2, np.expm1, np.log, np.log2, np.log10, np.log1p, np.sqrt, np.cbrt),
    *(np.sin, np.cos, np.tan, np.arcsin, np.arccos, np.arctan),
    *(np.sinh, np.cosh, np.tanh, np.arcsinh, np.arccosh, np.arctanh),
    *(scipy.special.erf, scipy.special.erfc, scipy.special.erfinv, scipy.special.gammaln, scipy.special.digamma),
    *(scipy.special.expit, scipy.special.logit, np.reciprocal, np.square, np.absolute, np.spacing),
)
BINARY: tuple[Function, ...] = (np.power, np.arctan2, np.hypot, np.fmod, np.remainder, np.floor_divide, np.logaddexp)


def results() -> Iterator[tuple[str, Call]]:
    """Yield the name of each result and the call that makes it."""
    for dtype in TYPES:
        yield from _reduced(np.dtype(dtype))
    for dtype in FLOATS:
        yield from _products(np.dtype(dtype))
        yield from _elementary(np.dtype(dtype))


def _values(dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
    """Numbers of both signs and many sizes, the same everywhere."""
    count = int(np.prod(shape))
    whole = np.random.default_rng(11).integers(-(1 << 20), 1 << 20, 2 * count)
    if dtype.kind in "iub":
        return (whole[:count] % 7).astype(dtype).reshape(shape)
    real = (whole[:count] / (1 << 18)).astype(dtype)
    if dtype.kind == "c":
        real = real + (1j * whole[count:] / (1 << 18)).astype(dtype)
    return real.reshape(shape)


def _reduced(dtype: np.dtype[Any]) -> Iterator[tuple[str, Call]]:
    for length in ROW_LENGTHS:
        x = _values(dtype, (13, length))
        layouts = {"rows": (x, 1), "strided rows": (_values(dtype, (13, 2 * length))[:, ::2], 1)}
        yield from _over({f"{name} of {length}": one for name, one in layouts.items()}, dtype)
    grid = _values(dtype, (301, 403))
    cube = _values(dtype, (9, 40, 21))
    layouts = {
        "columns": (grid, 0),
        "all": (grid, None),
        "all of a view": (grid[1:-1, 1:-1], None),
        "all in Fortran order": (np.asfortranarray(grid), None),
        "three columns": (grid[:, :3].copy(), 0),
        "a middle axis": (cube, 1),
        "two axes": (cube, (1, 2)),
        "the outer axes": (cube, (0, 2)),
    }
    yield from _over(layouts, dtype)


def _over(layouts: Mapping[str, tuple[Array, Any]], dtype: np.dtype[Any]) -> Iterator[tuple[str, Call]]:
    for layout, (x, axis) in layouts.items():
        for name, function in (REDUCTIONS | (SCANS if isinstance(axis, int) else {})).items():
            yield f"{name} {dtype} {layout}", _call(functools.partial(_along, function, axis), x)


def _products(dtype: np.dtype[Any]) -> Iterator[tuple[str, Call]]:
    x = _values(dtype, (48, 48))
    for name, function in PRODUCTS.items():
        yield f"{name} {dtype}", _call(function, x)


def _elementary(dtype: np.dtype[Any]) -> Iterator[tuple[str, Call]]:
    arguments = _arguments(dtype)
    for function in UNARY:
        yield f"{function.__name__} {dtype}", _call(functools.partial(_applied, function), arguments)
    for function in BINARY:
        operands = arguments, arguments[::-1].copy()
        yield f"{function.__name__} {dtype}", _call(functools.partial(_applied, function), *operands)


def _arguments(dtype: np.dtype[Any]) -> Array:
    """Usual and rare arguments beside each other, subnormal and huge ones among them."""
    usual = _values(dtype, (3001,))
    if dtype.kind == "c":
        return usual
    info = np.finfo(dtype)
    scales = np.ldexp(np.ones(1, dtype), np.arange(info.minexp - info.nmant, info.maxexp, 3)).astype(dtype)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, info.max, info.smallest_subnormal], dtype)
    return np.concatenate([usual, usual / dtype.type(64), scales, -scales, special, usual])


def _near_one(x: Array) -> Array:
    """Factors whose products, of many as of few, are usual numbers."""
    return x / x.dtype.type(1024) + x.dtype.type(1) if x.dtype.kind in "fc" else x


def _along(function: Function, axis: Any, x: Array) -> Any:
    return function(x, axis=axis)


def _applied(function: Function, *operands: Array) -> Any:
    return function(*operands)


def _call(function: Function, *arguments: Array) -> Call:
    """The compiled call; it yields None where kernels do not compute all of the function for these types."""

    def call() -> Any:
        compiled = xjit.jit(function, strict=True)
        try:
            result = compiled(*arguments)
        except (TypeError, xjit.XjitError) as error:
            if "failed" in str(error):
                raise
            return None
        steps = compiled.explain(*arguments).steps
        return None if any(step.startswith(("library call", "NumPy runs")) for step in steps) else result

    return call


def hashed(result: Any) -> str:
    """Return a hash of bits; all NaN are one, as their signs and payloads belong to the processor."""
    array = np.array(result)
    parts = array.reshape(-1).view(array.real.dtype) if array.dtype.kind == "c" else array
    if parts.dtype.kind == "f":
        parts = np.where(np.isnan(parts), parts.dtype.type(np.nan), parts)
    return hashlib.sha256(str((array.dtype.str, array.shape)).encode() + parts.tobytes()).hexdigest()[:12]


def table(only: str = "", known: Hashes | None = None, keep: Keep | None = None) -> dict[str, str]:
    """Return the hashes by name, of results whose names contain a text.

    Those of `known` are not computed again. `keep` gets the table so far, after every hundred results and at the end.
    """
    found = {name: digest for name, digest in (known or {}).items() if only in name}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        chosen = ((name, call) for name, call in results() if only in name and name not in found)
        for number, (name, call) in enumerate(chosen, 1):
            result = call()
            if result is not None:
                found[name] = hashed(result)
            if keep is not None and number % PIECE == 0:
                keep(found)
    if keep is not None:
        keep(found)
    return found


def write(file: Path, found: Hashes) -> None:
    """Write a table, all of it or nothing: a run may be stopped at any time."""
    beside = file.with_name(f"{file.name}.part")
    beside.write_text(json.dumps(found, indent=1), encoding="utf-8")
    beside.replace(file)


def differences(found: Hashes, others: Hashes) -> list[str]:
    """Return the names of results whose bits differ, or that one side has not."""
    return [name for name in {**found, **others} if found.get(name) != others.get(name)]


def say(*lines: str) -> None:
    """Write lines to the standard output."""
    sys.stdout.writelines(f"{line}\n" for line in lines)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--save", type=Path, help="write the hashes to a file, a hundred at a time")
    parser.add_argument("--resume", action="store_true", help="leave out what the file of --save has already")
    parser.add_argument("--compare", type=Path, help="a file written by --save")
    parser.add_argument("--only", default="", help="results whose names contain this text")
    return parser


def main() -> int:
    """Print the table; save it, or compare it."""
    options = _parser().parse_args()
    known = json.loads(options.save.read_text()) if options.resume and options.save and options.save.exists() else {}
    found = table(options.only, known, functools.partial(write, options.save) if options.save else None)
    target = llvm_pipeline.host()
    say(f"{len(found)} results on {platform.machine()}, {target.cpu}")
    if not options.compare:
        say(*(f"{digest}  {name}" for name, digest in found.items()))
        return 0
    saved = {name: digest for name, digest in json.loads(options.compare.read_text()).items() if options.only in name}
    differing = differences(found, saved)
    say(*(differing or ["the same bits"]))
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
