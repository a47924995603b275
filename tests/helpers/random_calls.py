"""Random calls of NumPy: lines of the surface's tables and index expressions, over arrays of any type and layout."""

from __future__ import annotations

import random
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.helpers.random_programs import laid_out, random_values
from tests.numpy.surface.surface_calls import ALTERNATIVES
from tests.numpy.surface.surface_judge import function_of, judge
from tests.numpy.surface.surface_lines import ONE, TWO

DTYPES = "?bhilBHILefdFD"
LAYOUTS = ("C", "C", "F", "step", "negative", "moved")
LINES = [line for line in map(str.strip, (ONE + TWO).splitlines()) if line]
ENTRIES = (
    *(":", ":", "...", "None", "0", "-1", "::-1", "-2::-2", "1:", "4:0:-1", "2:2", "[0, -1]", "[]", "np.True_"),
    *("i", "j", "k", "u", "i", "j", "m", "n", "(-1, 0)"),
)
# Values outside of the target's range have no answer, infinities and NaN make other digits, or no answer, of these.
ONLY_SMALL = re.compile(
    r"type|astype|dtype|linspace|logspace|cov|corr|linalg|fft|poly|interp|quantile|percentile|median|"
    r"histogram|digitize|searchsorted|sort|unwrap|trapezoid|gradient|var|std|nan_to_num|isin|full_like|pad|insert|"
    r"choose|average|vander|kron|clip|fmax|fmin|nanm|outer|dot|mat|tensor|einsum|cross|conv|vec|prod|sum|logaddexp|"
    r"hypot|sinc|i0|angle|\*\*|round|around|@|inner|diff|mean|maximum|minimum|max|min|ptp|array\("
)


@dataclass(frozen=True)
class Call:
    """One call with the arrays that it mentions; made anew from a seed, always the same."""

    text: str
    arrays: Mapping[str, Any]

    def __str__(self) -> str:
        shown = {name: (one.dtype.str, one.shape, one.strides, one.tolist()) for name, one in self.arrays.items()}
        return f"{self.text}\n" + "\n".join(f"{name} = {about}" for name, about in shown.items())


def random_call(rng: random.Random) -> Call:
    """A line of a table, or an index, with arrays that it mentions."""
    text = _index(rng) if rng.random() < 0.4 else _line(rng)
    mentioned = set(re.findall(r"\b[a-z]\b", text))
    specials = not ONLY_SMALL.search(text)
    everything = _arrays(rng, specials)
    return Call(text, {name: everything[name] for name in everything if name in mentioned})


def failure(call: Call) -> str | None:
    """Describe the fault in one line; None if nothing is or the call is refused."""
    try:
        judge(call.text, call.arrays, 16.0, zeros=False)
    except Exception as error:
        if "out of bounds" in str(error) and _takes_nothing(call):
            return None
        return f"{type(error).__name__}: {(str(error).strip().splitlines() or [''])[0]}"
    return None


def _takes_nothing(call: Call) -> bool:
    """Return whether NumPy lets wrong positions pass, with a warning that it will not for ever."""
    function, operands = function_of(call.text, call.arrays)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return bool(function(*operands).size == 0)


def _line(rng: random.Random) -> str:
    line = rng.choice(LINES)
    return re.sub(r"{(\w+)}", lambda found: rng.choice(ALTERNATIVES[found[1]]), line)


def _index(rng: random.Random) -> str:
    array = rng.choice("athv")
    return f"{array}[{', '.join(rng.choice(ENTRIES) for _ in range(rng.choice((1, 2, 2, 3, 4))))}]"


def _arrays(rng: random.Random, specials: bool) -> dict[str, Any]:
    first, second = rng.choice(DTYPES), rng.choice(DTYPES)
    shapes = {"a": (3, 4), "t": (2, 3, 4), "v": (4,), "e": (0, 4), "s": (), "q": (3, 3), "h": (3, 4), "o": (4,)}
    others = {"b": (3, 4), "w": (4,), "r": ()}
    numbers = np.random.default_rng(rng.randrange(2**32))
    found = {name: _one(rng, numbers, first, shape, specials) for name, shape in shapes.items()}
    found |= {name: _one(rng, numbers, second, shape, specials) for name, shape in others.items()}
    found["o"] = np.sort(found["o"])
    found["q"] = found["q"] + (9 * np.eye(3)).astype(found["q"].dtype)
    found |= {"m": numbers.random((3, 4)) < 0.5, "n": numbers.random(4) < 0.5}
    kind = rng.choice("bhilBHIL")
    low = 0 if kind.isupper() else -3
    found |= {
        name: numbers.integers(low, 3, shape).astype(kind) for name, shape in {"i": 4, "j": (2, 1), "k": ()}.items()
    }
    found["u"] = numbers.integers(0, rng.choice((2, 5)), 2).astype(np.uint64)
    return found


def _one(rng: random.Random, numbers: np.random.Generator, code: str, shape: tuple[int, ...], specials: bool) -> Any:
    dtype = np.dtype(code)
    if dtype.kind != "c":
        return laid_out(random_values(numbers, code, shape, specials), rng.choice(LAYOUTS))
    parts = [random_values(numbers, code.lower(), shape, specials) for _ in range(2)]
    made = np.empty(shape, dtype)
    made.real, made.imag = parts
    return laid_out(made, rng.choice(LAYOUTS))
