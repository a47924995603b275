"""A random program as text: a function, its helpers and globals, and what it is called with.

The text defines ``f`` and ``arguments(k, r)``: ``k`` chooses lengths and layouts, ``r`` the numbers in the arrays.
"""

from __future__ import annotations

import itertools
import linecache
import re
import types
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

NOISY = re.compile(
    r"\bnp\.(dot|matmul|exp|sin|cos|log1p|tanh|einsum|outer|inner|abs|sqrt)\b|\babs\(|@|\*\*"
    r"|\.(sum|prod|cumsum|cumprod|mean|std|var|dot)\("
)
NOISY_IF_COMPLEX = re.compile(r"\bcomplex(64|128)\b[^$]*(\*|\bnp\.(sign|angle|square|multiply)\b)")
"""Products of complex numbers have last bits of their own: NumPy's vector loops fuse one of the multiplications with
the addition, its numbers do not.
"""
NOISY_IN_PYTHON = re.compile(NOISY.pattern + r"|\b(ndimage|stats|special|math)\.")
TOLERANCES = {"f2": 1e-1, "f4": 1e-3, "c8": 1e-3}
COMPUTED_IN_SINGLE = re.compile(r"\b(float32|complex64|u?int16)\b")
"""Types of which functions compute in numbers of 32 bits, whatever they are stored in."""
_NUMBERS = itertools.count()


def values(seed: int, dtype: str, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Return small numbers of which sums and a few products are exact."""
    rng = np.random.default_rng([seed, 7])
    kind = np.dtype(dtype).kind
    if kind == "b":
        return np.asarray(rng.integers(0, 2, shape)).astype(bool)
    if kind == "u":
        return np.asarray(rng.integers(0, 12, shape)).astype(dtype)
    whole = np.asarray(rng.integers(-6, 10, shape))
    if kind == "i":
        return whole.astype(dtype)
    part = whole * 0.5 + (0.25 if seed % 2 else 0.0)
    return (part + 1j * np.asarray(rng.integers(-3, 4, shape)) if kind == "c" else part).astype(dtype)


def places(seed: int, count: int, below: int) -> np.ndarray[Any, Any]:
    """Return positions in an axis, some of them several times."""
    return np.random.default_rng([seed, 8]).integers(0, max(below, 1), count if below else 0)


def laid_out(array: np.ndarray[Any, Any], layout: str) -> np.ndarray[Any, Any]:
    """Return the array with its elements elsewhere in memory."""
    array = np.asarray(array)
    if layout == "F":
        return np.asfortranarray(array)
    if array.ndim == 0 and layout != "read only":
        return array
    if layout == "every second":
        wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1] + 1), array.dtype)
        wide[..., 1::2] = array
        return wide[..., 1::2]
    if layout == "backwards":
        return array[::-1].copy()[::-1]
    if layout == "turned":
        whole = (slice(None, None, -1),) * array.ndim
        return array.T[whole].copy()[whole].T
    if layout == "unaligned":
        held = np.zeros(array.nbytes + 1, np.uint8)[1:].view(array.dtype).reshape(array.shape)
        held[...] = array
        return held
    if layout == "swapped":
        return array.astype(array.dtype.newbyteorder())
    if layout == "repeated":
        return np.broadcast_to(array[:1], array.shape)
    if layout == "read only":
        array.flags.writeable = False
    return array


@dataclass(frozen=True)
class TextProgram:
    """The text, and the calls: pairs of ``k`` and ``r``.

    Of a ``watched`` one, printed text, random numbers and the lines of errors are compared, too. One that is
    ``changed`` at random from another may divide by what is only rounding.
    """

    text: str
    calls: tuple[tuple[int, int], ...] = ((0, 0), (0, 1), (1, 2))
    watched: bool = False
    changed: bool = False

    @property
    def noisy(self) -> bool:
        """Return whether last bits of its floats are free."""
        noisy = NOISY_IN_PYTHON if self.watched else NOISY
        return noisy.search(self.text) is not None or NOISY_IF_COMPLEX.search(self.text) is not None

    def tolerance(self, dtype: np.dtype[Any]) -> float:
        """Return the part of the largest number by which floats of a type may differ in a noisy program."""
        single = COMPUTED_IN_SINGLE.search(self.text) is not None
        return max(TOLERANCES.get(dtype.str[1:], 1e-9), 1e-5 if single else 0.0)

    def module(self, numpy: Any = np) -> types.ModuleType:
        """Run the text as a module of its own."""
        name = f"<random program {next(_NUMBERS)}>"
        linecache.cache[name] = (len(self.text), None, self.text.splitlines(keepends=True), name)
        module = types.ModuleType("random_program")
        module.__dict__.update(np=numpy, values=values, places=places, laid_out=laid_out)
        exec(compile(self.text, name, "exec", dont_inherit=True), module.__dict__)
        return module

    def lines(self) -> Iterator[str]:
        """Yield the text and its calls, as a person would run them."""
        yield from self.text.splitlines()
        yield f"# calls: {', '.join(f'f(*arguments({k}, {r}))' for k, r in self.calls)}"

    def __str__(self) -> str:
        return "\n".join(self.lines())
