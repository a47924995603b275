"""Mistakes in calls of convolutions."""

from __future__ import annotations

import numpy as np

from tests.helpers.mistakes import Mistake
from xjit import ops

LINE = np.zeros((1, 3, 8), np.float32)
TAPS = np.zeros((2, 3, 3), np.float32)
IMAGE = np.zeros((2, 4, 6, 6), np.float32)
KERNEL = np.zeros((4, 4, 3, 3), np.float32)
HALF = np.zeros((4, 2, 3, 3), np.float32)


def _general(**others: object) -> object:
    return lambda x, k: ops.conv_general_dilated(x, k, (1, 1), "SAME", **others)


MISTAKES = [
    Mistake(
        "types of lhs and kernel differ",
        lambda x, k: ops.conv(x, k, (1,), "SAME"),
        ops.DTypeError,
        (LINE, TAPS.astype(np.float64)),
    ),
    Mistake(
        "convolution of truth values",
        lambda x, k: ops.conv(x, k, (1,), "SAME"),
        ops.DTypeError,
        (LINE > 0, TAPS > 0),
    ),
    Mistake(
        "strides for two dimensions", lambda x, k: ops.conv(x, k, (1, 1), "SAME"), ops.ArgumentError, (LINE, TAPS)
    ),
    Mistake("stride of zero", lambda x, k: ops.conv(x, k, (0,), "SAME"), ops.ArgumentError, (LINE, TAPS)),
    Mistake("unknown padding", lambda x, k: ops.conv(x, k, (1,), "FULL"), ops.ArgumentError, (LINE, TAPS)),
    Mistake(
        "padding of one side",
        lambda x, k: ops.conv_general_padding(x, k, (1,), ((1,),)),
        ops.ArgumentError,
        (LINE, TAPS),
    ),
    Mistake(
        "dilation of zero",
        lambda x, k: ops.conv_general_padding(x, k, (1,), "SAME", (1,), (0,)),
        ops.ArgumentError,
        (LINE, TAPS),
    ),
    Mistake("no group", lambda x, k: ops.conv(x, k, (1,), "SAME", 0), ops.ArgumentError, (LINE, TAPS)),
    Mistake(
        "groups of both",
        lambda x, k: ops.conv(x, k, (1, 1), "SAME", 2, 2),
        ops.ArgumentError,
        (IMAGE, HALF),
    ),
    Mistake("ranks of lhs and kernel", lambda x, k: ops.conv(x, k, (1,), "SAME"), ops.ShapeError, (LINE, KERNEL)),
    Mistake("features of the kernel", lambda x, k: ops.conv(x, k, (1, 1), "SAME"), ops.ShapeError, (IMAGE, HALF)),
    Mistake(
        "out features that make no groups",
        lambda x, k: ops.conv(x, k, (1, 1), "SAME", 2),
        ops.ShapeError,
        (IMAGE, HALF[:3]),
    ),
    Mistake(
        "batch that makes no groups",
        lambda x, k: ops.conv(x, k, (1, 1), "SAME", batch_group_count=4),
        ops.ShapeError,
        (IMAGE, KERNEL),
    ),
    Mistake(
        "letters without a batch",
        _general(dimension_numbers=("HWC", "HWIO", "HWC")),
        ops.ArgumentError,
        (IMAGE, KERNEL),
    ),
    Mistake(
        "other letters for space",
        _general(dimension_numbers=("NCXY", "OIHW", "NCHW")),
        ops.ArgumentError,
        (IMAGE, KERNEL),
    ),
    Mistake(
        "letters for one dimension",
        _general(dimension_numbers=("NCW", "OIW", "NCW")),
        ops.ArgumentError,
        (IMAGE, KERNEL),
    ),
    Mistake("narrower preferred type", _general(preferred_element_type="s8"), ops.DTypeError, (IMAGE, KERNEL)),
]
