"""The calls that the whole surface is swept with: one template in each line, over named arrays.

A name in braces stands for every one of its ALTERNATIVES, so that a line is many calls. Names of arrays, of which a
call gets those that it mentions:

* of the first element type: ``a`` and ``t`` of rank 2 and 3, ``v`` a row of ``a``, ``e`` without elements, ``s`` of
  rank 0, ``q`` square, ``h`` column-major, ``o`` a line in ascending order
* of the second: ``b`` of the shape of ``a``, ``w`` a row, ``r`` of rank 0
* truth values ``m`` and ``n`` in the shapes of ``a`` and ``v``; positions ``i`` along the last axis of ``a``
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

ALTERNATIVES: dict[str, tuple[str, ...]] = {
    "axis": ("None", "0", "-1", "(0, 1)", "()", "2"),
    "one": ("None", "0", "-1", "2"),
    "line": ("0", "-1", "2"),
    "keep": ("False", "True"),
    "type": ("'?'", "'i1'", "'i8'", "'f2'", "'f4'", "'f8'", "'c8'", "'c16'"),
    "number": ("True", "3", "-1", "300", "2.5", "1j", "np.float32(2.5)", "np.int8(3)"),
    "real": ("True", "3", "-1", "300", "2.5", "np.float32(2.5)", "np.int8(3)"),
    "order": ("'C'", "'F'", "'A'", "'K'"),
    "shift": ("1", "-2", "(1, 2)"),
    "offset": ("0", "1", "-1", "7"),
    "any": ("a", "v", "s", "e", "h"),
    "long": ("a", "v", "t", "h"),
    "fold": ("sum", "prod", "max", "min", "any", "all"),
    "moment": ("mean", "var", "std"),
    "nanfold": ("nansum", "nanprod", "nanmax", "nanmin"),
    "nanmoment": ("nanmean", "nanvar", "nanstd"),
    "position": ("argmax", "argmin"),
    "nanposition": ("nanargmax", "nanargmin"),
    "scan": ("cumsum", "cumprod", "nancumsum", "nancumprod"),
    "cumulative": ("cumulative_sum", "cumulative_prod"),
    "quantile": ("quantile", "nanquantile"),
    "percentile": ("percentile", "nanpercentile"),
    "middle": ("median", "nanmedian"),
    "rule": ("linear", "lower", "higher", "nearest", "midpoint", "median_unbiased", "inverted_cdf"),
    "border": (
        "constant",
        "edge",
        "linear_ramp",
        "maximum",
        "mean",
        "median",
        "minimum",
        "reflect",
        "symmetric",
        "wrap",
    ),
    "setting": ("full", "same", "valid"),
    "stacked": ("concatenate", "hstack", "vstack", "dstack", "column_stack"),
    "folding": (
        "add",
        "multiply",
        "maximum",
        "minimum",
        "fmax",
        "fmin",
        "logical_and",
        "logical_or",
        "logical_xor",
        "bitwise_and",
        "bitwise_or",
        "bitwise_xor",
        "hypot",
        "logaddexp",
        "logaddexp2",
    ),
    "mode": ("'wrap'", "'clip'", "'raise'"),
    "norm": ("None", "1", "2", "0", "-1", "np.inf", "-np.inf", "3"),
    "matrixnorm": ("None", "'fro'", "1", "-1", "np.inf", "2", "'nuc'"),
    "fft": ("fft", "ifft", "rfft", "hfft", "ihfft"),
    "ffts": ("fft2", "ifft2", "fftn", "ifftn", "rfft2", "rfftn"),
    "scaling": ("'forward'", "'ortho'"),
    "side": ("'left'", "'right'"),
}


def calls(table: str) -> Iterator[str]:
    """Every call of a table, alternatives written out.

    >>> list(calls("flip(a, {line})"))
    ['flip(a, 0)', 'flip(a, -1)', 'flip(a, 2)']
    """
    for line in filter(None, map(str.strip, table.splitlines())):
        names = list(dict.fromkeys(re.findall(r"{(\w+)}", line)))
        for chosen in itertools.product(*(ALTERNATIVES[name] for name in names)):
            yield line.format(**dict(zip(names, chosen, strict=True)))
