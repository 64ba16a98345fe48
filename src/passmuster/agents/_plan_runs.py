"""The runs that a suite asks for: every scenario as often as its `repeat` says."""

from __future__ import annotations

from passmuster._problems import Problem, UsageError
from passmuster.agents._config import CommandAgent, LiveAgent
from passmuster.agents._run import PlannedRun
from passmuster.suite import Scenario, Suite


def planned_runs(suite: Suite, agent: LiveAgent) -> list[PlannedRun]:
    """The runs in the order of the suite. Raises `UsageError` where a scenario cannot be run."""
    chosen = [scenario for scenario in suite.scenarios if scenario.selected]
    if not chosen:
        message = "there is no scenario to run: a live run asks the agent the queries of scenarios"
        raise UsageError(Problem(message, suite.file))
    problems = [
        Problem(f"scenario '{one.id}': {why}", suite.file, one.line) for one in chosen if (why := _obstacle(one, agent))
    ]
    if problems:
        raise UsageError(problems)
    return [PlannedRun(one.id, run, _turns(one)) for one in chosen for run in range(1, one.repeat + 1)]


def _turns(scenario: Scenario) -> tuple[str, ...]:
    return tuple(turn.user for turn in scenario.turns) or (scenario.query or "",)


def _obstacle(scenario: Scenario, agent: LiveAgent) -> str | None:
    turns = _turns(scenario)
    if turns == ("",):
        return "has no 'query', so there is nothing to ask the agent"
    way = agent.way
    if isinstance(way, CommandAgent) and way.takes_query:
        if len(turns) > 1:
            return (
                "has several turns, but '{query}' in agent.command is one argument; read the turns from standard input"
            )
        if "\0" in turns[0]:
            return "its query has a zero byte, which no argument of a program can have"
    return None
