"""Which version of the agent a run was about: what was said on the command line, else the suite, else the traces."""

from __future__ import annotations

from passmuster.scoring._settings import Settings
from passmuster.scoring._tally import Tally
from passmuster.suite import Suite


def agent_version(suite: Suite, tally: Tally, settings: Settings) -> tuple[str, str] | None:
    """The version and where it was said; None where nobody says it, or the traces do not agree on one."""
    if settings.agent_version is not None:
        return settings.agent_version, "from --agent-version"
    if suite.agent.version is not None:
        return suite.agent.version, "from the suite"
    versions = versions_in(tally)
    return (versions[0], "from the traces") if len(versions) == 1 else None


def versions_in(tally: Tally) -> list[str]:
    """The versions that the traces tell."""
    return sorted(tally.figures.versions) if tally.figures else []
