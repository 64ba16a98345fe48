"""Kinds of check that `metric:` in a test can name, one module each; the module's name is the check's name.

A kind is a `CheckSpec`: a record of the keys that it adds to a test, compiled into a function on a trace.
"""

from passmuster._registry import Registry
from passmuster.checks._outcome import Outcome, Violation
from passmuster.checks._spec import Check, CheckError, CheckSpec, StatedRule
from passmuster.checks._view import ToolIndex, ToolSet, View

KINDS = Registry(__name__)
