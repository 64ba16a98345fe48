"""Kinds of check that `metric:` in a test can name, one module each; the module's name is the check's name."""

from passmuster._registry import Registry

KINDS = Registry(__name__)
