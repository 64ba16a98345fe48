"""Argument policies: how they are written, and what a call that breaks one is told."""

from passmuster.checks.args._anchors import Anchor
from passmuster.checks.args._arguments import ARGUMENTS, Argument, ArgumentsSchema
from passmuster.checks.args._policy import POLICY, Policy, ToolEntry, ToolPolicy
from passmuster.checks.args._violations import CompiledTool, violations_of_call
