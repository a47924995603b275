"""Mistakes in calls of products, solvers, convolutions and transforms: rules that other tables leave out."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.helpers.mistakes import Mistake
from xjit import ops

LINE = np.arange(5, dtype=np.float32)
GRID = np.zeros((3, 4), np.float32)
WAVE = np.zeros(4, np.complex64)
IMAGE = np.zeros((2, 4, 6), np.float32)
KERNEL = np.zeros((4, 4, 3), np.float32)


def zeros(*dims: int, dtype: Any = np.float32) -> Any:
    """Zeros of these dimensions."""
    return np.zeros(dims, dtype)


def _product(numbers: Any) -> Any:
    return lambda a, b: ops.dot_general(a, b, numbers)


def _transform(kind: str, lengths: Any) -> Any:
    return lambda a: ops.fft(a, kind, lengths)


def _normalised() -> Any:
    return lambda x, s, o: ops.batch_norm_training(x, s, o, 1e-3, 1)


def _conv(**changes: Any) -> Any:
    arguments: dict[str, Any] = {"window_strides": (1,), "padding": ((0, 0),), **changes}
    return lambda x, k: ops.conv_general_padding(x, k, **arguments)


MISTAKES = [
    Mistake("dot: lhs", lambda a, b: ops.dot(a, b), ops.ShapeError, (zeros(1, 2, 3), zeros(3))),
    Mistake("dot: rhs", lambda a, b: ops.dot(a, b), ops.DTypeError, (LINE, zeros(5, dtype=np.int32))),
    Mistake("dot_general: dimension_numbers", _product((((1,), ()), ((), ()))), ops.ArgumentError, (GRID, GRID)),
    Mistake(
        "dot_general: dimension_numbers, 2",
        _product((((1,), (1,)), ((1,), (1,)))),
        ops.ArgumentError,
        (GRID, GRID),
    ),
    Mistake("dot_general: rhs", _product((((0,), (1,)), ((), ()))), ops.ShapeError, (GRID, GRID)),
    Mistake(
        "dot_general: rhs, 2",
        _product((((0,), (0,)), ((), ()))),
        ops.DTypeError,
        (GRID, zeros(3, 4, dtype=np.int32)),
    ),
    Mistake(
        "dot_general: preferred_element_type",
        lambda a, b: ops.dot_general(a, b, (((0,), (0,)), ((), ())), preferred_element_type="f32"),
        ops.DTypeError,
        (zeros(3, dtype=np.int32), zeros(3, dtype=np.int32)),
    ),
    Mistake("cholesky: a", lambda a: ops.cholesky(a, True), ops.DTypeError, (zeros(2, 2, dtype=np.int32),)),
    Mistake(
        "triangular_solve: b",
        lambda a, b: ops.triangular_solve(a, b, True, True, False),
        ops.ShapeError,
        (zeros(2, 2), zeros(2)),
    ),
    Mistake(
        "triangular_solve: a",
        lambda a, b: ops.triangular_solve(a, b, True, True, False),
        ops.ShapeError,
        (GRID, GRID),
    ),
    Mistake(
        "triangular_solve: b, 2",
        lambda a, b: ops.triangular_solve(a, b, True, True, False),
        ops.ShapeError,
        (zeros(2, 2), zeros(3, 1)),
    ),
    Mistake(
        "triangular_solve: b, 3",
        lambda a, b: ops.triangular_solve(a, b, True, True, False),
        ops.DTypeError,
        (zeros(2, 2), zeros(2, 1, dtype=float)),
    ),
    Mistake(
        "triangular_solve: transpose_a",
        lambda a, b: ops.triangular_solve(a, b, True, True, False, "NO"),
        ops.ArgumentError,
        (zeros(2, 2), zeros(2, 1)),
    ),
    Mistake("conv_general_padding: window_strides", _conv(window_strides=(1, 1)), ops.ArgumentError, (IMAGE, KERNEL)),
    Mistake("conv_general_padding: padding", _conv(padding=()), ops.ArgumentError, (IMAGE, KERNEL)),
    Mistake(
        "conv_general_padding: window_strides, 2",
        _conv(window_strides=(0,)),
        ops.ArgumentError,
        (IMAGE, KERNEL),
    ),
    Mistake("conv_general_padding: lhs_dilation", _conv(lhs_dilation=(0,)), ops.ArgumentError, (IMAGE, KERNEL)),
    Mistake(
        "conv_general_padding: feature_group_count",
        _conv(feature_group_count=0),
        ops.ArgumentError,
        (IMAGE, KERNEL),
    ),
    Mistake(
        "conv_general_padding: batch_group_count",
        _conv(batch_group_count=0),
        ops.ArgumentError,
        (IMAGE, KERNEL),
    ),
    Mistake(
        "conv_general_padding: batch_group_count, 2",
        _conv(feature_group_count=2, batch_group_count=2),
        ops.ArgumentError,
        (IMAGE, zeros(4, 2, 3)),
    ),
    Mistake("conv_general_padding: rhs", _conv(), ops.ShapeError, (IMAGE, zeros(4, 4))),
    Mistake("conv_general_padding: rhs, 2", _conv(), ops.ShapeError, (IMAGE, zeros(4, 3, 3))),
    Mistake("conv_general_padding: rhs, 3", _conv(feature_group_count=3), ops.ShapeError, (IMAGE, KERNEL)),
    Mistake("conv_general_padding: rhs, 4", _conv(feature_group_count=2), ops.ShapeError, (IMAGE, zeros(3, 2, 3))),
    Mistake("conv_general_padding: lhs", _conv(batch_group_count=2), ops.ShapeError, (zeros(3, 4, 6), KERNEL)),
    Mistake("conv_general_padding: rhs, 5", _conv(), ops.DTypeError, (IMAGE, KERNEL.astype(np.float64))),
    Mistake("conv_general_padding: lhs, 2", _conv(), ops.DTypeError, (IMAGE.astype(bool), KERNEL.astype(bool))),
    Mistake("batch_norm_training: scale", _normalised(), ops.ShapeError, (GRID, zeros(4, 1), zeros(4))),
    Mistake("batch_norm_training: offset", _normalised(), ops.DTypeError, (GRID, zeros(4), zeros(4, dtype=float))),
    Mistake(
        "batch_norm_grad: grad_output",
        lambda a, s, g: ops.batch_norm_grad(a, s, s, s, g, 0.001, 1),
        ops.ShapeError,
        (GRID, zeros(4), zeros(4, 4)),
    ),
    Mistake(
        "batch_norm_inference: mean",
        lambda a, s, m: ops.batch_norm_inference(a, s, s, m, s, 0.001, 1),
        ops.ShapeError,
        (GRID, zeros(4), zeros(3)),
    ),
    Mistake("fft: fft_length", _transform("FFT", ()), ops.ArgumentError, (WAVE,)),
    Mistake("fft: fft_length, 2", _transform("FFT", (-4,)), ops.ArgumentError, (WAVE,)),
    Mistake("fft: fft_type", _transform("DCT", (4,)), ops.ArgumentError, (WAVE,)),
    Mistake("fft: operand", _transform("FFT", (4, 4)), ops.ShapeError, (WAVE,)),
    Mistake("fft: operand, 2", _transform("FFT", (3,)), ops.ShapeError, (WAVE,)),
    Mistake("fft: operand, 3", _transform("FFT", (5,)), ops.DTypeError, (LINE,)),
    Mistake("fft: operand, 4", _transform("RFFT", (4,)), ops.DTypeError, (WAVE,)),
]
