"""`passmuster view`: look at stored runs in a browser."""

from __future__ import annotations

import contextlib

from passmuster import api
from passmuster.cli import _options as options
from passmuster.cli._command_line import argument, cli_command, option
from passmuster.cli._printing import print_lines, refusing


@cli_command("view")
@argument("report", metavar="[REPORT|FOLDER]")
@options.root
@option("--no-browser", is_flag=True, help="Print the address, and do not open a browser.")
def command(report: str | None, root: str | None, no_browser: bool) -> None:
    """Look at stored runs in a browser, choose and compare them.

    REPORT is a JSON or HTML report; FOLDER holds a suite, whose history is shown; without either it is that of the
    nearest suite upwards from here. Served on this machine only, at an address with a random token, until Ctrl-C.
    Exit codes: 0 it was shown, 2 the input is wrong.

    Example:
      passmuster view passmuster-report/report.json
    """
    with refusing():
        server = api.ViewServer(api.report_viewer(report, root=root))
    print_lines([server.address, "Press Ctrl-C to stop."])
    if not no_browser:
        import webbrowser  # late: not every start opens one

        with contextlib.suppress(webbrowser.Error):
            webbrowser.open(server.address)
    with contextlib.suppress(KeyboardInterrupt):
        server.serve()
