"""What every executor is given besides the parts of the input."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from passmuster.checks import Golden
from passmuster.engine._plan import Plan, compile_suite
from passmuster.scoring import Settings
from passmuster.suite import Suite


class Job(Struct, frozen=True):
    """A suite and the options it is run with. `suite.documents` are its bytes, for executors in other processes."""

    suite: Suite
    """Only what `--only` and `--tag` select."""
    settings: Settings
    golden: Mapping[str, Golden] = {}
    """What recorded runs did, per scenario."""
    plugins: bool = True

    def plan(self) -> Plan:
        """The suite compiled for this process."""
        only_warn = self.settings.uncalibrated is not None
        return compile_suite(self.suite, self.settings.today, self.golden, judges_only_warn=only_warn)
