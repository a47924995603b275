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
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.special

import xjit

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
    "linspace": (0.0, 1.0, 6),
    "ones": ((2, 3),),
    "zeros": ((2, 3),),
    "unpackbits": (WHOLE.astype(np.uint8),),
    "tensorsolve": (SQUARE, LINE[:3]),
    "tensorinv": (SQUARE, 1),
}
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
    ravel_multi_index unravel_index mask_indices tril_indices triu_indices tril_indices_from triu_indices_from
    bartlett blackman hamming hanning kaiser errstate
"""
_METHODS = """
    all any argmax argmin argpartition argsort astype choose clip compress conj cumprod cumsum diagonal dot
    flatten max mean min nonzero partition prod ravel repeat reshape round searchsorted sort squeeze std sum
    swapaxes take trace transpose var
"""


def functions() -> Iterator[tuple[str, str, Callable[..., Any]]]:
    """(section, name, function) of everything the page lists."""
    for section, module in (("numpy", np), ("numpy.linalg", np.linalg), ("numpy.fft", np.fft)):
        for name in sorted(set(dir(module))):
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
    """What the plan of the first kind of arguments that NumPy takes consists of; "" if tracing refuses all."""
    name = getattr(function, "__name__", "")
    tries = (TRIES_OF[name],) if name in TRIES_OF else TRIES
    if getattr(scipy.special, name, None) is function and getattr(np, name, None) is not function:
        tries = ((LINE,) * function.nin,)  # some do not survive every argument
    taken = [arguments for arguments in tries if _takes(function, arguments)]
    on_arrays = [arguments for arguments in taken if _arrays(arguments)]
    # Functions of arrays are not compiled for being constants of numbers.
    return next((found for found in (_traced(function, one) for one in on_arrays or taken) if found), "")


def _arrays(arguments: tuple[Any, ...]) -> list[Any]:
    """The arrays among arguments, those in a first list of some included."""
    first = arguments[0] if isinstance(arguments[0], list) else ()
    return [one for one in (*first, *arguments) if isinstance(one, np.ndarray)]


def _takes(function: Callable[..., Any], arguments: tuple[Any, ...]) -> bool:
    try:
        function(*arguments)
    except Exception:
        return False
    return True


def _traced(function: Callable[..., Any], arguments: tuple[Any, ...]) -> str:
    arrays = [one for one in arguments if isinstance(one, np.ndarray)]
    if not arrays and not isinstance(arguments[0], list):
        return _traced(lambda x, y: (function(*arguments), x + y), (LINE, LINE))
    if isinstance(arguments[0], list):
        arrays = list(arguments[0])

    def call(*values: Any) -> Any:
        rest = iter(values)
        if isinstance(arguments[0], list):
            return function(list(rest), *arguments[1:])
        return function(*(next(rest) if isinstance(one, np.ndarray) else one for one in arguments))

    try:
        compiled = xjit.jit(call, strict=True)
        compiled(*arrays)
        plan = compiled.explain(*arrays)
    except Exception:
        return ""
    library = any(step.startswith("library call") for step in plan.steps)
    if library:
        return "library and kernels" if plan.kernels else "library"
    return "kernel"


def render() -> str:
    """The page."""
    lines = [
        "# What is compiled",
        "",
        "Made by `python -m tools.coverage`: every function is tried under `@xjit(strict=True)`.",
        "",
        "* **kernel**: generated loops, fused with what surrounds them; views and constants, which are no work",
        "* **library**: a call of NumPy's sort, FFT, LAPACK or BLAS, or of some ufunc, perhaps between kernels",
        "* **not yet**: raises `CaptureError` under strict, runs as NumPy otherwise",
        "",
        "Arguments may be refused although others are compiled; the message names them.",
    ]
    rows: dict[str, list[tuple[str, str]]] = {}
    for section, name, function in functions():
        rows.setdefault(section, []).append((name, status(function) or "not yet"))
    for section, found in rows.items():
        done = sum(word != "not yet" for _, word in found)
        lines += ["", f"## {section}: {done} of {len(found)}", ""]
        for word in ("kernel", "library and kernels", "library", "not yet"):
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
