"""Rows that several loops walk: what is kept between passes, and scans with what reads them."""
