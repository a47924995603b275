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
        """Whether a failure has this reason."""
        return bool(re.search(self.test, name) and re.search(self.report, f"{outcome.message}\n{outcome.report}"))


REASONS = (
    Reason(
        "compiled code gives no RuntimeWarning, and raises no FloatingPointError",
        report=r"DID NOT WARN.*RuntimeWarning|RuntimeWarning not triggered|DID NOT RAISE .*FloatingPointError"
        r"|FloatingPointError not raised|No warning raised when calling",
    ),
    Reason(
        "the test looks at the function itself, which is another object", report=r"tools\.numpy_tests\.wrapping\."
    ),
)


def reason(name: str, outcome: Outcome) -> str:
    """Why a test fails, or nothing."""
    return next((one.text for one in REASONS if one.explains(name, outcome)), "")
