"""A process that takes samples on request, one line of JSON in, one out; `compare` talks to two of them.

Requests: {"do": "prepare", "program": name, "size": size} and {"do": "sample"}. The first compiles and
verifies; where the revision cannot run the program, the answer says why in place of seconds.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from perf.measuring.measure import verified_calls
from perf.measuring.peers import XJIT
from perf.measuring.timing import Plan, plan
from perf.measuring.verify import WrongResult
from perf.programs import BY_NAME


def prepared(request: dict[str, str]) -> Plan | str:
    """Return how to sample xjit on the program that the request names, or why it cannot run it."""
    try:
        field = verified_calls(BY_NAME[request["program"]], request["size"], (XJIT,))
    except WrongResult as problem:
        return str(problem)
    return plan(field.calls[XJIT.name]) if field.fallback is None else field.fallback


def serve() -> None:
    """Answer requests until the input ends."""
    import xjit

    print(json.dumps({"xjit": str(Path(xjit.__file__ or "").resolve().parent)}), flush=True)
    current: Plan | None = None
    answer: dict[str, float | str]
    for line in sys.stdin:
        request = json.loads(line)
        if request["do"] == "prepare":
            found = prepared(request)
            current = found if isinstance(found, Plan) else None
            answer = {"seconds": found.seconds} if isinstance(found, Plan) else {"unable": found}
        elif current is None:
            raise RuntimeError("sample before prepare")
        else:
            answer = {"seconds": current.sample()}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    serve()
