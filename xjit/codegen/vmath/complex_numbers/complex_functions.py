"""The functions of complex numbers by name.

Those of complex64 compute in f64 and round each part once; ``error`` is in units of the last place of the modulus.
Special values and branch cuts are those of C99 Annex G where it has the function, and NumPy's elsewhere, but:

* signs that C99 leaves open are those that the GNU C library gives, as NumPy on Linux;
* ``expm1(x + 0i)`` has the imaginary part 0 for every x, also where exp(x) overflows, as ``exp`` has it;
* ``log1p`` of tiny numbers is the number itself, and of huge ones finite; powers that overflow on the way are right;
* ``rsqrt`` and ``logistic``, which NumPy does not have, map conjugates to conjugates, signs of zero included.
"""

from __future__ import annotations

from xjit.codegen.vmath.complex_numbers import (
    complex_exponential,
    complex_hyperbolic,
    complex_inverse,
    complex_logarithm,
    complex_power,
    complex_root,
)
from xjit.codegen.vmath.vector_function import VectorFunction

_MODULES = (
    complex_exponential,
    complex_hyperbolic,
    complex_inverse,
    complex_logarithm,
    complex_power,
    complex_root,
)

COMPLEX_FUNCTIONS: dict[str, VectorFunction] = {
    function.name: function for module in _MODULES for function in module.FUNCTIONS
}
"""The functions by name."""
