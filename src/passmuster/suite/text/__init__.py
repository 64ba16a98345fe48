"""YAML and JSON text with the position of every node."""
