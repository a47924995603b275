"""Constants of which only the run tells which one a variable is."""
