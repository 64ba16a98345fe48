"""History: the full runs of a suite, kept in one SQLite file under its root."""

from passmuster._lazy import lazy_exports

TYPE_CHECKING = False

if TYPE_CHECKING:
    from passmuster.history._reading import History as History
    from passmuster.history._reading import Run as Run
    from passmuster.history._reading import read_history as read_history
    from passmuster.history._reading import report_of as report_of
    from passmuster.history._report_file import read_report as read_report
    from passmuster.history._store import keep as keep
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "_reading": ("History", "Run", "read_history", "report_of"),
            "_report_file": ("read_report",),
            "_store": ("keep",),
        },
    )
