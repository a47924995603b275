"""Parts of records: registry, type rules, formulas, references, computations."""
