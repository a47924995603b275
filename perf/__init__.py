"""The performance suite: ordinary NumPy programs, timed beside NumPy, JAX and numexpr, interleaved in one
process.

Rules it keeps, so that its numbers can be believed:

* every candidate gets the same inputs, and its result is checked against NumPy before it is timed;
* every candidate allocates its own result in every call, and the result is freed inside the timed span;
* JAX is given its best case: jitted, on its own device arrays, float64 enabled, waited for;
* candidates take turns, so that a slow moment of the machine meets all of them;
* every turn begins with a rest until the threads of all pools sleep, and an untimed call, the same for all;
* medians decide, minima stand beside them, and a gate reads the pessimistic end of a bootstrap interval.

`python -m perf` lists the commands.
"""
