"""Runs fresh random programs against NumPy for as long as it is told, outside of the test suite.

    python -m tests.fuzz --seconds 60 --seed 1
    python -m tests.fuzz --seconds 60 --compiled
    python -m tests.fuzz --seconds 60 --compiled --large   # arrays of up to 150,000 elements
    python -m tests.fuzz --seconds 60 --calls              # single calls and indices, on any types and layouts
    python -m tests.fuzz --seconds 60 --ordinary           # writes, views, loops, branches, arguments that overlap
    python -m tests.fuzz --seconds 60 --ordinary --large   # the same over up to 45,000 elements, compiled
    python -m tests.fuzz --seconds 60 --lengths            # lengths that only the run knows: lists that grow, masks
    python -m tests.fuzz --seconds 60 --splits             # calls in Python, lengths of data, objects
    python -m tests.fuzz --seconds 60 --snippets           # ordinary statements that share their names
    python -m tests.fuzz --seconds 60 --arrays             # NumPy's functions, on any types, layouts and axes
    python -m tests.fuzz --seconds 60 --mutants            # random changes of the ordinary programs of perf/

Prints each kind of failure with its shortest program; the exit status is 1 if there was any. The float comparison
rests on a few perturbed runs of NumPy, so a rare failure by a last bit is the judge's, not the compiler's. Programs
as text run in processes of their own, so that a crash is a failure too; what they were refused for is counted.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
import warnings
from pathlib import Path

from tests.fuzz.pure_programs import call_failures, program_failures
from tests.fuzz.text_workers import crew, summary
from tests.helpers.random_programs import LARGE, SMALL


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=None, help="the first program; a fresh one when left out")
    parser.add_argument("--compiled", action="store_true", help="compile the programs instead of interpreting them")
    parser.add_argument("--large", action="store_true", help="larger arrays in the programs")
    parser.add_argument("--calls", action="store_true", help="single calls of NumPy instead of programs")
    parser.add_argument("--ordinary", action="store_true", help="programs as text, with writes, loops and branches")
    parser.add_argument("--lengths", action="store_true", help="programs as text, of lengths that the run knows")
    parser.add_argument("--splits", action="store_true", help="programs as text that Python has a part in")
    parser.add_argument("--snippets", action="store_true", help="programs as text, of statements that share names")
    parser.add_argument("--arrays", action="store_true", help="programs as text, of NumPy's functions")
    parser.add_argument("--mutants", action="store_true", help="programs as text, near ordinary ones")
    parser.add_argument("--workers", type=int, default=2, help="processes for programs as text")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    seed = random.SystemRandom().randrange(2**40) if options.seed is None else options.seed
    if _sort(options) is not None:
        return _texts(seed, options)
    os.environ["XJIT_STRICT"] = "1"
    stop = time.monotonic() + options.seconds
    if options.calls:
        count, found = call_failures(seed, stop)
    else:
        count, found = program_failures(seed, stop, options.compiled, LARGE if options.large else SMALL)
    for text, (number, program) in found.items():
        print(f"--seed {number}: {text}\n{program}\n")  # noqa: T201
    print(f"{count} from --seed {seed} on, {len(found)} kinds of failure")  # noqa: T201
    return bool(found)


def _sort(options: argparse.Namespace) -> str | None:
    """Return the sort of programs as text that is asked for."""
    return next(
        (one for one in ("snippets", "arrays", "mutants", "splits", "lengths", "ordinary") if getattr(options, one)),
        None,
    )


def _texts(seed: int, options: argparse.Namespace) -> int:
    os.environ["XJIT_TRIALS"] = "0"
    os.environ["XJIT_STRICT"] = "0"
    os.environ["XJIT_DEBUG"] = "0" if options.compiled or options.large else "1"
    sort = _sort(options)
    sort = "larger" if sort == "ordinary" and options.large else sort
    with tempfile.TemporaryDirectory() as name:
        crashes = crew(seed, options.seconds, Path(name), options.workers, sort)
        text, failures = summary(Path(name))
    print(f"{text}\nfrom --seed {seed} on, {crashes} crashes")  # noqa: T201
    return bool(failures or crashes)


if __name__ == "__main__":
    sys.exit(main())
