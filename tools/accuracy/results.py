"""The committed figures, ``docs/accuracy.json``: an entry for every function, with the text it was measured of."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from tools.accuracy.fingerprints import fingerprint

FILE = Path(__file__).resolve().parents[2] / "docs" / "accuracy.json"


@dataclass(frozen=True, slots=True)
class Result:
    """Result of the measurement of one function.

    ``error`` is the largest in units of the last place and ``arguments`` where it was, in hexadecimal; ``mistakes``
    counts results of the wrong class (NaN, infinity, sign of zero), asymmetries and variants that differ.
    """

    function: str
    error: float
    arguments: tuple[str, ...]
    count: int
    method: str
    mistakes: dict[str, int]
    date: str
    processor: str
    fingerprint: str

    @property
    def stale(self) -> bool:
        """Return whether the function has changed since."""
        return self.fingerprint != fingerprint(self.function)


def read(path: Path = FILE) -> dict[str, Result]:
    """The entries by the names of the functions; empty where there is no file."""
    if not path.exists():
        return {}
    entries = json.loads(path.read_text(encoding="utf-8"))
    return {
        name: Result(**{**entry, "function": name, "arguments": tuple(entry["arguments"])})
        for name, entry in entries.items()
    }


def write(results: dict[str, Result], path: Path = FILE) -> None:
    """Writes all entries, in alphabetical order, one per line."""
    lines = []
    for name in sorted(results):
        entry = asdict(results[name])
        del entry["function"]
        lines.append(f"  {json.dumps(name)}: {json.dumps(entry)}")
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def merged(old: Result | None, new: Result) -> Result:
    """The new figure, unless the old one is of the same text and rests on more; a larger error is never forgotten."""
    if old is None or old.fingerprint != new.fingerprint:
        return new
    stronger, weaker = (new, old) if new.count >= old.count else (old, new)
    mistakes = {
        kind: max(new.mistakes.get(kind, 0), old.mistakes.get(kind, 0))
        for kind in sorted(new.mistakes | old.mistakes)
    }
    if weaker.error > stronger.error:
        stronger = replace(stronger, error=weaker.error, arguments=weaker.arguments)
    return replace(stronger, mistakes=mistakes)


def record(new: Result, path: Path = FILE) -> None:
    """Enters one figure into the file."""
    results = read(path)
    results[new.function] = merged(results.get(new.function), new)
    write(results, path)
