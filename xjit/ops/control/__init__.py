"""Control flow: loops, branches, calls and tuples, and what is built of them."""
