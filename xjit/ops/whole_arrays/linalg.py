"""Dot products, Cholesky factors and triangular systems. BLAS and LAPACK compute them between kernels."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from xjit import jobs
from xjit.dataclass import dataclass
from xjit.errors import ArgumentError, DTypeError, ShapeError
from xjit.ir.opdef import Kind, OpDef, Params, Product, Solver
from xjit.ops.define import rules
from xjit.ops.define.core import (
    apply,
    as_operand,
    aval_of,
    operands_like_each_other,
    register,
    static_flag,
    static_ints,
)
from xjit.ops.define.references import Array
from xjit.ops.define.rules import got
from xjit.ops.elements.convert import convert_element_type
from xjit.types import (
    FLOAT32,
    NAMES,
    NARROW_FLOATS,
    ArrayType,
    Dim,
    DType,
    array_type,
    as_dtype,
    dtype_class,
)

__all__ = ["DotDimensionNumbers", "cholesky", "dot", "dot_general", "triangular_solve"]

Types = tuple[ArrayType, ...]


@dataclass(frozen=True, slots=True)
class DotDimensionNumbers:
    """Which dimensions a dot product sums over, and along which it runs separately; entries are paired in order."""

    lhs_contracting_dimensions: tuple[int, ...]
    rhs_contracting_dimensions: tuple[int, ...]
    lhs_batch_dimensions: tuple[int, ...] = ()
    rhs_batch_dimensions: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        for name in self.__slots__:
            object.__setattr__(self, name, static_ints(getattr(self, name), "dot_general", name))

    def free(self, side: str, rank: int) -> tuple[int, ...]:
        """The dimensions of ``"lhs"`` or ``"rhs"`` that are neither summed over nor batched."""
        used = self.used(side)
        return tuple(axis for axis in range(rank) if axis not in used)

    def used(self, side: str) -> tuple[int, ...]:
        """The batch and contracting dimensions of one side."""
        if side == "lhs":
            return (*self.lhs_batch_dimensions, *self.lhs_contracting_dimensions)
        return (*self.rhs_batch_dimensions, *self.rhs_contracting_dimensions)


def _infer_dot_general(types: Types, params: Params) -> ArrayType:
    name, (lhs, rhs), numbers = "dot_general", types, params["numbers"]
    rules.check_same_dtype(name, ("lhs", "rhs"), types)
    _check_numbers(name, lhs, rhs, numbers)
    for left, right in zip(numbers.used("lhs"), numbers.used("rhs"), strict=True):
        if lhs.dims[left] != rhs.dims[right]:
            raise ShapeError(
                f"ops.{name}: rhs: dimensions {left} and {right} are paired, but their sizes differ; got {got(types)}"
            )
    dims: list[Dim] = [lhs.dims[axis] for axis in numbers.lhs_batch_dimensions]
    dims += [lhs.dims[axis] for axis in numbers.free("lhs", lhs.rank)]
    dims += [rhs.dims[axis] for axis in numbers.free("rhs", rhs.rank)]
    return array_type(lhs.dtype, tuple(dims))


def _check_numbers(name: str, lhs: ArrayType, rhs: ArrayType, numbers: DotDimensionNumbers) -> None:
    pairs = (
        ("contracting", numbers.lhs_contracting_dimensions, numbers.rhs_contracting_dimensions),
        ("batch", numbers.lhs_batch_dimensions, numbers.rhs_batch_dimensions),
    )
    for word, left, right in pairs:
        if len(left) != len(right):
            raise ArgumentError(
                f"ops.{name}: dimension_numbers: both sides need equally many {word} dimensions; "
                f"got {left} and {right}"
            )
    rules.check_axes(name, "dimension_numbers: lhs", numbers.used("lhs"), lhs.rank)
    rules.check_axes(name, "dimension_numbers: rhs", numbers.used("rhs"), rhs.rank)


def _dot_general(lhs: Array, rhs: Array, numbers: DotDimensionNumbers, out: Array | None = None) -> Array:
    if lhs.dtype in NARROW_FLOATS:
        wide = _dot_general(lhs.astype(FLOAT32), rhs.astype(FLOAT32), numbers)
        if out is None:
            return wide.astype(lhs.dtype)
        out[...] = wide
        return out
    turns = _turns(numbers, lhs.ndim, rhs.ndim)
    first, second = lhs.transpose(turns.lhs), rhs.transpose(turns.rhs)
    if turns.plain:
        return np.asarray(np.matmul(first, second, out=out))
    batch, summed = first.shape[: turns.batch], math.prod(second.shape[turns.batch : turns.columns])
    rows, columns = first.shape[turns.batch : turns.rows], second.shape[turns.columns :]
    stack = (*batch, math.prod(rows), math.prod(columns))
    product = np.matmul(
        first.reshape(*stack[:-1], summed),
        second.reshape(*batch, summed, stack[-1]),
        out=None if out is None else out.reshape(stack),
    )
    return np.asarray(product.reshape(*batch, *rows, *columns)) if out is None else out


@dataclass(frozen=True, slots=True)
class _Turns:
    """The operands' dimensions in the order batch, rows, summed and batch, summed, columns, and where those begin.

    ``plain`` says that the summed ones, and the rows and columns where there are several dimensions, are one each.
    """

    lhs: tuple[int, ...]
    rhs: tuple[int, ...]
    batch: int
    rows: int
    columns: int
    plain: bool


@functools.lru_cache(maxsize=1024)
def _turns(numbers: DotDimensionNumbers, lhs_rank: int, rhs_rank: int) -> _Turns:
    left, right = numbers.free("lhs", lhs_rank), numbers.free("rhs", rhs_rank)
    batch, summed = len(numbers.lhs_batch_dimensions), len(numbers.lhs_contracting_dimensions)
    matrices = len(left) == len(right) == 1
    vectors = batch == 0 and len(left) <= 1 and len(right) <= 1
    return _Turns(
        (*numbers.lhs_batch_dimensions, *left, *numbers.lhs_contracting_dimensions),
        (*numbers.rhs_batch_dimensions, *numbers.rhs_contracting_dimensions, *right),
        batch,
        batch + len(left),
        batch + summed,
        summed == 1 and (matrices or vectors),
    )


def _product(params: Params) -> Product:
    numbers = params["numbers"]
    return Product(
        tuple(zip(numbers.lhs_contracting_dimensions, numbers.rhs_contracting_dimensions, strict=True)),
        tuple(zip(numbers.lhs_batch_dimensions, numbers.rhs_batch_dimensions, strict=True)),
    )


DOT_GENERAL = register(
    OpDef(
        name="dot_general",
        kind=Kind.STRUCTURED,
        xla_name="DotGeneral",
        infer=_infer_dot_general,
        reference=_dot_general,
        product=_product,
        threaded=True,
        fresh=True,
        takes_out=True,
        doc="Sums of products over paired dimensions, separately along batch dimensions.",
    )
)


def dot_general(lhs: Any, rhs: Any, dimension_numbers: Any, *, preferred_element_type: Any = None) -> Any:
    """Sums products over the contracting dimensions, separately for each index of the batch dimensions.

    Result dimensions: batch, then the others of lhs, then the others of rhs. ``dimension_numbers`` is a
    DotDimensionNumbers or ``((lhs_contracting, rhs_contracting), (lhs_batch, rhs_batch))``. Element types: any, the
    same for both; PRED is or of ands, integers wrap, narrow floats accumulate in F32. With
    ``preferred_element_type`` both are converted to it first and may differ within one class. Raises DTypeError,
    ArgumentError for dimensions that do not pair up, ShapeError for sizes that differ.

    >>> dot_general(np.float32([[1, 2], [3, 4]]), np.float32([1, 10]), (((1,), (0,)), ((), ())))
    array([21., 43.], dtype=float32)
    """
    name = "dot_general"
    arrays = operands_like_each_other(name, lhs=lhs, rhs=rhs)
    numbers = _numbers(dimension_numbers)
    if preferred_element_type is None:
        return apply(DOT_GENERAL, *arrays, numbers=numbers)
    wide, dtype = preferred_type(name, aval_of(arrays[0]), aval_of(arrays[1]), preferred_element_type)
    left, right = (convert_element_type(array, wide) for array in arrays)
    return convert_element_type(apply(DOT_GENERAL, left, right, numbers=numbers), dtype)


def _numbers(value: Any) -> DotDimensionNumbers:
    if isinstance(value, DotDimensionNumbers):
        return value
    if (
        isinstance(value, Sequence)
        and len(value) == 2
        and all(isinstance(pair, Sequence) and len(pair) == 2 for pair in value)
    ):
        (left, right), (left_batch, right_batch) = value
        return DotDimensionNumbers(left, right, left_batch, right_batch)
    raise ArgumentError(
        "ops.dot_general: dimension_numbers: DotDimensionNumbers or ((lhs, rhs), (lhs_batch, rhs_batch)) "
        f"is required; got {value!r}"
    )


def preferred_type(name: str, lhs: ArrayType, rhs: ArrayType, preferred: Any) -> tuple[DType, DType]:
    """The type in which products are formed, and that of the result; DTypeError if it cannot hold the operands."""
    dtype = as_dtype(preferred, f"ops.{name}: preferred_element_type")
    letters = {dtype_class(type.dtype) for type in (lhs, rhs)}
    allowed = {"P": "PIFC", "I": "I", "F": "FC", "C": "C"}
    fits = dtype in NARROW_FLOATS or all(_holds(dtype, type.dtype) for type in (lhs, rhs))
    if len(letters) != 1 or dtype_class(dtype) not in allowed[letters.pop()] or not fits:
        raise DTypeError(
            f"ops.{name}: preferred_element_type: a type of the operands' class, not a narrower one, is "
            f"required; got {NAMES[dtype]} for {got((lhs, rhs))}"
        )
    return FLOAT32 if dtype in NARROW_FLOATS else dtype, dtype


def _holds(wide: DType, dtype: DType) -> bool:
    return dtype in NARROW_FLOATS or bool(np.can_cast(dtype, wide, "safe"))


def dot(lhs: Any, rhs: Any) -> Any:
    """Vector and matrix products: the last dimension of lhs is contracted with the first of rhs.

    Ranks 1 or 2. Element types: any, the same for both, as in dot_general. Raises DTypeError and ShapeError.

    >>> dot(np.float32([1, 2, 3]), np.float32([4, 5, 6]))
    array(32., dtype=float32)
    """
    arrays = operands_like_each_other("dot", lhs=lhs, rhs=rhs)
    types = aval_of(arrays[0]), aval_of(arrays[1])
    rules.check_same_dtype("dot", ("lhs", "rhs"), types)
    for argument, type in zip(("lhs", "rhs"), types, strict=True):
        if type.rank not in (1, 2):
            raise ShapeError(f"ops.dot: {argument}: rank 1 or 2 is required; got {got((type,))}")
    if types[0].dims[-1] != types[1].dims[0]:
        raise ShapeError(f"ops.dot: rhs: the contracted sizes differ; got {got(types)}")
    return apply(DOT_GENERAL, *arrays, numbers=DotDimensionNumbers((types[0].rank - 1,), (0,)))


# ---- triangular systems


def _square(name: str, type: ArrayType) -> None:
    rules.check_class(name, "a", type, "FC")
    if type.rank < 2 or type.dims[-1] != type.dims[-2]:
        raise ShapeError(f"ops.{name}: a: square matrices are required; got {got((type,))}")


def _infer_cholesky(types: Types, params: Params) -> ArrayType:
    _square("cholesky", types[0])
    return array_type(types[0].dtype, types[0].dims)


def _cholesky(a: Array, lower: bool) -> Array:
    dtype = a.dtype
    wide = a.astype(FLOAT32) if dtype in NARROW_FLOATS else a
    factor = _lower_factor(wide if lower else np.conjugate(wide.swapaxes(-1, -2)))
    return (factor if lower else np.conjugate(factor.swapaxes(-1, -2))).astype(dtype, copy=False)


def _lower_factor(a: Array) -> Array:
    """The factors of matrices of which only the lower triangle is read; NaN for those that have none."""
    try:
        return np.linalg.cholesky(a)
    except np.linalg.LinAlgError:
        if a.ndim == 2:
            return np.full_like(a, np.nan)
    return np.stack([_lower_factor(one) for one in a])


CHOLESKY = register(
    OpDef(
        name="cholesky",
        kind=Kind.STRUCTURED,
        xla_name="Cholesky",
        infer=_infer_cholesky,
        reference=_cholesky,
        solver=lambda params: Solver("potrf", (int(params["lower"]),)),
        threaded=True,
        doc="The Cholesky factors of positive definite matrices.",
    )
)


def cholesky(a: Any, lower: bool) -> Any:
    """The lower factor L with a = L·Lᴴ, or the upper one U with a = Uᴴ·U, of each matrix over the last dimensions.

    Only that triangle of ``a`` is read; the other one of the result is zero. A matrix that is not positive definite
    gives NaN throughout. Element types: float (narrow ones in F32, rounded once), complex. Raises DTypeError and
    ShapeError for matrices that are not square.

    >>> cholesky(np.float32([[4, 99], [2, 10]]), True)
    array([[2., 0.],
           [1., 3.]], dtype=float32)
    """
    return apply(CHOLESKY, as_operand(a, "cholesky", "a"), lower=static_flag(lower, "cholesky", "lower"))


# What is solved with, and the number that BLAS knows it by.
TRANSPOSITIONS = {"NO_TRANSPOSE": 0, "TRANSPOSE": 1, "ADJOINT": 2}


def _infer_triangular(types: Types, params: Params) -> ArrayType:
    name, (a, b) = "triangular_solve", types
    rules.check_class(name, "a", a, "FC")
    rules.check_same_dtype(name, ("a", "b"), types)
    if params["transpose_a"] not in TRANSPOSITIONS:
        raise ArgumentError(
            f"ops.{name}: transpose_a: one of {', '.join(TRANSPOSITIONS)} is required; got {params['transpose_a']!r}"
        )
    _square(name, a)
    if a.rank != b.rank:
        raise ShapeError(f"ops.{name}: b: ranks {a.rank} and {b.rank} differ; got {got(types)}")
    axis = b.rank - 2 if params["left_side"] else b.rank - 1
    if a.dims[-1] != b.dims[axis] or a.dims[:-2] != b.dims[:-2]:
        raise ShapeError(f"ops.{name}: b: sizes differ from those of a; got {got(types)}")
    return array_type(b.dtype, b.dims)


def _triangular_solve(
    a: Array, b: Array, left_side: bool, lower: bool, unit_diagonal: bool, transpose_a: str
) -> Array:
    """The solution by BLAS.

    That works on columns, so that a row-major problem is the transposed one: from the other side.
    """
    dtype = b.dtype
    working = FLOAT32 if dtype in NARROW_FLOATS else dtype
    matrices, result = np.ascontiguousarray(a, working), np.array(b, working, order="C")
    if result.size:
        # Imported late, as it takes as long as all of this package.
        solve = jobs.module("scipy.linalg").get_blas_funcs("trsm", dtype=working)
        for place in np.ndindex(result.shape[:-2]):
            result[place] = solve(
                1.0,
                matrices[place].T,
                result[place].T,
                side=int(left_side),
                lower=int(not lower),
                trans_a=TRANSPOSITIONS[transpose_a],
                diag=int(unit_diagonal),
            ).T
    return result.astype(dtype, copy=False)


def _solver(params: Params) -> Solver:
    """The options are numbers of the interface of BLAS for C."""
    side, triangle = 141 + (not params["left_side"]), 121 + params["lower"]
    return Solver(
        "trsm", (side, triangle, 111 + TRANSPOSITIONS[params["transpose_a"]], 131 + params["unit_diagonal"])
    )


TRIANGULAR_SOLVE = register(
    OpDef(
        name="triangular_solve",
        kind=Kind.STRUCTURED,
        xla_name="TriangularSolve",
        infer=_infer_triangular,
        reference=_triangular_solve,
        solver=_solver,
        threaded=True,
        doc="Solutions of systems of equations with triangular matrices.",
    )
)


def triangular_solve(
    a: Any, b: Any, left_side: bool, lower: bool, unit_diagonal: bool, transpose_a: str = "NO_TRANSPOSE"
) -> Any:
    """Solves op(a)·x = b, or x·op(a) = b unless ``left_side``, over the last two dimensions; batches are equal.

    Of ``a`` only the lower (or upper) triangle is read, and no diagonal if it is taken for ones; op is the matrix
    itself, its transpose or its adjoint. A zero on the diagonal gives infinities and NaN. Element types: float
    (narrow ones in F32, rounded once), complex, the same for both. Raises DTypeError, ArgumentError, ShapeError.

    >>> triangular_solve(np.float32([[2, 99], [1, 4]]), np.float32([[2], [9]]), True, True, False)
    array([[1.],
           [2.]], dtype=float32)
    """
    name = "triangular_solve"
    return apply(
        TRIANGULAR_SOLVE,
        *operands_like_each_other(name, a=a, b=b),
        left_side=static_flag(left_side, name, "left_side"),
        lower=static_flag(lower, name, "lower"),
        unit_diagonal=static_flag(unit_diagonal, name, "unit_diagonal"),
        transpose_a=transpose_a.upper() if isinstance(transpose_a, str) else transpose_a,
    )
