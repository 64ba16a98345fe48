"""`passmuster check`: what is wrong with a suite, without traces."""

from __future__ import annotations

import sys

from passmuster import api, reports
from passmuster._problems import Problem, UsageError
from passmuster.cli import _options as options
from passmuster.cli._command_line import cli_command, option
from passmuster.cli._printing import print_bytes, print_document, print_lines, refusing

SCHEMA = "passmuster.check/1"


@cli_command("check")
@options.suite
@option("--report", metavar="sarif=PATH", help="Write the findings as SARIF; - prints them.")
@option("--strict", is_flag=True, help="A warning is an error.")
@options.today
@options.root
@options.no_plugins
@options.as_json
def command(
    suite: str | None,
    report: str | None,
    strict: bool,
    today: str | None,
    root: str | None,
    no_plugins: bool,
    as_json: bool,
) -> None:
    """Look through a suite without traces.

    Finds rules that can never fire or never break, bounds and schemas that nothing reaches, expired waivers, policies
    and behaviors that nobody uses.

    Exit codes: 0 nothing worse than a warning, 1 there are errors, 2 there is no suite
    or the report would overwrite it.

    Example:
      passmuster check evals --report sarif=check.sarif
    """
    with refusing():
        to = _destination(report)
        file = to if to != "-" else None
        found = api.check_suite(suite, root=root, plugins=not no_plugins, today=options.day(today), report=file)
    code = int(bool(found.errors or (strict and found.findings)))
    if to is not None:
        sarif = reports.lint_sarif(found.findings, api.LINTS, suite=found.suite, root=found.root, exit_code=code)
        if to == "-":
            print_bytes(sarif)
            sys.exit(code)
        api.write_report(api.RenderedReport("sarif", to, sarif))
    if as_json:
        print_document(SCHEMA, found, errors=found.errors, exit_code=code)
    else:
        print_lines(reports.lint_lines(found.file, found.findings))
    sys.exit(code)


def _destination(report: str | None) -> str | None:
    if report is None:
        return None
    name, _, path = report.partition("=")
    if name != "sarif" or not path:
        raise UsageError(Problem(f"--report: expected sarif=PATH, found '{report}'"))
    return path
