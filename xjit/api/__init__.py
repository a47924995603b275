"""The decorator and everything behind one call of a decorated function."""
