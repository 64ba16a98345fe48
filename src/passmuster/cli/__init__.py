"""The command line: one small module per command."""

from passmuster._lazy import lazy_exports

TYPE_CHECKING = False

if TYPE_CHECKING:
    from passmuster.cli._main import command, main
    from passmuster.cli._quick_imports import import_quickly
else:
    __getattr__ = lazy_exports(__name__)
