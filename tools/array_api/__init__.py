"""The tests of the array API standard, run against compiled functions."""
