"""Convolutions by loops written from their index equations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def convolved(
    lhs: Any,
    rhs: Any,
    strides: Sequence[int],
    padding: Sequence[tuple[int, int]],
    lhs_dilation: Sequence[int],
    rhs_dilation: Sequence[int],
    groups: tuple[int, int],
) -> Any:
    """The definition, term by term, over Python numbers."""
    features, batches = groups
    batch, outputs, inputs = lhs.shape[0] // batches, rhs.shape[0], rhs.shape[1]
    spans = [0 if n == 0 else (n - 1) * d + 1 for n, d in zip(lhs.shape[2:], lhs_dilation, strict=True)]
    counts = []
    for span, k, stride, d, (low, high) in zip(spans, rhs.shape[2:], strides, rhs_dilation, padding, strict=True):
        room, window = low + span + high, (k - 1) * d + 1
        counts.append(0 if room <= 0 or window > room else (room - window) // stride + 1)
    result = np.zeros((batch, outputs, *counts), object)
    for b, z, *at in np.ndindex(result.shape):
        total: Any = 0
        for i, *tap in np.ndindex(rhs.shape[1:]):
            places = [
                o * stride + k * d - low
                for o, k, stride, d, (low, _) in zip(at, tap, strides, rhs_dilation, padding, strict=True)
            ]
            counted = all(
                0 <= q < span and q % d == 0 for q, span, d in zip(places, spans, lhs_dilation, strict=True)
            )
            if counted:
                channel = z // (outputs // features) * inputs + i
                row = z // (outputs // batches) * batch + b
                where = tuple(q // d for q, d in zip(places, lhs_dilation, strict=True))
                total += lhs[(row, channel, *where)].item() * rhs[(z, i, *tap)].item()
        result[(b, z, *at)] = total
    return result
