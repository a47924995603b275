"""Rewrites of reductions: blocks of elements, lanes, errors of rounding, searches."""
