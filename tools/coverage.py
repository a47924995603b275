"""Which functions of NumPy and SciPy are compiled: writes docs/coverage.md, or checks it.

    python -m tools.coverage             # writes the page
    python -m tools.coverage --check     # exit status 1 if the page says something else

Every public function and method is tried on a few kinds of arguments under ``@xjit(strict=True)``; what the plan
consists of says whether kernels do it, a library, or a mixture.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.special

import xjit
from xjit.errors import DataDependentError

PAGE = Path(__file__).resolve().parent.parent / "docs" / "coverage.md"
LINE = np.linspace(0.1, 0.9, 6)
SQUARE = np.linspace(0.5, 2.0, 9).reshape(3, 3) + 3 * np.eye(3)
WHOLE = np.array([3, 1, 2, 0, 5, 4])
# Arguments that functions are tried on, one kind after the other.
TRIES: tuple[tuple[Any, ...], ...] = (
    (LINE,),
    (LINE, LINE[::-1].copy()),
    (SQUARE,),
    (SQUARE, SQUARE.T.copy()),
    (WHOLE,),
    (WHOLE, WHOLE[::-1].copy()),
    (WHOLE > 2,),
    (WHOLE > 2, WHOLE < 4),
    (LINE, 2),
    (LINE, WHOLE),
    (SQUARE, 0),
    (LINE, "float32"),
    (SQUARE, 1, 0),
    (LINE, 0, 1),
    ([LINE, LINE + 1],),
    (WHOLE > 2, LINE, LINE + 1),
    (LINE, (2, 3)),
    (SQUARE[None, :, :3], SQUARE[0, :3]),
    (LINE, LINE, LINE + 1),
    (LINE > 0.5, LINE),
    (LINE + 1j,),
    ("ij->ji", SQUARE),
    (LINE[:3], LINE[3:]),
    (SQUARE, (3, 3)),
    (SQUARE[None], 1),
    (WHOLE > 2, LINE[:6]),
    ([WHOLE > 2], [LINE]),
    (6,),
    (1.0, 2.0, 6),
    ((2, 3), 1.0),
)
# Those that take none of these, or whose arrays would be shapes.
TRIES_OF: dict[str, tuple[Any, ...]] = {
    "bincount": (WHOLE, None, 6),
    "compress": ([True, False, True], LINE),
    "empty": ((2, 3),),
    "ones": ((2, 3),),
    "zeros": ((2, 3),),
    "unpackbits": (WHOLE.astype(np.uint8),),
    "tensorsolve": (SQUARE, LINE[:3]),
    "tensorinv": (SQUARE, 1),
    "full": ((2, 3), 1.0),
    "ravel_multi_index": ((WHOLE % 2, WHOLE % 3), (2, 3)),
    "unravel_index": (WHOLE, (2, 3)),
    "polyfit": (LINE, LINE[::-1].copy(), 2),
}
# Why a function is not compiled; the last is said where nothing else is known.
DEPENDS = "depends on data"
REFUSED = (DEPENDS, "not yet")
# Their elements are whatever the memory holds.
_UNWRITTEN = ("empty", "empty_like")
# Not functions on arrays, or nothing to compile: text, files, settings, dates, types, classes of other packages.
_SKIPPED = """
    array2string array_repr array_str asarray_chkfinite base_repr binary_repr busday_count busday_offset
    byte_bounds can_cast common_type datetime_as_string datetime_data einsum_path fromfile frombuffer fromiter
    frompyfunc fromregex fromstring genfromtxt format_float_positional format_float_scientific get_include
    get_printoptions getbufsize geterr geterrcall info is_busday isdtype isfortran isnat issubdtype iterable
    load loadtxt may_share_memory min_scalar_type mintypecode nested_iters printoptions promote_types
    result_type save savetxt savez savez_compressed set_printoptions setbufsize seterr seterrcall
    shares_memory show_config show_runtime test typename fromfunction apply_along_axis apply_over_axes
    vectorize piecewise putmask place put put_along_axis copyto fill_diagonal bmat asmatrix require asarray
    ndim shape size isscalar iscomplexobj isrealobj broadcast_shapes diag_indices diag_indices_from indices
    mask_indices tril_indices triu_indices tril_indices_from triu_indices_from
    bartlett blackman hamming hanning kaiser errstate
"""
_METHODS = """
    all any argmax argmin argpartition argsort astype choose clip compress conj cumprod cumsum diagonal dot
    flatten max mean min nonzero partition prod ravel repeat reshape round searchsorted sort squeeze std sum
    swapaxes take trace transpose var view
"""


def functions() -> Iterator[tuple[str, str, Callable[..., Any]]]:
    """(section, name, function) of everything the page lists."""
    for section, module in (("numpy", np), ("numpy.linalg", np.linalg), ("numpy.fft", np.fft)):
        for name in sorted(module.__all__):  # others add names of their own to NumPy
            value = getattr(module, name)
            if name.startswith("_") or name in _SKIPPED.split() or isinstance(value, type) or not callable(value):
                continue
            yield section, name, value
    for name in _METHODS.split():
        yield "numpy.ndarray", name, lambda x, *more, _name=name: getattr(x, _name)(*more)
    for name in sorted(set(dir(scipy.special))):
        value = getattr(scipy.special, name)
        if isinstance(value, np.ufunc) and not name.startswith("_"):
            yield "scipy.special", name, value


def status(function: Any) -> str:
    """Return the status of a function: what it is compiled to, by the first kind of arguments that tracing takes;
    else why there is none.
    """
    taken = [arguments for arguments in _tries(function) if _result(function, arguments) is not None]
    on_arrays = [arguments for arguments in taken if _arrays(arguments)]
    refused = set()
    # Functions of arrays are not compiled for being constants of numbers.
    for arguments in on_arrays or taken:
        found = _traced(function, arguments, compare=getattr(function, "__name__", "") not in _UNWRITTEN)
        if found not in REFUSED:
            return found
        refused.add(found)
    return DEPENDS if DEPENDS in refused else REFUSED[-1]


def _tries(function: Any) -> Iterable[tuple[Any, ...]]:
    name = getattr(function, "__name__", "")
    if name in TRIES_OF:
        return (TRIES_OF[name],)
    if getattr(scipy.special, name, None) is not function or getattr(np, name, None) is function:
        return TRIES
    # Some do not survive every argument; some take whole numbers only in places.
    ufunc: Any = function
    letters = ufunc.types[-1].split("->")[0]
    return (LINE,) * ufunc.nin, tuple(WHOLE if letter in "bhilqBHILQ" else LINE for letter in letters)


def _arrays(arguments: Any) -> list[Any]:
    """The arrays among arguments, those in lists of some included."""
    if isinstance(arguments, list | tuple):
        return [array for one in arguments for array in _arrays(one)]
    return [arguments] if isinstance(arguments, np.ndarray) else []


def _with(arguments: Any, arrays: Iterator[Any]) -> Any:
    """The same arguments with other arrays in place of theirs, in order."""
    if isinstance(arguments, list | tuple):
        parts = [_with(one, arrays) for one in arguments]
        return parts if isinstance(arguments, list) else tuple(parts)
    return next(arrays) if isinstance(arguments, np.ndarray) else arguments


def _result(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Return NumPy's results in a tuple; None if it refuses the arguments. It may write into copies of them only."""
    try:
        return (function(*_with(arguments, (array.copy() for array in _arrays(arguments)))),)
    except Exception:
        return None


def _traced(function: Callable[..., Any], arguments: tuple[Any, ...], compare: bool = True) -> str:
    """Return the kinds of steps of the plan for these arguments, or why there is none.

    It has to hold for other elements too, with NumPy's results if these are to be compared.
    """
    arrays = [np.array(array, order="C") for array in _arrays(arguments)]
    if not arrays:
        return _traced(lambda x, y: (function(*arguments), x + y), (LINE, LINE), compare)

    def call(*values: Any) -> Any:
        return function(*_with(arguments, iter(values)))

    others = tuple(np.roll(array, 1) for array in arrays)
    wanted = _result(call, others)
    try:
        compiled = xjit.jit(call, strict=True)
        compiled(*arrays)
        plan = compiled.explain(*arrays)
        found = wanted and (compiled(*others),)
    except DataDependentError:
        return DEPENDS
    except Exception:
        return REFUSED[-1]
    if compiled.stats().traces > 1 or (compare and not _alike(found, wanted)):
        return REFUSED[-1]  # what was compiled are constants, for the first elements alone
    if any(step.startswith("library call") for step in plan.steps):
        return "library and kernels" if plan.kernels else "library"
    return "kernel"


def _alike(found: Any, wanted: Any) -> bool:
    """Return whether results are equal up to rounding."""
    if isinstance(wanted, list | tuple):
        return len(found) == len(wanted) and all(map(_alike, found, wanted))
    same = np.shape(found) == np.shape(wanted)
    return wanted is None or (same and np.allclose(found, wanted, rtol=1e-3, atol=1e-6, equal_nan=True))


def render() -> str:
    """The page."""
    lines = [
        "# What is compiled",
        "",
        "Made by `python -m tools.coverage`: every function is tried under `@xjit(strict=True)`.",
        "",
        "* **kernel**: generated loops, fused with what surrounds them; views and constants, which are no work",
        "* **library**: a call of NumPy's sort, FFT, LAPACK or BLAS, or of some ufunc, perhaps between kernels",
        "* **depends on data**: the shape or the type of the result is known to the run only; raises",
        "  `DataDependentError` under strict, runs as NumPy otherwise",
        "* **not yet**: raises `CaptureError` under strict, runs as NumPy otherwise",
        "",
        "Arguments may be refused although others are compiled; the message names them.",
    ]
    rows: dict[str, list[tuple[str, str]]] = {}
    for section, name, function in functions():
        rows.setdefault(section, []).append((name, status(function)))
    for section, found in rows.items():
        done = sum(word not in REFUSED for _, word in found)
        lines += ["", f"## {section}: {done} of {len(found)}", ""]
        for word in ("kernel", "library and kernels", "library", *REFUSED):
            names = [f"`{name}`" for name, one in found if one == word]
            if names:
                lines += [f"**{word}** ({len(names)}): " + " ".join(names), ""]
        lines.pop()
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes or checks the page; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tools.coverage", description="table of what is compiled")
    parser.add_argument("--check", action="store_true", help="compare only")
    options = parser.parse_args(arguments)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        text = render()
    if not options.check:
        PAGE.write_text(text, encoding="utf-8")
        return 0
    same = PAGE.exists() and PAGE.read_text(encoding="utf-8") == text
    sys.stdout.write(f"{PAGE.name} {'is current' if same else 'is out of date'}\n")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
