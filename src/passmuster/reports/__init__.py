"""Reports: the verdict for people and machines, one module per format, each `Report -> bytes`.

A writer is imported when it is first asked for. Secrets are hidden before a report gets here.
"""

from passmuster._lazy import lazy_exports

TYPE_CHECKING = False

if TYPE_CHECKING:
    from passmuster.reports._annotations import MOST_ANNOTATIONS, annotation_lines, problem_annotations
    from passmuster.reports._audit_text import audit_lines
    from passmuster.reports._baseline_text import baseline_text, encoded_baseline, suggestion_text, tightening_text
    from passmuster.reports._case_text import case_text, skip_reason
    from passmuster.reports._cases import Case, cases
    from passmuster.reports._comparison_text import comparison_lines
    from passmuster.reports._formats import FORMATS, check_format, file_name, render, shows_evidence
    from passmuster.reports._history_text import history_lines
    from passmuster.reports._lint_text import lint_lines, lint_sarif
    from passmuster.reports._policy_text import changed_rule_lines
    from passmuster.reports._relative_report import PathsFrom
    from passmuster.reports._screen import fitted
    from passmuster.reports._text import aligned, cut, cut_middle, encodable, near_place, one_line
    from passmuster.reports.formats.console import show_console
    from passmuster.reports.formats.json import encoded, report_schema
else:
    __getattr__ = lazy_exports(__name__)
