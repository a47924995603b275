"""Decisions about loops: order, tiles, packing, unrolling."""
