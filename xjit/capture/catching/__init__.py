"""Errors that the function catches, and other things that running code tells of what it does with a value."""
