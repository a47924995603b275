"""Judge of random programs: NumPy's types, shapes, strides and sharing of memory, and NumPy's numbers.

Exactly rounded programs must agree in every bit but those of NaN. In the others the float functions whose last bits
are free are perturbed a little, several times: how far a result moves then is how far it may be off.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.helpers.random_programs import NOISY, NOISY_FOLDS, Program
from xjit import tree

PERTURBED_RUNS = 4
# How many perturbations of about four units in the last place a result may be off.
FACTOR = 16.0


class Perturbed:
    """NumPy with the last bits of some functions changed at random."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def __getattr__(self, name: str) -> Any:
        function = getattr(np, name)
        return (lambda *args, **kwargs: self._noise(name, function, args, kwargs)) if name in NOISY else function

    def _noise(self, name: str, function: Any, args: Any, kwargs: Any) -> Any:
        result = np.asarray(function(*args, **kwargs))
        if result.dtype.kind != "f":
            return result[()]
        size = np.abs(result)
        if name in NOISY_FOLDS:
            size = np.maximum(size, self._error_scale(name, np.asarray(args[0]), kwargs, result.dtype))
        step = np.finfo(result.dtype).eps * self.rng.choice([-6, -4, -2, 2, 4, 6], result.shape)
        moved = (result + step * size).astype(result.dtype)
        if name in ("var", "std"):
            moved = np.abs(moved)
        return np.where(np.isfinite(result), moved, result)[()]

    @staticmethod
    def _error_scale(name: str, operand: Any, kwargs: Any, dtype: Any) -> Any:
        """Return the scale that rounding errors of a fold are relative to, rather than to its result."""
        keep = {"axis": kwargs.get("axis"), "keepdims": kwargs.get("keepdims", False)}
        absolute = np.abs(operand.astype(np.float64))
        if name in ("sum", "mean"):
            scale = np.asarray(getattr(np, name)(absolute, **keep))
        elif name == "prod" or not absolute.size:
            return 0.0
        else:
            largest = np.asarray(np.max(absolute, **keep))
            scale = largest * np.finfo(dtype).eps * largest if name == "var" else largest
        return np.where(np.isfinite(scale), scale, 0.0)


def expected(program: Program, arguments: Sequence[Any]) -> Any:
    """NumPy's result, or the exception that it raises."""
    return _run(program, np, arguments)


def _run(program: Program, module: Any, arguments: Sequence[Any]) -> Any:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return program.function(module)(*arguments)


def judge(program: Program, arguments: Sequence[Any], result: Any) -> None:
    """AssertionError unless the result is NumPy's."""
    wanted, structure = tree.flatten(expected(program, arguments))
    got, got_structure = tree.flatten(result)
    assert got_structure == structure, f"{got_structure} for {structure}\n{program}"
    moved: list[list[Any]] = []
    if program.noisy:
        runs = (_run(program, Perturbed(seed), arguments) for seed in range(PERTURBED_RUNS))
        moved = [list(map(np.asarray, tree.flatten(run)[0])) for run in runs]
    for number, (one, other) in enumerate(zip(got, wanted, strict=True)):
        try:
            dense, raveled = not _STRIDES.search(str(program)), re.search(r"ravel|ops\.", program.source) is not None
            same_form(one, other, arguments, strides=dense, memory=not raveled)
            same_numbers(one, other, [run[number] for run in moved], signed=not _ZEROS.search(program.source))
        except AssertionError as error:
            raise AssertionError(f"result {number}: {error}\ngot\n{one!r}\nNumPy\n{other!r}\n{program}") from None


# Views of arrays that the program itself makes of nothing are packed; ravel of a view stays a view; broadcast
# operands lose their say in the memory order when they are cast.
_STRIDES = re.compile(r"arange|ones|zeros|full|eye|ravel|broadcast|ops\.")


def same_form(one: Any, other: Any, arguments: Sequence[Any], *, strides: bool, memory: bool) -> None:
    """Type, element type, shape, memory order, flags, and which arguments the memory is shared with."""
    assert type(one) is type(other), f"{type(one)} for {type(other)}"
    if not isinstance(one, np.ndarray):
        assert getattr(one, "dtype", None) == getattr(other, "dtype", None)
        return
    assert one.dtype == other.dtype, f"{one.dtype} for {other.dtype}"
    assert one.shape == other.shape, f"{one.shape} for {other.shape}"
    if one.size and strides:
        long = [axis for axis in range(one.ndim) if one.shape[axis] > 1]
        same = all(one.strides[axis] == other.strides[axis] for axis in long)
        assert same, f"strides {one.strides} for {other.strides}"
    if not memory:
        return
    assert one.flags.writeable >= other.flags.writeable, "not writeable"
    for argument in arguments:
        if isinstance(argument, np.ndarray):
            assert np.shares_memory(one, argument) == np.shares_memory(other, argument), "shared memory"


# NumPy's own code for these gives 0.0 or -0.0 of a pair by the lane that it falls into.
_ZEROS = re.compile(r"\b(f?max|f?min|maximum|minimum|clip)\b")


def same_numbers(one: Any, other: Any, moved: Sequence[Any], *, signed: bool) -> None:
    """Equal, zeros in sign if ``signed``, or as near as the perturbed runs are."""
    one, other = np.asarray(one), np.asarray(other)
    if not moved or other.dtype.kind not in "fc":
        same = one == other
        if other.dtype.kind == "f":
            same &= (np.signbit(one) == np.signbit(other)) | (not signed)
            same |= np.isnan(one) & np.isnan(other)
            if not signed:  # an infinite quotient takes the sign of the zero
                same |= ~np.isfinite(one) & ~np.isfinite(other)
        stable = np.all([run == other for run in moved], axis=0) if moved else True
        assert np.all(same | ~np.asarray(stable)), f"{np.sum(~same)} of {one.size} differ"
        return
    with np.errstate(all="ignore"):
        wide, target = one.astype(np.float64), other.astype(np.float64)
        distances = [np.abs(run.astype(np.float64) - target) for run in moved]
        finite = np.isfinite(target)
        steady = np.all([np.isfinite(run) == finite for run in moved], axis=0)
        allowed = FACTOR * np.max(distances, axis=0) + 4 * np.spacing(np.abs(other)).astype(np.float64)
        near = np.abs(wide - target) <= allowed
    same = (wide == target) | (np.isnan(wide) & np.isnan(target)) | (finite & near) | ~steady
    if not signed:
        same |= ~np.isfinite(wide) & ~finite
    assert np.all(same), f"{np.sum(~same)} of {one.size} differ by more than {np.max(allowed[finite], initial=0.0)}"
