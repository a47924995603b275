"""Recordings of what the compiler makes of known programs, compared between revisions.

    python -m tools.replay record FILE                  # the programs of perf/ and the golden texts
    python -m tools.replay record FILE --suite -n 2     # and what the tests compile; words after it go to pytest
    python -m tools.replay compare REVISION             # an older revision with the working tree
    python -m tools.replay compare OLD --old-file A --new-file B      # two recordings made before

Recordings hold plans and texts of kernels.  Texts that differ are compiled, each by its own revision: kernels of
equal machine code count as renamed, of the others the first line that differs is printed.  Exit status 1 if there
are any.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from tools.replay import revisions
from tools.replay.differences import Comparison, compared
from tools.replay.records import Record, from_line, load, save


def say(*lines: str) -> None:
    """Write lines to the standard output."""
    sys.stdout.writelines(f"{line}\n" for line in lines)
    sys.stdout.flush()


def record(file: Path, suite: bool, words: Sequence[str]) -> int:
    """Make a recording; return the exit status of the tests."""
    from tools.replay import programs

    found, status = programs.records(), 0
    if suite:
        with tempfile.TemporaryDirectory(prefix="xjit-replay-") as name:
            plugin = ["-p", "tools.replay.plugin", "--replay-folder", name]
            command = [sys.executable, "-m", "pytest", "-q", *plugin, *words]
            environment = {**os.environ, "PYTHONPATH": str(revisions.ROOT)}
            status = subprocess.run(command, cwd=revisions.ROOT, env=environment).returncode
            found += _lines_in(Path(name))
    say(f"{save(file, found)} programs in {file}")
    return status


def _lines_in(folder: Path) -> Iterator[Record]:
    for file in sorted(folder.glob("*.lines")):
        with file.open(encoding="utf-8") as lines:
            yield from map(from_line, lines)


def compare(revision: str, files: tuple[Path | None, Path | None], most: int) -> int:
    """Compare a revision with the working tree; recordings that are not given are made."""
    with revisions.tree(revision) as old, revisions.tree(None) as new:
        recordings = []
        for tree, given in zip((old, new), files, strict=True):
            file = given or tree.cache.parent / "recording"
            if given is None:
                tree.record(file)
            recordings.append(load(file))
        found = compared(recordings[0], recordings[1], old.objects, new.objects)
    say(*report(found, most))
    return 1 if found.differences else 0


def report(found: Comparison, most: int) -> list[str]:
    """Return the comparison in lines, at most so many differences."""
    lines = [str(difference) for difference in found.differences[:most]]
    if len(found.differences) > most:
        lines.append(f"... and {len(found.differences) - most} more")
    lines.append(
        f"{found.compared} programs compared: {len(found.differences)} differ, "
        f"{found.renamed} kernels have another text and the same machine code"
    )
    for names, word in ((found.gone, "not captured so any more"), (found.added, "new")):
        if names:
            shown = ", ".join(names[:5]) + (" ..." if len(names) > 5 else "")
            lines.append(f"{len(names)} programs {word}: {shown}")
    return lines


def parser() -> argparse.ArgumentParser:
    """Return the command line."""
    top = argparse.ArgumentParser(prog="python -m tools.replay", description=__doc__.split("\n")[0])
    commands = top.add_subparsers(dest="command", required=True)
    one = commands.add_parser("record", help="write a recording of the working tree")
    one.add_argument("file", type=Path)
    one.add_argument("--suite", action="store_true", help="also of what the tests compile; this runs them")
    two = commands.add_parser("compare", help="compare an older revision with the working tree")
    two.add_argument("revision")
    two.add_argument("--old-file", type=Path, help="a recording of the revision, made before")
    two.add_argument("--new-file", type=Path, help="a recording of the working tree, made before")
    two.add_argument("--most", type=int, default=20, help="how many differences are printed")
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command."""
    options, words = parser().parse_known_args(arguments)
    if options.command == "record":
        return record(options.file, options.suite, words)
    if words:
        parser().error(f"unknown words: {' '.join(words)}")
    return compare(options.revision, (options.old_file, options.new_file), options.most)


if __name__ == "__main__":
    sys.exit(main())
