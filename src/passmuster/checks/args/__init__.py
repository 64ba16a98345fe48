"""Argument policies: how they are written, and the violations of a call that breaks one."""

from passmuster.checks.args._anchors import Anchor
from passmuster.checks.args._arguments import ARGUMENTS, Argument, ArgumentsSchema
from passmuster.checks.args._policy import POLICY, CompiledTool, Policy, ToolEntry, ToolPolicy
