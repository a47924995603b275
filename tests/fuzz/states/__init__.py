"""Random programs that carry a state from turn to turn: variables that are None, lists of work, dicts of counts."""
