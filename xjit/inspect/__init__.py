"""Answers to "what did it do, and why": explanations and counts."""
