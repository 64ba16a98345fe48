"""A program as an agent: started once per run, with the query on standard input or as an argument."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from time import monotonic

import msgspec
from msgspec.structs import replace

from passmuster._problems import Problem
from passmuster.agents._answers import AgentFailure, OutsideFailure, Turn, conversation, printed_trace
from passmuster.agents._config import CommandAgent, LiveAgent
from passmuster.agents._process import ChildProcess, TimedOut, TooMuchOutput, how_it_ended
from passmuster.agents._runner import Attempt, program_problem, resolved_program
from passmuster.traces import Trace


class CommandRunner:
    """Runs a program per run."""

    def __init__(self, agent: LiveAgent, way: CommandAgent) -> None:
        self._agent, self._way = agent, way

    def problems(self) -> Iterator[Problem]:
        """The program has to be there."""
        yield from program_problem(self._agent, "command", self._way)

    def run(self, attempt: Attempt) -> None:
        """All of standard output is the answer; in a conversation it is a line per turn."""
        planned = attempt.planned
        if len(planned.turns) > 1 and self._way.takes_query:
            raise AgentFailure("'{query}' is an argument, so that the program cannot hold a conversation")
        started = monotonic()
        process = start(self._way, attempt, self._agent.folder)
        with attempt.active.watch(process):
            try:
                if len(planned.turns) > 1:
                    self._converse(process, attempt, started)
                else:
                    self._ask(process, attempt, started)
            except TimedOut:
                raise AgentFailure(f"took longer than {self._agent.timeout:g} s") from None
            except TooMuchOutput:
                raise AgentFailure("printed more than 64 MB") from None

    def _ask(self, process: ChildProcess, attempt: Attempt, started: float) -> None:
        (query,) = attempt.planned.turns
        process.send(b"" if self._way.takes_query else query.encode() + b"\n", last=True)
        printed = process.output(attempt.deadline)
        code = process.wait(attempt.deadline)
        if code == 0:
            attempt.turns.append(Turn(query, _timed(printed_trace(printed), started)))
            return
        if printed.strip():
            attempt.turns.append(Turn(query, _timed(printed_trace(printed), started)))
        raise AgentFailure(how_it_ended(code, process.errors))

    def _converse(self, process: ChildProcess, attempt: Attempt, started: float) -> None:
        for number, query in enumerate(attempt.planned.turns, 1):
            said = {**attempt.values(query, number), "run": attempt.planned.run, "turn": number}
            said["messages"] = conversation(attempt.turns, query)
            process.send(msgspec.json.encode(said) + b"\n")
            try:
                line = process.line(attempt.deadline)
            except TimedOut:
                limit = f"{self._agent.timeout:g} s"
                hint = "it has to print one line per turn, and to flush it"
                raise AgentFailure(f"gave no answer to turn {number} within {limit}; {hint}") from None
            if line is None:
                code = process.wait(attempt.deadline)
                raise AgentFailure(f"gave no answer to turn {number}: it {how_it_ended(code, process.errors)}")
            attempt.turns.append(Turn(query, _timed(printed_trace(line, line=True), started)))
            started = monotonic()
        process.send(b"", last=True)
        process.output(attempt.deadline)
        if code := process.wait(attempt.deadline):
            raise AgentFailure(how_it_ended(code, process.errors))


def _timed(trace: Trace, started: float) -> Trace:
    if trace.total_duration_ms is not None:
        return trace
    return replace(trace, total_duration_ms=round((monotonic() - started) * 1000, 3))


def start(command: CommandAgent, attempt: Attempt, folder: Path) -> ChildProcess:
    """Start a program. Raises `OutsideFailure` where that is not possible."""
    words = [word.fill(attempt.values(attempt.planned.turns[0])) for word in command.words]
    try:
        return ChildProcess([resolved_program(folder, words[0]) or words[0], *words[1:]], folder, attempt.environment())
    except (OSError, ValueError) as error:
        raise OutsideFailure(f"'{words[0]}' cannot be started: {error}") from None


def run_beside(command: CommandAgent, key: str, attempt: Attempt, folder: Path) -> None:
    """Run `setup` or `teardown` to its end. Raises `OutsideFailure` where it fails."""
    process = start(command, attempt, folder)
    name = f"agent.{key}: '{command.words[0].text}'"
    with attempt.active.watch(process):
        process.send(b"", last=True)
        try:
            process.output(attempt.deadline)
            code = process.wait(attempt.deadline)
        except TimedOut:
            raise OutsideFailure(f"{name} took too long") from None
        except TooMuchOutput:
            raise OutsideFailure(f"{name} printed more than 64 MB") from None
        if code:
            raise OutsideFailure(f"{name} {how_it_ended(code, process.errors)}")
