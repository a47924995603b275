"""Tables of mistakes in calls of operations, one for each family."""
