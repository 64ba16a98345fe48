"""Other tools' files as suites: one module in `origins` for each kind of file.

A translation works on nodes and keeps their lines. So a file can be run as it stands, with mistakes and violations
located in it, or be written as a passmuster suite whose comments name the origin of each part.
"""

from passmuster._lazy import lazy_exports

TYPE_CHECKING = False

if TYPE_CHECKING:
    from passmuster.migration._adapt import adapted
    from passmuster.migration._draft import Migrated, Note
    from passmuster.migration._migrate import ORIGINS, migrated, origin_of
    from passmuster.migration._moved_paths import moved
    from passmuster.migration._write import suite_text
else:
    __getattr__ = lazy_exports(__name__)
