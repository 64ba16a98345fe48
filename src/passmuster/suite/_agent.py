"""`agent:` in a suite: who the agent is, and how it is run for `passmuster run --live`."""

from collections.abc import Iterator
from typing import Annotated

from passmuster.suite._quantities import DURATION
from passmuster.suite.grammar._records import Key, Mistake, Record
from passmuster.suite.grammar._values import TEXT, Slot, Whole
from passmuster.suite.text._nodes import Mapping

_WAYS = ("python", "command", "http")
_HOW = ("capture", "setup", "teardown", "timeout", "retries", "concurrency")
_COMMAND = Slot("agent_command", "a list: a program and its arguments")


class Agent(Record, frozen=True, kw_only=True):
    """The agent that a suite is about, and how it is run."""

    name: Annotated[str | None, TEXT, Key("The agent's name.", example="support")] = None
    version: Annotated[str | None, TEXT, Key("Its version, for progressive thresholds.", example="2.1.0")] = None
    description: Annotated[str | None, TEXT, Key("A comment; ignored.")] = None
    python: Annotated[
        object,
        Slot("agent_python", "`module:function`"),
        Key("A function that gets the query, or the conversation so far. It may be async.", example="support:answer"),
    ] = None
    command: Annotated[
        object,
        _COMMAND,
        Key(
            "A program that prints the answer. The query is on standard input, unless `{query}` is in the list.",
            example=["node", "agent.js"],
        ),
    ] = None
    http: Annotated[
        object,
        Slot("agent_http", "an address, or a map"),
        Key("A server that is asked once per turn.", example={"url": "http://localhost:8080/chat", "answer": "reply"}),
    ] = None
    setup: Annotated[object, _COMMAND, Key("A program to run before each run, such as one that resets a database.")] = (
        None
    )
    teardown: Annotated[object, _COMMAND, Key("A program to run after each run, however that ended.")] = None
    capture: Annotated[
        object,
        Slot("agent_capture", "a source, a list of sources, or a map"),
        Key("How tool calls are captured while it runs; by default whatever arrives counts.", example="opentelemetry"),
    ] = None
    timeout: Annotated[
        float, DURATION, Key("The time limit of a run with all its turns, in seconds or as `2m`.", example="2m")
    ] = 120.0
    retries: Annotated[
        int,
        Whole(0, 20),
        Key("Further attempts after a failure outside the agent, such as a lost connection. Each is a warning."),
    ] = 2
    concurrency: Annotated[int, Whole(1, 256), Key("The number of concurrent runs.")] = 4
    line: int = 0
    lines: dict[str, int] = {}  # noqa: RUF012 - copied by msgspec

    def mistakes(self, map_: Mapping) -> Iterator[Mistake]:
        """One way to run it, and nothing about runs without one."""
        ways = [way for way in _WAYS if way in map_]
        for way in ways[1:]:
            yield map_.entries[way], f"'{ways[0]}' and '{way}' are two ways to run one agent; keep one of them"
        if not ways:
            for name in _HOW:
                if name in map_:
                    yield map_.entries[name], f"'{name}' means nothing without one of {', '.join(_WAYS)}"
