"""Tries random programs as text in processes of their own, so that a crash is only another kind of failure.

Each program that fails is shrunk and written down at once.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import random
import resource
import subprocess
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.fuzz.arrays.array_texts import array_text
from tests.fuzz.larger.larger_texts import larger_text, length_text
from tests.fuzz.mutants.mutant_texts import mutant_text
from tests.fuzz.shrinking import shrunk
from tests.fuzz.snippets.snippet_texts import snippet_text
from tests.fuzz.splits.split_texts import split_text
from tests.fuzz.states.state_texts import ordinary_text
from tests.fuzz.text_program import TextProgram
from tests.fuzz.text_runs import Tally, kind, tried

SORTS = {
    "ordinary": ordinary_text,
    "splits": split_text,
    "larger": larger_text,
    "lengths": length_text,
    "snippets": snippet_text,
    "arrays": array_text,
    "mutants": mutant_text,
}

MOST_MEMORY = 8 * 2**30
"""Bytes of a worker while it writes a program: attempts at expressions may ask for all that there is."""

OBJECTS_BETWEEN_COLLECTIONS = (20_000, 50, 100)
"""Thresholds of the collector: graphs of large functions are many objects that live as long as a trace."""


def work(seed: int, count: int, stop: float, folder: Path, sort: str = "ordinary") -> None:
    """Try programs from a seed on, and keep a journal of them in the folder."""
    warnings.simplefilter("ignore")
    gc.freeze()
    gc.set_threshold(*OBJECTS_BETWEEN_COLLECTIONS)
    tally, seen = Tally(), Counter[str]()
    for number in range(seed, seed + count):
        if time.time() > stop:
            break
        with _limited_memory():
            program = SORTS[sort](random.Random(number))
        (folder / "current").write_text(f"{number}\n{program}\n")
        failure = tried(program, tally)
        if failure is not None:
            seen[kind(failure)] += 1
            if seen[kind(failure)] <= 2:
                with (folder / "found").open("a") as file:
                    file.write(report(number, program, failure))
        (folder / "tally").write_text(json.dumps(vars(tally) | {"seen": seen, "last": number}))
    (folder / "current").unlink(missing_ok=True)


@contextlib.contextmanager
def _limited_memory() -> Iterator[None]:
    before, most = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY if most < 0 else min(MOST_MEMORY, most), most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (before, most))


def report(seed: int, program: TextProgram, failure: str) -> str:
    """Return a failure with the shortest program that has it, as text."""
    wanted = kind(failure)
    short = shrunk(program, lambda other: kind(tried(other) or "") == wanted, 40.0)
    return f"## seed {seed}: {kind(failure)}\n```\n{short}\n```\n{tried(short)}\n\n"


def crew(seed: int, seconds: float, folder: Path, workers: int, sort: str = "ordinary", count: int = 10**9) -> int:
    """Keep workers busy for so long; return how many programs crashed."""
    stop, crashes = time.time() + seconds, 0
    running: dict[int, tuple[int, subprocess.Popen[bytes]]] = {}
    first = {worker: seed + worker * 10_000_000 for worker in range(workers)}
    rounds: Counter[int] = Counter()
    while time.time() < stop + 120:
        for worker in range(workers):
            if worker not in running and time.time() < stop:
                place = folder / f"{seed}-{worker}-{rounds[worker]}"
                place.mkdir(parents=True, exist_ok=True)
                rounds[worker] += 1
                order = [
                    "--work",
                    str(first[worker]),
                    "--count",
                    str(min(count, 1500)),
                    "--stop",
                    str(stop),
                    "--sort",
                    sort,
                ]
                command = [sys.executable, "-m", "tests.fuzz.text_workers", *order, "--folder", str(place)]
                running[worker] = (rounds[worker] - 1, subprocess.Popen(command))
        for worker, (turn, process) in list(running.items()):
            if process.poll() is None:
                continue
            place = folder / f"{seed}-{worker}-{turn}"
            left = place / "current"
            if left.exists():
                crashes += 1
                text = left.read_text()
                with (folder / "crashes").open("a") as file:
                    file.write(f"## exit {process.returncode}, seed {text}\n")
                first[worker] = int(text.split("\n")[0]) + 1
            else:
                first[worker] += 1500
            del running[worker]
        if not running and time.time() >= stop:
            break
        time.sleep(0.2)
    return crashes


def summary(folder: Path) -> tuple[str, int]:
    """Return what the workers found and counted, as text, and the number of failures."""
    counts, refusals, seen = Counter[str](), Counter[str](), Counter[str]()
    for file in folder.rglob("tally"):
        tally = json.loads(file.read_text())
        counts.update({name: tally[name] for name in ("programs", "calls", "raised", "whole")})
        refusals.update(tally["refusals"])
        seen.update(tally["seen"])
    parts = [file.read_text() for name in ("found", "crashes") for file in sorted(folder.rglob(name))]
    parts += [f"{count:6} {text}" for text, count in seen.most_common()]
    parts += ["refused:", *(f"{count:6} {text}" for text, count in refusals.most_common(40))]
    parts.append(", ".join(f"{name} {count}" for name, count in counts.items()))
    return "\n".join(parts), seen.total()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=int, required=True)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--stop", type=float, default=float("inf"))
    parser.add_argument("--sort", choices=SORTS, default="ordinary")
    parser.add_argument("--folder", type=Path, required=True)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    work(options.work, options.count, options.stop, options.folder, options.sort)


if __name__ == "__main__":
    main()
