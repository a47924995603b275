"""Runs NumPy's own tests, from the installed package, with compiled functions in place of NumPy's.

    python -m tools.numpy_tests                               # the files below
    python -m tools.numpy_tests lib/tests/test_arraypad.py    # one of them, or another
    python -m tools.numpy_tests --errors numpy                # under @xjit(errors="numpy")
    python -m tools.numpy_tests --json found.json -k pad      # the failures as records; options go on to pytest

Every file runs twice: as it is, and seeing NumPy through modules whose public functions are called inside of compiled
ones.  A test that fails in the second run only has met a difference; known ones are counted with their reason.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from tools.numpy_tests import outcomes
from tools.numpy_tests.outcomes import PASSED, Outcome
from tools.numpy_tests.reasons import reason

ROOT = Path(__file__).resolve().parents[2]
NUMPY = Path(np.__file__).parent
FILES = (
    "_core/tests/test_umath.py",
    "_core/tests/test_numeric.py",
    "_core/tests/test_multiarray.py",
    "_core/tests/test_indexing.py",
    "_core/tests/test_einsum.py",
    "_core/tests/test_ufunc.py",
    "_core/tests/test_shape_base.py",
    "_core/tests/test_item_selection.py",
    "lib/tests/test_function_base.py",
    "lib/tests/test_arraypad.py",
    "lib/tests/test_nanfunctions.py",
    "lib/tests/test_shape_base.py",
    "lib/tests/test_index_tricks.py",
    "lib/tests/test_stride_tricks.py",
    "lib/tests/test_twodim_base.py",
    "lib/tests/test_histograms.py",
    "lib/tests/test_arraysetops.py",
    "lib/tests/test_polynomial.py",
    "fft/tests/test_pocketfft.py",
    "fft/tests/test_helper.py",
    "linalg/tests/test_linalg.py",
)


@dataclass(frozen=True)
class Verdict:
    """One file: what became of its tests in both runs, and of the calls in the second."""

    file: str
    plain: Mapping[str, Outcome]
    wrapped: Mapping[str, Outcome]
    calls: int = 0
    fallbacks: int = 0

    @property
    def differing(self) -> dict[str, Outcome]:
        """Return the tests that pass plain and do not pass wrapped; tests whose names are not the same twice are in
        no run.
        """
        return {
            name: self.wrapped[name]
            for name, outcome in self.plain.items()
            if outcome.word == PASSED and name in self.wrapped and self.wrapped[name].word != PASSED
        }

    @property
    def unexplained(self) -> dict[str, Outcome]:
        """Those without a known reason."""
        return {name: outcome for name, outcome in self.differing.items() if not reason(name, outcome)}


def passed(run: Mapping[str, Outcome]) -> int:
    """Count the tests of a run that have passed."""
    return sum(outcome.word == PASSED for outcome in run.values())


def judged(file: str, folder: Path, options: argparse.Namespace) -> Verdict:
    """Runs a file twice."""
    found = []
    for kind in ("plain", "wrapped"):
        notes = folder / f"{kind}-{file.replace('/', '-')}.notes"
        words = [
            kind,
            str(notes),
            str(options.limit),
            options.errors,
            "-c",
            os.devnull,
            str(NUMPY / file),
            *options.rest,
        ]
        command = ["-m", "tools.numpy_tests.session", *words]
        outcomes.run(command, notes, folder, {"PYTHONPATH": str(ROOT)}, options.limit)
        found.append({short(name): one for name, one in outcomes.read(notes).items()} if notes.exists() else {})
    counts = notes.with_suffix(".counts")
    lines = counts.read_text(encoding="utf-8").splitlines() if counts.exists() else []
    calls, fallbacks = (sum(int(line.split()[number]) for line in lines) for number in (0, 1))
    return Verdict(file, found[0], found[1], calls, fallbacks)


def short(name: str) -> str:
    """The name of a test without the folder that NumPy is installed in."""
    return name.rpartition("numpy/")[2] if "::" not in name else name.partition("::")[2]


def say(text: str) -> None:
    """Prints a line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


HEAD = """\
| file | tests | passed plain | passed wrapped | known differences | other differences | calls | run by NumPy |
|---|---|---|---|---|---|---|---|"""


def row(found: Verdict) -> str:
    """The line of the table for a file."""
    known = len(found.differing) - len(found.unexplained)
    numbers = (len(found.plain), passed(found.plain), passed(found.wrapped), known, len(found.unexplained))
    return f"| {found.file} | {' | '.join(map(str, numbers))} | {found.calls} | {found.fallbacks} |"


def listing(verdicts: Sequence[Verdict]) -> list[str]:
    """The failures, those of one test with one error on a line, and how often each known reason was met."""
    alike: dict[tuple[str, str], list[str]] = {}
    for found in verdicts:
        for name, outcome in found.unexplained.items():
            test, _, case = name.partition("[")
            alike.setdefault((f"{found.file}::{test}", why(outcome)), []).append(case.removesuffix("]"))
    lines = [f"{test}  {_few(cases)}\n    {text}" for (test, text), cases in alike.items()]
    known = Counter(reason(name, one) for found in verdicts for name, one in found.differing.items())
    return lines + [f"{count:5} {text}" for text, count in known.most_common() if text]


def _few(cases: Sequence[str]) -> str:
    """The first cases of a test, and how many there are."""
    text = " ".join(f"[{case}]" for case in cases[:3] if case)
    return f"{text} and {len(cases) - 3} more" if len(cases) > 3 else text


def why(outcome: Outcome) -> str:
    """The statement of the test that failed, and the error, on one line."""
    code = [line.strip() for line in outcome.report.splitlines() if line.startswith("    ") and "^" not in line]
    error = outcome.message.strip().splitlines() or [outcome.word]
    return f"{code[0] if code else ''}  # {' '.join(error)[:160]}"


def records(verdicts: Sequence[Verdict]) -> dict[str, dict[str, dict[str, str]]]:
    """All differences as JSON has them: by file, by test."""
    return {
        found.file: {name: asdict(one) | {"reason": reason(name, one)} for name, one in found.differing.items()}
        for found in verdicts
    }


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(prog="python -m tools.numpy_tests", description=__doc__.split("\n")[0])
    top.add_argument("files", nargs="*", default=FILES, help="test files, as paths inside of the package numpy")
    top.add_argument("--errors", choices=("ignore", "numpy"), default="ignore", help="the option of @xjit")
    top.add_argument("--limit", type=float, default=300.0, help="seconds that one test may take")
    top.add_argument("--json", type=Path, help="write all differences to this file")
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; exit status 1 if a difference has no known reason."""
    options, rest = parser().parse_known_args(arguments)
    options.rest = rest
    verdicts = []
    say(HEAD)
    with tempfile.TemporaryDirectory(prefix="xjit-numpy-tests-") as folder:
        for file in options.files:
            verdicts.append(judged(file, Path(folder), options))
            say(row(verdicts[-1]))
            if options.json:
                options.json.write_text(json.dumps(records(verdicts), indent=1), encoding="utf-8")
    say("\n".join(["", *listing(verdicts)]))
    return 1 if any(found.unexplained for found in verdicts) else 0


if __name__ == "__main__":
    sys.exit(main())
