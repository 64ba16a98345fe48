"""History: the full runs of a suite, kept in one SQLite file under its root."""

from passmuster._lazy import lazy_exports

TYPE_CHECKING = False

if TYPE_CHECKING:
    from passmuster.history._reading import (
        History,
        Run,
        cases_of,
        read_history,
        read_report,
        report_of,
        unblocked_reports,
    )
    from passmuster.history._store import keep
else:
    __getattr__ = lazy_exports(__name__)
