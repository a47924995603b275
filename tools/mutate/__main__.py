"""Puts small faults into a copy of the code, one at a time, and lists those that no test sees.

    python -m tools.mutate --layer api --count 40 --seed 1    # 40 faults in one layer
    python -m tools.mutate --count 100                        # 100 over all layers
    python -m tools.mutate --layer ir --json found.json       # the same as records
    python -m tools.mutate --layer ir --only 17               # the 18th again, with what the tests say
    python -m tools.mutate --layer api --show                 # the faults, without running any

A fault is one edit: a comparison, an operand, a constant, a statement, a condition, a keyword argument.  Tests that
enter the function run first, of the layer's own files and then of the core, for as long as ``--seconds`` allows; a
run that hangs counts as caught.  What survives is equivalent, of no matter, or a hole in the tests.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tools.mutate.layers import LAYERS
from tools.mutate.mutants import Mutant, sample
from tools.mutate.trial import SURVIVED, Outcome, Yard

ROOT = Path(__file__).resolve().parents[2]


def say(text: str) -> None:
    """Prints a line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(prog="python -m tools.mutate", description=__doc__.split("\n")[0])
    top.add_argument("--layer", choices=[*LAYERS, "all"], default="all", help="where the faults are put")
    top.add_argument("--count", type=int, default=40, help="how many faults")
    top.add_argument("--seed", type=int, default=0, help="another number draws other faults")
    top.add_argument("--seconds", type=float, default=30.0, help="seconds of tests for one fault, as measured before")
    top.add_argument("--only", type=int, help="this one of the drawn faults, with the output of the tests")
    top.add_argument("--show", action="store_true", help="list the faults only")
    top.add_argument("--state", type=Path, help="folder that keeps what tests enter, for the next run")
    top.add_argument("--json", type=Path, help="write the outcomes to this file, after every fault")
    return top


def drawn(layers: Sequence[str], count: int, seed: int) -> list[tuple[str, Mutant]]:
    """(layer, fault): as many of every layer, as far as that goes."""
    shares = [count // len(layers) + (number < count % len(layers)) for number in range(len(layers))]
    return [
        (layer, mutant)
        for layer, share in zip(layers, shares, strict=True)
        for mutant in sample(LAYERS[layer].sources(ROOT), share, seed)
    ]


def difference(mutant: Mutant) -> str:
    """The lines of a fault, indented."""
    lines = mutant.difference((ROOT / mutant.path).read_bytes())
    return "\n".join(f"    {line}" for line in lines)


def run(faults: Sequence[tuple[str, Mutant]], options: argparse.Namespace, folder: Path) -> list[tuple[str, Outcome]]:
    """Tries all faults, layer by layer."""
    found: list[tuple[str, Outcome]] = []
    yard = Yard(ROOT, folder, options.state or folder / "state")
    for layer in dict.fromkeys(layer for layer, _ in faults):
        reach = yard.record(LAYERS[layer].test_files(yard.root))
        say(f"{layer}: {len(reach.seconds)} tests of {sum(reach.seconds.values()):.0f} s")
        for own, mutant in faults:
            if own != layer:
                continue
            outcome = yard.attempt(mutant, LAYERS[layer], reach, options.seconds)
            found.append((layer, outcome))
            say(f"{outcome.verdict:8} {mutant.path}:{mutant.line} {mutant.kind} {outcome.seconds} s {outcome.by}")
            if outcome.verdict == SURVIVED:
                say(difference(mutant))
            if options.only is not None:
                say(yard.log.read_text(encoding="utf-8", errors="replace"))
            if options.json:
                options.json.write_text(json.dumps([record(*one) for one in found], indent=1), encoding="utf-8")
    return found


def record(layer: str, outcome: Outcome) -> dict[str, object]:
    """One outcome as JSON has it."""
    lines = outcome.mutant.difference((ROOT / outcome.mutant.path).read_bytes())
    fields = dataclasses.asdict(outcome)
    fields["mutant"]["new"] = outcome.mutant.new.decode()
    return {"layer": layer, **fields, "difference": lines}


def table(found: Sequence[tuple[str, Outcome]]) -> str:
    """Return the table of faults that were caught, by layer."""
    lines = ["", "| layer | faults | caught | of these by the time limit | survived |", "|---|---|---|---|---|"]
    for layer in dict.fromkeys(layer for layer, _ in found):
        words = [outcome.verdict for own, outcome in found if own == layer]
        lived = words.count(SURVIVED)
        lines.append(f"| {layer} | {len(words)} | {len(words) - lived} | {words.count('time')} | {lived} |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; exit status 1 if a fault survived."""
    options = parser().parse_args(arguments)
    faults = drawn(list(LAYERS) if options.layer == "all" else [options.layer], options.count, options.seed)
    if options.only is not None:
        faults = faults[options.only : options.only + 1]
    if options.show:
        for number, (layer, mutant) in enumerate(faults):
            say(f"{number} {layer} {mutant.path}:{mutant.line} {mutant.kind}\n{difference(mutant)}")
        return 0
    for module in ("numpy", "numba", "pytest", "scipy.special"):  # what every run needs is forked
        __import__(module)
    with tempfile.TemporaryDirectory(prefix="xjit-mutate-") as folder:
        found = run(faults, options, Path(folder))
    say(table(found))
    return 1 if any(outcome.verdict == SURVIVED for _, outcome in found) else 0


if __name__ == "__main__":
    sys.exit(main())
