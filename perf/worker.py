"""A process that takes samples on request, one line of JSON in, one out; `compare` talks to two of them.

Requests: {"do": "prepare", "program": name, "size": size} and {"do": "sample"}. The first compiles and
verifies.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from perf.measure import verified_calls
from perf.peers import XJIT
from perf.programs import BY_NAME
from perf.timing import Plan, plan


def prepared(request: dict[str, str]) -> Plan:
    """Return how to sample xjit on the program that the request names."""
    field = verified_calls(BY_NAME[request["program"]], request["size"], (XJIT,))
    return plan(field.calls[XJIT.name])


def serve() -> None:
    """Answer requests until the input ends."""
    import xjit

    print(json.dumps({"xjit": str(Path(xjit.__file__ or "").resolve().parent)}), flush=True)
    current: Plan | None = None
    for line in sys.stdin:
        request = json.loads(line)
        if request["do"] == "prepare":
            current = prepared(request)
            answer = current.seconds
        elif current is None:
            raise RuntimeError("sample before prepare")
        else:
            answer = current.sample()
        print(json.dumps({"seconds": answer}), flush=True)


if __name__ == "__main__":
    serve()
