"""The ways of a call that finds everything as it was: from the arguments straight to the result."""
