"""Traced values: arrays and numbers as the traced function sees them."""
