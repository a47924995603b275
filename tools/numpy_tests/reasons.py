"""Known reasons why a test of NumPy's fails with compiled functions: first those that the README names."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tools.numpy_tests.outcomes import Outcome


@dataclass(frozen=True, slots=True)
class Reason:
    """A reason is recognised by the name of the test and by its report, both patterns that have to be found."""

    text: str
    test: str = ""
    report: str = ""

    def explains(self, name: str, outcome: Outcome) -> bool:
        """Return whether a failure has this reason."""
        return bool(re.search(self.test, name) and re.search(self.report, f"{outcome.message}\n{outcome.report}"))


NO_WARNING = "compiled code gives no RuntimeWarning, and raises no FloatingPointError"
# Tests that count warnings themselves.
NO_WARNING_IN = r"::test_(empty|ddof_too_big|warnings|tol_warnings|log2_special|sum)$"
REASONS = (
    Reason(
        NO_WARNING,
        report=r"DID NOT WARN.*RuntimeWarning|RuntimeWarning not triggered|DID NOT RAISE .*FloatingPointError"
        r"|FloatingPointError not raised|No warning raised when calling|did not raise fpe error",
    ),
    Reason(NO_WARNING, test=NO_WARNING_IN, report=r"len\(w\)(, | == )[12]|category is RuntimeWarning"),
    Reason(
        "warnings of deprecated arguments are not given",
        report=r"DID NOT WARN.*type \(<class '(Deprecation|Future)?Warning'",
    ),
    Reason(
        "the shape of NumPy's result depends on elements: where it is not the usual one, an error says so",
        report=r"elements below minlength=|no residuals: columns are not independent",
    ),
    Reason(
        "elementary functions differ in the last digits",
        test=r"^Test_I0::test_non_array$|::test_sincos_overlaps\[|::test_ufunc_override_with_super$",
    ),
    Reason(
        "the text of an error is another", report=r"does not match|Regex pattern did not match|Pattern .* not found"
    ),
    Reason(
        "the test asks whether a function is NumPy's own, which none is that the command puts in its place",
        test=r"SpecialMethods::test_(wrap|ufunc_docstring)$|^TestAttributes::test_doc$|_ufunc::test_ufunc_arg$"
        r"|^TestUfunc::test_pickle(_withstring)?$",
    ),
    Reason("of out=... NumPy tells traced values nothing", test=r"^TestUfunc::test_output_ellipsis\["),
    Reason(
        "results of byte-swapped arrays have the byte order of the machine",
        test=r"^TestCreation::test_zeros_like_like_zeros$",
    ),
    Reason(
        "arrays that NumPy lets be written to with a warning are written to without one",
        test=r"^test_writeable_memoryview$",
    ),
    Reason("int64 and uint64 have one name", test=r"^TestMatmul::test_result_types$"),
    Reason("the byte order of arguments is no matter of casting", test=r"^TestUfunc::test_cast_safety\["),
    Reason("the sum of negative zeros alone is a positive one", test=r"^test_addition_reduce_negative_zero\["),
    Reason("containers that come back are others", test=r"^TestDiff::test_n$"),
    Reason("traces keep what they refer to", test=r"reference_leaks?$|^TestDot::test_dot_3args$"),
)


def reason(name: str, outcome: Outcome) -> str:
    """Why a test fails, or nothing."""
    return next((one.text for one in REASONS if one.explains(name, outcome)), "")
