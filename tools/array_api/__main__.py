"""Runs the tests of the array API standard, from a checkout of them, against compiled functions.

    python -m tools.array_api ../array-api-tests
    python -m tools.array_api ../array-api-tests --max-examples 20 -k sin    # options go on to pytest

The tests run twice, as their documentation says: with NumPy in the variable ``ARRAY_API_TESTS_MODULE``, and with
NumPy's functions called through the namespace of traced arrays.  What fails in the second run only is listed.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from tools.numpy_tests import outcomes
from tools.numpy_tests.__main__ import ROOT, Verdict, listing, passed, say
from tools.numpy_tests.outcomes import Outcome

PACKAGE = "array_api_tests"
MODULES = {"plain": "numpy", "wrapped": "tools.array_api.compiled"}


def run(checkout: Path, module: str, folder: Path, options: argparse.Namespace) -> dict[str, Outcome]:
    """Return the outcome of every test with one module under test."""
    notes = folder / f"{module}.notes"
    words = [str(notes), str(options.limit), "ignore", f"--rootdir={checkout}", str(checkout / PACKAGE)]
    environment = {"ARRAY_API_TESTS_MODULE": module, "PYTHONPATH": f"{ROOT}:{checkout}"}
    # Both runs see the modules as they are; what differs is the one under test.
    command = ["-m", "tools.numpy_tests.session", "plain", *words, *options.rest]
    outcomes.run(command, notes, folder, environment, options.limit)
    return outcomes.read(notes) if notes.exists() else {}


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(prog="python -m tools.array_api", description=__doc__.split("\n")[0])
    top.add_argument("checkout", type=Path, help="folder that holds the package array_api_tests")
    top.add_argument("--limit", type=float, default=300.0, help="seconds that one test may take")
    top.add_argument("--json", type=Path, help="write all differences to this file")
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; exit status 1 if something fails in the second run only, 2 if there are no tests."""
    options, rest = parser().parse_known_args(arguments)
    options.rest = rest
    checkout = options.checkout.resolve()
    if not (checkout / PACKAGE).is_dir():
        say(f"{checkout} holds no folder {PACKAGE}: a checkout of the array API tests is needed")
        return 2
    with tempfile.TemporaryDirectory(prefix="xjit-array-api-") as folder:
        plain, wrapped = (run(checkout, module, Path(folder), options) for module in MODULES.values())
    found = Verdict(PACKAGE, plain, wrapped)
    say(f"{len(plain)} tests: NumPy passes {passed(plain)}, compiled functions {passed(wrapped)}")
    say("\n".join([f"{len(found.differing)} fail with compiled functions only", *listing([found])]))
    if options.json:
        records = {name: asdict(outcome) for name, outcome in found.differing.items()}
        options.json.write_text(json.dumps(records, indent=1), encoding="utf-8")
    return 1 if found.differing else 0


if __name__ == "__main__":
    sys.exit(main())
