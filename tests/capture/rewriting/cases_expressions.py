"""Conditions, comparisons, conditional expressions, assignment expressions and comprehensions."""

# ruff: noqa: B023, C400, C402, C416, F821, F841, PIE790, RUF021, SIM201, SIM208, SIM220, SIM222, SIM223
from __future__ import annotations

from typing import Any

from tests.capture.rewriting.case_table import case

Note = Any


class Truth:
    """An operand that notes when its truth is asked for."""

    def __init__(self, note: Note, name: str, truth: bool) -> None:
        self.note, self.name, self.truth = note, name, truth

    def __bool__(self) -> bool:
        self.note("asked", self.name)
        return self.truth

    def __repr__(self) -> str:
        return self.name


@case(0, 1)
def and_returns_operands(n: int, note: Note) -> Any:
    return n and "right", note(n) and note("right"), n and [] and note("never")


@case(0, 1)
def or_returns_operands(n: int, note: Note) -> Any:
    return n or "right", note(n) or note("right"), n or [] or note("last")


@case(0, 1)
def mixed_operands(n: int, note: Note) -> Any:
    return n and 2 or 3, (n or 0) and 4, n and (0 or 5)


@case((0, 0), (0, 1), (1, 0), (1, 1))
def truths_are_asked_once_in_conditions(pair: Any, note: Note) -> Any:
    a, b = Truth(note, "a", pair[0]), Truth(note, "b", pair[1])
    if a and b:
        note("both")
    if a or b:
        note("either")
    if not (a and b) or not a:
        note("not both")
    while a and not b or (b and a and b):
        note("while")
        break
    return 1 if a and b else 2


@case((0, 0), (0, 1), (1, 0), (1, 1))
def truths_are_asked_once_in_values(pair: Any, note: Note) -> Any:
    a, b = Truth(note, "a", pair[0]), Truth(note, "b", pair[1])
    return a and b, a or b, not a, not b


@case((0, 0), (1, 1))
def truths_in_comprehensions(pair: Any, note: Note) -> Any:
    a, b = Truth(note, "a", pair[0]), Truth(note, "b", pair[1])
    return [k for k in range(2) if a and b if a], [k for k in range(1) if not a or b]


@case(0, 1, [], "a")
def not_is_bool(value: Any, note: Note) -> Any:
    return not value, not not value, not value == value


@case(-1, 0, 5, 10, 11)
def chained_comparison(n: int, note: Note) -> Any:
    return 0 <= n <= 10, 0 < note(n) < 10 != n, n == n is True


@case(1, 3)
def chain_evaluates_once_and_lazily(n: int, note: Note) -> Any:
    return note(1) < note(n) < note(2) < note(3)


@case(1, 3)
def chain_in_condition(n: int, note: Note) -> Any:
    if note(1) < note(n) < note(5):
        return "inside"
    return "outside"


@case(1, "a")
def chain_of_unordered(n: Any, note: Note) -> Any:
    return 0 < n < 10


@case(2, 7)
def chain_with_membership(n: int, note: Note) -> Any:
    return 1 < n in (2, 3) not in [4], n is n is not None, None is not n == 2


@case(3)
def chain_returns_operand_results(n: int, note: Note) -> Any:
    class Answer:
        def __lt__(self, other: Any) -> Any:
            note("lt", other)
            return [] if other == 3 else [1]

        def __gt__(self, other: Any) -> Any:
            return "gt"

    one = Answer()
    return one < 3 < one, one < 4 < one


@case(0, 1)
def conditional_expression(n: int, note: Note) -> Any:
    return note("then") if n else note("else")


@case(0, 1, 2)
def nested_conditional_expressions(n: int, note: Note) -> Any:
    return "zero" if n == 0 else ("one" if n == 1 else note("more"))


@case(0, 1)
def conditional_expression_as_target(n: int, note: Note) -> Any:
    found: dict[str, Any] = {}
    (found if n else {})["k"] = "then" if n else "else"
    return found


@case(0, 1)
def unbound_in_conditional_expression(n: int, note: Note) -> Any:
    x = 1 if n else y
    y = 2
    return x


@case(0, 1)
def walrus_in_condition(n: int, note: Note) -> Any:
    if (m := n + 1) > 1:
        note(m)
    return m


@case(0, 1)
def walrus_behind_and(n: int, note: Note) -> Any:
    note(n and (m := "bound"))
    return m


@case(0, 1)
def walrus_in_arm(n: int, note: Note) -> Any:
    note((m := "then") if n else (k := "else"))
    return m if n else k


@case(0, 1)
def walrus_in_arm_unbound(n: int, note: Note) -> Any:
    note((m := "then") if n else None)
    return m


@case(0, 3)
def walrus_in_chain(n: int, note: Note) -> Any:
    return 0 < n < (m := 5) < (k := 6), m, k


@case(0, 3)
def walrus_in_nested_operands(n: int, note: Note) -> Any:
    return n or (n == 0 and ((m := 4) if not n else 5)), m


@case([0, 3, 1], [])
def walrus_in_comprehension(items: Any, note: Note) -> Any:
    found = [last for k in items if (last := k * 2)]
    return found, last


@case([1, 2])
def walrus_in_comprehension_in_loop(items: Any, note: Note) -> Any:
    for _ in items:
        total = 0
        note([total := total + k for k in items])
    return total


@case([4, 5])
def walrus_in_while_test(items: Any, note: Note) -> Any:
    items = list(items)
    while (k := items.pop() if items else None) is not None:
        note(k)
    return k


@case([1, 2, 3])
def list_comprehension(items: Any, note: Note) -> Any:
    return [k * 2 for k in items], [note(k) for k in items if k != 2 if note("second", k)]


@case([1, 2, 2])
def set_comprehension(items: Any, note: Note) -> Any:
    return {k % 2 for k in items}, sorted({k for k in items if k > 1})


@case([("a", 1), ("b", 2), ("a", 3)])
def dict_comprehension(items: Any, note: Note) -> Any:
    return {key: value for key, value in items}, {note(key): note(value) for key, value in items if value > 1}


@case([(1, (2, 3)), (4, (5, 6))])
def comprehension_unpacks(items: Any, note: Note) -> Any:
    return [a + b * c for a, (b, c) in items if a > 1], [rest for _, *rest in items]


@case([(1, 2), 3])
def comprehension_fails_to_unpack(items: Any, note: Note) -> Any:
    return [a for a, b in items if note(a)]


@case([1, 2])
def comprehension_scope(items: Any, note: Note) -> Any:
    k = "outside"
    found = [k for k in items]
    return found, k


@case([1, 2])
def comprehension_variable_is_not_bound(items: Any, note: Note) -> Any:
    note([k for k in items])
    if not items:
        k = 1
    return k


@case([1, 2])
def comprehension_reads_unbound(items: Any, note: Note) -> Any:
    found = [k for k in late]
    late = items
    return found


@case([[1, 2], [3]])
def nested_comprehension(items: Any, note: Note) -> Any:
    return [[k + len(row) for k in row if k > 1] for row in items]


@case([[1, 2], [3]])
def comprehension_with_two_loops(items: Any, note: Note) -> Any:
    return [note(k) for row in items if len(row) > 1 for k in row if k > 1 and row]


@case([1, 2])
def comprehension_of_functions(items: Any, note: Note) -> Any:
    return [f() for f in [lambda: k for k in items]], [f() for f in [lambda k=k: k for k in items]]


@case([1, 2, 3])
def comprehension_with_conditional(items: Any, note: Note) -> Any:
    return ["odd" if k % 2 else note("even") for k in items], [k and (k > 1 or "one") for k in items]


@case([1, 2])
def comprehension_into_subscript(items: Any, note: Note) -> Any:
    box: dict[str, int] = {}
    return [dict(box) for box["k"] in items], box


@case([1, 0, 2])
def comprehension_raises(items: Any, note: Note) -> Any:
    return [1 // k for k in items]


@case([1, 2])
def comprehension_stops(items: Any, note: Note) -> Any:
    return [next(iter([])) for k in items]


@case([1, 2])
def generator_stops(items: Any, note: Note) -> Any:
    return sum(next(iter([])) for k in items)


@case([1, 2, 3], [])
def generators_used_up(items: Any, note: Note) -> Any:
    return (
        sum(k * k for k in items),
        any(note(k) > 1 for k in items),
        all(note(k) < 2 for k in items),
        tuple(k for k in items if k != 2),
        list(k for k in items),
        sorted(-k for k in items),
        dict((k, k) for k in items),
    )


@case([1, 2, 3], [])
def extremes_of_generators(items: Any, note: Note) -> Any:
    return max(k for k in items), min(-k for k in items)


@case([3, 1])
def generator_is_lazy(items: Any, note: Note) -> Any:
    lazy = (note(k) for k in items if k)
    note("made")
    return next(lazy), list(lazy)


@case([3, 1])
def generator_reads_late(items: Any, note: Note) -> Any:
    factor = 1
    lazy = (k * factor for k in items)
    for factor in items:
        factor = factor + 1
    return list(lazy)


@case(5)
def generator_over_nothing_iterable(n: Any, note: Note) -> Any:
    return sum(k for k in n)


@case([1, 2])
def consumer_is_hidden(items: Any, note: Note) -> Any:
    def sum(values: Any) -> Any:
        return "own", list(values)

    return sum(k for k in items)


@case(0, 1)
def assert_with_and(n: int, note: Note) -> Any:
    assert not n or (n > 0 and note("checked")), "message"
    return n


@case(3, "x")
def formatted_text(n: Any, note: Note) -> Any:
    return f"{n if n else 'nothing'} {n and 1!r:>4} {'a' if n == 3 else 'b'}"


@case([1, 2, 3, 4])
def slices_and_stars(items: Any, note: Note) -> Any:
    first, *rest = items if items else [0]
    return items[1 if first else 0 : -1 or None], [*rest, *(items if rest else [])], {**({"a": 1} if rest else {})}


@case(0, 1)
def lambdas_are_left(n: int, note: Note) -> Any:
    choose = lambda k, default=n or 5: k and default if k else not default  # noqa: E731
    return choose(n), choose(0), choose.__qualname__


@case(2)
def conditions_with_effects(n: int, note: Note) -> Any:
    while note(n) and not note(n) < 0 and (n := n - 1) >= 0:
        note("turn")
    return n


@case(0, 2)
def await_free_ellipsis(n: int, note: Note) -> Any:
    ...
    return ... if n else None


@case([3, 1, 2])
def sorted_by_key(items: Any, note: Note) -> Any:
    return sorted(items, key=lambda k: -k if k != 2 else 0), [k for k in sorted(items, key=lambda k: k)]


@case(1, 0)
def deep_nesting(n: int, note: Note) -> Any:
    return ((n and (n or (n if not n else (n and 1 < n < 3 or "x"))) or "y") and not (n and not n)) or "z"


@case(0, 3, 9)
def while_assigns(n: int, note: Note) -> Any:
    k = 0
    while (twice := 2 * k) < n:
        note(twice)
        k += 1
    return k, twice


@case(0, 3, 9, 20)
def while_assigns_with_jumps(n: int, note: Note) -> Any:
    k, total = 0, 0
    while (k := k + 1) < n:
        if k % 2:
            continue
        total += k
        if total > 30:
            break
    else:
        note("else")
        total = -total
    return k, total


@case(0, 3, 6)
def while_assigns_in_loops(n: int, note: Note) -> Any:
    i, found = -1, []
    while (i := i + 1) < n:
        j = i
        while (j := j + 1) < n:
            if i + j > 6:
                return i, j, found
            found.append(i * j)
    return i, found


@case(0, 5)
def while_assigns_and_leaves_the_outer_one(n: int, note: Note) -> Any:
    for i in range(4):
        while (k := i * 2) < n:
            note(k)
            i += 1
        else:
            if k > 7:
                break
            continue
    return i, k
