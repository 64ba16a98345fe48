"""Checks of `cost`: what a run used up."""
