"""Checks of `path`: which tools the agent used, and how."""
