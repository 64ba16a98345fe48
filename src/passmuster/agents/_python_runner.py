"""A Python function as an agent: called in a process of its own, once per turn."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Any

import msgspec
from msgspec.structs import replace

from passmuster._problems import Problem
from passmuster.agents._answers import AgentFailure, OutsideFailure, Turn, returned_trace
from passmuster.agents._config import LiveAgent, PythonAgent
from passmuster.agents._process import ChildProcess, TimedOut, TooMuchOutput, how_it_ended
from passmuster.agents._runner import Attempt

_ENTRY = str(Path(__file__).with_name("_python_entry.py"))
_FAREWELL = 10.0
"""Seconds that the process has to end in after its last answer; exporters of telemetry need some."""


class PythonRunner:
    """Runs a function in a process per run."""

    def __init__(self, agent: LiveAgent, way: PythonAgent) -> None:
        self._agent, self._way = agent, way

    def problems(self) -> Iterator[Problem]:
        """Import the function once, in a process of its own."""
        process = self._start(os.environ)
        try:
            why = self._greeting(process, monotonic() + self._agent.timeout).get("failed")
            process.send(b"", last=True)
        except (AgentFailure, TimedOut, TooMuchOutput) as error:
            why = str(error) or f"importing it took longer than 'timeout' ({self._agent.timeout:g} s)"
        finally:
            process.end()
        if why:
            name = f"{self._way.module}:{self._way.function}"
            message = f"agent.python: cannot import '{name}': {why}"
            yield Problem(message, self._agent.file, self._agent.lines.get("python"))

    def run(self, attempt: Attempt) -> None:
        """One line each way per turn."""
        try:
            process = self._start(attempt.environment())
        except OSError as error:
            raise OutsideFailure(f"Python cannot be started: {error}") from None
        with attempt.active.watch(process):
            try:
                self._converse(process, attempt)
            except TimedOut:
                raise AgentFailure(f"took longer than {self._agent.timeout:g} s") from None
            except TooMuchOutput:
                raise AgentFailure("returned more than 64 MB") from None

    def _converse(self, process: ChildProcess, attempt: Attempt) -> None:
        greeting = self._greeting(process, attempt.deadline)
        if why := greeting.get("failed"):
            raise AgentFailure(why)
        turns = attempt.planned.turns
        for query in turns:
            process.send(msgspec.json.encode({"query": query, "of": len(turns)}) + b"\n")
            said = self._reply(process, attempt.deadline)
            if why := said.get("failed"):
                raise AgentFailure(why)
            trace = returned_trace(said["returned"])
            if trace.total_duration_ms is None:
                trace = replace(trace, total_duration_ms=said["ms"])
            attempt.turns.append(Turn(query, trace))
        process.send(b"", last=True)
        with suppress(TimedOut):  # it has answered; what is left of it is ended
            process.wait(monotonic() + min(_FAREWELL, attempt.left))

    def _start(self, environment: Mapping[str, str]) -> ChildProcess:
        return ChildProcess([sys.executable, "-P", _ENTRY], self._agent.folder, environment)

    def _greeting(self, process: ChildProcess, deadline: float) -> dict[str, Any]:
        way = self._way
        asked = {"folder": str(self._agent.folder), "module": way.module, "function": way.function}
        process.send(msgspec.json.encode(asked) + b"\n")
        return self._reply(process, deadline)

    def _reply(self, process: ChildProcess, deadline: float) -> dict[str, Any]:
        line = process.line(deadline)
        if line is None:
            code = process.wait(deadline)
            raise AgentFailure(f"gave no answer: its process {how_it_ended(code, process.errors)}")
        try:
            said: dict[str, Any] = msgspec.json.decode(line, type=dict)
        except (msgspec.MsgspecError, UnicodeError):
            raise AgentFailure("gave no answer: its process wrote into the pipe of its answers") from None
        return said
