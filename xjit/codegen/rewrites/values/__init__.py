"""Rewrites of what is computed, not of when: named once, further out, in a cheaper form, or not at all."""
