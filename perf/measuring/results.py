"""Measured times as JSON, for plots; they say the machine, as times of different machines cannot be compared."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from perf.measuring.measure import Entry


def store(path: Path, entries: Sequence[Entry], date: str, machine: str) -> None:
    """Write the seconds of every runner of every entry, medians and minima."""
    found = [
        {
            "program": entry.program.name,
            "size": entry.size,
            "seconds": {
                name: {"median": entry.samples.median(name), "minimum": entry.samples.minimum(name)}
                for name in entry.samples.seconds
            },
        }
        for entry in entries
    ]
    path.write_text(json.dumps({"date": date, "machine": machine, "entries": found}, indent=1) + "\n")


def load(path: Path) -> dict[str, Any]:
    """Return what `store` wrote."""
    found: dict[str, Any] = json.loads(path.read_text())
    return found
