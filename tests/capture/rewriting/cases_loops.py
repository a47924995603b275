"""Loops and branches with jumps out of them."""

# ruff: noqa: B007, F821, F841
from __future__ import annotations

from typing import Any

from tests.capture.rewriting.case_table import case

Note = Any


@case(0, 3)
def while_counts(n: int, note: Note) -> int:
    total = 0
    while n:
        total += n
        n -= 1
    return total


@case(0, 2, 9)
def while_breaks(n: int, note: Note) -> Any:
    k = 0
    while k < n:
        if k == 4:
            break
        k += 1
        note(k)
    return k


@case(0, 2, 9)
def while_else(n: int, note: Note) -> Any:
    k = 0
    while k < n:
        if k == 4:
            break
        k += 1
    else:
        note("else")
        k = -1
    return k


@case(0, 5)
def while_else_without_break(n: int, note: Note) -> Any:
    while n:
        n -= 1
    else:
        note("else")
    return n


@case(0, 5)
def while_continues(n: int, note: Note) -> Any:
    while n > 0:
        n -= 1
        if n % 2:
            continue
        note(n)


@case(3, 7)
def while_true(n: int, note: Note) -> Any:
    while True:
        n += 1
        if n > 5:
            break
    return n


@case(3, 7)
def while_true_returns(n: int, note: Note) -> Any:
    while True:
        n += 1
        if n > 5:
            return n, "done"


@case(3)
def while_with_effects_in_test(n: int, note: Note) -> Any:
    def test() -> bool:
        note("test")
        return n > 0

    while test():
        n -= 1
        if n == 1:
            break
    return n


@case(4)
def while_with_walrus(n: int, note: Note) -> Any:
    items = list(range(n))
    while items and (last := items.pop()):
        note(last)
    return last, items


@case("", "abcd")
def for_over_text(text: str, note: Note) -> Any:
    for letter in text:
        note(letter)
    return letter


@case([], [1, 2, 3])
def for_keeps_its_variable(items: list[int], note: Note) -> Any:
    k = "before"
    for k in items:
        pass
    return k


@case([(1, 2), (3, 4)], [(1, 2), 5], [(1, 2, 3)])
def for_unpacks(items: Any, note: Note) -> Any:
    found = []
    for a, b in items:
        found.append(a * b)
        note(a, b)
    return found, a, b


@case([(1, 2, 3), (4,)], [()])
def for_unpacks_starred(items: Any, note: Note) -> Any:
    for first, *rest in items:
        note(first, rest)
    return first, rest


@case([((1, 2), 3)])
def for_unpacks_nested(items: Any, note: Note) -> Any:
    for (a, [b]), c in [((x, [y]), z) for (x, y), z in items]:
        note(a, b, c)
    return a, b, c


@case([1, 2])
def for_into_subscript(items: list[int], note: Note) -> Any:
    found: dict[str, int] = {}
    for found["k"] in items:
        note(dict(found))
    return found


@case([1, 2])
def for_into_attribute(items: list[int], note: Note) -> Any:
    class Box:
        value = 0

    box = Box()
    for box.value in items:
        note(box.value)
    return box.value


@case([1, 2, 3], [5, 6])
def for_else(items: list[int], note: Note) -> Any:
    for item in items:
        if item == 2:
            note("found")
            break
    else:
        note("else")
        return "none"
    return item


@case(3, 0)
def for_else_returns_in_body(n: int, note: Note) -> Any:
    for k in range(n):
        if k == 2:
            return "in body"
    else:
        note("else")
    return "behind"


@case(4)
def nested_loops(n: int, note: Note) -> Any:
    for i in range(n):
        for j in range(i):
            if j == 2:
                break
            if (i + j) % 2:
                continue
            note(i, j)
        else:
            note("whole", i)
    return i, j


@case(1, 4)
def return_from_nested_loops(n: int, note: Note) -> Any:
    for i in range(n):
        k = 0
        while k < n:
            if i * k == 2:
                return i, k
            k += 1
            note(i, k)
        note("row")
    return None


@case(4)
def break_of_outer_after_inner(n: int, note: Note) -> Any:
    for i in range(n):
        for j in range(n):
            if i == j == 2:
                stop = True
                break
        else:
            continue
        break
    return i, j, stop


@case(5)
def break_in_else_of_inner(n: int, note: Note) -> Any:
    for i in range(n):
        for j in range(i):
            note(i, j)
            if j > 1:
                break
        else:
            if i == 2:
                break
            continue
        note("behind")
    return i


@case(6)
def continue_in_partial_branch(n: int, note: Note) -> Any:
    total = 0
    for k in range(n):
        if k > 1:
            note("big")
            if k == 3:
                continue
            note("not three")
        total += k
        note(total)
    return total


@case(6)
def break_and_continue_in_branches(n: int, note: Note) -> Any:
    for k in range(n):
        if k > 1:
            if k == 4:
                break
            elif k == 3:
                continue
            else:
                note("else", k)
        note("end", k)
    return k


@case(2, 5)
def statements_behind_jumps(n: int, note: Note) -> Any:
    for k in range(n):
        note(k)
        continue
        note("never")
    while n:
        break
        unbound = 1
    return unbound


@case(0, 1, -1)
def early_returns(n: int, note: Note) -> Any:
    if n < 0:
        return "negative"
    note("not negative")
    if n == 0:
        return "zero"
    note("not zero")
    return "positive"


@case(0, 1, 2, 3)
def returns_in_partial_branches(n: int, note: Note) -> Any:
    if n > 0:
        note("big")
        if n == 1:
            return "one"
        if n == 2:
            note("two")
            return
    note("end")


@case(0, 1, 2, 5)
def elif_chain(n: int, note: Note) -> Any:
    if n == 0:
        x = "a"
    elif n == 1:
        x = "b"
    elif n == 2:
        y = "c"
    else:
        return "none"
    return x


@case(True, False)
def one_branch_binds(truth: bool, note: Note) -> Any:
    if truth:
        x = 1
    note("before")
    return x


@case(True, False)
def one_branch_deletes(truth: bool, note: Note) -> Any:
    x = 1
    if truth:
        del x
    note("before")
    x += 1
    return x


@case(2, 0)
def delete_in_loop(n: int, note: Note) -> Any:
    x = 1
    for _ in range(n):
        del x
    return x


@case(2)
def unbound_in_first_turn(n: int, note: Note) -> Any:
    for k in range(n):
        if k:
            note(x)
        x = k
    return x


@case(2)
def unbound_at_once(n: int, note: Note) -> Any:
    while n:
        note(y)
        y = n
        n -= 1


@case(1)
def unbound_augmented(n: int, note: Note) -> Any:
    for k in range(n):
        total += k
    return total


@case(1)
def unbound_in_try(n: int, note: Note) -> Any:
    while n:
        n -= 1
        try:
            note(late)
        except UnboundLocalError as error:
            note(str(error))
        late = 1
    return late


@case(1)
def unbound_only_in_dead_code(n: int, note: Note) -> Any:
    if n:
        return [late]
        late = 1


@case([3, 1, 2])
def stop_iteration_passes(items: list[int], note: Note) -> Any:
    for item in items:
        if item == 1:
            raise StopIteration(item)


@case([1, 2, 3, 4])
def iterator_is_shared(items: list[int], note: Note) -> Any:
    rest = iter(items)
    for item in rest:
        note(item)
        if item == 2:
            break
    return list(rest)


@case(7, [1], None)
def iterates_over_anything(items: Any, note: Note) -> Any:
    for item in items:
        note(item)


@case(5)
def augmented_targets(n: int, note: Note) -> Any:
    found = [0, 0]
    for k in range(n):
        found[k % 2] += k
        found[0] -= 1 if k else 2
    return found


@case(3)
def annotated_assignments(n: int, note: Note) -> Any:
    total: int = 0
    bare: int
    for k in range(n):
        step: int = k
        bare: list[Any] = [step]
        total += step
    return total, bare


@case(3)
def annotation_makes_local(n: int, note: Note) -> Any:
    if n:
        note: int
    return note


@case(3, 5)
def collatz(n: int, note: Note) -> Any:
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


@case(20)
def sieve(n: int, note: Note) -> Any:
    found = []
    for k in range(2, n):
        for one in found:
            if one * one > k:
                found.append(k)
                break
            if k % one == 0:
                break
        else:
            found.append(k)
    return found


@case([5, 2, 4, 1])
def insertion_sort(items: list[int], note: Note) -> Any:
    items = list(items)
    for i in range(1, len(items)):
        key, j = items[i], i - 1
        while j >= 0 and items[j] > key:
            items[j + 1] = items[j]
            j -= 1
        items[j + 1] = key
    return items


@case(1.0, 2.0)
def newton(x: float, note: Note) -> Any:
    y = x
    for turn in range(50):
        z = 0.5 * (y + x / y)
        if abs(z - y) < 1e-12:
            return z, turn
        y = z
    raise ArithmeticError("no convergence")
