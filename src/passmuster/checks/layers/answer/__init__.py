"""Checks of `correctness`: what the answer has to be."""
