"""The words around the table of errors."""

HEAD = """# Accuracy of elementary functions

Generated kernels use functions of their own (`xjit/codegen/vmath/`), because a call of the C library inside a loop
keeps the loop from becoming vector code. This page says how far their results may be from the true ones. It is
written by `python -m tools.accuracy --table` from `accuracy.json`, where every figure has its method, its date and
a fingerprint of the function that it was measured of.

Errors are in units of the last place of the true result: 0.5 is the best that rounding allows, 1 means that the
result is one of the two floats around the true value. Infinity counts as the first power of two that is too large.

## Largest errors

*Largest error seen* is the largest that the arguments tried have shown: where those are *all*, it is the largest
there is; where they are samples, it says nothing certain about the arguments left out, and a larger one is
likely to exist, as a rule some hundredths above. *Stated bound* is what the product promises
(`VECTOR_FUNCTIONS[name].error`) and its tests demand. *Stale* means that the function has been changed since.
"""

TAIL = """## How they are found

* **float32, all**: all 2³² bit patterns (of odd and even functions the positive half, and the negative half
  compared with it bit by bit) are computed by the loop that kernels run, and screened with float64 functions of
  NumPy, SciPy or our own, whose errors are a few units of the last place of float64, a hundred-millionth of ours.
* **Samples** come from strata, the same number from each: uniform over the useful range and over the exponents of
  all floats and of moderate ones; around zeros, thresholds of overflow and underflow, zeros of the function, powers
  of two, multiples of π/4, ties of the internal reduction, arguments closest to multiples of π/2 (found with
  continued fractions); and special values. "Around" means at all distances, counted in floats. Functions of two
  arguments also have strata of related ones, such as powers with results at the ends of the range. In the end,
  arguments around the worst of all and of every stratum are tried as long as they bring up worse ones. Seeds
  are fixed: `tools/accuracy/records.py` lists everything.
* **MPFR decides.** No reported error comes from the screen. float64 results are screened with 80-bit functions,
  which is only a way to skip what is certainly below the largest error so far: the screen is taken to be wrong by
  up to 0.01 units, near zeros of log-gamma and digamma by as much more as its absolute error makes there, and
  every argument that could still be worse is computed by MPFR with 180 bits. The inverse of the error function
  is two steps of Newton's method with MPFR's error function.
* **Zeros of log-gamma and digamma between their poles**, at negative arguments, are where two terms cancel: float64
  errors are in units of the last place of the largest of one, the result and the term for the positive argument.
* **Classes** are compared for every argument, apart from errors: NaN, infinity, and the sign of zero. So are,
  bit by bit, symmetry and the quick variants of functions that have them.
* The tests repeat this with a million samples of every function and type.

**Without fused multiply-add** (processors before about 2013) a multiplication and an addition stand in for it.
The tests demand errors of at most 4 there. Other processors than x86-64 are untested; the arithmetic is IEEE 754
throughout, so bits should agree.

Arguments published as hardest to round correctly (Lefèvre and Muller) are not among the strata: the true values
lie close to the middle between two floats there, which matters to functions that promise correct rounding and
makes no error of ours larger.

## What holds exactly

* NaN gives NaN, infinities and zeros give what C and IEEE 754 recommend, signs of zero included. Subnormal
  arguments and results are not flushed. Overflow and underflow begin at the float where they should, or where an
  error within the bound puts them.
* Angles of any size: `sin(1e300)` is as good as `sin(1)`. Far from zero a separate reduction with as many digits of
  pi as needed takes over, checked on the arguments that come closest to multiples of π/2.
* `sin`, `cos`, `tanh` and `erf` never exceed one. Odd functions are odd and even ones even in every bit.
  `exp2` of integers and `log2` of powers of two are exact.
* The same argument gives the same bits wherever it stands in an array and however loops are cut up.
* Nothing of the floating-point state of a thread is read or changed: rounding is to nearest, subnormals count,
  no exception is raised.

Monotonicity is not promised. Results differ from NumPy's in the last place now and then: both are within their
bounds, and NumPy's own depend on its version and on the processor.

## Floats of 16 bits

A function of float16 or bfloat16 is the float32 function of the same number, rounded once; the tests compare all
65 536 arguments of every function. Two roundings can end beside the correctly rounded result only where the true
value lies within the float32 error of a tie, which a few in ten thousand do.

Conversions (`xjit/codegen/language/narrow_floats.py`) are exact in one direction and rounded once, to nearest even,
in the other, from float32, float64 and all integers, for formats of 8 bits as well. All codes of all seven formats
and all ties between neighbours are tested.

## Coefficients

`python -m tools.coefficients` derives every coefficient from the definition of its function (it needs
`mpmath`); a test compares the result with what is in use.
"""
