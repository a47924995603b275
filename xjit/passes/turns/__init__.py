"""Passes over the turns of counted loops, which do for all of them at once what each would do."""
