"""Typical mistakes of users, each with what the last line of the traceback has to say.

The line with the comment ``# here`` is the one that users have to find.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import xjit

ROWS = np.arange(12.0).reshape(3, 4)
LINE = np.arange(4.0)
SINGULAR = np.zeros((3, 3))


@dataclass(frozen=True, slots=True)
class Mistake:
    """A call that raises ``kind``; ``strict`` ones raise under strict mode only, and are no mistakes for NumPy."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    names: dict[str, Any]
    kind: type[Exception]
    last: str
    strict: bool
    compiled: bool

    def call(self) -> Any:
        """Makes the mistake."""
        function = xjit.jit(self.function) if self.compiled else self.function
        return function(*self.args, **self.names)

    @property
    def line(self) -> int | None:
        """The number of the line in this file that is wrong, None where it is the call itself."""
        lines, first = inspect.getsourcelines(inspect.unwrap(self.function))
        return next((first + number for number, line in enumerate(lines) if "# here" in line), None)


MISTAKES: dict[str, Mistake] = {}


def mistake(
    *args: Any, kind: type[Exception], last: str, strict: bool = False, compiled: bool = True, **names: Any
) -> Callable[[Any], Any]:
    """Enters a function with the arguments of the call into the table."""

    def enter(function: Any) -> Any:
        MISTAKES[function.__name__] = Mistake(function, args, names, kind, last, strict, compiled)
        return function

    return enter


# Shapes and positions


@mistake(ROWS, np.ones(3), kind=ValueError, last="axis -1 has sizes 4 and 3")
def add_other_shapes(x: Any, y: Any) -> Any:
    doubled = x * 2.0
    return doubled + y  # here


@mistake(ROWS, ROWS, kind=ValueError, last="4 columns and the second 3 rows")
def multiply_matrices(x: Any, y: Any) -> Any:
    return x @ y  # here


@mistake(ROWS, np.ones(3), kind=ValueError, last="4 columns and the second 3 rows")
def dot_product(x: Any, y: Any) -> Any:
    return np.dot(x, y)  # here


@mistake(ROWS, LINE, kind=ValueError, last="the same number of dimensions")
def join(x: Any, y: Any) -> Any:
    return np.concatenate([x, y])  # here


@mistake(ROWS, ROWS.T, kind=ValueError, last="slice or pad dimension 1, or join along it with axis=1")
def join_other_sizes(x: Any, y: Any) -> Any:
    return np.concatenate([x, y])  # here


@mistake(ROWS, kind=ValueError, last="there are the shapes (3,4) and (2,4)")
def stack_other_shapes(x: Any) -> Any:
    return np.stack([x, x[:2]])  # here


@mistake(ROWS, kind=ValueError, last="pass an axis from -2 to 1")
def sum_over_no_axis(x: Any) -> Any:
    return np.exp(x).sum(axis=2)  # here


@mistake(ROWS, kind=ValueError, last="sizes whose product is 12")
def reshape(x: Any) -> Any:
    return x.reshape(5, 5)  # here


@mistake(ROWS, kind=ValueError, last="so that their shapes fit")
def broadcast(x: Any) -> Any:
    return np.broadcast_to(x, (2, 4))  # here


@mistake(ROWS, np.ones(3), kind=ValueError, last="axis -1 has sizes 4 and 3")
def choose(x: Any, y: Any) -> Any:
    return np.where(x > 0.0, x, y)  # here


@mistake(LINE, ROWS, kind=ValueError, last="make a new array")
def add_in_place(x: Any, y: Any) -> Any:
    total = x + 1.0
    total += y  # here
    return total


@mistake(ROWS, kind=IndexError, last="positions along axis 0 go from -3 to 2")
def read_beyond_the_end(x: Any) -> Any:
    return x[7]  # here


@mistake(ROWS, np.array([0, 9]), kind=IndexError, last="use positions that lie within the array")
def gather_beyond_the_end(x: Any, rows: Any) -> Any:
    return x[rows] + 1.0  # here


@mistake(ROWS, kind=IndexError, last="use at most 2 indices")
def index_too_often(x: Any) -> Any:
    return x[0, 0, 0]  # here


@mistake(ROWS, kind=IndexError, last="convert positions with int() or astype(int)")
def index_with_a_float(x: Any) -> Any:
    return x[1.5]  # here


@mistake(ROWS, kind=ValueError, last="pass initial=")
def largest_of_nothing(x: Any) -> Any:
    return x[:0].max()  # here


@mistake(ROWS, kind=ValueError, last="too many values to unpack")
def unpack(x: Any) -> Any:
    a, b = x  # here
    return a + b


# Element types


@mistake(ROWS, kind=TypeError, last="bitwise_and does not take float64 and int")
def bits_of_floats(x: Any) -> Any:
    return x & 1  # here


@mistake(ROWS, kind=TypeError, last="bitwise_and does not take float64")
def bits_in_a_helper(x: Any) -> Any:
    def helper(y: Any) -> Any:
        return np.bitwise_and(y, 1)  # here

    return helper(x + 1.0)


@mistake(ROWS, kind=TypeError, last="pass an element type of NumPy")
def unknown_dtype(x: Any) -> Any:
    return x.astype("flaot32")  # here


@mistake(np.arange(3), kind=ValueError, last="use floats")
def negative_power(x: Any) -> Any:
    return x**-1  # here


@mistake(np.ones(3, np.uint8), kind=OverflowError, last="300 out of bounds for uint8")
def too_large_a_number(x: Any) -> Any:
    return x + 300  # here


# Names and arguments


@mistake(ROWS, kind=TypeError, last="unexpected keyword argument 'axes'")
def unknown_keyword(x: Any) -> Any:
    return np.sum(x, axes=0)  # here


@mistake(ROWS, kind=AttributeError, last="has no attribute 'summ'")
def unknown_function(x: Any) -> Any:
    return np.summ(x)  # here


@mistake(ROWS, kind=AttributeError, last="has no attribute 'summ'")
def unknown_method(x: Any) -> Any:
    return x.summ()  # here


@mistake(ROWS, kind=NameError, last="name 'scael' is not defined")
def unknown_global(x: Any) -> Any:
    return x * scael  # noqa: F821  # here


@mistake(ROWS, kind=TypeError, last="missing 1 required positional argument: 'y'")
def one_argument_too_few(x: Any, y: Any) -> Any:
    return x + y


@mistake(ROWS, z=ROWS, kind=TypeError, last="unexpected keyword argument 'z'")
def unknown_argument(x: Any) -> Any:
    return x


@mistake(ROWS, ROWS, kind=ValueError, last="one term for each operand")
def subscripts(x: Any, y: Any) -> Any:
    return np.einsum("ij,jk->ik", x, y)  # here


@mistake(ROWS, kind=ValueError, last="one term for each operand")
def too_many_subscripts(x: Any) -> Any:
    return np.einsum("ij,jk->ik", x)  # here


# Matrices


@mistake(SINGULAR, SINGULAR, kind=np.linalg.LinAlgError, last="LinAlgError: Singular matrix")
def solve(a: Any, b: Any) -> Any:
    scaled = a * 2.0
    return np.linalg.solve(scaled, b)  # here


@mistake(SINGULAR, kind=np.linalg.LinAlgError, last="LinAlgError: Singular matrix")
def invert_in_a_helper(a: Any) -> Any:
    def helper(b: Any) -> Any:
        return np.linalg.inv(b)  # here

    return helper(a + 0.0)


@mistake(ROWS, ROWS, kind=np.linalg.LinAlgError, last="pass square matrices")
def solve_for_rows(a: Any, b: Any) -> Any:
    return np.linalg.solve(a, b)  # here


# What cannot be captured


@mistake(ROWS, kind=TypeError, last="outside of the function", strict=True)
def text_of_a_value(x: Any) -> Any:
    return {f"{x.max():.2f}": x}  # here


@mistake(ROWS, kind=TypeError, last="use a Python number, or an array of positions", strict=True)
def key_of_a_value(x: Any) -> Any:
    return {1.0: x, 11.0: -x}[x.max()]  # here


@mistake(ROWS, kind=TypeError, last="np.where(mask, x, fill_value)", strict=True)
def leave_zeros_out(x: Any) -> Any:
    return np.trim_zeros(x)  # here


@mistake(ROWS, kind=TypeError, last="sort the array and compare neighbours", strict=True)
def find_unique(x: Any) -> Any:
    return np.unique_values(x)  # here


@mistake(object(), kind=TypeError, last="arrays and numbers that the function reads", strict=True)
def argument_of_another_kind(x: Any) -> Any:
    return x


@mistake({"weights": np.ma.array([1.0])}, kind=TypeError, last="filled(np.nan)", strict=True)
def masked_array(x: Any) -> Any:
    return x


# Operations after XLA


@mistake(ROWS, LINE, kind=ValueError, last="broadcast_dimensions=(1,)")
def add_other_ranks(x: Any, y: Any) -> Any:
    return xjit.ops.add(x, y)  # here


@mistake(ROWS, LINE, kind=ValueError, last="broadcast_dimensions=(1,)", compiled=False)
def add_other_ranks_eagerly(x: Any, y: Any) -> Any:
    return xjit.ops.add(x, y)  # here


@mistake(LINE, LINE.astype(int), kind=TypeError, last="ops.convert_element_type(rhs, np.float64)", compiled=False)
def add_other_types(x: Any, y: Any) -> Any:
    return xjit.ops.add(x, y)  # here


@mistake(ROWS, kind=ValueError, last="a tuple of integers is required; got '5'", compiled=False)
def sizes_as_text(x: Any) -> Any:
    return xjit.ops.reshape(x, "5")  # here


@mistake(kind=TypeError, last="an element type is required; got 'f99'", compiled=False)
def unknown_element_type() -> Any:
    return xjit.ops.iota(xjit.ops.Shape((3,), "f99"), 0)  # here


# The decorator


@mistake(kind=ValueError, last="'cpu' is required, the only target of this version; got 'gpu'", compiled=False)
def unknown_target() -> Any:
    return xjit.jit(target="gpu")(solve)  # here


@mistake(kind=ValueError, last="'ignore' or 'numpy' is required; got 'nump'", compiled=False)
def unknown_errors() -> Any:
    return xjit.jit(solve, errors="nump")  # here


@mistake(kind=TypeError, last="xjit: nogil: there is no such option; the options are target", compiled=False)
def unknown_option() -> Any:
    return xjit.jit(solve, nogil=True)  # here


@mistake(kind=TypeError, last="xjit: a function is required; got int", compiled=False)
def decorate_a_number() -> Any:
    return xjit.jit()(5)  # here


@mistake(kind=ValueError, last="a count of at least 1, got 0", compiled=False)
def no_threads() -> Any:
    return xjit.threads(0)  # here


@mistake(kind=ValueError, last="axis -1 has sizes 4 and 3", compiled=False)
def explain() -> Any:
    return xjit.jit(add_other_shapes).explain(ROWS, np.ones(3))  # here


@mistake(ROWS, kind=ZeroDivisionError, last="division by zero")
def own_mistake(x: Any) -> Any:
    return x + 1 / 0  # here
