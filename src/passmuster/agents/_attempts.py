"""One planned run: set up, attempted, attempted again where something outside failed, observed, and torn down."""

from __future__ import annotations

import datetime
import os
import time
import uuid
from functools import partial
from time import monotonic
from typing import Any

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from passmuster.agents._answers import AgentFailure, OutsideFailure, failed_trace, joined
from passmuster.agents._command_runner import run_beside
from passmuster.agents._config import LiveAgent
from passmuster.agents._process import MARK
from passmuster.agents._run import FinishedRun, PlannedRun
from passmuster.agents._runner import Active, Attempt, Runner
from passmuster.agents.capture import CaptureServer
from passmuster.traces import Agent, Trace

_LONGEST_VARIABLE = 30_000
"""Characters of up to four bytes each: Linux takes no longer ones."""


class Attempts:
    """Runs planned runs of one agent, in any number of threads."""

    def __init__(self, agent: LiveAgent, runner: Runner, capture: CaptureServer, active: Active, session: str) -> None:
        self._agent, self._runner, self._capture = agent, runner, capture
        self._active, self._session = active, session

    def finish(self, planned: PlannedRun) -> FinishedRun:
        """The run, however it ended. Never raises for what the agent or the network does."""
        warnings: list[str] = []
        started = datetime.datetime.now(datetime.UTC)
        for number in range(self._agent.retries + 1):
            attempt = self._attempt(planned)
            try:
                trace, notices = self._tried(attempt, warnings)
                break
            except OutsideFailure as failure:
                trace, notices = failed_trace(Trace(calls_unknown=True), str(failure), infra=True), ()
                if self._active.cancelled:
                    break
                if number < self._agent.retries:
                    warnings.append(f"{failure}; tried again")
                    time.sleep(min(5.0, 0.2 * 2**number))
        return FinishedRun(
            planned, self._named(trace, planned, attempt.id, started, warnings, notices), tuple(warnings)
        )

    def _attempt(self, planned: PlannedRun) -> Attempt:
        id_ = uuid.uuid4().hex
        return Attempt(
            planned=planned,
            id=id_,
            environment=partial(self._environment, planned, id_),
            headers=self._capture.headers(id_, planned.name),
            deadline=monotonic() + self._agent.timeout,
            active=self._active,
        )

    def _environment(self, planned: PlannedRun, id_: str) -> dict[str, str]:
        own = {
            MARK: self._session,
            "PASSMUSTER_SESSION": id_,
            "PASSMUSTER_SCENARIO": planned.scenario,
            "PASSMUSTER_RUN": str(planned.run),
            "PASSMUSTER_QUERY": planned.turns[0],
        }
        told = {name: value for name, value in own.items() if "\0" not in value and len(value) < _LONGEST_VARIABLE}
        return {**os.environ, **told, **self._capture.environment(id_, planned.name)}

    def _tried(self, attempt: Attempt, warnings: list[str]) -> tuple[Trace, tuple[str, ...]]:
        agent = self._agent
        failure: str | None = None
        try:
            if agent.setup is not None:
                run_beside(agent.setup, "setup", attempt, agent.folder)
                attempt.deadline = monotonic() + agent.timeout
            try:
                self._runner.run(attempt)
            except AgentFailure as error:
                failure = str(error)
        finally:
            if agent.teardown is not None:
                self._tear_down(attempt, warnings)
        returned = joined(attempt.turns, len(attempt.planned.turns))
        if failure is not None:
            returned = failed_trace(returned, failure)
        captured = self._capture.collect(attempt.id, returned)
        return captured.trace, captured.notices

    def _tear_down(self, attempt: Attempt, warnings: list[str]) -> None:
        assert self._agent.teardown is not None
        after = replace(attempt, deadline=monotonic() + self._agent.timeout, active=Active())
        try:
            run_beside(self._agent.teardown, "teardown", after, self._agent.folder)
        except OutsideFailure as failure:
            warnings.append(str(failure))

    def _named(
        self,
        trace: Trace,
        planned: PlannedRun,
        id_: str,
        started: datetime.datetime,
        warnings: list[str],
        notices: tuple[str, ...],
    ) -> Trace:
        """The trace with what is known of the run from the outside."""
        agent = self._agent
        said: dict[str, Any] = {}
        if warnings:
            said["warnings"] = warnings
        if notices:
            said["notices"] = list(notices)
        who = trace.agent
        if agent.name or agent.version:
            known = who if isinstance(who, Agent) else Agent(who)
            who = Agent(known.name or agent.name, known.version or agent.version)
        return replace(
            trace,
            trace_id=f"{planned.name}-{id_[:8]}",
            scenario=planned.scenario,
            run=planned.run,
            query=planned.turns[0],
            agent=who,
            started_at=trace.started_at or started.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            metadata_json=Raw(msgspec.json.encode({"live": said})) if said else Raw(),
        )
