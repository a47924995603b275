"""Single operations: xjit beside JAX, where it is installed, and beside what NumPy or SciPy have for them.

    python -m perf.tables.operations [rounds]

All sides take turns in one process, each after a call that is not timed. Of each the median and the minimum of the
rounds are printed in milliseconds, and the least time of the processors. Results of sides that compute the same are
compared first.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import ndimage, signal

import xjit
from perf.tables.loops import measured
from xjit import ops

Function = Callable[..., Any]
Lax = Any


@dataclass(frozen=True, slots=True)
class Entry:
    """An operation: what xjit compiles, what JAX does, given its modules, and what NumPy or SciPy do.

    ``tolerance`` is the relative error that results may differ by; None where the sides need not agree.
    """

    name: str
    arguments: tuple[Any, ...]
    compiled: Function
    jax: Callable[[Any, Lax], Function]
    library: Function | None = None
    tolerance: float | None = 1e-4
    names: Mapping[str, str] = field(default_factory=lambda: {"library": "NumPy"})


def normals(rng: np.random.Generator, *dims: int) -> Any:
    """Return random numbers in float32."""
    return rng.standard_normal(dims, dtype=np.float32)


def windows(rng: np.random.Generator) -> tuple[Entry, ...]:
    """Return pooling, running windows and batch normalisation."""
    pixels, line = normals(rng, 8, 64, 128, 128), rng.random(1_000_000)
    batch, scale = normals(rng, 32, 64, 56, 56), normals(rng, 64)
    low, zero, wide = np.float32(-np.inf), np.float32(0), np.float64(0)
    threes, twos = (1, 1, 3, 3), (1, 1, 2, 2)
    scipy = {"library": "SciPy"}
    return (
        Entry(
            "reduce_window max 3x3, 8x64x128x128 f32",
            (pixels,),
            lambda x: ops.reduce_window(x, low, ops.max, threes, padding="SAME"),
            lambda jnp, lax: lambda x: lax.reduce_window(x, low, lax.max, threes, (1, 1, 1, 1), "SAME"),
        ),
        Entry(
            "reduce_window mean 2x2 stride 2, 8x64x128x128 f32",
            (pixels,),
            lambda x: ops.reduce_window(x, zero, ops.add, twos, twos) * np.float32(0.25),
            lambda jnp, lax: lambda x: lax.reduce_window(x, zero, lax.add, twos, twos, "VALID") * np.float32(0.25),
        ),
        Entry(
            "rolling sum of 100, 10^6 f64",
            (line,),
            lambda x: ops.reduce_window(x, wide, ops.add, (100,)),
            lambda jnp, lax: lambda x: lax.reduce_window(x, wide, lax.add, (100,), (1,), "VALID"),
            lambda x: (ndimage.uniform_filter1d(x, 100, mode="constant") * 100)[50:-49],
            names=scipy,
        ),
        Entry(
            "rolling maximum of 100, 10^6 f64",
            (line,),
            lambda x: ops.reduce_window(x, -np.inf, ops.max, (100,)),
            lambda jnp, lax: lambda x: lax.reduce_window(x, -np.inf, lax.max, (100,), (1,), "VALID"),
            lambda x: ndimage.maximum_filter1d(x, 100)[50:-49],
            names=scipy,
        ),
        Entry(
            "batch_norm_training 32x64x56x56 f32",
            (batch, scale, scale),
            lambda x, a, b: ops.batch_norm_training(x, a, b, 1e-5, 1),
            _normalised_by_jax,
            _normalised,
            1e-2,
        ),
    )


def _normalised(x: Any, scale: Any, offset: Any) -> Any:
    mean, variance = x.mean((0, 2, 3)), x.var((0, 2, 3))
    factor = scale / np.sqrt(variance + np.float32(1e-5))
    columns = (slice(None), None, None)
    return (x - mean[columns]) * factor[columns] + offset[columns], mean, variance


def _normalised_by_jax(jnp: Any, lax: Lax) -> Function:
    def run(x: Any, scale: Any, offset: Any) -> Any:
        mean, variance = x.mean((0, 2, 3)), x.var((0, 2, 3))
        factor = scale / jnp.sqrt(variance + np.float32(1e-5))
        columns = (slice(None), None, None)
        return (x - mean[columns]) * factor[columns] + offset[columns], mean, variance

    return run


def convolutions(rng: np.random.Generator) -> tuple[Entry, ...]:
    """Return convolutions of images and lines."""
    image, line = normals(rng, 8, 32, 64, 64), normals(rng, 16, 64, 4096)
    kernels, apiece, taps = normals(rng, 64, 32, 3, 3), normals(rng, 32, 1, 3, 3), normals(rng, 64, 64, 5)

    def of(name: str, x: Any, w: Any, strides: tuple[int, ...], groups: int = 1, by: Function | None = None) -> Entry:
        return Entry(
            name,
            (x, w),
            lambda x, w: ops.conv(x, w, strides, "SAME", groups),
            lambda jnp, lax: lambda x, w: lax.conv_general_dilated(x, w, strides, "SAME", feature_group_count=groups),
            by,
            1e-2,
            {"library": "SciPy"},
        )

    return (
        of("conv 3x3, 8x32x64x64 to 64 f32", image, kernels, (1, 1), 1, _convolved),
        of("conv 3x3 depthwise, 8x32x64x64 f32", image, apiece, (1, 1), 32, _convolved_apiece),
        of("conv 5, 16x64x4096 to 64 f32", line, taps, (1,)),
        of("conv 3x3 stride 2, 8x32x64x64 to 64 f32", image, kernels, (2, 2)),
    )


def _convolved(x: Any, w: Any) -> Any:
    result = np.zeros((x.shape[0], w.shape[0], *x.shape[2:]), np.float32)
    for n, o, c in np.ndindex(x.shape[0], w.shape[0], w.shape[1]):
        result[n, o] += signal.correlate2d(x[n, c], w[o, c], "same")
    return result


def _convolved_apiece(x: Any, w: Any) -> Any:
    planes = [signal.correlate2d(x[n, c], w[c, 0], "same") for n, c in np.ndindex(*x.shape[:2])]
    return np.stack(planes).reshape(x.shape)


def rows_of(x: Any, rows: Any) -> Any:
    """Return rows of a table."""
    places: dict[str, Any] = {"offset_dims": (1,), "collapsed_slice_dims": (0,), "start_index_map": (0,)}
    return ops.gather(x, rows, slice_sizes=(1, x.shape[1]), index_vector_dim=1, **places)


def added_to(x: Any, rows: Any, updates: Any) -> Any:
    """Return sums with what is added to each."""
    places: dict[str, Any] = {
        "update_window_dims": (),
        "inserted_window_dims": (0,),
        "scatter_dims_to_operand_dims": (0,),
    }
    return ops.scatter(x, rows, updates, ops.add, index_vector_dim=1, **places)


def indexing(rng: np.random.Generator) -> tuple[Entry, ...]:
    """Return gathers and scatters."""
    table, rows = normals(rng, 100_000, 64), rng.integers(0, 100_000, 1_000_000)
    sums, updates = normals(rng, 100_000), normals(rng, 1_000_000)

    def scattered_by_jax(jnp: Any, lax: Lax) -> Function:
        return lambda x, i, u: x.at[i].add(u)

    def scattered(x: Any, i: Any, u: Any) -> Any:
        result = x.copy()
        np.add.at(result, i, u)
        return result

    return (
        Entry(
            "gather 10^6 rows of 10^5x64 f32",
            (table, rows),
            rows_of,
            lambda jnp, lax: lambda x, i: x.at[i].get(mode="clip"),
            lambda x, i: x.take(i, 0),
        ),
        Entry(
            "scatter-add 10^6 into 10^5 f32",
            (sums, rows, updates),
            added_to,
            scattered_by_jax,
            scattered,
        ),
    )


def sorts(rng: np.random.Generator) -> tuple[Entry, ...]:
    """Return sorts."""
    line, lines, second = normals(rng, 1_000_000), normals(rng, 10_000, 100), rng.integers(0, 9, 1_000_000)
    return (
        Entry("sort 10^6 f32", (line,), ops.sort, lambda jnp, lax: jnp.sort, np.sort),
        Entry("sort 10^4 rows of 100 f32", (lines,), ops.sort, lambda jnp, lax: jnp.sort, np.sort),
        Entry(
            "stable argsort 10^6 f32",
            (line,),
            lambda x: np.argsort(x, kind="stable"),
            lambda jnp, lax: jnp.argsort,
            lambda x: np.argsort(x, kind="stable"),
        ),
        Entry(
            "sort of two operands by a comparator, 10^6",
            (line, second),
            lambda x, y: ops.sort((x, y), lambda a, b, p, q: ops.lt(a, b)),
            lambda jnp, lax: lambda x, y: lax.sort((x, y), num_keys=1),
        ),
    )


def products(rng: np.random.Generator) -> tuple[Entry, ...]:
    """Return products of matrices."""
    a, b = normals(rng, 1024, 1024), normals(rng, 1024, 1024)
    p, q = normals(rng, 64, 128, 128), normals(rng, 64, 128, 128)
    batched = (((2,), (1,)), ((0,), (0,)))
    return (
        Entry("dot 1024^3 f32", (a, b), ops.dot, lambda jnp, lax: jnp.dot, np.dot, 1e-2),
        Entry(
            "dot_general 64x128x128x128 f32",
            (p, q),
            lambda x, y: ops.dot_general(x, y, batched),
            lambda jnp, lax: lambda x, y: lax.dot_general(x, y, batched),
            np.matmul,
            1e-2,
        ),
    )


def random_bits(rng: np.random.Generator) -> tuple[Entry, ...]:
    """Return random bits."""
    state, count = rng.integers(0, 2**63, 2, dtype=np.uint64), 10_000_000

    def of(algorithm: str, number: int, start: Any) -> Entry:
        def by_jax(jnp: Any, lax: Lax) -> Function:
            kind = importlib.import_module("jax").lax.RandomAlgorithm
            algorithms = {"RNG_THREE_FRY": kind.RNG_THREE_FRY, "RNG_PHILOX": kind.RNG_PHILOX}
            return lambda key: lax.rng_bit_generator(key, (count,), np.uint32, algorithm=algorithms[algorithm])

        generator = np.random.Generator(np.random.Philox(number))
        return Entry(
            f"{algorithm}, 10^7 u32",
            (start,),
            lambda key: ops.rng_bit_generator(algorithm, key, f"u32[{count}]"),
            by_jax,
            lambda key: generator.integers(0, 2**32, count, dtype=np.uint32),
            None,
            {"library": "NumPy Philox"},
        )

    return of("RNG_THREE_FRY", 1, state), of("RNG_PHILOX", 2, state)


FAMILIES = (windows, convolutions, indexing, sorts, products, random_bits)


def sides(one: Entry) -> dict[str, Callable[[], Any]]:
    """Return what is measured, by name; each returns when its result is there."""
    compiled = xjit.jit(lambda *arrays: one.compiled(*arrays), strict=True)
    found: dict[str, Callable[[], Any]] = {"xjit": lambda: compiled(*one.arguments)}
    if one.library is not None:
        library = one.library
        found[one.names["library"]] = lambda: library(*one.arguments)
    try:
        jax = importlib.import_module("jax")
    except ImportError:
        return found
    jax.config.update("jax_enable_x64", True)
    device = [jax.numpy.asarray(array) for array in one.arguments]
    traced = jax.jit(one.jax(jax.numpy, jax.lax))
    return {**found, "JAX": lambda: jax.block_until_ready(traced(*device))}


def main(rounds: int) -> None:
    """Print the table."""
    print("| operation | side | median | minimum | processors |\n|---|---|---|---|---|")
    for one in (each for family in FAMILIES for each in family(np.random.default_rng(7))):
        functions = sides(one)
        if one.tolerance is not None:
            compare(one, functions, one.tolerance)
        for name, found in measured(functions, rounds).items():
            walls, processors = zip(*found, strict=True)
            figures = [float(np.median(walls)), min(walls), min(processors)]
            text = " | ".join(f"{1e3 * each:.2f}" for each in figures)
            print(f"| {one.name} | {name} | {text} |", flush=True)


def compare(one: Entry, functions: Mapping[str, Callable[[], Any]], tolerance: float) -> None:
    """Raise AssertionError unless the results of all sides are as close as the largest element allows."""
    expected = _leaves(functions["xjit"]())
    for name, run in functions.items():
        for got, wanted in zip(_leaves(run()), expected, strict=False):
            margin = tolerance * float(np.abs(wanted).max())
            np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=margin, err_msg=f"{one.name} {name}")


def _leaves(result: Any) -> tuple[Any, ...]:
    return tuple(map(np.asarray, result if isinstance(result, tuple | list) else (result,)))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 7)
